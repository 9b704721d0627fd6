package obo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/bulk/from/rewrite"
	"github.com/nomen-project/nomen/rule"
)

// finish adds tests to the rules of an authority. It refuses invalid rules, and rules that no
// request reaches.
func (t *target) finish(c *converter) {
	for len(t.rules) > 0 {
		set := t.set()
		t.expect(c, set)
		unreached, err := rewrite.AddTests(set, t.at, t.candidate)
		if err == nil {
			for i := range t.rules {
				t.rules[i].Tests = append(set[i].Tests, t.met(c, set, i)...)
			}
			t.drop(set, unreached)
			_, err = t.set().Check(t.at)
		}
		var e *rule.IndexError
		if err == nil {
			break
		}
		if !errors.As(err, &e) || e.Rule >= len(t.rules) {
			t.refuse(nil, err.Error())
			break
		}
		t.refuse([]int{e.Rule}, fmt.Sprintf("%s: %s", e.What, e.Err))
	}
	for i := range c.expectations {
		if e := &c.expectations[i]; !e.met && t == &c.own && e.of.refused == "" {
			e.of.refused = "the rules of this file do not give the expected location"
		}
	}
}

func (t *target) refuse(which []int, reason string) {
	var rest []converted
	for i, r := range t.rules {
		if slices.Contains(which, i) {
			r.of.refused = reason
		} else {
			rest = append(rest, r)
		}
	}
	t.rules = rest
}

// drop removes rules that no request reaches. A rule that is hidden by an earlier rule counts as
// handled. Any other rule is refused.
func (t *target) drop(set rule.Set, unreached []int) {
	var unexplained, hidden []int
	for _, i := range unreached {
		before := -1
		for variant := range 6 {
			c, _ := t.candidate(i, variant)
			if m, ok := rewrite.Matched(set, t.at, c); ok && m >= 0 && m < i {
				before = m
			} else if ok {
				before = -1
				break
			}
		}
		if before < 0 {
			unexplained = append(unexplained, i)
		} else {
			hidden = append(hidden, i)
		}
	}
	reasons := make(map[*directive]string)
	for _, i := range hidden {
		reasons[t.rules[i].of] = t.rules[i].of.refused
	}
	for _, i := range unexplained {
		reasons[t.rules[i].of] = "no request was found that reaches this rule"
	}
	t.refuse(slices.Sorted(slices.Values(unreached)), "")
	for d, reason := range reasons {
		d.refused = reason
	}
}

// candidate returns a request for a path that rule i is likely to match.
func (t *target) candidate(i, variant int) (rewrite.Candidate, bool) {
	r := &t.rules[i]
	if variant < len(r.elements) {
		return rewrite.Candidate{Element: r.elements[variant]}, true
	}
	return rewrite.Candidate{Element: r.expr.Sample(variant - len(r.elements))}, true
}

// expect runs the tests in the file against the rules, and records which tests pass.
func (t *target) expect(c *converter, set rule.Set) {
	for i := range c.expectations {
		e := &c.expectations[i]
		if e.met || !strings.HasPrefix(e.from, t.path(c)+"/") {
			continue
		}
		trial := slices.Clone(set)
		for i := range trial {
			trial[i].Tests = nil
		}
		trial[0].Tests = []rule.Test{{From: c.origin + escape(e.from)}}
		results, err := trial.RunTests(t.at)
		if err != nil || len(results) != 1 {
			continue
		}
		// The service of the OBO Foundry also compares decoded locations.
		if k := slices.IndexFunc(results[0].Got, func(got string) bool { return unquote(got) == unquote(e.to) }); k >= 0 {
			e.met, e.to = true, results[0].Got[k]
		}
	}
}

func (t *target) met(c *converter, set rule.Set, i int) (all []rule.Test) {
	for _, e := range c.expectations {
		if !e.met || !strings.HasPrefix(e.from, t.path(c)+"/") {
			continue
		}
		candidate := rewrite.Candidate{Element: unquote(strings.TrimPrefix(e.from, t.path(c)+"/"))}
		if m, ok := rewrite.Matched(set, t.at, candidate); ok && m == i {
			all = append(all, rule.Test{From: c.origin + escape(e.from), To: []string{e.to}})
		}
	}
	return all
}
