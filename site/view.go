package site

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/nomen-project/nomen/internal/messages"
	"github.com/nomen-project/nomen/internal/shown"
)

//go:embed style.css
var styleSheet string

//go:embed layout.html
var layout string

//go:embed messages
var catalogues embed.FS

var readTexts = sync.OnceValues(func() (*messages.Set, error) { return messages.Read(catalogues, "messages/", "en", "de", "fr", "fi") })

// Default returns a site with empty settings.
var Default = sync.OnceValue(func() *Site {
	s, err := New(Settings{})
	if err != nil {
		panic(err) // impossible, as a test shows
	}
	return s
})

// Texts returns the texts of the pages in all languages.
func (s *Site) Texts() *messages.Set { return s.texts }

// Page returns a page in the default language. The parameter root is the path of the server on its
// host, without a final slash.
func (s *Site) Page(root string) *Page { return &Page{Site: s, Root: root, Texts: s.texts.All()[0]} }

// A Page is the common part of a public page. It provides the header, the footer and the texts in
// the language of the page.
type Page struct {
	*Site
	Root    string // path of the server on its host, without a slash at its end
	Texts   *messages.Catalogue
	Version string // of the program, for the footer; may be ""
	Target  string // path below Root to which the client returns after choosing a language; "" means that it cannot choose
	noLogo  bool
}

// In sets the texts of the page, and so its language. It returns p.
func (p *Page) In(texts *messages.Catalogue) *Page {
	p.Texts = texts
	return p
}

// WithoutLogo makes the page show the name of the site without the logo, and returns p. Use it for
// a page that is shown at the URL of another server, because the logo is not available there.
func (p *Page) WithoutLogo() *Page {
	p.noLogo = true
	return p
}

// OrDefault returns p. If p is nil, it returns a page of the [Default] site.
func (p *Page) OrDefault(root string) *Page {
	if p == nil {
		return Default().Page(root)
	}
	return p
}

// T returns the message for a key in the language of the page. If an argument is a [template.HTML],
// the result is a [template.HTML] as well.
func (p *Page) T(key string, args ...any) (any, error) { return p.Texts.Lookup(key, args...) }

// Plain is like [Page.T], but always returns plain text.
func (p *Page) Plain(key string, args ...any) string { return p.Texts.Text(key, args...) }

// SiteName returns the name of the site.
func (p *Page) SiteName() string { return cmp.Or(p.settings.Name, p.Plain("site.name")) }

// Footer returns the configured sentence for the footer of the page, or "".
func (p *Page) Footer() string { return p.settings.Footer }

// Links returns the configured links for the footer of the page.
func (p *Page) Links() []Link { return p.settings.Links }

// Style returns the style sheet of the page.
func (p *Page) Style() template.CSS { return template.CSS(p.style) }

// LogoURL returns the URL path of the logo, or "" if the page shows no logo.
func (p *Page) LogoURL() string {
	if p.logo == nil || p.noLogo {
		return ""
	}
	return p.Root + p.logo.Path()
}

// common returns the templates for [Page.Begin] and [Page.End].
var common = sync.OnceValues(parseLayout)

func parseLayout() (*template.Template, error) {
	return template.New("site").Funcs(functions()).Parse(layout)
}

func functions() template.FuncMap {
	return template.FuncMap{
		"line": shown.Inline, "contact": ContactText,
		"link": func(s string) template.URL {
			if !isLink(s) {
				return ""
			}
			return template.URL(s)
		},
	}
}

// Parse parses the template of a page. The template must begin with {{template "begin" .}}, which
// writes the HTML head up to the title. After that, it must contain {{template "head" .}} and
// finally {{template "end" .}}. The data for the template must embed a [*Page].
func Parse(name, text string, more template.FuncMap) (*template.Template, error) {
	t, err := parseLayout() // a template cannot be cloned after it was executed
	if err == nil {
		t, err = t.New(name).Funcs(more).Parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	return t, nil
}

// A part is the data for the templates of [common].
type part struct {
	*Page
	Title string
	Head  template.HTML
}

// Begin returns the beginning of the page up to its main part. The parameter head contains
// additional elements for the HTML head.
func (p *Page) Begin(title string, head template.HTML) (template.HTML, error) {
	return p.execute("whole", part{p, title, head})
}

// End returns the end of the page after its main part.
func (p *Page) End() (template.HTML, error) { return p.execute("end", part{Page: p}) }

func (p *Page) execute(name string, data part) (template.HTML, error) {
	t, err := common()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("site: %w", err)
	}
	return template.HTML(b.String()), nil
}
