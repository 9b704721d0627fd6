package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// A Client holds the settings of a program that retrieves objects. The zero
// Client has none.
type Client struct {
	// Mail is the user's mail address, which is the password of anonymous FTP.
	Mail string

	// NewsServer is the host of the default news server, with a port if it is
	// not 119. It is used for names without a server.
	NewsServer string

	// Formats maps file suffixes in lower case to data formats; see
	// [UsualFormats].
	Formats map[string]Format

	// Servers maps host names in lower case to settings for FTP servers that
	// need special treatment.
	Servers map[string]FTPServer
}

// A Format is a data format.
type Format struct {
	Type string // media type
	Text bool   // lines of text, transferred in text mode
}

// UsualFormats returns the formats of common file suffixes. They are a
// suggestion, as no standard defines them.
func UsualFormats() map[string]Format {
	return map[string]Format{
		"txt": {"text/plain", true}, "html": {"text/html", true}, "htm": {"text/html", true},
		"c": {"text/plain", true}, "h": {"text/plain", true}, "csv": {"text/csv", true},
		"json": {"application/json", true}, "xml": {"application/xml", true}, "tex": {"text/x-tex", true},
		"ps": {"application/postscript", false}, "pdf": {"application/pdf", false}, "dvi": {"application/x-dvi", false},
		"gif": {"image/gif", false}, "jpg": {"image/jpeg", false}, "jpeg": {"image/jpeg", false}, "png": {"image/png", false},
		"gz": {"application/gzip", false}, "tar": {"application/x-tar", false}, "z": {"application/x-compress", false}, "zip": {"application/zip", false},
	}
}

// A Request describes what to request, and from which server, to retrieve an
// object. It is a plan: this package does not open connections.
type Request struct {
	URI     uri.URI // without its fragment, which is not sent
	Network string  // "tcp", "udp", or "" if no network connection is needed
	Host    string  // decoded, without brackets
	Port    string  // the port in the locator, or the default of the scheme

	// Send is the text to send in protocols with a single message: an HTTP
	// request target, a Gopher line without its line break, the words of a
	// search.
	Send string

	// Object is the decoded name of the object: a file, a group, a message
	// identifier, a document identifier, an object name.
	Object string

	Login    Login    // of FTP
	Commands []string // of FTP, in order, without line breaks
	Text     bool     // transfer in text mode
	Format   string   // media type, if it is known in advance
	Type     string   // type of a WAIS document or of a Gopher item
	Length   int64    // length of a WAIS document; -1 if unknown
	Version  string   // of a Prospero object
	Fields   []string // attributes or fields of a Prospero object, decoded
}

// A Login is a pair of user name and password.
type Login struct {
	User, Password string
	Anonymous      bool // anonymous login by convention, not stated in the locator
}

// ErrHost means that a host contains characters that are not allowed in a host
// name, so that no connection should be opened.
var ErrHost = errors.New("invalid host name")

// RequestOf returns what to request, and from which server, to retrieve u, a URI
// of the scheme s.
//
// The error is the [scheme.Finding] for a rule that u violates, or wraps
// [ErrInteractive], [ErrUndefined], [ErrNotLocator], [ErrNoAlgorithm] or
// [ErrHost].
func RequestOf(s scheme.Scheme, u uri.URI, c Client) (Request, error) {
	if err := mayRequest(&s, u); err != nil {
		return Request{}, err
	}
	r, err := algorithm(s.Name)(u, c)
	if err != nil {
		return Request{}, err
	}
	r.URI = u.WithoutFragment()
	if r.Length == 0 && r.Type == "" {
		r.Length = -1
	}
	if r.Host == "" && s.Transport != "" {
		err = r.address(u, s.Transport, s.DefaultPort)
	}
	return r, err
}

// mayRequest returns an error if u cannot be retrieved.
func mayRequest(s *scheme.Scheme, u uri.URI) error {
	found := s.Check(u)
	if err := scheme.FirstError(found); err != nil {
		return err
	}
	for _, f := range found {
		if f.Code == scheme.CodeUndefined && algorithm(s.Name) == nil {
			return fmt.Errorf("scheme: %s: %w", s.Name, ErrUndefined)
		}
	}
	switch {
	case s.Interactive:
		return &InteractiveError{SessionOf(u)}
	case algorithm(s.Name) != nil:
		return nil
	case s.Kind == scheme.KindName || s.Kind == scheme.KindOther:
		return fmt.Errorf("scheme: %s: %w", s.Name, ErrNotLocator)
	}
	return fmt.Errorf("scheme: %s: %w", s.Name, ErrNoAlgorithm)
}

