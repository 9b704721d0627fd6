package pages

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/shown"
)

//go:embed html
var htmlFiles embed.FS

// A frame is what the layout needs on every page.
type frame struct {
	Lang    string
	Title   string
	Section string    // of the navigation: dashboard, names or new
	User    string    // "" if the client is not signed in
	Style   string    // URL of the style sheet
	Faults  []problem // what is wrong with the input
	Notice  string    // what a change has done
}

// A problem is an entry of the error summary.
type problem struct {
	ID   string // of the field; "" if it is about no field
	Text string
}

// A view is the data of a page.
type view interface{ top() *frame }

func (f *frame) top() *frame { return f }

// Fault returns the text of the first problem of a field, "" if there is none.
func (f *frame) Fault(id string) string {
	for _, p := range f.Faults {
		if p.ID == id {
			return p.Text
		}
	}
	return ""
}

// layouts are the templates of the pages, by name.
type layouts map[string]*template.Template

// parseLayouts parses the layout with the file of each page.
func parseLayouts(texts catalogue) (layouts, error) {
	files, err := htmlFiles.ReadDir("html")
	if err != nil {
		return nil, err
	}
	base, err := template.New("layout.html").Funcs(functions(texts)).Option("missingkey=error").ParseFS(htmlFiles, "html/layout.html", "html/parts.html")
	if err != nil {
		return nil, err
	}
	all := layouts{}
	for _, f := range files {
		page := strings.TrimSuffix(f.Name(), ".html")
		if page == "layout" || page == "parts" {
			continue
		}
		t, err := base.Clone()
		if err == nil {
			_, err = t.ParseFS(htmlFiles, "html/"+f.Name())
		}
		if err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
		all[page] = t
	}
	return all, nil
}

// functions returns the functions of the templates.
func functions(texts catalogue) template.FuncMap {
	return template.FuncMap{
		"t":       texts.lookup,
		"name":    namePath,
		"line":    shown.Inline,
		"text":    shown.Text,
		"isLink":  location.IsLink,
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"human":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
		"field":   newFieldView,
		"add":     func(a, b int) int { return a + b },
	}
}

// namePath returns the path of the page of a name.
func namePath(spelling string) string { return Root + "name/" + adminapi.EscapeName(spelling) }

// show sends a page. It shows the error page if the template fails.
func (c *request) show(status int, page string, v view) {
	f := v.top()
	f.Lang, f.Style = "en", staticPath+styleName()
	if c.session != nil {
		f.User = shown.Inline(c.session.Name)
	}
	var b bytes.Buffer
	if err := c.layouts[page].Execute(&b, v); err != nil {
		c.log.Error("page failed", "page", page, "err", err)
		http.Error(c.w, c.texts.text("error.failed"), http.StatusInternalServerError)
		return
	}
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(b.Bytes()) // an error means that the client is gone
	}
}
