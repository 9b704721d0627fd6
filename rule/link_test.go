package rule

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nomen-project/nomen/name"
)

func ExampleLink_Asking() {
	l, err := ParseLink("https://resolver.example/{+name}")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := name.MustParsePrefix("urn:nbn:de")
	fmt.Println(l.Asking(p, name.MustParse("urn:nbn:de:bvb:29-x"), nil))
	// Output: https://resolver.example/urn:nbn:de:bvb:29-x <nil>
}

func TestLink(t *testing.T) {
	p, n := name.MustParsePrefix("ark:12345"), name.MustParse("ark:12345/a%2Fb/c")
	for template, want := range map[string]string{
		"https://r.example/{+name}":                 "https://r.example/ark:12345/a%2Fb/c",
		"https://r.example/?id={name}":              "https://r.example/?id=ark%3A12345%2Fa%252Fb%2Fc",
		"HTTP://r.example/{+element}?in={+prefix}":  "HTTP://r.example/a%2Fb/c?in=ark:12345",
		"https://r.example/a{/name}":                "https://r.example/a/ark%3A12345%2Fa%252Fb%2Fc",
		"https://r.example/uri-res/N2L?{+name}#top": "https://r.example/uri-res/N2L?ark:12345/a%2Fb/c#top",
	} {
		l, err := ParseLink(template)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := l.Asking(p, n, nil); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", template, got, err, want)
		}
		if got := l.String(); got != template {
			t.Errorf("String of %s: %s", template, got)
		}
	}
}

// TestLinkAsking checks that directives are inserted where the template has them, and nothing
// without directives.
func TestLinkAsking(t *testing.T) {
	p, n := name.MustParsePrefix("urn:x-a"), name.MustParse("urn:x-a:1")
	all := map[string]string{"s": "I=I", "c": "a&b", "with": "urn:x-a:2?x", "at": "2026-11-21T10:00:00Z"}
	for _, tt := range []struct {
		template string
		asked    map[string]string
		want     string
	}{
		{"https://r.example/{+name}{?s,c,with,at}", nil, "https://r.example/urn:x-a:1"},
		{"https://r.example/{+name}{?s,c,with,at}", map[string]string{"c": ""}, "https://r.example/urn:x-a:1?c="},
		{"https://r.example/{+name}{?s,c,with,at}", all, "https://r.example/urn:x-a:1?s=I%3DI&c=a%26b&with=urn%3Ax-a%3A2%3Fx&at=2026-11-21T10%3A00%3A00Z"},
		{"https://r.example/?id={name}{&s}", all, "https://r.example/?id=urn%3Ax-a%3A1&s=I%3DI"},
		{"https://r.example/{+name}", all, "https://r.example/urn:x-a:1"},
	} {
		l, err := ParseLink(tt.template)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := l.Asking(p, n, tt.asked); got != tt.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", tt.template, got, err, tt.want)
		}
	}
	if l, err := ParseLink("https://r.example/{+c}/{+name}"); err != nil {
		t.Error(err)
	} else if got, err := l.Asking(p, n, map[string]string{"c": "../.."}); err == nil {
		t.Errorf("a component that climbs leads to %s", got)
	}
}

// TestLinkRefused checks that no name can change the host of a link.
func TestLinkRefused(t *testing.T) {
	for template, rule := range map[string]string{
		"{+name}":                        "scheme",
		"https:{+name}":                  "hier-part",
		"https://{element}/":             "host",
		"https://{element}.org/":         "host",
		"https://r.example{+name}":       "authority",
		"https://user@r.example/{+name}": "userinfo",
		"https:///{+name}":               "host",
		"javascript:open({+name})":       "scheme",
		"ftp://r.example/{+name}":        "scheme",
		"urn:x:{+name}":                  "scheme",
		"https://r.example/":             "URI-Template",
		"https://r.example/{+prefix}":    "URI-Template",
		"https://r.example/{?s,c}":       "URI-Template",
		"https://r.example/{+other}":     "varname",
		"https://r.example/{":            "expression",
	} {
		_, err := ParseLink(template)
		var e *Error
		if !errors.As(err, &e) || e.Rule != rule || e.Message == "" {
			t.Errorf("%s: %v, want a refusal by %s", template, err, rule)
		}
	}
	l, err := ParseLink("https://r.example/a/{+element}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Asking(name.MustParsePrefix("urn:x-a"), name.MustParse("urn:x-a:b/../../c"), nil); err == nil {
		t.Errorf("a name that climbs leads to %s", got)
	}
}

func TestClimbs(t *testing.T) {
	for path, want := range map[string]bool{
		"": false, "/a/b": false, "/a..b/.c": false, "/...": false,
		"/..": true, "../a": true, "/a/./b": true, "/%2E./a": true, "/a%2F..%2Fb": true, `/a\..\b`: true,
	} {
		if got := Climbs(path); got != want {
			t.Errorf("Climbs(%q) = %v", path, got)
		}
	}
}
