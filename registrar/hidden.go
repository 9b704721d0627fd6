package registrar

import (
	"context"
	"fmt"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// A rule that an earlier one hides cannot be stored: at least one of its tests has to
// reach it. What else may hide it is not in the set of rules.

// A shown is a name of which a test says what a rule gives to it.
type shown struct {
	test int
	name name.Name // as the rule is asked for it
}

// shownBy returns those of the tests of rule i of an authority. The tests have passed.
func shownBy(a *store.Authority, i int) []shown {
	var all []shown
	for j, t := range a.Rules[i].Tests {
		n, err := name.Parse(t.From)
		if err == nil && len(t.To) > 0 {
			all = append(all, shown{j, a.Fold(n)})
		}
	}
	return all
}

// checkFoldedRules refuses rules whose tests pass only as they are spelled, where the
// authority asks for names in lower case.
func checkFoldedRules(of string, a *store.Authority, compiled *rule.Compiled) error {
	if !a.FoldCase {
		return nil
	}
	for i := range a.Rules {
		for _, s := range shownBy(a, i) {
			if got, ok := compiled.Apply(s.name); !ok || got.Rule != i {
				return refuse(of, fmt.Sprintf("rules[%d].tests[%d]", i, s.test), faultf(0, "test",
					"the authority folds case, so the rule is asked for %s, which it does not get: write it in lower case, or with ignore_case", s.name))
			}
		}
	}
	return nil
}

// hidden warns of rules of which no test shows what is answered: every name in them
// has a record of its own, or lies under another authority. Other names may reach
// them; that a record wins over a rule is what records are for.
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

// hides says what answers for n in place of the rules of a, "" for nothing. What the
// store cannot tell now is not worth a warning.
func (r *Registrar) hides(ctx context.Context, a *store.Authority, n name.Name) string {
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return ""
	}
	if other := set.Of(n); other != nil && len(other.Prefix.String()) > len(a.Prefix.String()) {
		return fmt.Sprintf("%s is decided about by %s", n, other.Prefix)
	}
	rec, err := r.store.Get(ctx, n, time.Time{})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s has a record of its own, which is %s", n, rec.Status)
}
