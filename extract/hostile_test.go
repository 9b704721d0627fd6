package extract

import (
	"iter"
	"strings"
	"testing"
)

// TestBareHostile reads text in which every offset could begin or continue a bare identifier. With
// an algorithm of quadratic time, the test would not finish.
func TestBareHostile(t *testing.T) {
	for _, unit := range []string{
		"10.1002/a<b>3.0.CO;2-X", "<b>3.0.CO;2-X", "[b]2.0.CO;2", "(", "(a)", "10.1002/(", "10.1002/a,", "10.1002/a.", "doi:10.1002/(SICI)<", "doi:10.1002/a<b>3.0.CO;2-X",
		"ISBN 9-", "ISBN 978", "978-", "isbn", "ISSN 1", "1-", "1 ", "9", "0000-", "0000-0000-0000-0000", "arXiv:", "arXiv:2101.", "PMID: ", "PMID:1,", "https://doi.org/10.1/", "&lt;", "%3C", "10.", "1.",
	} {
		for _, start := range []string{"", "10.1002/a", "doi:10.1002/a", "ISBN ", "https://doi.org/10.1002/a"} {
			text := start + strings.Repeat(unit, (1<<18)/len(unit))
			for form, findings := range map[string]func() int{
				"text":     func() int { return countOf(Text(strings.NewReader(text), Options{Bare: BareKinds})) },
				"HTML":     func() int { return countOf(HTML(strings.NewReader(text), Options{Bare: BareKinds})) },
				"Markdown": func() int { return countOf(Markdown(strings.NewReader(text), Options{Bare: BareKinds})) },
			} {
				if n := findings(); n > len(text)/len(unit)+2 {
					t.Errorf("%s, %q and then %q: %d findings", form, start, unit, n)
				}
			}
		}
	}
}

func countOf(all iter.Seq2[Finding, error]) (n int) {
	for range all {
		n++
	}
	return n
}
