package pid_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// The catalogue of package scheme has every scheme of the list. If it has rules for a scheme, it
// marks the scheme as one of names.
func TestSchemes(t *testing.T) {
	for _, label := range pid.Schemes() {
		s, ok := extra.Catalogue().Lookup(label)
		if !ok || s.Rules.Check != nil && s.Kind != scheme.KindName {
			t.Errorf("Lookup(%q) = %v, %v; want a scheme of names", label, s.Kind, ok)
		}
		if got, want := slices.Contains(pid.Resolved(), label), pid.Lookup(label).Resolved; got != want {
			t.Errorf("%s: in Resolved: %v, want %v", label, got, want)
		}
	}
	for _, other := range []string{"", "http", "ARK"} {
		if got := pid.Lookup(other); got != (pid.Scheme{}) {
			t.Errorf("Lookup(%q) = %+v, want none", other, got)
		}
	}
}

// The key of a name is the canonical form of its URI, and the flaws of a name are
// the errors of the scheme.
func TestNamesAndSchemesAgree(t *testing.T) {
	for _, s := range []string{
		"ark:/12345/AB-c/d..e./", "ARK:1-2-345/x5%2f", "doi:10.5072/%41bC%2Fd%2f%C3%a9", "DOI:10.5072/A//b",
		"hdl:10138.A/Bc%2f", "HDL:0.NA/x", "info:LCCN/A", "INFO:ddc/22/eng//004.678", "tag:example.org,2026:a",
		"http://EXAMPLE.org:80", "https://example.org:443/a/../b", "HTTP://example.org:443",
	} {
		n := name.MustParse(s)
		if got, want := n.Key(), extra.Catalogue().Canonical(uri.MustParse(s)).String(); got != want {
			t.Errorf("the key of %q is %q, its canonical form %q", s, got, want)
		}
	}
	for _, s := range []string{
		"ark:12345/a:b", "doi:11.5072/a", "doi:10.a/b", "doi:10..1/a", "hdl:a./b", "info:1a/b", "info:lccn//a", "tag:example.org,2026-13:a",
		"tag:@example.org,2026:a", "tag:a_b.org,2026:a", "tag:example.org", "tag:example.org,2026",
	} {
		f := name.MustParse(s).Flaw()
		var got scheme.Finding
		for _, found := range extra.Catalogue().Check(uri.MustParse(s)) {
			if found.Severity == uri.SeverityError {
				got = found
			}
		}
		if f == nil || got.Offset != f.Offset || got.Rule != f.Rule || got.Message != f.Message {
			t.Errorf("Check(%q) finds %+v, the name has the flaw %+v", s, got, f)
		}
	}
}

func TestFoldDoesNotAllocate(t *testing.T) {
	doi := "10.5072/abc%22" + strings.Repeat("x", 100)
	if n := testing.AllocsPerRun(100, func() { pid.FoldDOI(doi) }); n != 0 {
		t.Errorf("FoldDOI: got %v allocations, want 0", n)
	}
}
