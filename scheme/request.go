package scheme

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A Client is what a program that retrieves has been told beside locators. The
// zero Client is told nothing.
type Client struct {
	// Mail is the user's mail address: the password of anonymous FTP.
	Mail string

	// NewsServer is the host of the news server that is asked for names which
	// do not say one, with a port if it is not 119.
	NewsServer string

	// Formats are the data formats of files by the suffix of their names, in
	// lower case; see [UsualFormats].
	Formats map[string]Format

	// Servers are file servers that have to be treated in a way of their own,
	// by the names of their hosts in lower case.
	Servers map[string]FTPServer
}

// A Format is a data format.
type Format struct {
	Type string // media type
	Text bool   // lines of text: transferred as such
}

// UsualFormats returns formats of files by the suffix of their names. Nobody has
// made them a standard, so that they are a proposal.
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

// A Request is what a client asks for, and whom, to retrieve what a locator
// locates. It is a plan: nothing here opens a connection.
type Request struct {
	URI     uri.URI // without its fragment, which is never sent
	Network string  // "tcp", "udp", or "" if there is nobody to be asked over a network
	Host    string  // decoded and without brackets
	Port    string  // of the locator, or the default of the scheme

	// Send is what is said, for protocols in which one thing is: the target of
	// an HTTP request, the line of Gopher without its end, the words of a
	// search.
	Send string

	// Object is what is asked for, decoded: a file, a group, a message
	// identifier, the identifier of a document, the name of an object.
	Object string

	Login    Login    // of FTP
	Commands []string // of FTP, in order, without the ends of lines
	Text     bool     // transfer as text
	Format   string   // media type, as far as it can be told beforehand
	Type     string   // of a WAIS document, of a Gopher item
	Length   int64    // of a WAIS document; -1 if it is not said
	Version  string   // of a Prospero object
	Fields   []string // attributes or fields of a Prospero object, decoded
}

// A Login is a pair of user name and password.
type Login struct {
	User, Password string
	Anonymous      bool // by convention, and not because the locator says so
}

// ErrHost is the error of a host that no connection should be made to, as it has
// characters in it that are none of a name.
var ErrHost = errors.New("not the name of a host")

