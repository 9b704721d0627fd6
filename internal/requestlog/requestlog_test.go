package requestlog

import (
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":              "plain text",
		"a\r\nb":                  `a\x0d\x0ab`,
		"\x1b[2J\x7f\x80":         `\x1b[2J\x7f\x80`,
		`a\b`:                     `a\x5cb`,
		strings.Repeat("a", 5000): strings.Repeat("a", maxLogged) + "...",
		"\u202e" + "abc":          `\xe2\x80\xaeabc`,
		"":                        "",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%.40q) = %.80q, want %.80q", in, got, want)
		}
	}
}
