package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// The limits on links to locations in a Link field. A linkset has no such limits.
const (
	maxItems     = 10
	maxLinkBytes = 4 << 10
)

// signposts are links to the formats in which a name can be described.
type signposts struct {
	brief []signpost // links in redirects: a format for programs, one for reference managers, and the linkset
	all   []signpost
}

// A signpost is the part of a link after the URL of the name: a query, the relation and the type.
type signpost struct {
	rest string
	set  bool // the target is a linkset
}

func newSignposts() (p signposts) {
	for _, r := range format.Representations() {
		link := signpost{r.Query + `>; rel="` + r.Rel + `"; type="` + r.Type + `"`, r.Rel == "linkset"}
		p.all = append(p.all, link)
		switch r.Type {
		case format.TypeJSONLD, format.TypeCSL, format.TypeLinksetJSON:
			p.brief = append(p.brief, link)
		}
	}
	return p
}

// link adds one Link field with all links of a name (RFC 8288). The links say how to cite the name
// (RFC 8574). They also lead to its descriptions, linkset, mementos (RFC 7089), locations, author
// and license (FAIR Signposting). All URLs are absolute, because some clients cannot resolve
// relative references.
func (s *Server) link(p *reply, r *request, a parsedTarget, ans *nomen.Answer) {
	key := cmp.Or(ans.Name.Key(), a.name.Key())
	if key == "" {
		return // the target has no name
	}
	path := format.NamePath(key)
	base, signs := s.base(r), s.signposts.all
	if isRedirect(p.status) {
		signs = s.signposts.brief
	}
	room := s.linkBuffers.Get().(*linkField)
	defer s.linkBuffers.Put(room)
	l := (*room)[:0]
	if isURL(key) {
		l.add("cite-as", "", key)
	} else {
		l.add("cite-as", "", base, path)
	}
	if describes(a.authority) {
		l.addSigns(signs, base, path, s.requestURL(r, a, base, path))
	}
	if !isRedirect(p.status) {
		l.add("type", "", format.AboutPage)
	}
	s.linkTime(p, &l, a, key, base, path, ans)
	for _, sign := range format.Signs(ans.Metadata) {
		l.add(sign.Rel, "", sign.URL)
	}
	begin := len(l)
	for i, at := range format.Signed(ans) {
		if i == maxItems || len(l)-begin > maxLinkBytes {
			break
		}
		l.addItem(at)
	}
	p.add("Link", string(l))
	*room = l
}

// addSigns adds the links to the descriptions of a name, whose usual URL is base followed by path.
// If the client has requested the name at another URL, the parameter requested is that URL. The
// link to the linkset then begins with the requested URL, because a linkset must describe this URL.
func (l *linkField) addSigns(signs []signpost, base, path, requested string) {
	for _, sign := range signs {
		*l = append(*l, ", <"...)
		if sign.set && requested != "" {
			*l = append(*l, requested...)
		} else {
			*l = append(append(*l, base...), path...)
		}
		*l = append(*l, sign.rest...)
	}
}

// describes reports whether the names of an authority have descriptions (I2C). The authority may be
// nil.
func describes(a *store.Authority) bool {
	return a == nil || len(a.Services) == 0 && len(a.Keywords) == 0 ||
		a.Interpret(&nomen.Question{Service: nomen.I2C}, false).Service == nomen.I2C
}

// requestURL returns the URL of a request without its query. It returns "" if that is the usual URL
// of the name on this server, or if the target is not a path.
func (s *Server) requestURL(r *request, a parsedTarget, base, path string) string {
	target, _, _ := strings.Cut(r.target, "?")
	if a.bare || a.form != formWeb && a.form != formElement || target == path && s.public == "" {
		return ""
	}
	if s.public != "" && store.CanonicalHost(r.host) != s.publicHost && isHostOf(a.authority, r.host) {
		base = originOf(r) + r.mount
	} else if target == path {
		return ""
	}
	u, err := uri.Parse(base + target)
	if err != nil || !strings.HasPrefix(target, "/") {
		return ""
	}
	return u.String()
}

func isHostOf(a *store.Authority, host string) bool {
	h := store.CanonicalHost(host)
	return a != nil && h != "" && (a.Prefix.String() == "urn:dns:"+h ||
		slices.ContainsFunc(a.Hosts, func(s string) bool { return store.CanonicalHost(s) == h }))
}

func (s *Server) pageOf(r *request, a parsedTarget, ans *nomen.Answer) format.Page {
	key := ans.Name.Key()
	page := format.Page{Root: s.root(r)}
	page.Owner = ownerOf(a.authority)
	if key != "" && describes(a.authority) {
		page.Base = s.base(r)
		page.Asked = s.requestURL(r, a, page.Base, format.NamePath(key))
	}
	return page
}

type linkField []byte

// add adds a link to the URL that results from joining target. The URL, the relation and the type
// must not contain delimiters.
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

func isURL(key string) bool {
	return strings.HasPrefix(key, "https://") || strings.HasPrefix(key, "http://")
}

// addItem adds a link to a location, if the location is a URI. It leaves out invalid attributes and
// the parameters of media types. A relation that would make a browser fetch the location becomes
// "item" in the Link field. Only descriptions show the original relation.
func (l *linkField) addItem(at nomen.Location) {
	u, err := uri.Parse(at.URL)
	if err != nil || location.CheckURI(u) != nil {
		return
	}
	rel := cmp.Or(at.Rel, "item")
	if !format.Inert(rel) && !isExtension(rel) {
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

// isExtension reports whether a relation is a URI (an extension relation: RFC 8288, 2.1.2), which
// means nothing to a browser.
func isExtension(rel string) bool {
	_, err := uri.Parse(rel)
	return err == nil
}

// isMediaType reports whether s has the form type-name "/" subtype-name, which the attribute type
// requires (RFC 8288, 3.4.1).
func isMediaType(s string) bool {
	slashes := 0
	for _, c := range []byte(s) {
		switch {
		case c == '/':
			slashes++
		case !ascii.IsAlnum(c) && strings.IndexByte("!#$&-^_.+", c) < 0:
			return false
		}
	}
	return slashes == 1 && s[0] != '/' && s[len(s)-1] != '/'
}

// isLanguageTag reports whether s looks like a language tag (RFC 5646, 2.1): subtags of one to
// eight letters and digits, the first without digits.
func isLanguageTag(s string) bool {
	const longest = 8
	begun, first := 0, true
	for i := 0; i <= len(s); i++ {
		switch {
		case i < len(s) && ascii.IsAlnum(s[i]):
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
