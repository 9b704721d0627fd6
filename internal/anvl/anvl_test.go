package anvl

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []Element
	}{
		{"", nil},
		{"_target: https://example.org/1", []Element{{"_target", "https://example.org/1"}}},
		{"a: 1\r\nb: 2\rc: 3\nd:4", []Element{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}},
		{"# comment\na:1\n# b: 2\n c", []Element{{"a", "1 c"}}},
		{"a:\n b\n\t c \n \n d", []Element{{"a", "b c d"}}},
		{"a: b\n\nc: d\n", []Element{{"a", "b"}, {"c", "d"}}},
		{"erc.what: 100%25 sure", []Element{{"erc.what", "100% sure"}}},
		{"a%3Ab: c:d", []Element{{"a:b", "c:d"}}},
		{"a: x%0ay%0D%0a", []Element{{"a", "x\ny"}}}, // white space at the end is not part of the value
		{"a: Proust%3A Marcel", []Element{{"a", "Proust: Marcel"}}},
		{"a: %C3%A9t\u00e9", []Element{{"a", "été"}}},
		{"a:", []Element{{"a", ""}}},
		{"\u00a0a:b", nil}, // begins with white space, but there is no line before it to continue
	} {
		got, err := Parse(tt.text)
		if tt.text[:min(1, len(tt.text))] == "\xc2" {
			if wantErr := (&Error{1, 1, NoLabel}); err == nil || *err.(*Error) != *wantErr {
				t.Errorf("Parse(%q) = %v, want %v", tt.text, err, wantErr)
			}
			continue
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Parse(%q) = %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Error
	}{
		{"a: 100%", Error{1, 7, BadEscape}},
		{"a: %4", Error{1, 4, BadEscape}},
		{"a: %zz", Error{1, 4, BadEscape}},
		{"a: b\n c%", Error{2, 3, BadEscape}},
		{"a%: b", Error{1, 2, BadEscape}},
		{"a: b\nno colon", Error{2, 1, NoColon}},
		{"a: b\r\n: c", Error{2, 1, EmptyLabel}},
		{"%20: c", Error{1, 1, EmptyLabel}},
		{"a: b\n\na: c", Error{3, 1, Repeated}},
		{"a: b\n%61: c", Error{2, 1, Repeated}},
		{" a", Error{1, 1, NoLabel}},
		{"a: b\n\n c", Error{3, 1, NoLabel}},
		{"a: b\n\n \n", Error{3, 1, NoLabel}},
		{"a: \xff", Error{1, 4, NotUTF8}},
		{"a: %ff", Error{1, 1, NotUTF8}},
	} {
		got, err := Parse(tt.text)
		var e *Error
		if !errors.As(err, &e) || *e != tt.want {
			t.Errorf("Parse(%q) = %q, %v, want the error %v", tt.text, got, err, &tt.want)
		}
	}
}

func TestAppendElement(t *testing.T) {
	for _, tt := range []struct{ label, value, want string }{
		{"erc.what", "100% sure", "erc.what: 100%25 sure\n"},
		{"a:b%", "c:d", "a%3Ab%25: c:d\n"},
		{"a\n", "x\r\ny", "a%0A: x%0D%0Ay\n"},
		{"a", "", "a: \n"},
		{"#a#", "#", "%23a#: #\n"},
		{"who", "Müller", "who: Müller\n"},
	} {
		if got := string(AppendElement(nil, tt.label, tt.value)); got != tt.want {
			t.Errorf("AppendElement(%q, %q) = %q, want %q", tt.label, tt.value, got, tt.want)
		}
	}
}

// The time to parse a value of very many lines is proportional to its length.
func TestManyLines(t *testing.T) {
	const lines = 300_000
	got, err := Parse("a: b\n" + strings.Repeat(" c\n", lines))
	if err != nil || len(got) != 1 || len(got[0].Value) != 1+2*lines {
		t.Errorf("Parse: %d elements, %v", len(got), err)
	}
}

// FuzzParse checks that what Parse accepts is read back equal after it is written, and that what is
// written has one line for each element.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: b\n", "a%3A: 100%25\r\n c", "# x\n\na:\n b%0a", "\u00a0", "a: b\n\x1c c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Parse(text)
		if err != nil {
			return
		}
		var b []byte
		for _, e := range all {
			b = AppendElement(b, e.Label, e.Value)
		}
		if n := strings.Count(string(b), "\n"); n != len(all) {
			t.Errorf("%q has %d lines for %d elements", b, n, len(all))
		}
		if again, err := Parse(string(b)); err != nil || !slices.Equal(again, all) {
			t.Errorf("Parse(%q) = %q; written as %q and read again: %q, %v", text, all, b, again, err)
		}
	})
}
