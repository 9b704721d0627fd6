package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// A GopherItem is a line of a Gopher menu (RFC 1436, section 2).
type GopherItem struct {
	Type     byte
	Display  string // text to show
	Selector string
	Host     string
	Port     string
	Plus     bool // the item has Gopher+ attributes
}

// ErrGopherItem means that a line of a menu is not an item.
var ErrGopherItem = errors.New("not a menu item")

const maxGopherLine = 64 << 10

// ParseGopherItem parses a line of a menu, with or without its line break.
//
//	type display TAB selector TAB host TAB port [ TAB "+" ]
func ParseGopherItem(line string) (GopherItem, error) {
	line = strings.TrimRight(line, "\r\n")
	if len(line) > maxGopherLine || line == "" || strings.ContainsAny(line, "\r\n\x00") {
		return GopherItem{}, fmt.Errorf("scheme: %.80q: %w", line, ErrGopherItem)
	}
	fields := strings.Split(line[1:], "\t")
	if len(fields) < 4 {
		return GopherItem{}, fmt.Errorf("scheme: %.80q has %d fields, want at least 4: %w", line, len(fields), ErrGopherItem)
	}
	return GopherItem{
		Type: line[0], Display: fields[0], Selector: fields[1], Host: fields[2], Port: strings.TrimSpace(fields[3]),
		Plus: len(fields) > 4 && strings.HasPrefix(fields[4], "+"),
	}, nil
}

// Locator returns the locator of the item. If the item refers to another protocol, the locator has
// the scheme of that protocol (draft of 1993, section "Gopher"):
//
//   - types 8 and T: a session, for which the selector is the user name;
//   - a selector that begins with "URL:": the locator after the colon;
//   - type h with a selector that begins with "GET /": a web page;
//   - a selector of the form "ftp:host@path": a file, which the Gopher server fetches by FTP.
//
// Text lines and errors (types i and 3) have no locator.
//
// The selector is untrusted input, so check the locator before using it.
func (i GopherItem) Locator() (uri.URI, error) {
	switch {
	case i.Type == 'i' || i.Type == '3':
		return uri.URI{}, fmt.Errorf("scheme: item type %c has no locator: %w", i.Type, ErrGopherItem)
	case i.Type == '8':
		return i.session("telnet")
	case i.Type == 'T':
		return i.session("tn3270")
	}
	if text, ok := ascii.CutPrefix(strings.TrimPrefix(i.Selector, "/"), "URL:"); ok {
		return i.quoted(text)
	}
	if path, ok := strings.CutPrefix(i.Selector, "GET "); ok && i.Type == 'h' {
		return i.page(path)
	}
	if rest, ok := ascii.CutPrefix(i.Selector, "ftp:"); ok {
		if host, path, ok := strings.Cut(rest, "@"); ok && isHost(host) {
			return i.file(host, path)
		}
	}
	return i.item()
}

// quoted parses the locator in a selector that begins with "URL:". It rejects locators of dangerous
// schemes.
func (i GopherItem) quoted(text string) (uri.URI, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return uri.URI{}, fmt.Errorf("scheme: the selector %q: %w: %w", i.Selector, ErrGopherItem, err)
	}
	name, _ := u.Scheme()
	if s, ok := extra.Catalogue().Lookup(name); ok && s.Danger != "" {
		return uri.URI{}, fmt.Errorf("scheme: the selector %q: %w: %s", i.Selector, ErrGopherItem, s.Danger)
	}
	return u, nil
}

// server returns the host and the port of the item as parts of a locator.
func (i GopherItem) server() ([]scheme.Part, error) {
	if !isHost(i.Host) || i.Port != "" && !ascii.All(i.Port, ascii.IsDigit) {
		return nil, fmt.Errorf("scheme: host %q, port %q: %w", i.Host, i.Port, ErrGopherItem)
	}
	parts := []scheme.Part{{Name: "host", Value: i.Host}}
	if i.Port != "" && i.Port != "0" {
		parts = append(parts, scheme.Part{Name: "port", Value: i.Port})
	}
	return parts, nil
}

func (i GopherItem) session(name string) (uri.URI, error) {
	parts, err := i.server()
	if err != nil {
		return uri.URI{}, err
	}
	if i.Selector != "" {
		parts = append(parts, scheme.Part{Name: "user", Value: uri.EscapeUserinfo(i.Selector)})
	}
	return build(name, uri.Latest, parts)
}

func (i GopherItem) page(path string) (uri.URI, error) {
	parts, err := i.server()
	if err != nil {
		return uri.URI{}, err
	}
	path, query, ok := strings.Cut(path, "?")
	parts = append(parts, scheme.Part{Name: "path", Value: "/" + uri.EscapePath(strings.TrimPrefix(path, "/"))})
	if ok {
		parts = append(parts, scheme.Part{Name: "query", Value: uri.EscapeQuery(query)})
	}
	return build("http", uri.Latest, parts)
}

func (i GopherItem) file(host, path string) (uri.URI, error) {
	path, _ = strings.CutPrefix(path, "/")
	elements := strings.Split(path, "/")
	parts := []scheme.Part{{Name: "host", Value: host}}
	for n, e := range elements {
		name := "cwd"
		if n == len(elements)-1 {
			name = "name"
		}
		parts = append(parts, scheme.Part{Name: name, Value: uri.MakeSafer(uri.EscapePathSegment(e), ";")})
	}
	return build("ftp", uri.Latest, parts)
}

func (i GopherItem) item() (uri.URI, error) {
	parts, err := i.server()
	if err != nil {
		return uri.URI{}, err
	}
	parts = append(parts,
		scheme.Part{Name: "type", Value: uri.EscapePathSegment(string([]byte{i.Type}))},
		scheme.Part{Name: "selector", Value: uri.MakeSafer(uri.EscapePath(i.Selector), "?")})
	if i.Plus {
		parts = append(parts, scheme.Part{Name: "search"}, scheme.Part{Name: "gopher+", Value: "+"})
	}
	return build("gopher", uri.Latest, parts)
}
