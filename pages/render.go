package pages

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/messages"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/registrar"
)

//go:embed html
var htmlFiles embed.FS

// A frame has the data for the layout, which all pages share.
type frame struct {
	Lang    string
	Choices []languageChoice // languages that can be chosen
	Here    string           // path of this page; "" if input on the page would be lost
	said    map[string]bool  // texts of the pages that were used so far
	Title   string
	Section string    // section of the navigation: dashboard, names or new
	User    string    // "" if the client is not signed in
	Style   string    // URL of the style sheet
	Faults  []problem // errors in the input
	Notice  string    // confirmation of a change
	Refresh bool      // the browser reloads the page every few seconds

	actor registrar.Actor // the user who is signed in
}

func (f *frame) SeesUsers() bool { return f.actor.MayAny(registrar.Owner) }

func (f *frame) SeesTokens() bool { return f.actor.MayAll(registrar.Administrator) }

func (f *frame) Imports() bool { return f.actor.MayAny(registrar.Editor) }

// Days returns the number of days that a request waits for a second person.
func (*frame) Days() int { return int(adminapi.ApprovalTime / (24 * time.Hour)) }

// A problem is an entry of the error summary.
type problem struct {
	ID   string // ID of the field, or ""
	Text string
}

// A view is the data of a page.
type view interface{ top() *frame }

func (f *frame) top() *frame { return f }

// LangOf returns the language of a text about the input. A text that is not in the catalogue is a
// message of the API, which is in English.
func (f *frame) LangOf(text string) string {
	if f.said[text] {
		return f.Lang
	}
	return "en"
}

func (f *frame) Fault(id string) string {
	for _, p := range f.Faults {
		if p.ID == id {
			return p.Text
		}
	}
	return ""
}

// layouts are the templates of the pages in one language. The template of a page is parsed when the
// page is first shown. All templates together have half a million objects on the heap, most of
// which are never used but would slow the garbage collector down. layouts is safe for concurrent
// use.
type layouts struct {
	base *template.Template // the layout of every page

	mu     sync.Mutex
	parsed map[string]*template.Template
}

func parseLayouts(texts *messages.Catalogue) (*layouts, error) {
	base, err := template.New("layout.html").Funcs(functions(texts)).Option("missingkey=error").ParseFS(htmlFiles, "html/layout.html", "html/parts.html")
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return &layouts{base: base, parsed: map[string]*template.Template{}}, nil
}

func (l *layouts) page(name string) (*template.Template, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.parsed[name]; t != nil {
		return t, nil
	}
	t, err := l.base.Clone()
	if err == nil {
		_, err = t.ParseFS(htmlFiles, "html/"+name+".html")
	}
	if err != nil {
		return nil, err
	}
	l.parsed[name] = t
	return t, nil
}

func functions(texts *messages.Catalogue) template.FuncMap {
	return template.FuncMap{
		"t":       texts.Lookup,
		"name":    namePath,
		"user":    userPath,
		"policy":  authorityPath,
		"line":    shown.Inline,
		"brief":   brief,
		"isBrief": isBrief,
		"part":    part,
		"isWhole": isWhole,
		"few":     newFewDifferences,
		"fewOf":   newFewVersions,
		"scope":   newFewPrefixes,
		"text":    shown.Text,
		"isLink":  location.IsLink,
		"machine": machineTime,
		"time":    func(t time.Time) template.HTML { return timeElement(texts, t) },
		"human":   texts.Time,
		"refusal": func(r bulk.Refusal) string { return refusalText(texts, r) },
		"problem": func(p *adminapi.Problem) string { return problemText(texts, p) },
		"key":     adminapi.NewJobID, // for a form; see [sentForms]
		"who":     func(name, id string) template.HTML { return whoElement(texts, name, id) },
		"bdi":     isolated,
		"me":      meElement,
		"code":    codeElement,
		"number":  texts.Number,
		"day":     texts.Day,
		"field":   newFieldView,
		"spans":   spans,
		"add":     func(a, b int) int { return a + b },
	}
}

const maxBrief = 200

// brief shortens a text for a list. The page of the listed item shows the whole text.
func brief(text string) string { return shown.Short(text, maxBrief) }

func isBrief(text string) bool { return len(text) <= maxBrief }

// maxRowBytes is the maximum total size of long texts in a list, such as the URLs of names.
const maxRowBytes = 40_000

// fitting returns how many rows of a list fit on a page. It returns at most limit, and fewer if the
// texts are long, but at least one.
func fitting[T any](list []T, limit int, size func(T) int) int {
	total := 0
	for i, row := range list {
		if total += size(row); i == limit || i > 0 && total > maxRowBytes {
			return i
		}
	}
	return len(list)
}

func briefSize(text string) int { return len(html.EscapeString(brief(text))) }

func namePath(spelling string) string { return Root + "name/" + adminapi.EscapeName(spelling) }

// show sends a page. If the template fails, it sends the error page.
func (c *request) show(status int, page string, v view) {
	f := v.top()
	f.Lang, f.Choices, f.Here, f.Style = c.texts.Tag(), c.languages(), c.here(), staticPath+styleName()
	f.said = c.texts.said
	c.texts.Describe(c.w.Header())
	if c.session != nil {
		f.User, f.actor = shown.Inline(c.session.Name), c.session.Actor
	}
	var b bytes.Buffer
	t, err := c.layouts.page(page)
	if err == nil {
		err = t.Execute(&b, v)
	}
	if err != nil {
		c.log.Error("page failed", "page", page, "err", err)
		http.Error(c.w, c.texts.text("error.failed"), http.StatusInternalServerError)
		return
	}
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(b.Bytes()) // after an error, the client is gone
	}
}
