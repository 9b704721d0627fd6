package location

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		url    string
		rule   string // "" for a location
		offset int
	}{
		{"https://h.example/a?b#c", "", 0},
		{"HTTPS://h.example:65535/", "", 0},
		{"https://h.example:/", "", 0},
		{"https://anonymous@h.example/", "", 0},
		{"https://h.example/a%0D%0Ab", "", 0}, // not decoded by clients
		{"https://[2001:db8::1]:443/", "", 0},
		{"https://h.example:0000000000000000000000443/", "", 0},
		{"ftp://h.example/%22", "", 0},
		{"mailto:a@h.example?body=a%0D%0Ab", "", 0}, // RFC 6068, 5
		{"news:a.b", "", 0},
		{"urn:example:a", "", 0},
		{"ldap:///dc=example", "", 0},

		{"ms-msdt:/id%20x", "scheme", 0},
		{"search-ms:query=x", "scheme", 0},
		{"file:///etc/passwd", "scheme", 0},
		{"vscode://file/x", "scheme", 0},
		{"ssh://-oProxyCommand=x/", "scheme", 0},
		{"javascript:alert(1)", "scheme", 0},
		{"intent://x", "scheme", 0},
		{"http:x", "host", 5},
		{"http:///x", "host", 5},
		{"ftp://u:p@h.example/", "userinfo", 6},
		{"sftp://-oProxyCommand=x/", "host", 7},
		{"telnet://u@-x/", "host", 11},
		{"git://%2Du/", "host", 6},
		{"telnet://-l@h.example/", "userinfo", 9},
		{"https://a%0D%0Ab.example/", "host", 9},
		{"https://h.example:65536/", "port", 18},
		{"https://u@h.example:99999999999999999999999/", "port", 20},
		{"https://[::1]:65536/", "port", 14},
		{"ftp://h.example/a%0D%0ADELE%20b", "pct-encoded", 17},
		{"ftp://h.example/a%0a", "pct-encoded", 17},
		{"gopher://h.example/0a%0Db", "pct-encoded", 21},
		{"gopher://h.example/0a?%09", "pct-encoded", 22},
		{"ftp://h.example/%00", "pct-encoded", 16},
		{"ftp://h.example/%7F", "pct-encoded", 16},
	} {
		err := Check(tt.url)
		var e *Error
		if tt.rule == "" && err != nil || tt.rule != "" && (!errors.As(err, &e) || e.Rule != tt.rule || e.Offset != tt.offset) {
			t.Errorf("Check(%q): %+v, want the rule %q at %d", tt.url, err, tt.rule, tt.offset)
		}
	}
	for _, s := range []string{"", "//h.example/", "a/b", "https://h.example/ ", "https://h.example/\r\n"} {
		if !errors.As(Check(s), new(*uri.Error)) {
			t.Errorf("Check(%q): %v, want an error of the parser", s, Check(s))
		}
	}
}

func TestSchemes(t *testing.T) {
	all := pid.Schemes()
	for _, s := range schemes {
		all = append(all, s.name)
	}
	for _, never := range []string{"javascript", "vbscript", "data", "blob", "about", "view-source", "file", "ssh", "ms-msdt", "search-ms", "vscode"} {
		if slices.Contains(all, never) || Allows(never) || IsLink(never+"://h.example/x") {
			t.Errorf("%s may be the scheme of a location", never)
		}
	}
	for _, s := range all {
		if Runs(s) || !Allows(strings.ToUpper(s)) {
			t.Errorf("%s: runs %t, allowed in capitals %t", s, Runs(s), Allows(strings.ToUpper(s)))
		}
	}
	if !Runs("JavaScript") {
		t.Error("JavaScript does not run")
	}
}

func TestIsLink(t *testing.T) {
	for s, want := range map[string]bool{
		"https://h.example/": true, "mailto:a@h.example": true, "gopher://h.example/1": true, "telnet://h.example": true,
		"urn:example:a": false, "ark:12345/x": false, "magnet:?x": false, "https:/x": false, "telnet://-x": false,
		"ftp://h.example/%0D%0Ax": false, "/x": false, "": false,
	} {
		if got := IsLink(s); got != want {
			t.Errorf("IsLink(%q): %t, want %t", s, got, want)
		}
	}
}

func TestCheckAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if Check("https://www.h.example:443/a/b?c=d") != nil {
			t.Error("no location")
		}
	}); n > 0 {
		t.Errorf("%v allocations for a location that is good", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	for b.Loop() {
		_ = Check("https://www.h.example:443/a/b?c=d")
	}
}

func TestIsHarmless(t *testing.T) {
	for s, want := range map[string]bool{
		"https://h.example/":  true,
		"urn:example:a":       true,
		"mailto:a@h.example":  true,
		"javascript:alert(1)": false,
		"JavaScript:alert(1)": false,
		"data:text/html,x":    false,
		"view-source:x":       false,
		"about:blank":         false,
		"relative":            false,
		"//h.example/":        false,
		"https://h.example/ ": false,
		"":                    false,
	} {
		if got := IsHarmless(s); got != want {
			t.Errorf("IsHarmless(%q): got %v, want %v", s, got, want)
		}
	}
}
