package pages

import (
	"html/template"
	"time"

	"github.com/nomen-project/nomen/internal/messages"
	"github.com/nomen-project/nomen/internal/shown"
)

// The functions in this file return HTML elements for use as arguments of a message.

// timeElement returns a time as an HTML element that includes a machine-readable form.
func timeElement(c *messages.Catalogue, t time.Time) template.HTML {
	return template.HTML(`<time datetime="` + machineTime(t) + `">` + template.HTMLEscapeString(c.Time(t)) + `</time>`)
}

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// isolated returns text from a user as an HTML element that does not change the direction of the
// surrounding text.
func isolated(text string) template.HTML {
	return template.HTML("<bdi>" + template.HTMLEscapeString(shown.Inline(text)) + "</bdi>")
}

func codeElement(text string) template.HTML { return "<code>" + isolated(text) + "</code>" }

// meElement returns the name of the user who is signed in, as a link to the user's own page.
func meElement(name string) template.HTML {
	return `<a href="` + Root + `me">` + isolated(name) + `</a>`
}

func whoElement(texts *messages.Catalogue, name, id string) template.HTML {
	switch {
	case name != "":
		return isolated(brief(name)) + template.HTML(` <span class="dim">`+template.HTMLEscapeString(shown.Inline(id))+`</span>`)
	case id != "":
		return isolated(brief(id))
	}
	return template.HTML(template.HTMLEscapeString(texts.Text("history.operator")))
}
