package messages

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/shown"
)

type text struct {
	source string
	parts  []part
}

// A part is a piece of text, or a placeholder for an argument.
type part struct {
	text string
	arg  int // number of the argument, from 1; 0 for a piece of text
}

func parseText(s string) (text, error) {
	t := text{source: s}
	for rest := s; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return t, fmt.Errorf("%q: unexpected }", s)
		}
		if before != "" {
			t.parts = append(t.parts, part{text: before})
		}
		if !found {
			break
		}
		number, after, found := strings.Cut(after, "}")
		n, err := strconv.Atoi(number)
		if !found || err != nil || n < 1 || n > 9 {
			return t, fmt.Errorf("%q: { must begin an argument from {1} to {9}", s)
		}
		t.parts = append(t.parts, part{arg: n})
		rest = after
	}
	return t, nil
}

func (t text) arguments() (n int) {
	for _, p := range t.parts {
		n = max(n, p.arg)
	}
	return n
}

func (t text) plain(args []any) string {
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.text)
		if 0 < p.arg && p.arg <= len(args) {
			b.WriteString(shown.Inline(fmt.Sprint(args[p.arg-1])))
		}
	}
	return b.String()
}

func (t text) markup(args []any) template.HTML {
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(template.HTMLEscapeString(p.text))
		if p.arg == 0 || p.arg > len(args) {
			continue
		}
		if m, ok := args[p.arg-1].(template.HTML); ok {
			b.WriteString(string(m))
		} else {
			b.WriteString(template.HTMLEscapeString(shown.Inline(fmt.Sprint(args[p.arg-1]))))
		}
	}
	return template.HTML(b.String())
}
