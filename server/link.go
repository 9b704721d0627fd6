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

// link adds the links of a name in one field (RFC 8288): how to cite it (RFC
// 8574), what describes it, the set of all its links, how it was at other times
// (RFC 7089), where it is, and by whom and under which terms.
func (s *Server) link(p *reply, r *request, a asked, ans *nomen.Answer) {
	key := ans.Name.Key()
	if key == "" {
		key = a.name.Key()
	}
	if key == "" {
		return // what was asked about has no name
	}
	path := format.NamePath(key)
	l := make(linkField, 0, 512+6*len(path))
	if isURL(key) {
		l.add("cite-as", "", key)
	} else {
		l.add("cite-as", "", s.base(r), path)
	}
	l.add("describedby", "", path, "?s=I2C")
	l.add("linkset", format.TypeLinksetJSON, path, "?s=I2C")
	s.linkTime(p, &l, a, key, path, ans)
	begin := len(l)
	for i, at := range ans.Locations {
		if i == maxItems || len(l)-begin > maxLinkBytes {
			break
		}
		l.addItem(at)
	}
	l.addPeople(ans.Metadata)
	p.add("Link", string(l))
}

// A linkField is a Link field that is being written.
type linkField []byte

// add adds a link to a target that is given in parts. Target, relation and type
// hold nothing that could end them.
func (l *linkField) add(rel, mediaType string, target ...string) {
	b := *l
	if len(b) > 0 {
		b = append(b, ", "...)
	}
	b = append(b, '<')
	for _, part := range target {
		b = append(b, part...)
	}
	b = append(b, `>; rel="`...)
	b = append(b, rel...)
	b = append(b, '"')
	if mediaType != "" {
		b = append(b, `; type="`...)
		b = append(b, mediaType...)
		b = append(b, '"')
	}
	*l = b
}

// addPeople adds what the metadata says by URIs of authors, terms and kind
// (Signposting).
func (l *linkField) addPeople(m nomen.Metadata) {
	const most = 5 // of each
	for _, e := range [...]struct{ element, rel string }{{"creator", "author"}, {"rights", "license"}, {"type", "type"}} {
		for i, value := range m[e.element] {
			if u, err := uri.Parse(value); err == nil && i < most && strings.Contains(value, "://") {
				l.add(e.rel, "", u.String())
			}
		}
	}
}

func isURL(key string) bool {
	return strings.HasPrefix(key, "https://") || strings.HasPrefix(key, "http://")
}

// addItem adds the link to a location, if it is a URI. Attributes that could be
// misread are left out, and a relation by which a browser would fetch the location
// is told in descriptions alone.
func (l *linkField) addItem(at nomen.Location) {
	u, err := uri.Parse(at.URL)
	if err != nil {
		return
	}
	rel := at.Rel
	switch {
	case rel == "":
		rel = "item"
	case !format.Inert(rel) && !isExtension(rel):
		rel = "item"
	}
	mediaType := ""
	if isAttribute(at.Type) {
		mediaType = at.Type
	}
	l.add(rel, mediaType, u.String())
	if isAttribute(at.Lang) {
		*l = append(*l, `; hreflang="`+at.Lang+`"`...)
	}
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
