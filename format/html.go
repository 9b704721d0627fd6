package format

import (
	_ "embed" // for the style
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
)

// ContentSecurityPolicy is the policy to send with the pages of this package. It allows only
// their own style sheet.
const ContentSecurityPolicy = "default-src 'none'; style-src '" + styleHash + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// styleHash is the digest of the style sheet in the policy's notation.
const styleHash = "sha256-NOKs/NUvtlkHFzErtAlboNsvQ6+3PtgTrLeOF+6j8cM="

//go:embed page.css
var style string

// writeHTML writes a page about an answer for people: the name, what it identifies, its locations
// and its metadata. The locations (for a service about names, the names) are an unordered list of
// links, as clients of RFC 2169 expect. Names link to their path on the server that sent the page.
// The head has the same data for programs, as links, as Dublin Core and as JSON-LD. The page runs
// no script and loads nothing.
func writeHTML(w io.Writer, a *nomen.Answer, on Page) error {
	p := page{on: on}
	p.begin(pageTitle(a), a)
	p.memento(on.Past)
	p.answer(a, "h1")
	p.revisions(on.Past)
	return p.end(w)
}

// WriteProblemHTML writes a page about p for people: what is wrong, where, and what to try
// instead.
func WriteProblemHTML(w io.Writer, p *Problem) error {
	page := page{on: Page{Root: p.Root}}
	page.begin(problemTitle(p), p.Answer)
	page.problem(p)
	return page.end(w)
}

func pageTitle(a *nomen.Answer) string {
	s := a.Name.Key()
	if titles := a.Metadata["title"]; len(titles) > 0 {
		s = strings.TrimPrefix(s+": "+titles[0], ": ")
	}
	return orDefault(s, "Answer")
}

func problemTitle(p *Problem) string { return orDefault(p.Title, "No answer") }

// A page is HTML under construction.
type page struct {
	b  strings.Builder
	on Page
}

// print writes a layout with values inserted. It escapes the values. Layouts must be constants.
func (p *page) print(layout string, values ...string) {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = html.EscapeString(shown.Text(v))
	}
	fmt.Fprintf(&p.b, layout, escaped...)
}

