// Package schemetest has functions for testing the rules of schemes.
package schemetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// A Sample is a URI with the expected results. Parts has pairs of the form name=value, separated by
// spaces. It is "" if the URI is rejected. Canonical is the canonical form, or "" if the URI is
// already canonical. Finding has the offset and the rule of the first finding, or is "".
type Sample struct{ In, Parts, Canonical, Finding string }

// Check tests the sample with a catalogue, in dialect d.
func (s Sample) Check(t testing.TB, c scheme.Catalogue, d uri.Dialect) {
	t.Helper()
	u, err := d.Parse(s.In)
	if err != nil {
		t.Error(err)
		return
	}
	finding := ""
	found := c.Check(u)
	if len(found) > 0 {
		finding = fmt.Sprint(found[0].Offset, " ", found[0].Rule)
	}
	if finding != s.Finding || scheme.HasError(found) != (s.Parts == "") {
		t.Errorf("Check(%q) = %v, want %q", s.In, found, s.Finding)
	}
	Invariants(t, c, u)
	if s.Parts == "" {
		return
	}
	var parts []string
	for _, p := range c.Parts(u) {
		parts = append(parts, p.Label()+"="+p.Value)
	}
	if got := strings.Join(parts, " "); got != s.Parts {
		t.Errorf("Parts(%q) = %s, want %s", s.In, got, s.Parts)
	}
	want := s.Canonical
	if want == "" {
		want = s.In
	}
	if got := c.Canonical(u).String(); got != want {
		t.Errorf("Canonical(%q) = %q, want %q", s.In, got, want)
	}
}

// Invariants tests the properties that all schemes must have, with the URI u.
func Invariants(t testing.TB, c scheme.Catalogue, u uri.URI) {
	t.Helper()
	text := u.String()
	found := c.Check(u)
	for _, f := range found {
		if f.Offset < 0 || f.End < f.Offset || f.End > len(text) || f.Rule == "" || f.Message == "" || f.Code == "" {
			t.Errorf("Check(%q): malformed finding: %+v", text, f)
		}
	}
	for _, p := range c.Parts(u) {
		if p.Name == "" || p.Offset >= 0 && (p.Offset+len(p.Value) > len(text) || text[p.Offset:p.Offset+len(p.Value)] != p.Value) {
			t.Errorf("Parts(%q): wrong offset: %+v", text, p)
		}
		_ = p.Data()
	}
	reassembles(t, c, u)
	canonical := c.Canonical(u)
	if again := c.Canonical(canonical); again != canonical {
		t.Errorf("Canonical(%q) = %q, and of that %q", text, canonical, again)
	}
	if scheme.HasError(c.Check(canonical)) && !scheme.HasError(found) {
		t.Errorf("Canonical(%q) = %q violates the rules: %v", text, canonical, c.Check(canonical))
	}
}

// reassembles tests that the parts of a URI build the same URI. A fragment that is not a part is
// ignored.
func reassembles(t testing.TB, c scheme.Catalogue, u uri.URI) {
	t.Helper()
	name, _ := u.Scheme()
	s, ok := c.Lookup(name)
	if !ok || s.Rules.Build == nil || scheme.HasError(s.Check(u)) {
		return
	}
	parts := s.Parts(u)
	built, err := s.Build(u.Dialect(), parts)
	if _, has := scheme.Get(parts, "fragment"); !has {
		u = u.WithoutFragment()
	}
	if err != nil || c.Canonical(built) != c.Canonical(u) {
		t.Errorf("Build(Parts(%q)) = %q, %v", u, built, err)
	}
	keepsParts(t, c, u, parts)
}

// keepsParts tests that the canonical form has the same parts as the URI. Only default ports, the
// case of the host, unnecessary percent-encodings and implied parts may differ.
func keepsParts(t testing.TB, c scheme.Catalogue, u uri.URI, parts []scheme.Part) {
	t.Helper()
	if len(u.Path()) < 2 || strings.Contains(u.Path(), "/.") || strings.Contains(u.Path(), "/%2") {
		return // an empty path becomes "/", and dot segments are removed
	}
	read := func(parts []scheme.Part) string {
		var b strings.Builder
		for _, p := range parts {
			text, _ := uri.Unescape(p.Value)
			if !slices.Contains([]string{"host", "port", "cell", "fragment"}, p.Name) && (p.Name != "path" || strings.Trim(text, "/") != "") {
				b.WriteString(p.Label() + "=" + text + "\n")
			}
		}
		return b.String()
	}
	if canonical := c.Canonical(u); read(c.Parts(canonical)) != read(parts) {
		t.Errorf("Parts(%q) = %q, and of its canonical spelling %q: %q", u, read(parts), canonical, read(c.Parts(canonical)))
	}
}
