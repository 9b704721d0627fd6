package links

import (
	"strings"
	"testing"
	"time"
)

// TestRobots checks the rules of RFC 9309: groups (2.1), matching (2.2), limits (2.5).
func TestRobots(t *testing.T) {
	for _, tt := range []struct {
		name, text, allowed, forbidden string // paths, separated by blanks
		delay                          time.Duration
	}{
		{"empty", "", "/ /a", "", 0},
		{"all", "User-agent: *\nDisallow: /\n", "/robots.txt", "/ /a", 0},
		{"empty rule", "User-agent: *\nDisallow:\n", "/ /a", "", 0},
		{"other agent", "User-agent: other\nDisallow: /\n", "/a", "", 0},
		{"own group wins", "User-agent: *\nDisallow: /\nUser-agent: Nomen\nDisallow: /x\n", "/a", "/x /xy", 0},
		{"own group, empty", "User-agent: *\nDisallow: /\n\nUser-agent: nomen\n\nDisallow:\n", "/a", "", 0},
		{"token with version", "User-agent: nomen/1.0 (x)\nDisallow: /x\n", "/a", "/x", 0},
		{"longer token", "User-agent: nomenclator\nDisallow: /\n", "/a", "", 0},
		{"groups are combined", "user-agent: nomen\ndisallow: /a\nuser-agent: *\ndisallow: /c\nuser-agent: nomen\ndisallow: /b\n", "/c", "/a /b", 0},
		{"several agents", "User-agent: a\nUser-agent: nomen\nUser-agent: b\nDisallow: /x", "/a", "/x", 0},
		{"longest match", "User-agent: *\nAllow: /a/b\nDisallow: /a\n", "/a/b/c /b", "/a /a/c", 0},
		{"allow wins a tie", "User-agent: *\nDisallow: /a\nAllow: /a\n", "/a", "", 0},
		{"star", "User-agent: *\nDisallow: /a*b\n", "/a /ax", "/axb /ab /a/x/b/c", 0},
		{"star at the end", "User-agent: *\nDisallow: /a*\n", "/b", "/a /ab", 0},
		{"end", "User-agent: *\nDisallow: /*.pdf$\n", "/a.pdfx /a.pdf?x", "/a.pdf /.pdf /b/a.pdf", 0},
		{"end without star", "User-agent: *\nDisallow: /a$\n", "/ab", "/a", 0},
		{"query", "User-agent: *\nDisallow: /a?x=*&y\n", "/a?x=1", "/a?x=1&y=2", 0},
		{"percent-encoding", "User-agent: *\nDisallow: /%7efoo/b%2fc\nDisallow: /ü\n", "/~foo/b/c", "/~foo/b%2Fc /%7Efoo/b%2fc /%C3%BC", 0},
		{"comments and CRLF", "# x\r\nUser-agent: * # all\r\nDisallow: /x # no\r\n", "/a", "/x", 0},
		{"byte order mark", "\ufeffUser-agent: *\nDisallow: /x", "/a", "/x", 0},
		{"rules before any group", "Disallow: /\nUser-agent: *\nAllow: /\n", "/a", "", 0},
		{"delay", "User-agent: *\nCrawl-delay: 2.5\n", "/a", "", 2500 * time.Millisecond},
		{"absurd delay", "User-agent: *\nCrawl-delay: 1e9\n", "/a", "", time.Minute},
		{"invalid delay", "User-agent: *\nCrawl-delay: NaN\nCrawl-delay: -4\n", "/a", "", 0},
		{"HTML", "<!DOCTYPE html><title>Not found</title>", "/a", "", 0},
	} {
		r := parseRobots(tt.text, "nomen")
		for _, p := range strings.Fields(tt.allowed) {
			if !r.allows(p) {
				t.Errorf("%s: %s is forbidden, want allowed", tt.name, p)
			}
		}
		for _, p := range strings.Fields(tt.forbidden) {
			if r.allows(p) {
				t.Errorf("%s: %s is allowed, want forbidden", tt.name, p)
			}
		}
		if r.Delay != tt.delay {
			t.Errorf("%s: delay %v, want %v", tt.name, r.Delay, tt.delay)
		}
	}
}

// TestRobotsLimits checks that a huge file takes little memory and time.
func TestRobotsLimits(t *testing.T) {
	r := parseRobots("User-agent: *\n"+strings.Repeat("Disallow: /*a*a*a*a*b$\n", 1<<20), "nomen")
	if len(r.Rules) != maxRules {
		t.Errorf("got %d rules, want %d", len(r.Rules), maxRules)
	}
	begun := time.Now()
	if !r.allows("/" + strings.Repeat("a", 4<<10)) {
		t.Error("forbidden, want allowed")
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /%41\nCrawl-delay: 3", "/a%2Fb?c")
	f.Fuzz(func(t *testing.T, text, path string) {
		r := parseRobots(text, "nomen")
		if len(r.Rules) > maxRules || r.Delay < 0 || r.Delay > maxRobotDelay {
			t.Errorf("%d rules, delay %v", len(r.Rules), r.Delay)
		}
		if got := r.allows(path); len(r.Rules) == 0 && !got {
			t.Error("forbidden without rules")
		}
	})
}
