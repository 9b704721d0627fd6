package server

import (
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/uri"
)

// The bounds of the Link fields of an answer; a linkset says it all.
const (
	maxItems     = 10
	maxLinkBytes = 4 << 10
)

// link adds the links of a name (RFC 8288, RFC 8574): how to cite it, what
// describes it, the set of all its links, how it was at other times (RFC 7089),
// and where it is.
func (s *Server) link(p *reply, r *request, a asked, ans *nomen.Answer) {
	key := ans.Name.Key()
	if key == "" {
		key = a.name.Key()
	}
	path := format.NamePath(key)
	p.add("Link", "<"+s.citation(r, key)+`>; rel="cite-as"`)
	p.add("Link", "<"+path+`?s=I2C>; rel="describedby"`)
	p.add("Link", "<"+path+`?s=I2C>; rel="linkset"; type="`+format.TypeLinksetJSON+`"`)
	s.linkTime(p, a, ans)
	size := 0
	for i, l := range ans.Locations {
		link := itemLink(l)
		if size += len(link); i == maxItems || size > maxLinkBytes {
			break
		}
		p.add("Link", link)
	}
}

// citation returns the URL by which a name is cited: its path here, or itself if
// it is a URL.
func (s *Server) citation(r *request, key string) string {
	if strings.HasPrefix(key, "https://") || strings.HasPrefix(key, "http://") {
		return key
	}
	return s.base(r) + format.NamePath(key)
}

// itemLink returns the link to a location, "" if it is no URI. Attributes that
// could be misread are left out, and a relation by which a browser would fetch
// the location is told in descriptions alone.
func itemLink(l nomen.Location) string {
	u, err := uri.Parse(l.URL)
	if err != nil {
		return ""
	}
	rel := l.Rel
	if !format.Inert(rel) && !isExtension(rel) {
		rel = "item"
	}
	out := "<" + u.String() + `>; rel="` + rel + `"`
	if isAttribute(l.Type) {
		out += `; type="` + l.Type + `"`
	}
	if isAttribute(l.Lang) {
		out += `; hreflang="` + l.Lang + `"`
	}
	return out
}

// isExtension reports whether a relation is an extension, which is a URI (RFC
// 8288, 2.1.2) and means nothing to a browser.
func isExtension(rel string) bool {
	_, err := uri.Parse(rel)
	return err == nil
}

// isAttribute reports whether s can stand between quotes as it is.
func isAttribute(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || strings.IndexByte(`"\`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
