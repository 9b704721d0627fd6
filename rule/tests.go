package rule

import (
	"fmt"
	"slices"

	"github.com/nomen-project/nomen/name"
)

// A TestResult is the result of a test.
type TestResult struct {
	Rule    int      `json:"rule"` // index of the rule, from 0
	Test    int      `json:"test"` // index of the test, from 0
	From    string   `json:"from"`
	Want    []string `json:"want,omitempty"` // empty if no rule may match
	Got     []string `json:"got,omitempty"`
	Matched int      `json:"matched"`          // index of the rule that matched, or -1
	Status  int      `json:"status,omitempty"` // status of that rule; 0 if it has none

	WantStatus int `json:"want_status,omitempty"` // 0 if the test has no status

	Passed bool `json:"passed"`

	Request // the request in the test
}

// RunTests runs all tests of a set, even after one has failed. If a rule or test is invalid, the
// error is an [*IndexError].
func (s Set) RunTests(prefix name.Prefix) ([]TestResult, error) {
	c, err := s.prepare(prefix)
	if err != nil {
		return nil, err
	}
	var all []TestResult
	for i := range s {
		if len(s[i].Tests) > maxTests {
			return nil, &IndexError{i, "tests", fmt.Errorf("more than %d", maxTests)}
		}
		for j, t := range s[i].Tests {
			r, err := c.run(i, j, t)
			if err != nil {
				return nil, err
			}
			if all = append(all, r); c.tested > maxTestSteps {
				return nil, c.checkCost()
			}
		}
	}
	return all, nil
}

func (c *Compiled) run(i, j int, t Test) (TestResult, error) {
	out := TestResult{Rule: i, Test: j, From: t.From, Want: t.To, Matched: -1, Request: t.Request, WantStatus: t.Status}
	n, err := name.Parse(t.From)
	if err != nil {
		return out, &IndexError{i, "tests", err}
	}
	if !c.prefix.Covers(n) {
		return out, &IndexError{i, "tests", fmt.Errorf("%s is not under %s", t.From, c.prefix)}
	}
	r, ok, s := c.apply(n, t.Request)
	if c.tested += s.steps; ok {
		out.Matched, out.Status = r.Rule, r.Status
		for _, l := range r.Locations {
			out.Got = append(out.Got, l.URL)
		}
		if len(r.Locations) == 0 { // the rule has only aliases
			out.Got = r.SameAs
		}
	}
	right := out.Matched == i
	if !t.Matches() {
		right = out.Matched < 0
	}
	out.Passed = right && slices.Equal(out.Got, out.Want) && (t.Status == 0 || t.Status == out.Status)
	return out, nil
}
