package format

import (
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/shown"
)

// WriteText writes an answer as text for people (draft of 1995, section 3.4.4). Its layout may
// change, so programs should use another format.
func WriteText(w io.Writer, a *nomen.Answer) error {
	var p plain
	p.answer(a)
	return p.end(w)
}

// writeProblemText writes p as text for people.
func writeProblemText(w io.Writer, p *Problem) error {
	var out plain
	out.problem(p)
	return out.end(w)
}

// A plain writes text with LF line endings.
type plain struct{ b strings.Builder }

// line writes the concatenation of the values, with all of its lines indented.
func (p *plain) line(indent int, values ...string) {
	margin := strings.Repeat(" ", indent)
	s := shown.Text(strings.Join(values, ""))
	p.b.WriteString(margin + strings.ReplaceAll(s, "\n", "\n"+margin) + "\n")
}

func (p *plain) end(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	return err
}

// answer writes an answer. The locations or names precede most other data, because the client asked
// for them (draft of 1995, section 6C).
func (p *plain) answer(a *nomen.Answer) {
	p.line(0, orDefault(spelling(a), "Answer"))
	if kind := kindOf(a.Name).String(); kind != "" {
		p.line(0, kind)
	}
	for _, s := range a.Metadata["title"] {
		p.line(0, s)
	}
	if aboutNames(a.Service) {
		p.heading(len(a.Names), "Other names:", "No other name is known.")
		for _, s := range a.Names {
			p.line(2, s)
		}
	} else if a.Raw == nil && a.Status != nomen.Retired || len(a.Locations) > 0 {
		p.heading(len(a.Locations), "Locations:", "No location is known.")
		p.locations(a.Locations)
	}
	p.b.WriteByte('\n')
	p.facts(a)
	p.raw(a.Raw)
	for i, s := range a.Why {
		if i == 0 {
			p.line(0, "\nExplanation:")
		}
		p.line(2, s)
	}
}

func (p *plain) heading(n int, some, none string) {
	if n == 0 {
		some = none
	}
	p.line(0, "\n"+some)
}

func (p *plain) locations(all []nomen.Location) {
	for _, l := range all {
		p.line(2, l.URL)
		if about := aboutLocation(l); about != "" {
			p.line(6, about)
		}
		if l.Note != "" {
			p.line(6, l.Note)
		}
	}
}

// facts writes the fields of the description that have not been written before.
func (p *plain) facts(a *nomen.Answer) {
	for _, f := range describe(a) {
		switch {
		case f.name == "name", f.name == "title", f.name == "same-as" && aboutNames(a.Service):
			continue
		}
		p.line(0, fmt.Sprintf("%-14s ", shown.Inline(label(f.name))+":"), strings.ReplaceAll(shown.Lines(f.value), "\n", "\n  "))
	}
}

// raw writes a description of an unstructured result, and its lines if it is text.
func (p *plain) raw(r *nomen.Raw) {
	if r == nil {
		return
	}
	p.line(0, "\nThe resolver sent ", r.String(), ":")
	if text, ok := RawText(r); ok {
		p.line(2, strings.TrimRight(shown.Lines(text), "\n"))
	}
}

func (p *plain) problem(e *Problem) {
	p.line(0, orDefault(e.Title, "No answer"), ".")
	if e.Name != "" && e.Answer == nil {
		p.line(2, shown.Inline(e.Name))
	}
	if e.Detail != "" && !e.repeats() {
		p.line(0, e.Detail)
	}
	if e.Kind() == nomen.Malformed {
		p.line(0, fmt.Sprintf("Error at offset %d, rule %s.", e.Offset, orDefault(e.Rule, "of names")))
	}
	if e.Legal {
		p.line(0, "This is for legal reasons.")
	}
	if next := e.nextStep(); next != "" {
		p.line(0, next)
	}
	p.block("Did you mean:", e.Suggestions)
	p.block("Available formats:", e.Available)
	p.block("Explanation:", e.Why)
	if e.Answer != nil {
		p.b.WriteByte('\n')
		p.answer(e.Answer)
	}
}

func (p *plain) block(heading string, all []string) {
	for i, s := range all {
		if i == 0 {
			p.line(0, "\n"+heading)
		}
		p.line(2, shown.Inline(s))
	}
}

func label(name string) string {
	switch name {
	case "key":
		return "Canonical form"
	case "same":
		return "Same resource"
	case "redirect":
		return "Redirects to"
	case "max-age":
		return "Seconds valid"
	case "same-as":
		return "Also named"
	case "modified":
		return "Last changed"
	}
	name = strings.TrimPrefix(name, foreign)
	if name != "" && ascii.IsLetter(name[0]) {
		return strings.ToUpper(name[:1]) + name[1:]
	}
	return name
}

// aboutLocation returns the properties of a location on one line, without its URL and note.
func aboutLocation(l nomen.Location) string {
	var all []string
	add := func(before, s string) {
		if s != "" {
			all = append(all, before+shown.Inline(s))
		}
	}
	add("", l.Type)
	add("language ", l.Lang)
	if l.Rel != itemRelation {
		add("", l.Rel)
	}
	add("component ", l.Component)
	add("in ", l.Country)
	add("from ", l.ValidFrom)
	add("until ", l.ValidUntil)
	if l.Down {
		add("", "currently unavailable")
	}
	return strings.Join(all, ", ")
}
