package name

import (
	"slices"
	"testing"
)

// TestScope checks that a scope covers the names that continue with its own delimiter, and
// no others.
func TestScope(t *testing.T) {
	for _, c := range []struct {
		scope         string
		covers, leave []string
		spans         []string
	}{
		{"urn:nbn:fi:ex-", []string{"urn:nbn:fi:ex-1"}, []string{"urn:nbn:fi:ex:a-1", "urn:nbn:fi:example-1"}, []string{"urn:nbn:fi:ex-"}},
		{"urn:nbn:fi:ex:", []string{"urn:nbn:fi:ex:a-1"}, []string{"urn:nbn:fi:ex-1"}, []string{"urn:nbn:fi:ex:"}},
		{"urn:nbn:fi", []string{"urn:nbn:fi:ex:a-1", "urn:nbn:fi-1"}, []string{"urn:nbn:fin-1"}, []string{"urn:nbn:fi-", "urn:nbn:fi:"}},
		{"ark:12345/x0/", []string{"ark:12345/x0/1"}, []string{"ark:12345/x0.v1", "ark:12345/x01"}, []string{"ark:12345/x0/"}},
		{"doi:10.5072/", []string{"doi:10.5072/a"}, []string{"doi:10.50721/a"}, []string{"doi:10.5072/"}},
		{"https://a.example/b/", []string{"https://a.example/b/c"}, []string{"https://a.example/b:c", "https://a.example/bc"}, []string{"https://a.example/b/"}},
	} {
		p, err := ParseScope(c.scope)
		if err != nil {
			t.Errorf("%s: %v", c.scope, err)
			continue
		}
		for _, s := range c.covers {
			if !p.Covers(MustParse(s)) {
				t.Errorf("%s does not cover %s", c.scope, s)
			}
		}
		for _, s := range c.leave {
			if p.Covers(MustParse(s)) {
				t.Errorf("%s covers %s", c.scope, s)
			}
		}
		spans := p.Spans()
		slices.Sort(spans)
		if !slices.Equal(spans, c.spans) {
			t.Errorf("%s: spans %q, want %q", c.scope, spans, c.spans)
		}
	}
	if one, _ := ParseScope("doi:10.5072/"); one != MustParsePrefix("doi:10.5072") {
		t.Error("where only one delimiter can follow, a scope is not the prefix")
	}
}
