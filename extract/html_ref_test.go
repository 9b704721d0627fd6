package extract

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/uri"
)

func TestReadReference(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"http://a.example/b", "http://a.example/b"},
		{"http:g", "http:g"},
		{"http://a.example/a b", "http://a.example/a%20b"},
		{"http://a.example/100%", "http://a.example/100%25"},
		{"http://a.example/%C3%A9é", "http://a.example/%C3%A9%C3%A9"},
		{"http://a.example/\xE9", "http://a.example/%E9"},
		{"http://é.example/", "http://xn--9ca.example/"},
		{"foo://é.example/", "foo://%C3%A9.example/"},
		{`http:\\a.example\b?c\d#e\f`, "http://a.example/b?c%5Cd#e%5Cf"},
		{`foo:\\a`, "foo:%5C%5Ca"},
		{"//a.example/[b]", "//a.example/%5Bb%5D"},
		{"http://[::1]/[b]", "http://[::1]/%5Bb%5D"},
		{"x#y#z", "x#y%23z"},
		{"1 x:y", "./1%20x:y"},
		{"<x>", "%3Cx%3E"},
		{"javascript:f({a:'b'})", "javascript:f(%7Ba:'b'%7D)"},
	} {
		u, err := readReference(tt.in)
		if err != nil || u.String() != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.in, u, err, tt.want)
		}
	}
	for _, in := range []string{"http://[::1", "http://a:b/", "http://[v1.x y]/", "http://a@b@c/ d", `\\\a`} {
		if u, err := readReference(in); err == nil {
			t.Errorf("%q: got %q, want an error", in, u)
		}
	}
}

// A repaired reference has the same host as in browsers, according to the tests
// of the URL Standard.
func TestReadReferenceHosts(t *testing.T) {
	data, _ := testrun.Corpus(t, "wpt/urltestdata.json")
	var rows []json.RawMessage
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	mended := 0
	for _, row := range rows {
		var v struct {
			Input, Base, Hostname string
			Failure               bool
		}
		if json.Unmarshal(row, &v) != nil || v.Failure { // a comment, or rows that browsers reject
			continue
		}
		if scheme := v.Base[:ascii.SchemeLength(v.Base)]; !slices.Contains([]string{"", "http", "https", "ftp", "ws", "wss", "file"}, scheme) {
			continue // the meaning of a backslash depends on the base
		}
		in := spelled([]byte(v.Input))
		if _, err := uri.ParseReference(in); err == nil {
			continue
		}
		u, err := readReference(in)
		if err != nil {
			continue
		}
		host, ok := u.Host()
		if !ok || v.Hostname == "" {
			continue // needs a base, or the file has a drive letter
		}
		mended++
		if !sameHost(host, v.Hostname) {
			t.Errorf("%q: got host %q, want %q", v.Input, host, v.Hostname)
		}
	}
	if mended < 20 {
		t.Errorf("only %d rows were repaired", mended)
	}
}

// sameHost compares a host with that of a browser, which converts numbers to
// addresses and percent-encodes only what it must.
func sameHost(host, browsers string) bool {
	if addr, ok := uri.ParseNumericHost(host); ok {
		host = addr.String()
	}
	return strings.EqualFold(unescapeValid(host), unescapeValid(browsers))
}

// unescapeValid decodes the valid percent-encodings.
func unescapeValid(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) {
			if octet, err := uri.Unescape(s[i : i+3]); err == nil && len(octet) == 1 {
				b.WriteString(octet)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// TestOneHostRule checks that text and HTML give an IRI the same URI.
func TestOneHostRule(t *testing.T) {
	for spelling, want := range map[string]string{
		"http://straße.example/ö":           "http://xn--strae-oqa.example/%C3%B6",
		"HTTPS://straße.example:8443/":      "HTTPS://xn--strae-oqa.example:8443/",
		"ftp://straße.example/":             "ftp://xn--strae-oqa.example/",
		"gopher://straße.example/":          "gopher://stra%C3%9Fe.example/", // not a domain name for browsers
		"http://xn--straße.example/":        "http://xn--stra%C3%9Fe.example/",
		"http://stra%C3%9Fe.example/":       "http://stra%C3%9Fe.example/", // a URI
		"http://stra%C3%9Fe.example/straße": "http://xn--strae-oqa.example/stra%C3%9Fe",
	} {
		var all []string
		for _, f := range []Type{TypeText, TypeHTML} {
			doc := "see " + spelling + " there"
			if f == TypeHTML {
				doc = "<p><a href='" + spelling + "'>x</a>"
			}
			for found, err := range f.Find(strings.NewReader(doc), Options{IRI: true}) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, found.URI.String())
			}
		}
		if len(all) != 2 || all[0] != want || all[1] != want {
			t.Errorf("%s: got %q, want %q twice", spelling, all, want)
		}
	}
}
