package rewrite

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/uri"
)

// A Candidate is a request that may become a test of a rule.
type Candidate struct {
	Element string // decoded
	rule.Request
}

// AddTests adds a test to each rule in a set. The test is the first candidate for the rule that
// reaches the rule. AddTests returns the indexes of rules that no candidate reaches. If a rule is
// invalid, the error is an [*rule.IndexError].
func AddTests(set rule.Set, at name.Prefix, candidates func(i, variant int) (Candidate, bool)) (unreached []int, err error) {
	const variants = 48
	open := make([]int, len(set))
	for i := range set {
		open[i] = i
	}
	for variant := 0; variant < variants && len(open) > 0; variant++ {
		trial := slices.Clone(set)
		for i := range trial {
			trial[i].Tests = nil
		}
		for _, i := range open {
			if c, ok := candidates(i, variant); ok {
				if from, ok := spell(at, c.Element); ok {
					trial[i].Tests = []rule.Test{{From: from, Request: c.Request}}
				}
			}
		}
		results, err := trial.RunTests(at)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			if r.Matched == r.Rule && (len(r.Got) > 0 || len(set[r.Rule].Locations) == 0) {
				set[r.Rule].Tests = []rule.Test{{From: r.From, To: r.Got, Request: r.Request, Status: r.Status}}
			}
		}
		open = slices.DeleteFunc(open, func(i int) bool { return len(set[i].Tests) > 0 })
	}
	return open, nil
}

// Matched returns the index of the rule that answers a request, or -1 if no rule does. It ignores
// the tests in the set. The result ok is false if no name has the element of the candidate.
func Matched(set rule.Set, at name.Prefix, c Candidate) (i int, ok bool) {
	from, ok := spell(at, c.Element)
	if !ok {
		return 0, false
	}
	trial := slices.Clone(set)
	for i := range trial {
		trial[i].Tests = nil
	}
	trial[0].Tests = []rule.Test{{From: from, Request: c.Request}}
	results, err := trial.RunTests(at)
	if err != nil || len(results) == 0 {
		return 0, false
	}
	return results[0].Matched, true
}

// spell returns the name that consists of a prefix and an element. The result is false if no name
// has exactly this element.
func spell(at name.Prefix, element string) (string, bool) {
	s := at.String() + "/" + uri.EscapePath(element)
	n, err := name.Parse(s)
	if err != nil || !at.Covers(n) {
		return "", false
	}
	plain, err := uri.Unescape(strings.TrimPrefix(n.Key(), at.String()+"/"))
	return s, err == nil && plain == element
}
