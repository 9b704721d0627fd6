package iri_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

func TestFix(t *testing.T) {
	for _, tt := range []struct{ in, want, found string }{
		{"http://a.example/b", "http://a.example/b", ""},
		{"urn:example:a", "urn:example:a", ""},
		{"http://a.example/a b", "http://a.example/a%20b", "18-19 unescaped-character %20"},
		{"http://a.example/100%", "http://a.example/100%25", "20-21 bare-percent %25"},
		{"http://a.example/%C3%A9é", "http://a.example/%C3%A9%C3%A9", "23-25 non-ascii é"},
		{"http://a.example/\xE9", "http://a.example/%E9", "17-18 non-ascii \xE9"},
		{"http://é.example/", "http://xn--9ca.example/", "7-9 non-ascii é"},
		{"foo://é.example/", "foo://%C3%A9.example/", "6-8 non-ascii é"},
		{`http:\\a.example\b?c\d`, "http://a.example/b?c%5Cd", `5-7 wrong-slashes //; 16-17 backslash /; 20-21 unescaped-character %5C`},
		{`foo:\\a`, "foo:%5C%5Ca", "4-5 unescaped-character %5C; 5-6 unescaped-character %5C"},
		{"http:a.example/b", "http://a.example/b", "5-5 wrong-slashes //"},
		{"HTTP:/a.example", "HTTP://a.example", "5-6 wrong-slashes //"},
		{"https:////a.example/", "https://a.example/", "6-10 wrong-slashes //"},
		{`https://\a.example/`, "https://a.example/", "6-9 wrong-slashes //"},
		{"http:[::1]/[b]", "http://[::1]/%5Bb%5D", "5-5 wrong-slashes //; 11-12 unescaped-character %5B; 13-14 unescaped-character %5D"},
		{"ht\ntp://a", "", ""}, // the scheme is not mended
		{"http://a/\tb\r\nc", "http://a/bc", "9-10 stripped-characters ; 11-12 stripped-characters ; 12-13 stripped-characters "},
		{"file:/a b", "file:/a%20b", "7-8 unescaped-character %20"},
		{"mailto:a b@c", "mailto:a%20b@c", "8-9 unescaped-character %20"},
		{"a b", "", ""},
		{"", "", ""},
		{"http:", "", ""},
		{"http:///", "", ""},
		{"http://[::1", "", ""},
		{"http://a:b/", "", ""},
		{"http://a@b@c/ d", "", ""},
	} {
		u, found, err := iri.Fix(tt.in)
		if tt.want == "" {
			if err == nil {
				t.Errorf("Fix(%q) = %s, want an error", tt.in, u)
			}
			continue
		}
		if err != nil || u.String() != tt.want || list(found) != tt.found {
			t.Errorf("Fix(%q) = %s, %v\n got %s\nwant %s: %s", tt.in, u, err, list(found), tt.want, tt.found)
		}
		if again, found, err := iri.Fix(u.String()); err != nil || again != u || len(found) > 0 {
			t.Errorf("Fix(%s) = %s, %v, %v: not stable", u, again, found, err)
		}
	}
}

// A reference keeps its slashes, which depend on the base.
func TestFixReference(t *testing.T) {
	for in, want := range map[string]string{
		"http:g": "http:g", "http:///g": "http:///g", "a b": "a%20b", "//a.example/[b]": "//a.example/%5Bb%5D",
		"1 x:y": "./1%20x:y", "x#y#z": "x#y%23z", "<x>": "%3Cx%3E", `\\a.example\b`: "//a.example/b",
	} {
		if u, _, err := iri.FixReference(in); err != nil || u.String() != want {
			t.Errorf("FixReference(%q) = %s, %v, want %s", in, u, err, want)
		}
	}
}

func list(found []uri.Finding) string {
	var all []string
	for _, f := range found {
		all = append(all, fmt.Sprintf("%d-%d %s %s", f.Offset, f.End, f.Code, f.Right))
	}
	return strings.Join(all, "; ")
}

// Fix returns what Parse accepts, with findings in order and in the input.
func FuzzFix(f *testing.F) {
	for _, s := range []string{"http:a b", `http:\\é%`, "a:b c", "http://[::1]/[", "ws:/\t/x", "x:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, found, err := iri.Fix(s)
		if err != nil {
			return
		}
		if _, err := uri.Parse(u.String()); err != nil {
			t.Errorf("Fix(%q): %v", s, err)
		}
		at := 0
		for _, f := range found {
			if f.Offset < at || f.End < f.Offset || f.End > len(s) {
				t.Errorf("Fix(%q): finding at %d to %d after %d", s, f.Offset, f.End, at)
			}
			at = f.End
		}
		if again, found, err := iri.Fix(u.String()); err != nil || again != u || len(found) > 0 {
			t.Errorf("Fix(%q) = %s; Fix of that: %s, %v, %v", s, u, again, found, err)
		}
	})
}

func ExampleFix() {
	u, found, err := iri.Fix(`http:\\example.org\a b`)
	fmt.Println(u, err)
	for _, f := range found {
		fmt.Printf("%d %s: %q\n", f.Offset, f.Code, f.Right)
	}
	// Output:
	// http://example.org/a%20b <nil>
	// 5 wrong-slashes: "//"
	// 18 backslash: "/"
	// 20 unescaped-character: "%20"
}

func ExampleFixReference() {
	u, _, err := iri.FixReference("résumé 2.html")
	fmt.Println(u, err)
	// Output: r%C3%A9sum%C3%A9%202.html <nil>
}
