package server

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/registry"
	"github.com/nomen-project/nomen/site"
)

// registryPath is the prefix of the paths of registries (draft of 2012, 9.1).
const registryPath = "/-/registry/"

// registryPage serves the pages of registries. The path is the part after [registryPath]: "",
// TABLE, TABLE.FORMAT, TABLE/ENTRY or TABLE/ENTRY.FORMAT. Without FORMAT, Accept selects the
// format.
func (s *Server) registryPage(r *request, path string) *reply {
	// A dot can also belong to the name of an entry, so only the name of a format is an extension.
	extension := path[strings.LastIndexByte(path, '.')+1:]
	f, named := registry.ByName(extension)
	if named {
		path = strings.TrimSuffix(path, "."+extension)
	}
	write, ok := s.registryDocument(path, s.sitePage(r))
	if !ok {
		return newReply(http.StatusNotFound).withText("Registry or entry not found. See " + s.root(r) + registryPath + " for the list.")
	}
	p := newReply(http.StatusOK)
	p.add("Cache-Control", "max-age=3600")
	if !named {
		p.vary("Accept")
		f = registryFormat(r.accept)
	}
	if f.Name == "html" {
		s.describeLanguage(r, p, format.TypeHTML)
	}
	body, err := written(func(w io.Writer) error { return write(w, f) })
	if err != nil {
		return s.failure(r, err)
	}
	return s.represent(r, p, f.MediaType, body)
}

// registryDocument returns the function that writes the document at a path without extension. An
// HTML document is a page of the site.
func (s *Server) registryDocument(path string, on *site.Page) (write func(io.Writer, registry.Format) error, ok bool) {
	tables := s.registries()
	if path == "" {
		return func(w io.Writer, f registry.Format) error {
			if f.Name == "html" {
				return registry.WriteIndexHTML(w, tables, on)
			}
			return f.Table(registry.Index(tables), w)
		}, true
	}
	table, entry, one := strings.Cut(path, "/")
	for _, t := range tables {
		switch {
		case t.Name != table:
		case !one:
			return func(w io.Writer, f registry.Format) error {
				if f.Name == "html" {
					return t.WriteHTML(w, on)
				}
				return f.Table(t, w)
			}, true
		default:
			name, err := url.PathUnescape(entry)
			e, found := t.Lookup(name)
			return func(w io.Writer, f registry.Format) error {
				if f.Name == "html" {
					return t.WriteEntryHTML(w, e, on)
				}
				return f.Entry(t, w, e)
			}, found && err == nil
		}
	}
	return nil, false
}

// registryFormat returns the format for an Accept field (RFC 9110, 12.4.1). If the field accepts no
// available format, registryFormat returns HTML.
func registryFormat(accept string) registry.Format {
	formats := registry.Formats()
	offers := make([]format.Format, len(formats))
	for i, f := range formats {
		mediaType, _, _ := strings.Cut(f.MediaType, ";")
		offers[i] = format.Format{Name: f.Name, MediaType: mediaType}
	}
	chosen, _ := format.Negotiate(accept, offers, offers[0])
	f, ok := registry.ByName(chosen.Name)
	if !ok {
		return formats[0]
	}
	return f
}
