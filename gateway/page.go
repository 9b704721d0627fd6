package gateway

import (
	_ "embed" // for the page
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/site"
)

//go:embed explain.html
var explainPage string

// explainTemplate returns the template for an Explanation, which the first call parses.
var explainTemplate = sync.OnceValues(func() (*template.Template, error) { return ParsePage("explain", explainPage) })

// ParsePage parses the template of a page (see [site.Parse]). In the template, {{link URL}} returns
// a URL that is safe as a link, and "" for any other URL. Without this function, html/template
// permits only http, https and mailto.
func ParsePage(name, text string) (*template.Template, error) {
	return site.Parse(name, text, template.FuncMap{"link": func(s string) template.URL {
		if !location.IsLink(s) {
			return ""
		}
		return template.URL(s)
	}})
}

func herePath(text string) string {
	text, fragment, hasFragment := strings.Cut(text, "#")
	text, q, hasQuery := strings.Cut(text, "?")
	path := format.NamePath(text)
	if hasQuery {
		path += "?" + question.EscapeExcluded(q)
	}
	if hasFragment {
		path += "#" + question.EscapeExcluded(fragment)
	}
	return path
}

// A Page is the page of an Explanation.
type Page struct {
	*Explanation
	*site.Page
}

// English returns an English text as HTML.
func (e Page) English(text string) template.HTML {
	return template.HTML(`<span lang="en">` + template.HTMLEscapeString(shown.Inline(text)) + "</span>")
}

// Code returns a text as HTML in a fixed-width font.
func (e Page) Code(text string) template.HTML {
	return template.HTML("<code>" + template.HTMLEscapeString(shown.Inline(text)) + "</code>")
}

// KindText returns the kind of the identifier in the language of the page.
func (e Page) KindText() (any, error) {
	id := ""
	if len(e.Parts) > 0 { // the first part is the namespace or the scheme
		id = strings.ToLower(e.Parts[0].Value)
	}
	if e.Name.NID() != "" {
		if n, _ := namespace.Lookup(id); n.Name != "" {
			return e.T("kind.namespace-title", e.Code(id), e.English(n.Name))
		}
		return e.T("kind.namespace", e.Code(id))
	}
	if s, _ := extra.Catalogue().Lookup(id); s.Title != "" {
		return e.T("kind.scheme-title", e.Code(id), e.English(s.Title))
	}
	return e.T("kind.scheme", e.Code(id))
}

// Label returns the label of a part of the identifier in the language of the page. The label of a
// part that only one scheme or namespace has is always in English.
func (e Page) Label(part string) template.HTML {
	key := ""
	switch part {
	case "fragment":
		key = "part.fragment"
	case "name within it":
		key = "part.name"
	case "namespace":
		key = "part.namespace"
	case "query":
		key = "part.query"
	case "scheme":
		key = "part.scheme"
	default:
		return e.English(part)
	}
	return template.HTML(template.HTMLEscapeString(e.Plain(key)))
}

// Elsewhere returns the link to another site as HTML. A URL that is not safe to follow does not
// become a link.
func (e Page) Elsewhere() template.HTML {
	if !location.IsLink(e.Link) {
		return e.Code(e.Link)
	}
	u := template.HTMLEscapeString(e.Link)
	return template.HTML(`<a id="elsewhere" rel="noreferrer noopener nofollow external" href="` + u + `">` + u + "</a>")
}

// Here returns the path on this server that resolves the name, or "" if this server does not
// resolve it.
func (e Page) Here() string {
	if !e.Leads() {
		return ""
	}
	return e.Root + herePath(e.Text)
}

// WriteHTML writes the page.
func (e Page) WriteHTML(w io.Writer) error {
	t, err := explainTemplate()
	if err != nil {
		return err
	}
	return t.Execute(w, e)
}

// Ask returns the path of the description of the name on this server, or "" if this server does not
// resolve the name.
func (e Page) Ask() string {
	path, _, _ := strings.Cut(e.Here(), "#")
	path, _, _ = strings.Cut(path, "?")
	if path == "" {
		return ""
	}
	return path + "?s=I2C"
}

// Served returns the prefix of the authority of the name, or "" if it is not served here.
func (e Page) Served() string {
	if e.Authority == nil {
		return ""
	}
	return e.Authority.Prefix.String()
}

// Key returns the key of the name, or "" if the text is not a name.
func (e Page) Key() string { return e.Name.Key() }

// Lines returns the content of the page as lines of plain text.
func (e Page) Lines() []string {
	all := []string{requestlog.Printable(e.Given), ""}
	add := func(name, value string) {
		if value != "" {
			all = append(all, fmt.Sprintf("%-18s %s", name, requestlog.Printable(value)))
		}
	}
	if e.Fault != nil {
		add("error", fmt.Sprintf("%s (offset %d, rule %s)", e.Fault.Message, e.Fault.Offset, e.Fault.Rule))
	}
	add("kind", e.Kind)
	for _, p := range e.Parts {
		add(p.Name, p.Value)
	}
	add("canonical name", e.Key())
	for _, s := range e.Remarks {
		add("note", s)
	}
	for _, f := range e.Meant {
		add("did you mean", f.Name+" ("+f.Value+")")
	}
	add("naming authority", e.Served())
	for _, w := range e.Ways {
		add("looked up at", w.Name+" ("+w.Value+")")
	}
	add("discovery failed", e.NoWay)
	add("path here", e.Here())
	add("external link", e.Link)
	return all
}