// begin writes the head of a page. If a is not nil, the head has the links of the answer a.
func (p *page) begin(title string, a *nomen.Answer) {
	p.print(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s</title>
`, shown.Inline(title))
	if a != nil {
		p.links(a)
		p.dublinCore(a)
		p.linkedData(a)
	}
	p.b.WriteString("<style>" + style + "</style>\n</head>\n<body>\n<main>\n")
}

func (p *page) end(w io.Writer) error {
	p.print("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, p.b.String())
	return err
}

// links writes the links of an answer that programs read.
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

// linkedData writes the output of writeJSONLD as a data block, which browsers do not run and
// policies do not forbid.
func (p *page) linkedData(a *nomen.Answer) {
	if a.Name.IsZero() {
		return
	}
	if b, err := jsonLD(a); err == nil { // on error the page has no linked data
		p.b.WriteString("<script type=\"" + TypeJSONLD + "\">" + string(b) + "</script>\n")
	}
}

// answer writes everything about an answer, under a heading element.
func (p *page) answer(a *nomen.Answer, heading string) {
	if !a.Name.IsZero() {
		p.print("<"+heading+">%s</"+heading+">\n", a.Name.Key())
	}
	if kind := kindOf(a.Name); kind != "" {
		p.print("<p><small>%s</small></p>\n", kind)
	}
	if titles := a.Metadata["title"]; len(titles) > 0 {
		p.print("<p class=\"lead\" lang=\"\"><bdi>%s</bdi></p>\n", titles[0])
	}
	p.tombstone(a)
	if !aboutNames(a.Service) && a.Status != nomen.Retired || len(a.Locations) > 0 {
		p.print("<h2>Locations</h2>\n")
		p.locations(a.Locations)
	}
	if aboutNames(a.Service) || len(a.Names) > 0 {
		p.print("<h2>Other names</h2>\n")
		p.names(a.Names)
	}
	p.facts(a)
	p.why(a.Why)
}

// tombstone says that a name was retired, why, and what to use instead.
func (p *page) tombstone(a *nomen.Answer) {
	if a.Status == nomen.Retired {
		p.print("<div class=\"banner\" role=\"note\">\n<p><strong>This name was retired.</strong>")
		if a.Reason != "" {
			p.print(" Reason: <span lang=\"\"><bdi>%s</bdi></span>", a.Reason)
		}
		p.print("</p>\n")
		if len(a.Successors) > 0 {
			p.print("<p>Use instead:</p>\n")
			p.names(keys(a.Successors))
		}
		p.print("</div>\n")
	}
	if a.Redirect != "" {
		p.print("<p>Redirects to:</p>\n")
		p.names([]string{a.Redirect})
	}
}

// locations writes the list that RFC 2169 requires.
func (p *page) locations(all []nomen.Location) {
	if len(all) == 0 {
		p.print("<p>No location is known.</p>\n")
		return
	}
	p.print("<UL>")
	for _, l := range all {
		p.print("<LI>")
		if location.IsLink(l.URL) {
			p.link(l.URL, l.URL)
		} else {
			p.print("<code>%s</code>", l.URL)
		}
		if about := aboutLocation(l); about != "" {
			p.print("<br>\n<small>%s</small>", about)
		}
		if l.Note != "" {
			p.print("\n<p class=\"note\" lang=\"%s\"><bdi>%s</bdi></p>", tagOrUnknown(l.Lang), l.Note)
		}
		p.print("</LI>\n")
	}
	p.print("</UL>\n")
}

// link writes a link. The attribute HREF comes first, because simple clients search for "<A HREF=".
func (p *page) link(target, text string) { p.print(`<A HREF="%s">%s</A>`, target, text) }

func (p *page) names(all []string) {
	if len(all) == 0 {
		p.print("<p>No other name is known.</p>\n")
		return
	}
	p.print("<UL>")
	for _, s := range all {
		p.print("<LI>")
		p.name(s)
		p.print("</LI>\n")
	}
	p.print("</UL>\n")
}

// name writes a name, as a link if possible.
func (p *page) name(s string) {
	if target := p.nameTarget(s); target != "" {
		p.link(target, s)
		return
	}
	p.print("<code>%s</code>", s)
}

// facts writes the fields that are not shown elsewhere on the page. If a field has several values,
// they have one label.
func (p *page) facts(a *nomen.Answer) {
	p.print("<h2>About this name</h2>\n<dl>\n")
	last := ""
	for _, f := range describe(a) {
		if elsewhere(f, a) {
			continue
		}
		if f.name != last {
			p.print("<dt>%s</dt>", label(f.name))
			last = f.name
		}
		p.fact(f)
	}
	p.print("</dl>\n")
}

// elsewhere reports whether the page shows f above the facts.
func elsewhere(f field, a *nomen.Answer) bool {
	switch f.name {
	case "name":
		return a.Spelling == ""
	case "key", "same-as", "redirect", "reason":
		return true
	case "title":
		return f.value == a.Metadata["title"][0]
	case "successor":
		return a.Status == nomen.Retired
	}
	return false
}

func (p *page) fact(f field) {
	switch f.name {
	case "successor":
		p.print("<dd>")
		p.name(f.value)
		p.print("</dd>\n")
	case "modified":
		p.print("<dd><time datetime=\"%s\">%s</time></dd>\n", f.value, f.value)
	default:
		p.print("<dd lang=\"\"><bdi>%s</bdi></dd>\n", f.value)
	}
}

func (p *page) why(steps []string) {
	if len(steps) == 0 {
		return
	}
	p.print("<h2>Explanation</h2>\n<ol>\n")
	for _, s := range steps {
		p.print("<li>%s</li>\n", s)
	}
	p.print("</ol>\n")
}

// problem writes what is wrong, where, and what to do next.
func (p *page) problem(e *Problem) {
	p.print("<h1>%s</h1>\n", problemTitle(e))
	if e.Name != "" && e.Answer == nil {
		p.print("<p>")
		p.offender(e)
		p.print("</p>\n")
	}
	p.reason(e)
	if path := p.on.Root + NamePath(e.Name); e.Kind() == nomen.NoResult && p.nameTarget(e.Name) == path {
		p.print("<p>")
		p.link(path+"?s=I2C", "Show its description")
		p.print("</p>\n")
	}
	if len(e.Suggestions) > 0 {
		p.print("<h2>Did you mean</h2>\n")
		p.names(e.Suggestions)
	}
	if len(e.Available) > 0 {
		p.print("<h2>Available formats</h2>\n<ul>\n")
		for _, s := range e.Available {
			p.print("<li><code>%s</code></li>\n", s)
		}
		p.print("</ul>\n")
	}
	if e.Answer != nil {
		p.answer(e.Answer, "h2")
	}
	p.why(e.Why)
	if e.Status != 0 {
		p.print("<footer><p>Status %s</p></footer>\n", fmt.Sprint(e.Status))
	}
}

// reason writes what is wrong, where, and what to do next.
func (p *page) reason(e *Problem) {
	if e.Detail != "" && !e.repeats() {
		p.print("<div class=\"banner\" role=\"alert\"><p><bdi>%s</bdi></p></div>\n", e.Detail)
	}
	if e.Kind() == nomen.Malformed {
		p.print("<p>Error at offset %s", fmt.Sprint(e.Offset))
		if e.Rule != "" {
			p.print(", rule <code>%s</code>", e.Rule)
		}
		p.print(".</p>\n")
	}
	if e.Legal {
		p.print("<p>This is for legal reasons.</p>\n")
	}
	if next := e.nextStep(); next != "" {
		p.print("<p>%s</p>\n", next)
	}
}

// offender writes the name in the question. If the name is malformed, it marks the error.
func (p *page) offender(e *Problem) {
	if e.Kind() != nomen.Malformed || e.Offset < 0 || e.Offset > len(e.Name) {
		p.print("<code>%s</code>", e.Name)
		return
	}
	before, at, after := around(e.Name, e.Offset)
	p.print("<code>%s<mark>%s</mark>%s</code>", before, orDefault(at, "\u2423"), after)
}

// around splits s into the part before the character at an offset, the character, and the part
// after it.
func around(s string, offset int) (before, at, after string) {
	before, rest := s[:offset], s[offset:]
	for i := range rest {
		if i > 0 {
			return before, rest[:i], rest[i:]
		}
	}
	return before, rest, ""
}

// Inert reports whether browsers ignore a link of this relation in the head of a page or
// response. Browsers do act on other relations, such as stylesheet, icon and prefetch.
func Inert(rel string) bool {
	switch rel {
	case itemRelation, "archive", "archives", "author", "cite-as", "collection", "describedby", "license", "type", successorRelation:
		return true
	}
	return false
}

// nameTarget returns the target of a link to a name. If the name is also a location, the target is
// the name itself. Otherwise it is the path of the name on the server that sent the page. If the
// name is not a URI, nameTarget returns "".
func (p *page) nameTarget(s string) string {
	switch {
	case location.IsLink(s):
		return s
	case isAbsolute(s):
		return p.on.Root + NamePath(s)
	}
	return ""
}

// tagOrUnknown returns a language tag for the attribute lang, in which "" means unknown.
func tagOrUnknown(lang string) string {
	if isLanguageTag(lang) {
		return lang
	}
	return ""
}
