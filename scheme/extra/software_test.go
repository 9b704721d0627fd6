package extra_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// TestSoftware reads vectors: a URI, and its canonical form or the rule that it
// violates after "!".
func TestSoftware(t *testing.T) {
	file, err := os.Open("testdata/software.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		given, want, ok := strings.Cut(lines.Text(), "\t")
		if !ok || strings.HasPrefix(given, "#") {
			continue
		}
		n++
		u, err := uri.Parse(given)
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		var rule string
		for _, f := range extra.Catalogue().Check(u) {
			if f.Severity == uri.SeverityError {
				rule = "!" + f.Rule
				break
			}
		}
		if got := rule; strings.HasPrefix(want, "!") || got != "" {
			if !strings.Contains(got, strings.TrimPrefix(want, "!")) || got == "" {
				t.Errorf("%s: violates %q, want %q", given, got, want)
			}
			continue
		}
		if got := extra.Catalogue().Canonical(u); got.String() != want {
			t.Errorf("%s: canonical form %s, want %s", given, got, want)
		} else if again := extra.Catalogue().Canonical(got); again.String() != want {
			t.Errorf("%s: canonical form of %s is %s", given, got, again)
		}
	}
	if n < 30 {
		t.Errorf("%d vectors, want at least 30", n)
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
