package shown_test

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/shown"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "",
		"plain, größe":                        "plain, größe",
		"  two\r\nlines\t ":                   "two  lines",
		"\x1b[31mred\a\x00\x7f":               "[31mred",
		"a\u202Ebc\uFEFFd":                    "abcd",
		"a\u2028b\u0085c":                     "a b c",
		"\xffa\xc3":                           "a",
		strings.Repeat("x", shown.Most+1):     strings.Repeat("x", shown.Most),
		strings.Repeat("é", shown.Most):       strings.Repeat("é", shown.Most/2),
		"x" + strings.Repeat("é", shown.Most): "x" + strings.Repeat("é", shown.Most/2-1),
	} {
		if got := shown.Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\r\n\x1b[2Jb\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := shown.Line(s)
		if len(got) > shown.Most || strings.ContainsAny(got, "\r\n\x1b\x00") || shown.Line(got) != got {
			t.Errorf("Line(%q) = %q", s, got)
		}
	})
}
