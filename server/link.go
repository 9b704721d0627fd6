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

// addItem adds the link to a location, if it is a URI. Attributes that are not of
// their form are left out, and so are the parameters of a media type; a relation by
// which a browser would fetch the location is told in descriptions alone.
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
	mediaType, _, _ := strings.Cut(at.Type, ";")
	if mediaType = strings.TrimRight(mediaType, " \t"); !isMediaType(mediaType) {
		mediaType = ""
	}
	l.add(rel, mediaType, u.String())
	if isLanguageTag(at.Lang) {
		*l = append(*l, `; hreflang="`+at.Lang+`"`...)
	}
}

// isExtension reports whether a relation is an extension, which is a URI (RFC
// 8288, 2.1.2) and means nothing to a browser.
func isExtension(rel string) bool {
	_, err := uri.Parse(rel)
	return err == nil
}

// isMediaType reports whether s is type-name "/" subtype-name, which is all that the
// attribute type may be (RFC 8288, 3.4.1).
func isMediaType(s string) bool {
	slashes := 0
	for _, c := range []byte(s) {
		switch {
		case c == '/':
			slashes++
		case !isAlnum(c) && strings.IndexByte("!#$&-^_.+", c) < 0:
			return false
		}
	}
	return slashes == 1 && s[0] != '/' && s[len(s)-1] != '/'
}

// isLanguageTag reports whether s has the form of a language tag (RFC 5646, 2.1):
// subtags of one to eight letters and digits, the first one of letters.
func isLanguageTag(s string) bool {
	const longest = 8
	begun, first := 0, true
	for i := 0; i <= len(s); i++ {
		switch {
		case i < len(s) && isAlnum(s[i]):
			if first && s[i] <= '9' {
				return false
			}
		case i < len(s) && s[i] != '-', i == begun, i-begun > longest:
			return false
		default:
			begun, first = i+1, false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
