package ascii

import (
	"strings"
	"testing"
)

// Each function agrees with a list of the characters for every byte.
func TestClasses(t *testing.T) {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	for _, tt := range []struct {
		name  string
		is    func(byte) bool
		chars string
	}{
		{"IsDigit", IsDigit, digits},
		{"IsLetter", IsLetter, lower + upper},
		{"IsUpper", IsUpper, upper},
		{"IsLower", IsLower, lower},
		{"IsAlnum", IsAlnum, digits + lower + upper},
		{"IsHex", IsHex, digits + "abcdefABCDEF"},
		{"IsToken", IsToken, digits + lower + upper + "!#$%&'*+-.^_`|~"},
		{"IsPchar", IsPchar, digits + lower + upper + "-._~!$&'()*+,;=:@"},
	} {
		for c := range 256 {
			if got, want := tt.is(byte(c)), strings.IndexByte(tt.chars, byte(c)) >= 0; got != want {
				t.Errorf("%s(%q) = %v, want %v", tt.name, byte(c), got, want)
			}
		}
	}
}

func TestConversions(t *testing.T) {
	for c := range 256 {
		b := byte(c)
		lower, upper := b, b
		if c < 0x80 {
			lower, upper = strings.ToLower(string(rune(c)))[0], strings.ToUpper(string(rune(c)))[0]
		}
		if Lower(b) != lower || Upper(b) != upper {
			t.Errorf("Lower(%q) = %q, Upper = %q; want %q and %q", b, Lower(b), Upper(b), lower, upper)
		}
	}
	for i, c := range []byte(UpperHex) {
		if Unhex(c) != byte(i) || Unhex(Lower(c)) != byte(i) {
			t.Errorf("Unhex(%q) = %d, Unhex(%q) = %d; want %d", c, Unhex(c), Lower(c), Unhex(Lower(c)), i)
		}
	}
}

func TestEqualFold(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"Http", "hTTP", true},
		{"http", "https", false},
		{"a@", "a`", false},
		{"k", "\u212A", false},
		{"\u00C4", "\u00E4", false},
	} {
		if got := EqualFold(tt.a, []byte(tt.b)); got != tt.want {
			t.Errorf("EqualFold(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestCompareAndCutPrefix(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"a", "A", 0}, {"a", "B", -1}, {"b", "A", 1}, {"ab", "A", 1}, {"", "a", -1}} {
		if got := Compare(tt.a, tt.b); got != tt.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	if got, ok := CutPrefix("URN:x", "urn:"); got != "x" || !ok {
		t.Errorf("CutPrefix = %q, %v", got, ok)
	}
	if got, ok := CutPrefix("ur", "urn:"); got != "ur" || ok {
		t.Errorf("CutPrefix = %q, %v", got, ok)
	}
	if !IsASCII("a\x7f") || IsASCII("a\x80") {
		t.Error("IsASCII")
	}
	if got := Escape(0xAF); got != "%AF" {
		t.Errorf("Escape = %q", got)
	}
}

func TestEscapeUnless(t *testing.T) {
	for in, want := range map[string]string{"": "", "aZ9": "aZ9", "a b": "a%20b", "\u00E4%\x00": "%C3%A4%25%00"} {
		if got := EscapeUnless(in, IsAlnum); got != want {
			t.Errorf("EscapeUnless(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRuns(t *testing.T) {
	for _, tt := range []struct{ got, want int }{
		{Run("ab12", 0, IsLetter), 2},
		{Run("ab12", 2, IsLetter), 2},
		{Run([]byte("ab12"), 2, IsDigit), 4},
		{Run("", 0, IsDigit), 0},
		{Until("a:b:c", 0, 5, ':'), 1},
		{Until("a:b:c", 2, 5, ':'), 3},
		{Until("a:b:c", 2, 3, ':'), 3},
		{SchemeLength("http://a"), 4},
		{SchemeLength("a+-.9:"), 5},
		{SchemeLength("9a:b"), 0},
		{SchemeLength("+a:b"), 0},
		{SchemeLength("a/b:c"), 0},
		{SchemeLength("a"), 0},
		{SchemeLength(":"), 0},
	} {
		if tt.got != tt.want {
			t.Errorf("got %d, want %d", tt.got, tt.want)
		}
	}
	if !All("12", IsDigit) || All("", IsDigit) || All("1a", IsDigit) {
		t.Error("All is wrong about digits")
	}
}

func TestUnescapeRune(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want rune
		size int
	}{
		{"%41b", 'A', 3},
		{"%C3%a9x", 'é', 6},
		{"%F0%9F%98%83", '😃', 12},
		{"%C3x", 0, 0},
		{"%C3%", 0, 0},
		{"%ED%A0%80", 0, 0}, // a surrogate
		{"%EF%BF%BD", '\uFFFD', 9},
		{"a", 0, 0},
		{"%4", 0, 0},
		{"", 0, 0},
	} {
		if got, size := UnescapeRune(tt.in); got != tt.want || size != tt.size {
			t.Errorf("%s: got %q, %d, want %q, %d", tt.in, got, size, tt.want, tt.size)
		}
	}
}

func TestIsUUID(t *testing.T) {
	for s, want := range map[string]bool{
		"f81d4fae-7dec-11d0-a765-00a0c91e6BF6":  true,
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf":   false,
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf60": false,
		"f81d4fae07dec-11d0-a765-00a0c91e6bf6":  false,
		"f81d4fae-7dec-11d0-a765-00a0c91e6bg6":  false,
		"f81d4fae-7dec-11d0-a765--0a0c91e6bf6":  false,
	} {
		if got := IsUUID(s); got != want {
			t.Errorf("%s: got %v, want %v", s, got, want)
		}
	}
}
