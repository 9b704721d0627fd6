package extract

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/internal/testrun"
)

// TestBareGroundTruth counts the identifiers without a scheme in the texts of
// RFCs. The references give the DOI of each RFC that they name, which the number
// of the RFC determines: that is the ground truth for DOIs. Every finding is
// compared with a second, independent reading of the text.
func TestBareGroundTruth(t *testing.T) {
	texts, ok := rfcTexts(t)
	if !ok {
		return // TestBareNumbers and TestBare have committed data
	}
	reference := regexp.MustCompile(`RFC\s+(\d{1,4}),\s+DOI\s+10\.17487/\s*RFC(\d{4})\b`)
	want, hits, found := 0, 0, map[Kind]int{}
	for n, text := range texts {
		at := map[int64]Finding{}
		for f := range Bytes(text, Options{Bare: BareKinds}) {
			if BareKinds.Has(f.Kind) {
				found[f.Kind]++
				at[f.Start] = f
				checkBare(t, n, f)
			}
		}
		for _, m := range reference.FindAllSubmatchIndex(text, -1) {
			number, doi := string(text[m[2]:m[3]]), string(text[m[4]:m[5]])
			if fmt.Sprintf("%04s", number) != doi {
				continue // the reference has the DOI of another RFC
			}
			want++
			start := strings.Index(string(text[m[0]:m[1]]), "10.17487") + m[0]
			if f := at[int64(start)]; f.Kind == DOI && f.URI.String() == "doi:10.17487/RFC"+doi {
				hits++
			} else {
				t.Logf("RFC %d, offset %d: found %q, want the DOI of RFC %s", n, start, f.Spelling, doi)
			}
		}
	}
	t.Logf("%d texts: DOIs of RFCs: %s; found %v", len(texts), share(hits, want), found)
	if 1000*hits < 999*want {
		t.Errorf("DOIs of RFCs: %s, want 99.9 %%", share(hits, want))
	}
}

// checkBare checks what a finding says about itself.
func checkBare(t *testing.T, n int, f Finding) {
	switch f.Kind {
	case ORCID:
		if bad := pid.CheckORCID(f.Spelling); bad != nil {
			t.Errorf("RFC %d: %q: %v", n, f.Spelling, bad)
		}
	case DOI:
		if !strings.HasPrefix(f.Spelling, "10.") || strings.ContainsAny(f.Spelling, " \n") {
			t.Errorf("RFC %d: DOI %q", n, f.Spelling)
		}
	}
}

// TestBareNumbers reads lists of real numbers. Valid numbers are found after their word, such as
// ISBN. Invalid numbers, and numbers without the word, are not found.
func TestBareNumbers(t *testing.T) {
	for _, list := range []struct {
		file, word string
		kind       Kind
		column     int
		right      bool
	}{
		{"collections/issn-good.txt", "ISSN ", ISSN, 0, true},
		{"collections/issn-bad.txt", "ISSN ", ISSN, 0, false},
		{"isbn/isbn-goodbooks.tsv", "ISBN ", ISBN, 0, true},
		{"isbn/isbn-goodbooks.tsv", "ISBN-13: ", ISBN, 1, true},
		{"isbn/isbn-goodbooks.tsv", "", ISBN, 2, true},
		{"isbn/isbn10-bad.txt", "ISBN ", ISBN, 0, false},
	} {
		var all, after, alone int
		lines, _ := testrun.Lines(t, list.file)
		for _, line := range lines {
			number := strings.Split(line, "\t")[list.column]
			if strings.HasPrefix(number, "isbn") || !strings.ContainsAny(number, "0123456789") {
				continue
			}
			all++
			after += len(bareFindings("see "+list.word+number+".", Options{Bare: KindsOf(list.kind)}))
			alone += len(bareFindings("see "+number+".", Options{Bare: KindsOf(list.kind)}))
		}
		t.Logf("%s: %d numbers; found after the word: %d, without: %d", list.file, all, after, alone)
		if list.right && 1000*after < 999*all || !list.right && after > 0 || alone > 0 && list.kind == ISSN {
			t.Errorf("%s: found %d of %d after the word, %d without", list.file, after, all, alone)
		}
	}
}
