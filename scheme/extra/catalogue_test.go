package extra

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/schemetest"
	"github.com/nomen-project/nomen/uri"
)

// All registered schemes are in the catalogue, and package scheme knows the name
// of each.
func TestCatalogue(t *testing.T) {
	n := map[scheme.Status]int{}
	last := ""
	for s := range Catalogue().All() {
		n[s.Status]++
		if s.Name <= last {
			t.Errorf("%q comes after %q", s.Name, last)
		}
		last = s.Name
		if s.Title == "" || !scheme.IsName(s.Name) || s.Name != strings.ToLower(s.Name) {
			t.Errorf("%+v: no title, or no name", s)
		}
	}
	if n[scheme.StatusPermanent] != 99 || n[scheme.StatusProvisional] != 313 || n[scheme.StatusHistorical] != 18 || n[scheme.StatusUnregistered] == 0 {
		t.Errorf("schemes by status: got %v, want 99 permanent, 313 provisional, 18 historical, and some unregistered", n)
	}
	for s := range Catalogue().All() {
		if !scheme.Standard().Known(s.Name) {
			t.Errorf("the standard catalogue does not know %s", s.Name)
		}
	}
}

// Each scheme with rules has a valid example and the fields that a registration
// requires.
func TestRecordsAreComplete(t *testing.T) {
	for s := range Catalogue().All() {
		if s.Rules.Check == nil && s.Rules.Parts == nil {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			if missing := s.Missing(); len(missing) > 0 {
				t.Errorf("missing %s", strings.Join(missing, ", "))
			}
			if s.Kind == scheme.KindUnstated || s.Example == "" {
				t.Errorf("no kind or no example: %v, %q", s.Kind, s.Example)
			}
			u, err := uri.Parse(s.Example)
			if err != nil {
				t.Fatal(err)
			}
			if err := scheme.FirstError(s.Check(u)); err != nil {
				t.Errorf("Check(%q): %v", s.Example, err)
			}
			if s.Rules.Parts != nil && len(s.Parts(u)) == 0 {
				t.Errorf("Parts(%q): none", s.Example)
			}
			schemetest.Invariants(t, Catalogue(), u)
		})
	}
}

// The slashes and ports of U03-60.
func TestRulesMakeOneSpelling(t *testing.T) { // U03-60
	for _, tt := range []struct{ in, want string }{
		{"HTTP://Example.COM:80", "http://example.com/"},
		{"http://example.com:/", "http://example.com/"},
		{"https://example.com:443/a", "https://example.com/a"},
		{"https://example.com:80/a", "https://example.com:80/a"},
		{"ftp://example.com:21", "ftp://example.com/"},
		{"wss://example.com:443", "wss://example.com/"},
	} {
		if got := uri.MustParse(tt.in).Normalize(uri.LevelScheme, Catalogue().Rules()...).String(); got != tt.want {
			t.Errorf("Normalize(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := Catalogue().Rules(); len(got) <= len(scheme.Standard().Rules()) || got[0].Scheme != "http" {
		t.Errorf("Rules: got %v, want more than those of the standard catalogue, http first", got)
	}
}

// Check does not allocate if there are no findings, and AppendParts allocates
// only its slice.
func TestAllocations(t *testing.T) {
	buffer := make([]scheme.Part, 0, 16)
	for s := range Catalogue().All() {
		u, err := uri.Parse(s.Example)
		if err != nil || s.Example == "" || len(s.Check(u)) > 0 {
			continue
		}
		if n := testing.AllocsPerRun(20, func() { Catalogue().Check(u) }); n != 0 {
			t.Errorf("Check(%q): got %v allocations, want 0", u, n)
		}
		if n := testing.AllocsPerRun(20, func() { Catalogue().AppendParts(buffer[:0], u) }); n != 0 {
			t.Errorf("AppendParts(%q): got %v allocations, want 0", u, n)
		}
	}
}
