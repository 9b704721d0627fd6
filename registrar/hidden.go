package registrar

import (
	"context"
	"fmt"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// A rule is hidden if it can never answer a request. The reason can be case folding, or that a
// record, another authority or an earlier rule answers first. This file finds hidden rules, except
// those that an earlier rule hides: [rule.Set.Check] rejects these, because each rule needs a test
// that reaches it.

// A shown is a name in a test of a rule.
type shown struct {
	test int
	name name.Name // folded like the name in a request
	with rule.Request
}

// shownBy returns the names in the tests of rule i, except in tests that expect no answer. All
// tests must have passed.
func shownBy(a *store.Authority, i int) []shown {
	var all []shown
	for j, t := range a.Rules[i].Tests {
		n, err := name.Parse(t.From)
		if err == nil && t.Matches() {
			all = append(all, shown{j, a.Fold(n), t.Request})
		}
	}
	return all
}

// checkFoldedRules returns an error if the authority folds case and a rule does not answer for the
// names in its tests after these have been folded.
func checkFoldedRules(of string, a *store.Authority, compiled *rule.Compiled) error {
	if !a.FoldCase {
		return nil
	}
	for i := range a.Rules {
		for _, s := range shownBy(a, i) {
			if got, ok, _ := compiled.Apply(s.name, s.with); !ok || got.Rule != i {
				return refuse(of, fmt.Sprintf("rules[%d].tests[%d]", i, s.test), faultf(0, "test",
					"the authority folds case, so the rule is tested with %s, which it does not match: write the pattern in lower case, or use ignore_case", s.name))
			}
		}
	}
	return nil
}

// hidden returns a warning for each rule whose tests have only names for which a record or another
// authority answers. Clients then never get the answers that the tests show. The rule is not
// rejected, because it can still answer for other names, and because records are meant to take
// precedence.
func (r *Registrar) hidden(ctx context.Context, a *store.Authority) []Warning {
	var all []Warning
	for i := range a.Rules {
		why := ""
		for _, s := range shownBy(a, i) {
			if why = r.hides(ctx, a, s.name); why == "" {
				break
			}
		}
		if why != "" {
			all = append(all, Warning{WarnHidden, fmt.Sprintf("no test shows that rule %d of %s is reached: %s", i+1, a.Prefix, why)})
		}
	}
	return all
}

// hides describes the record or the authority that answers for the name n instead of the rules of
// the authority, or "". It ignores errors of the store.
func (r *Registrar) hides(ctx context.Context, a *store.Authority, n name.Name) string {
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return ""
	}
	if other := set.Of(n); other != nil && len(other.Prefix.String()) > len(a.Prefix.String()) {
		return fmt.Sprintf("%s belongs to %s", n, other.Prefix)
	}
	rec, err := r.store.Get(ctx, n, time.Time{})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s has a record, which is %s", n, rec.Status)
}
