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

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"a\r\nb\rc\n\n\td, größe": "a\nb\nc\n\n\td, größe",
		"\x1b[31mred\a\x00\x7f":   "[U+001B][31mred[U+0007][U+0000][U+007F]",
		"a\u202Eb\u2066c\uFEFF":   "a[U+202E]b[U+2066]c[U+FEFF]",
		"\u009b2J\u2028":          "[U+009B]2J[U+2028]",
		"\xffa\xc3":               "\uFFFDa\uFFFD",
		"a\uFFFEb\uFFFF":          "a[U+FFFE]b[U+FFFF]",
		"\u05d0\u200d":            "\u05d0\u200d",
	} {
		if got := shown.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := shown.Inline("a\r\n\tb\u202ec\n"), "a b[U+202E]c"; got != want {
		t.Errorf("Inline: got %q, want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"plain \n"}`:        `{"a":"plain \n"}`,
		"{\"a\":\"größe\u202e\"}": `{"a":"größe\u202e"}`,
		"\"\u009b\x7f\ufeff\"\n":  "\"\\u009b\\u007f\\ufeff\"\n",
	} {
		if got := string(shown.JSON([]byte(in))); got != want {
			t.Errorf("JSON(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWriter(t *testing.T) {
	const in = "a\r\nb\u202e\x1b[2Jé\rc\xff\u00e9\xe2\x80"
	want := shown.Text(in)
	for size := 1; size <= len(in); size++ {
		var b strings.Builder
		w := shown.NewWriter(&b)
		for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
			if n, err := w.Write([]byte(rest[:min(size, len(rest))])); err != nil || n != min(size, len(rest)) {
				t.Fatalf("Write: got %d, %v", n, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != want {
			t.Errorf("in pieces of %d: got %q, want %q", size, got, want)
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
