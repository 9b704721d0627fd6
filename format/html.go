package format

import (
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/site"
)

// ContentSecurityPolicy returns the policy for the pages of this package if the site has no
// settings. It permits the style sheet and the forms of the pages, and nothing else.
func ContentSecurityPolicy() string { return site.Default().Policy() }

// writeHTML writes a page about an answer. It shows the name, what the name identifies, its
// locations and its metadata. The locations, or the names if the service is about names, are an
// unordered list of links, as RFC 2169 requires. The link of a name leads to the path of the name
// on the server that sent the page.
//
// The head element has the same data for programs, as links, Dublin Core and JSON-LD. The page has
// no scripts, and loads only the logo of the site.
func writeHTML(w io.Writer, a *nomen.Answer, on Page) error {
	p := newPage(on)
	title := pageTitle(a)
	if title == "" {
		title = p.t("page.answer")
	}
	p.begin(title, a)
	p.answer(a, "h1")
	p.cite(a)
	p.facts(a)
	p.history()
	p.receipt()
	p.formats(a)
	p.why(a.Why)
	p.owner("page.contact")
	return p.end(w)
}

// WriteProblemHTML writes a page with the error, its position in the name, and alternatives to try.
func WriteProblemHTML(w io.Writer, p *Problem) error {
	page := newPage(p.On)
	page.begin(page.problemTitle(p), p.Answer)
	page.problem(p)
	return page.end(w)
}

func pageTitle(a *nomen.Answer) string {
	s := a.Name.Key()
	if titles := a.Metadata["title"]; len(titles) > 0 {
		s = strings.TrimPrefix(s+": "+titles[0], ": ")
	}
	return s
}

// A page writes HTML.
type page struct {
	b   strings.Builder
	on  Page
	err error // the first error of [page.common]
}

func newPage(on Page) *page {
	on.Site = on.Site.OrDefault(on.Root)
	return &page{on: on}
}

// print writes layout with the values inserted. It escapes the values but not the layout, which
// must be constant.
func (p *page) print(layout string, values ...string) {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = html.EscapeString(shown.Text(v))
	}
	fmt.Fprintf(&p.b, layout, escaped...)
}

func (p *page) t(key string, args ...any) string { return p.on.Site.Plain(key, args...) }

func (p *page) say(key string, args ...any) {
	text, err := p.on.Site.T(key, args...)
	if err != nil {
		p.err = err
		return
	}
	if markup, ok := text.(template.HTML); ok {
		p.b.WriteString(string(markup))
		return
	}
	p.print("%s", fmt.Sprint(text))
}

// heading writes a second-level heading.
func (p *page) heading(key string) { p.print("<h2>%s</h2>\n", p.t(key)) }

func (p *page) markup(write func(*page)) template.HTML {
	inner := &page{on: p.on}
	write(inner)
	return template.HTML(inner.b.String())
}

// code returns s as HTML in a monospaced font.
func (p *page) code(s string) template.HTML {
	return p.markup(func(p *page) { p.print("<code>%s</code>", s) })
}

// english returns an English text as HTML.
func (p *page) english(s string) template.HTML {
	return p.markup(func(p *page) { p.print("<span lang=\"en\">%s</span>", s) })
}

// foreign returns a text in an unknown language as HTML.
func (p *page) foreign(s string) template.HTML {
	return p.markup(func(p *page) { p.print("<span lang=\"\"><bdi>%s</bdi></span>", s) })
}

func (p *page) moment(t time.Time) template.HTML {
	return p.markup(func(p *page) {
		p.print("<time datetime=\"%s\">%s</time>", t.UTC().Format(time.RFC3339Nano), p.on.Site.Texts.Time(t))
	})
}

func (p *page) begin(title string, a *nomen.Answer) {
	var head template.HTML
	if a != nil {
		head = p.markup(func(p *page) {
			p.links(a)
			p.dublinCore(a)
			p.linkedData(a)
		})
	}
	p.common(p.on.Site.Begin(title, head))
}

func (p *page) common(part template.HTML, err error) {
	if err != nil {
		p.err = err
	}
	p.b.WriteString(string(part))
}

func (p *page) end(w io.Writer) error {
	p.common(p.on.Site.End())
	if p.err != nil {
		return p.err
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) links(a *nomen.Answer) {
	switch {
	case a.Name.IsZero():
	case p.on.Base == "":
		p.print("<link rel=\"cite-as\" href=\"%s\">\n", p.nameTarget(a.Name.Key()))
	default:
		for _, l := range p.on.landing(a) {
			p.print("<link rel=\"%s\" href=\"%s\"", l.rel, l.href)
			p.attribute("type", l.kind)
			p.print(">\n")
		}
	}
	for _, l := range Signed(a) {
		if !location.IsLink(l.URL) {
			continue
		}
		for _, rel := range locationRelations(l) {
			if !Inert(rel) {
				continue
			}
			p.print("<link rel=\"%s\" href=\"%s\"", rel, l.URL)
			p.attribute("type", mediaTypeOf(l.Type))
			p.attribute("hreflang", tagOrUnknown(l.Lang))
			p.print(">\n")
		}
	}
	for _, s := range a.Successors {
		p.print("<link rel=\"successor-version\" href=\"%s\">\n", p.nameTarget(s.Key()))
	}
}

func (p *page) attribute(name, value string) {
	if value != "" {
		p.print(" %s=\"%s\"", name, value)
	}
}

// linkedData writes JSON-LD in a script element. Browsers do not run this element, and content
// security policies do not apply to it.
func (p *page) linkedData(a *nomen.Answer) {
	if a.Name.IsZero() {
		return
	}
	if b, err := jsonLD(a); err == nil { // otherwise the page has no linked data
		p.b.WriteString("<script type=\"" + TypeJSONLD + "\">" + string(b) + "</script>\n")
	}
}

// Inert reports whether browsers ignore links with the relation rel in the head of a page or in a
// Link field. It returns false for relations such as stylesheet, icon and prefetch.
func Inert(rel string) bool {
	switch rel {
	case itemRelation, "archive", "archives", "author", "cite-as", "collection", "describedby", "license", "type", successorRelation:
		return true
	}
	return false
}

// nameTarget returns the target of a link to a name. If the name is also a URL that can be
// followed, the target is the name itself. Otherwise the target is the path of the name on the
// server that sent the page. If s is not a URI, nameTarget returns "".
func (p *page) nameTarget(s string) string {
	switch {
	case location.IsLink(s):
		return s
	case isAbsolute(s):
		return p.on.Root + NamePath(s)
	}
	return ""
}

func tagOrUnknown(lang string) string {
	if isLanguageTag(lang) {
		return lang
	}
	return ""
}