// Request says what a client asks for, and whom, to retrieve what u locates.
//
// The error is the [Finding] of a rule that u breaks, or wraps [ErrInteractive],
// [ErrUndefined], [ErrNotLocator], [ErrNoAlgorithm] or [ErrHost].
func (s *Scheme) Request(u uri.URI, c Client) (Request, error) {
	if err := s.mayRequest(u); err != nil {
		return Request{}, err
	}
	r, err := s.Rules.Request(u, c)
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

// mayRequest says why there is nothing to ask.
func (s *Scheme) mayRequest(u uri.URI) error {
	found := s.Check(u)
	if err := FirstError(found); err != nil {
		return err
	}
	for _, f := range found {
		if f.Code == CodeUndefined && s.Rules.Request == nil {
			return fmt.Errorf("scheme: %s: %w", s.Name, ErrUndefined)
		}
	}
	switch {
	case s.Interactive:
		return &InteractiveError{SessionOf(u)}
	case s.Rules.Request != nil:
		return nil
	case s.Kind == KindName || s.Kind == KindOther:
		return fmt.Errorf("scheme: %s: %w", s.Name, ErrNotLocator)
	}
	return fmt.Errorf("scheme: %s: %w", s.Name, ErrNoAlgorithm)
}

// address fills in whom to ask.
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

// hostOf returns the host decoded, without brackets. Addresses of a version that
// is not known keep theirs, and are refused: without them they look like names.
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

// isHost reports whether s may be handed on as the name of a host: no controls,
// no white space, nothing that delimits, no hyphen first.
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

// partData returns the decoded value of the first part with a name.
func partData(parts []Part, name string) string {
	for i := range parts {
		if parts[i].Name == name {
			return string(parts[i].Data())
		}
	}
	return ""
}

// requestGopher sends the selector, decoded, and after tabs the search and the
// Gopher+ string (RFC 1436, 2; RFC 4266, 2.2, 2.3). The words of a search of
// 1993 have spaces between them.
func requestGopher(u uri.URI, _ Client) (Request, error) {
	parts := partsGopher(nil, u)
	line := partData(parts, "selector")
	if _, ok := Get(parts, "search"); ok {
		line += "\t" + searchText(u, parts)
	}
	if plus := partData(parts, "gopher+"); plus != "" {
		line += "\t" + plus
	}
	kind := partData(parts, "type")
	return Request{Send: line, Object: partData(parts, "selector"), Type: kind, Length: -1, Format: gopherFormats[kind], Text: gopherIsText(kind)}, nil
}

// searchText returns what is searched for.
func searchText(u uri.URI, parts []Part) string {
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

// gopherFormats are the formats of types (RFC 1436, 3.8), as far as those say
// them.
var gopherFormats = map[string]string{
	"0": "text/plain", "1": "application/gopher-menu", "7": "application/gopher-menu", "g": "image/gif", "h": "text/html",
	"4": "application/mac-binhex40", "9": "application/octet-stream", "5": "application/octet-stream", "6": "text/x-uuencode",
}

func gopherIsText(kind string) bool { return kind == "0" || kind == "h" || kind == "4" || kind == "6" }

// requestWAIS searches the database, or fetches a document: that needs its type
// and its length (1993, WAIS).
func requestWAIS(u uri.URI, _ Client) (Request, error) {
	parts := partsWAIS(nil, u)
	r := Request{Send: searchText(u, parts), Object: partData(parts, "database"), Type: partData(parts, "type"), Length: -1}
	if u.Dialect() != uri.Draft1993 {
		query, _ := u.Data(uri.ComponentQuery)
		r.Send = string(query)
	}
	if r.Type == "" {
		return r, nil
	}
	r.Send, r.Object = r.Object, partData(parts, "local_id")
	if length, ok := Get(parts, "length"); ok {
		n, err := strconv.ParseInt(length, 10, 64)
		if err != nil {
			return Request{}, fmt.Errorf("scheme: wais: the length %s: %w", length, err)
		}
		r.Length = n
	}
	return r, nil
}

// requestProspero asks the directory.
func requestProspero(u uri.URI, _ Client) (Request, error) {
	parts := partsProspero(nil, u)
	r := Request{Object: partData(parts, "hsoname"), Version: partData(parts, "version"), Length: -1}
	for _, p := range parts {
		if p.Name == "attribute" || p.Name == "field" {
			r.Fields = append(r.Fields, string(p.Data()))
		}
	}
	return r, nil
}

// requestWHOIS sends what follows the slash.
func requestWHOIS(u uri.URI, _ Client) (Request, error) {
	query := partData(partsWHOIS(nil, u), "handle_or_query")
	return Request{Send: query, Object: query, Length: -1, Text: true, Format: "text/plain"}, nil
}

// requestAFS opens a file of the cell: no host is asked.
func requestAFS(u uri.URI, c Client) (Request, error) {
	parts := partsAFS(nil, u)
	format := c.formatOf(partData(parts, "path"))
	return Request{Object: "/afs/" + partData(parts, "cell") + "/" + partData(parts, "path"), Length: -1, Format: format.Type, Text: format.Text}, nil
}

// requestFile opens a file of this machine. A file of another host cannot be
// had; in 1993 the host is a file server.
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
	if host != "" && !equalFold(host, "localhost") {
		return Request{}, fmt.Errorf("scheme: file: %q is another machine: %w", host, ErrNotAvailable)
	}
	path := partData(partsFile(nil, u), "path")
	format := c.formatOf(path)
	return Request{Object: path, Length: -1, Format: format.Type, Text: format.Text}, nil
}

// requestNews asks the server of the locator, or that of the client.
func requestNews(u uri.URI, c Client) (Request, error) {
	parts := partsNews(nil, u)
	r := Request{Length: -1, Object: partData(parts, "group") + partData(parts, "pattern") + partData(parts, "message_id")}
	r.Type, _ = Get(parts, "kind")
	if r.Type == newsAll {
		r.Object = "*"
	}
	if _, ok := u.Host(); ok {
		return r, nil
	}
	if c.NewsServer == "" {
		return Request{}, fmt.Errorf("scheme: news: no news server is configured: %w", ErrNotAvailable)
	}
	server, err := uri.Parse("news://" + c.NewsServer)
	if err != nil {
		return Request{}, fmt.Errorf("scheme: news: the news server that is configured: %w", err)
	}
	err = r.address(server, "tcp", "119")
	return r, err
}

// requestNNTP asks the server for an article, or for a group.
func requestNNTP(u uri.URI, _ Client) (Request, error) {
	parts := partsNNTP(nil, u)
	r := Request{Length: -1, Type: newsGroup, Object: partData(parts, "group")}
	if number, ok := Get(parts, "number"); ok {
		r.Type, r.Send = newsArticle, number
	}
	if id := partData(parts, "message_id"); id != "" {
		r.Type, r.Object = newsArticle, id
	}
	return r, nil
}

// formatOf returns the format of a file by the suffix of its name; of one that
// is not known that of octets.
func (c Client) formatOf(path string) Format {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		if f, ok := c.Formats[strings.ToLower(name[dot+1:])]; ok {
			return f
		}
	}
	return Format{Type: "application/octet-stream"}
}
