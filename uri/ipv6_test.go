package uri_test

import (
	"testing"

	"github.com/nomen-project/nomen/uri"
)

// RFC 5952, 4 and 5.
func TestIPv6Text(t *testing.T) {
	rules := uri.SchemeRules{Scheme: "http", DefaultPort: "80", RootPath: true, IPv6Text: true}
	for in, want := range map[string]string{
		"http://[2001:DB8:0:0:0:0:0:1]/":      "http://[2001:db8::1]/",            // 4.2.1, 4.3
		"http://[2001:0db8::0001]":            "http://[2001:db8::1]/",            // 4.1
		"http://[2001:db8::1:1:1:1:1]/":       "http://[2001:db8:0:1:1:1:1:1]/",   // 4.2.2
		"http://[2001:0:0:1:0:0:0:1]:80/":     "http://[2001:0:0:1::1]/",          // 4.2.3: the longest run
		"http://[2001:db8:0:0:1:0:0:1]:8080/": "http://[2001:db8::1:0:0:1]:8080/", // 4.2.3: the first of equal runs
		"http://[::FFFF:C000:0280]/":          "http://[::ffff:192.0.2.128]/",     // 5
		"http://[0::ffff:ffff:ffff]/":         "http://[::ffff:255.255.255.255]/",
		"http://[::1.2.3.4]/":                 "http://[::102:304]/",
		"http://u@[0:0:0:0:0:0:0:0]/a":        "http://u@[::]/a",
		"http://[::1]/":                       "http://[::1]/",
		"http://[v1.A]/":                      "http://[v1.a]/", // a later form of address
		"http://1.2.3.4/":                     "http://1.2.3.4/",
	} {
		u := uri.MustParse(in)
		got := u.Normalize(uri.LevelScheme, rules)
		if got.String() != want {
			t.Errorf("Normalize(%s) = %s, want %s", in, got, want)
		}
		if again := got.Normalize(uri.LevelScheme, rules); again != got {
			t.Errorf("Normalize(%s) = %s, not stable", got, again)
		}
		if !uri.Equivalent(u, got, uri.LevelScheme, rules) {
			t.Errorf("Equivalent(%s, %s) = false", u, got)
		}
		if u.HostKind() == uri.HostIPv6 {
			if other := uri.MustParse("http://[2001:db8::ffff]/"); uri.Equivalent(u, other, uri.LevelScheme, rules) {
				t.Errorf("Equivalent(%s, %s) = true", u, other)
			}
		}
	}
	unchanged := uri.MustParse("http://[2001:db8:0::1]/")
	for _, got := range []uri.URI{unchanged.Normalize(uri.LevelPath, rules), unchanged.Normalize(uri.LevelScheme)} {
		if got != unchanged {
			t.Errorf("got %s, want %s: the form belongs to the rules of the scheme", got, unchanged)
		}
	}
	zoned, err := uri.RFC6874.Parse("http://[fe80:0::1%25en1]/")
	if err != nil {
		t.Fatal(err)
	}
	if got := zoned.Normalize(uri.LevelScheme, rules); got != zoned {
		t.Errorf("Normalize(%s) = %s: a zone belongs to one machine", zoned, got)
	}
	if n := testing.AllocsPerRun(100, func() { unchanged.Normalize(uri.LevelScheme, rules) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
	normal := uri.MustParse("http://[2001:db8::1]/")
	if n := testing.AllocsPerRun(100, func() { normal.Normalize(uri.LevelScheme, rules) }); n > 0 {
		t.Errorf("a normal URI: %v allocations", n)
	}
}