// address sets the network, host and port of the request.
func (r *Request) address(u uri.URI, network, port string) error {
	host, err := hostOf(u)
	if err != nil {
		return err
	}
	r.Network, r.Host, r.Port = network, host, port
	if port, ok := u.Port(); ok && port != "" {
		r.Port = port
	}
	return nil
}

// hostOf returns the decoded host without brackets. It rejects addresses of an
// unknown IP version, which without brackets would look like names.
func hostOf(u uri.URI) (string, error) {
	data, _ := u.Data(uri.ComponentHost)
	host := string(data)
	if u.HostKind() == uri.HostIPv6 {
		return strings.Trim(host, "[]"), nil
	}
	if !isHost(host) {
		return "", fmt.Errorf("scheme: %q: %w", host, ErrHost)
	}
	return host, nil
}

// isHost reports whether s is safe to use as a host name: no control
// characters, white space or delimiters, and no leading hyphen.
func isHost(s string) bool {
	if s == "" || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == 0x7F || strings.IndexByte(`/\?#@:[]<>"'|;&$%`+"`", c) >= 0 {
			return false
		}
	}
	return true
}

// partData returns the decoded value of the first part with the given name.
func partData(parts []scheme.Part, name string) string {
	for i := range parts {
		if parts[i].Name == name {
			return string(parts[i].Data())
		}
	}
	return ""
}

// algorithm returns the function that sets the fields of a Request that belong to the scheme. It
// returns nil if the scheme has no such function. The function expects a URI that has passed the
// checks of the scheme.
func algorithm(name string) func(uri.URI, Client) (Request, error) {
	switch name {
	case "http", "https":
		return requestHTTP
	case "ftp":
		return requestFTP
	case "gopher":
		return requestGopher
	case "wais":
		return requestWAIS
	case "prospero":
		return requestProspero
	case "whois":
		return requestWHOIS
	case "afs":
		return requestAFS
	case "file":
		return requestFile
	case "news", "snews":
		return requestNews
	case "nntp":
		return requestNNTP
	}
	return nil
}

// partsOf returns the parts of u by the rules of the named scheme of the standard
// catalogue.
func partsOf(name string, u uri.URI) []scheme.Part {
	s, _ := scheme.Standard().Lookup(name)
	return s.Parts(u)
}

// build builds a URI of the named scheme of the standard catalogue.
func build(name string, d uri.Dialect, parts []scheme.Part) (uri.URI, error) {
	s, _ := scheme.Standard().Lookup(name)
	return s.Build(d, parts)
}

// requestHTTP requests the path and search as spelled; the fragment stays with
// the client (1993, HTTP).
func requestHTTP(u uri.URI, _ Client) (Request, error) {
	target := u.Path()
	if target == "" {
		target = "/"
	}
	if query, ok := u.Query(); ok {
		target += "?" + query
	}
	return Request{Send: target}, nil
}

// requestGopher sends the decoded selector, followed by the search and the
// Gopher+ string after tabs (RFC 1436, 2; RFC 4266, 2.2, 2.3). In the draft of 1993 the
// words of a search are separated by spaces.
func requestGopher(u uri.URI, _ Client) (Request, error) {
	parts := partsOf("gopher", u)
	line := partData(parts, "selector")
	if _, ok := scheme.Get(parts, "search"); ok {
		line += "\t" + searchText(u, parts)
	}
	if plus := partData(parts, "gopher+"); plus != "" {
		line += "\t" + plus
	}
	kind := partData(parts, "type")
	return Request{Send: line, Object: partData(parts, "selector"), Type: kind, Length: -1, Format: gopherFormats[kind], Text: gopherIsText(kind)}, nil
}

// searchText returns the search terms.
func searchText(u uri.URI, parts []scheme.Part) string {
	if u.Dialect() != uri.Draft1993 {
		return partData(parts, "search")
	}
	var words []string
	for _, p := range parts {
		if p.Name == "word" {
			words = append(words, string(p.Data()))
		}
	}
	return strings.Join(words, " ")
}

// gopherFormats maps the item types of RFC 1436, 3.8 that imply a format to
// that format.
var gopherFormats = map[string]string{
	"0": "text/plain", "1": "application/gopher-menu", "7": "application/gopher-menu", "g": "image/gif", "h": "text/html",
	"4": "application/mac-binhex40", "9": "application/octet-stream", "5": "application/octet-stream", "6": "text/x-uuencode",
}

func gopherIsText(kind string) bool { return kind == "0" || kind == "h" || kind == "4" || kind == "6" }

