package format

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
)

// The relations of FAIR Signposting (signposting.org/FAIR), and of RFC 4287 for related resources.
const (
	relAuthor      = "author"
	relCiteAs      = "cite-as"
	relCollection  = "collection"
	relDescribedBy = "describedby"
	relDescribes   = "describes"
	relLicense     = "license"
	relLinkset     = "linkset"
	relRelated     = "related"
	relType        = "type"
)

const describeQuery = "?s=I2C"

// A Representation is a format of the description of a name, with its own URL.
type Representation struct {
	Rel   string // relation of a link to this format, describedby or linkset
	Type  string // media type
	Query string // follows the path of the name; begins with a question mark
}

// Representations returns the formats of a description to which pages link, so that programs can
// find them. The most common format comes first.
func Representations() []Representation {
	var all []Representation
	for _, name := range []string{"json-ld", "turtle", "csl-json", "bibtex", "ris", "linkset-json", "linkset"} {
		f, _ := ByName(name)
		rel := relDescribedBy
		if f.MediaType == TypeLinksetJSON || f.MediaType == TypeLinkset {
			rel = relLinkset
		}
		all = append(all, Representation{rel, f.MediaType, describeQuery + "&format=" + name})
	}
	return all
}

// A Sign is a link of a page about a name. The target of the link comes from the metadata.
type Sign struct{ Rel, URL string }

const maxSigns = 5

// AboutPage is the type of a page that describes another resource (FAIR Signposting).
const AboutPage = "https://schema.org/AboutPage"

// Signs returns links to the creators, the licence and the type of a resource, as far as the
// metadata contain their URIs. If the type is a known word, the link leads to the type of
// schema.org.
func Signs(m nomen.Metadata) []Sign {
	if len(m) == 0 {
		return nil
	}
	var all []Sign
	add := func(rel string, values []string, most int) {
		for _, s := range values {
			if most > 0 && strings.HasPrefix(s, "http") && location.IsLink(s) {
				all = append(all, Sign{rel, s})
				most--
			}
		}
	}
	add(relAuthor, m["creator"], maxSigns)
	add(relLicense, m["rights"], 1)
	if kind := kindOfWork(m["type"]); kind != unknownKind {
		return append(all, Sign{relType, "https://schema.org/" + kind.schema})
	}
	add(relType, m["type"], 1)
	return all
}

// Signed returns the locations of an answer to which a page should link in addition to its [Signs].
// If the metadata already have a licence with a URI, Signed omits the locations that are licences.
func Signed(a *nomen.Answer) []nomen.Location {
	if len(a.Metadata["rights"]) == 0 || !slices.ContainsFunc(Signs(a.Metadata), func(s Sign) bool { return s.Rel == relLicense }) {
		return a.Locations
	}
	return slices.DeleteFunc(slices.Clone(a.Locations), func(l nomen.Location) bool { return l.Rel == relLicense })
}

type linkContext struct {
	anchor string
	links  []link
}

// contextsOf returns the links of an answer, grouped by link context. The first context is the
// name. If the URL of the page is known, there are more contexts: the URLs at which a client may
// have found the name, the locations of the resource, and the formats of the description (FAIR
// Signposting, level 2).
func contextsOf(a *nomen.Answer, p Page) []linkContext {
	key := a.Name.Key()
	links := linksOf(a)
	all := []linkContext{{key, links}}
	if p.Base == "" || key == "" {
		return all
	}
	home := p.Base + NamePath(key)
	own := p.landing(a)
	signed := *a
	signed.Locations = Signed(a)
	for _, l := range linksOf(&signed) {
		if l.rel != sameRelation {
			own = append(own, l)
		}
	}
	for _, anchor := range p.anchors(key) {
		all = append(all, linkContext{anchor, own})
	}
	var terms []link
	for _, s := range Signs(a.Metadata) {
		if s.Rel != relAuthor {
			terms = append(terms, link{rel: s.Rel, href: s.URL})
		}
	}
	for _, l := range a.Locations {
		if isResource(l) && isAbsolute(l.URL) {
			of := []link{{rel: relCiteAs, href: p.nameURL(key)}, {rel: relCollection, href: home}}
			all = append(all, linkContext{l.URL, append(of, terms...)})
		}
	}
	for _, r := range Representations() {
		if r.Rel == relDescribedBy {
			all = append(all, linkContext{home + r.Query, []link{{rel: relCiteAs, href: p.nameURL(key)}, {rel: relDescribes, href: home}}})
		}
	}
	return all
}

func (p Page) landing(a *nomen.Answer) []link {
	key := a.Name.Key()
	home := p.Base + NamePath(key)
	all := []link{{rel: relCiteAs, href: p.nameURL(key)}}
	for _, r := range Representations() {
		all = append(all, link{rel: r.Rel, href: home + r.Query, kind: r.Type})
	}
	all = append(all, link{rel: relType, href: AboutPage})
	for _, s := range Signs(a.Metadata) {
		all = append(all, link{rel: s.Rel, href: s.URL})
	}
	return all
}

func (p Page) anchors(key string) []string {
	var all []string
	for _, s := range []string{p.Base + NamePath(key), p.nameURL(key), p.Asked} {
		if s == "" || !isAbsolute(s) || slices.Contains(all, s) {
			continue
		}
		all = append(all, s)
		if strings.HasPrefix(s, p.Base+"/") || s == p.Asked {
			all = append(all, s+describeQuery)
		}
	}
	return all
}
