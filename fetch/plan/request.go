package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// A Client has the settings of a program that retrieves resources.
type Client struct {
	// Mail is the user's mail address, which is the password for anonymous FTP.
	Mail string

	// NewsServer is the news server for news URIs without a server. It is a host, or HOST:PORT if
	// the port is not 119.
	NewsServer string

	// Formats maps suffixes of file names, in lower case, to data formats; see [UsualFormats].
	Formats map[string]Format

	// Servers maps host names, in lower case, to the settings for FTP servers.
	Servers map[string]FTPServer
}

// A Format is a data format.
type Format struct {
	Type string // media type
	Text bool   // text, which is transferred in text mode
}

// UsualFormats returns the formats for common suffixes of file names. No standard defines them.
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

// A Request describes the request by which to retrieve an object from a server.
type Request struct {
	URI     uri.URI // without a fragment, because fragments are not sent
	Network string  // "tcp", "udp", or "" if no connection is needed
	Host    string  // decoded, without brackets
	Port    string  // from the locator, or the default of the scheme

	// Send is the text to send in protocols with a single request. This is an HTTP request target,
	// a Gopher request without its line break, or the words of a search.
	Send string

	// Object is the decoded name of the object, such as a file, a group or a message identifier.
	Object string

	Login    Login    // for FTP
	Commands []string // for FTP, in order, without line breaks
	Text     bool     // use text mode
	Format   string   // media type, if already known
	Type     string   // type of a WAIS document or a Gopher item
	Length   int64    // length of a WAIS document; -1 if unknown
	Version  string   // for Prospero
	Fields   []string // decoded attributes or fields, for Prospero
}

// A Login has the user name and the password for a server.
type Login struct {
	User, Password string
	Anonymous      bool // the locator has no user name, so the login is the conventional anonymous login
}

// ErrHost means that a host contains characters that are not allowed in host names. Do not connect
// to such a host.
var ErrHost = errors.New("invalid host name")

// RequestOf returns the request by which to retrieve u, which must be a URI of the scheme s.
//
// If u is invalid, the error is the [scheme.Finding] about the violation. Otherwise it wraps
// [ErrInteractive], [ErrUndefined], [ErrNotLocator], [ErrNoAlgorithm] or [ErrHost].
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

// hostOf returns the decoded host without brackets. It rejects addresses of unknown IP versions.
// Without their brackets, such addresses could be mistaken for names.
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

// isHost reports whether s is safe as a host name, because it has no control characters, white
// space or delimiters, and no leading hyphen.
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

func partData(parts []scheme.Part, name string) string {
	for i := range parts {
		if parts[i].Name == name {
			return string(parts[i].Data())
		}
	}
	return ""
}

// algorithm returns the function that makes a [Request] for a scheme, or nil. The argument of the
// function must be a URI that the scheme's Check accepts.
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

func partsOf(name string, u uri.URI) []scheme.Part {
	s, _ := scheme.Standard().Lookup(name)
	return s.Parts(u)
}

func build(name string, d uri.Dialect, parts []scheme.Part) (uri.URI, error) {
	s, _ := scheme.Standard().Lookup(name)
	return s.Build(d, parts)
}

// requestHTTP requests the path and the query without normalisation (draft of 1993, section
// "HTTP").
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

// requestGopher requests the decoded selector, followed by the search and the Gopher+ string, each
// after a tab (RFC 1436, section 2; RFC 4266, section 2.2, 2.3). In the dialect of 1993, the words
// of a search are separated by spaces.
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

// gopherFormats maps item types that imply a format to that format (RFC 1436, section 3.8).
var gopherFormats = map[string]string{
	"0": "text/plain", "1": "application/gopher-menu", "7": "application/gopher-menu", "g": "image/gif", "h": "text/html",
	"4": "application/mac-binhex40", "9": "application/octet-stream", "5": "application/octet-stream", "6": "text/x-uuencode",
}

func gopherIsText(kind string) bool { return kind == "0" || kind == "h" || kind == "4" || kind == "6" }

// requestWAIS searches the database. If the locator has a document type, it fetches the document
// instead. In the dialect of 1993, the locator of a document also has the length of the document
// (draft of 1993, section "WAIS").
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

func requestWHOIS(u uri.URI, _ Client) (Request, error) {
	query := partData(partsOf("whois", u), "handle_or_query")
	return Request{Send: query, Object: query, Length: -1, Text: true, Format: "text/plain"}, nil
}

// requestAFS opens a file of an AFS cell, through the mounted file system.
func requestAFS(u uri.URI, c Client) (Request, error) {
	parts := partsOf("afs", u)
	format := c.formatOf(partData(parts, "path"))
	return Request{Object: "/afs/" + partData(parts, "cell") + "/" + partData(parts, "path"), Length: -1, Format: format.Type, Text: format.Text}, nil
}

// requestFile opens a local file, and rejects locators with another host. In the dialect of 1993,
// it requests the file from the host by FTP.
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

// requestNews sends the request to the server in the locator, or to the server in the client's
// settings.
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

// formatOf returns the format for the suffix of a file name. Files with unknown suffixes are
// binary.
func (c Client) formatOf(path string) Format {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		if f, ok := c.Formats[strings.ToLower(name[dot+1:])]; ok {
			return f
		}
	}
	return Format{Type: "application/octet-stream"}
}