// requestWAIS searches the database. If the locator has the type of a document, requestWAIS fetches
// the document instead. In the draft of 1993 the locator of a document also has its length (1993,
// WAIS).
func requestWAIS(u uri.URI, _ Client) (Request, error) {
	parts := partsOf("wais", u)
	r := Request{Send: searchText(u, parts), Object: partData(parts, "database"), Type: partData(parts, "type"), Length: -1}
	if u.Dialect() != uri.Draft1993 {
		query, _ := u.Data(uri.ComponentQuery)
		r.Send = string(query)
	}
	if r.Type == "" {
		return r, nil
	}
	r.Send, r.Object = r.Object, partData(parts, "local_id")
	if length, ok := scheme.Get(parts, "length"); ok {
		n, err := strconv.ParseInt(length, 10, 64)
		if err != nil {
			return Request{}, fmt.Errorf("scheme: wais: the length %s: %w", length, err)
		}
		r.Length = n
	}
	return r, nil
}

// requestProspero queries the directory.
func requestProspero(u uri.URI, _ Client) (Request, error) {
	parts := partsOf("prospero", u)
	r := Request{Object: partData(parts, "hsoname"), Version: partData(parts, "version"), Length: -1}
	for _, p := range parts {
		if p.Name == "attribute" || p.Name == "field" {
			r.Fields = append(r.Fields, string(p.Data()))
		}
	}
	return r, nil
}

// requestWHOIS sends the text after the slash.
func requestWHOIS(u uri.URI, _ Client) (Request, error) {
	query := partData(partsOf("whois", u), "handle_or_query")
	return Request{Send: query, Object: query, Length: -1, Text: true, Format: "text/plain"}, nil
}

// requestAFS opens a file of the cell. It needs no host.
func requestAFS(u uri.URI, c Client) (Request, error) {
	parts := partsOf("afs", u)
	format := c.formatOf(partData(parts, "path"))
	return Request{Object: "/afs/" + partData(parts, "cell") + "/" + partData(parts, "path"), Length: -1, Format: format.Type, Text: format.Text}, nil
}

// requestFile opens a file on this machine. It rejects files on another host;
// in the draft of 1993 the host is a file server.
func requestFile(u uri.URI, c Client) (Request, error) {
	if u.Dialect() == uri.Draft1993 {
		r, err := requestFTP(u, c)
		if err != nil {
			return r, err
		}
		err = r.address(u, "tcp", "21")
		return r, err
	}
	host, _ := u.Host()
	if host != "" && !strings.EqualFold(host, "localhost") {
		return Request{}, fmt.Errorf("scheme: file: %q is another host: %w", host, ErrNotAvailable)
	}
	path := partData(partsOf("file", u), "path")
	format := c.formatOf(path)
	return Request{Object: path, Length: -1, Format: format.Type, Text: format.Text}, nil
}

// requestNews asks the server in the locator, or the client's default server.
func requestNews(u uri.URI, c Client) (Request, error) {
	parts := partsOf("news", u)
	r := Request{Length: -1, Object: partData(parts, "group") + partData(parts, "pattern") + partData(parts, "message_id")}
	r.Type, _ = scheme.Get(parts, "kind")
	if r.Type == "all" {
		r.Object = "*"
	}
	if _, ok := u.Host(); ok {
		return r, nil
	}
	if c.NewsServer == "" {
		return Request{}, fmt.Errorf("scheme: news: no news server configured: %w", ErrNotAvailable)
	}
	server, err := uri.Parse("news://" + c.NewsServer)
	if err != nil {
		return Request{}, fmt.Errorf("scheme: news: configured news server: %w", err)
	}
	err = r.address(server, "tcp", "119")
	return r, err
}

// requestNNTP asks the server for an article or a group.
func requestNNTP(u uri.URI, _ Client) (Request, error) {
	parts := partsOf("nntp", u)
	r := Request{Length: -1, Type: "group", Object: partData(parts, "group")}
	if number, ok := scheme.Get(parts, "number"); ok {
		r.Type, r.Send = "article", number
	}
	if id := partData(parts, "message_id"); id != "" {
		r.Type, r.Object = "article", id
	}
	return r, nil
}

// formatOf returns the format of a file, according to its suffix. If the suffix is unknown, the
// file is a sequence of octets.
func (c Client) formatOf(path string) Format {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		if f, ok := c.Formats[strings.ToLower(name[dot+1:])]; ok {
			return f
		}
	}
	return Format{Type: "application/octet-stream"}
}
