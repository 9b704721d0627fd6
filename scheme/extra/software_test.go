package extra_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// TestSoftware reads vectors: a URI, and its canonical form, or "!" and a part of
// the rule that it violates.
func TestSoftware(t *testing.T) {
	for name, least := range map[string]int{"software.tsv": 20, "purl.tsv": 170} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			given, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if ok && !strings.HasPrefix(given, "#") {
				n++
				testVector(t, given, want)
			}
		}
		if n < least {
			t.Errorf("%s: %d vectors, want at least %d", name, n, least)
		}
	}
}

func testVector(t *testing.T, given, want string) {
	t.Helper()
	var rule string
	u, err := uri.Parse(given)
	if err != nil {
		rule = err.Error()
	}
	for _, f := range slices.Backward(extra.Catalogue().Check(u)) {
		if f.Severity == uri.SeverityError {
			rule = f.Rule
		}
	}
	if part, bad := strings.CutPrefix(want, "!"); bad || rule != "" {
		if !bad || rule == "" || !strings.Contains(rule, part) {
			t.Errorf("%s: violates %q, want %q", given, rule, want)
		}
		return
	}
	if got := extra.Catalogue().Canonical(u); got.String() != want {
		t.Errorf("%s: canonical form %s, want %s", given, got, want)
	} else if again := extra.Catalogue().Canonical(got); again.String() != want {
		t.Errorf("%s: canonical form of %s is %s", given, got, again)
	}
}

// TestWebIdentifiers checks the warnings about ORCID iDs and arXiv identifiers in
// their https form ("Structure of the ORCID Identifier"; "Understanding the arXiv
// identifier").
func TestWebIdentifiers(t *testing.T) {
	for _, tt := range []struct {
		uri, marked, right string
	}{
		{"https://orcid.org/0000-0002-1825-0097", "", ""},
		{"http://orcid.org/0000-0002-1694-233X", "", ""},
		{"https://orcid.org/0000-0002-1825-0098", "8", "7"},
		{"https://orcid.org/0000-0002-1825-009", "", ""},
		{"https://orcid.org/0000-0001-2103-2683", "0000-0001-2103-2683", ""}, // an ISNI outside the blocks of ORCID
		{"https://orcid.org/signin", "", ""},
		{"https://arxiv.org/abs/2101.00001v2", "", ""},
		{"https://arxiv.org/abs/hep-th/9901001", "", ""},
		{"https://arxiv.org/abs/2113.00001", "2113.00001", ""},
		{"https://arxiv.org/list/cs.DL/recent", "", ""},
		{"https://example.org/0000-0002-1825-0098", "", ""},
	} {
		found := extra.Catalogue().Check(uri.MustParse(tt.uri))
		if wants := tt.marked != "" || strings.HasSuffix(tt.uri, "-009"); wants != (len(found) > 0) {
			t.Errorf("%s: found %v, want a finding: %v", tt.uri, found, wants)
			continue
		}
		if len(found) > 0 && (tt.uri[found[0].Offset:found[0].End] != tt.marked || found[0].Right != tt.right || found[0].Severity != uri.SeverityWarning) {
			t.Errorf("%s: found %+v, want %q marked and %q instead", tt.uri, found[0], tt.marked, tt.right)
		}
	}
}
