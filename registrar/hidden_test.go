package registrar

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// ruled returns an authority with a rule for each pattern, tested with a matching name.
func ruled(patterns ...string) *store.Authority {
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:x-a"), Owners: []string{"a", "b"}}
	for _, p := range patterns {
		match, element, _ := strings.Cut(p, " ")
		a.Rules = append(a.Rules, rule.Rule{
			Match: match, Locations: []nomen.Location{{URL: "https://h.example/{+element}"}},
			Tests: []rule.Test{{From: "urn:x-a:" + element, To: []string{"https://h.example/" + element}}},
		})
	}
	return a
}

// TestHiddenRules checks that a rule hidden by an earlier one is rejected, and that there is a
// warning if all tests of a rule are answered by records or by another authority.
func TestHiddenRules(t *testing.T) {
	d := newDesk(t)
	var refusal *RefusalError
	if _, err := d.PutAuthority(d.ctx, Operator(), ruled("{id:d} 1", "{id:d3} 123"), store.AnyRevision, ""); !errors.As(err, &refusal) || refusal.Field != "rules[1].tests[0]" {
		t.Errorf("a rule behind one that matches more: %v", err)
	}
	warned := func(what string, want ...string) {
		t.Helper()
		a := ruled("n{id:d} n1", "m:{id:d} m:1")
		a.Rules[0].Tests = append(a.Rules[0].Tests, rule.Test{From: "urn:x-a:n2", To: []string{"https://h.example/n2"}}, rule.Test{From: "urn:x-a:other"})
		got := d.authority(a).Warnings
		if len(got) != len(want) {
			t.Fatalf("%s: %v", what, got)
		}
		for i, w := range got {
			if w.Code != WarnHidden || !strings.Contains(w.Message, want[i]) {
				t.Errorf("%s: %+v, want %q", what, w, want[i])
			}
		}
	}
	warned("nothing there")
	d.put(&store.Record{Spelling: "urn:x-a:n1", Status: nomen.Reserved})
	warned("one of two tests")
	d.put(&store.Record{Spelling: "urn:x-a:n2"})
	warned("both", "rule 1 of urn:x-a is reached: urn:x-a:n2 has a record, which is active")
	d.authority(&store.Authority{Prefix: name.MustParsePrefix("urn:x-a:m"), Owners: []string{"a", "b"}})
	warned("another authority", "rule 1", "rule 2 of urn:x-a is reached: urn:x-a:m:1 belongs to urn:x-a:m")
}

// TestFoldedRules checks that a rule for upper case is rejected if the authority folds case.
func TestFoldedRules(t *testing.T) {
	d := newDesk(t)
	upper := ruled("N{id:d} N1")
	d.authority(upper)
	upper.FoldCase = true
	var refusal *RefusalError
	if _, err := d.PutAuthority(d.ctx, Operator(), upper, store.AnyRevision, ""); !errors.As(err, &refusal) || refusal.Field != "rules[0].tests[0]" || !strings.Contains(refusal.Message, "urn:x-a:n1") {
		t.Errorf("a rule for upper case: %v", err)
	}
	upper.Rules[0].IgnoreCase = true
	d.authority(upper)
}
