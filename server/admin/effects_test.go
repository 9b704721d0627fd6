package admin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// ruleOf returns a rule that makes a URL of an element that begins with x, with tests.
func ruleOf(tests ...rule.Test) rule.Set {
	return rule.Set{{Match: "x{rest:*}", Locations: []nomen.Location{{URL: "https://rules.example.org/{rest}"}}, Tests: tests}}
}

// TestCheckAuthority checks the results of tests and the names whose answers would differ.
func TestCheckAuthority(t *testing.T) {
	counter, err := misses.Open(misses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = counter.Close() })
	counter.Add("urn:dns:other.example:x9", nil)
	api, s := newTestAPI(t, func(o *Options) { o.Misses = counter })
	ctx, p := t.Context(), name.MustParsePrefix("urn:dns:other.example")
	owner := api.Client(person("u-owner", registrar.Owner, "urn:dns:other.example"))
	a, err := owner.Authority(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	check := func(change func(*store.Authority)) adminapi.AuthorityCheck {
		t.Helper()
		next := a.Clone()
		change(next)
		out, err := owner.CheckAuthority(ctx, next)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := check(func(*store.Authority) {}); got.Problem != nil || got.Created || len(got.Effects) > 0 || got.Examined != 2 || got.More {
		t.Errorf("no change: %+v", got)
	}
	got := check(func(a *store.Authority) {
		a.Owners = a.Owners[:1]
		a.Rules = ruleOf(rule.Test{From: "urn:dns:other.example:x1", To: []string{"https://rules.example.org/1"}}, rule.Test{From: "urn:dns:other.example:y1"})
	})
	want := []adminapi.Effect{
		{Name: "urn:dns:other.example:x1", Before: "not found", After: "https://rules.example.org/1, status 307"},
		{Name: "urn:dns:other.example:x9", Before: "not found", After: "https://rules.example.org/9, status 307"},
	}
	if !slices.Equal(got.Effects, want) || got.Problem != nil || len(got.Tests) != 2 || !got.Tests[0].Passed || !got.Tests[1].Passed || got.Examined != 4 {
		t.Errorf("rules: %+v", got)
	}
	if len(got.Warnings) == 0 || got.Warnings[0].Code != registrar.WarnOwners {
		t.Errorf("warnings: %+v", got.Warnings)
	}
	got = check(func(a *store.Authority) { a.Access, a.AccessNote = store.AccessLegal, "a court order" })
	if len(got.Effects) != 2 || !strings.Contains(got.Effects[1].After, "a court order") || !strings.Contains(got.Effects[1].Before, "https://other.example/2") {
		t.Errorf("access: %+v", got.Effects)
	}
	got = check(func(a *store.Authority) {
		a.Rules = ruleOf(rule.Test{From: "urn:dns:other.example:x1", To: []string{"https://rules.example.org/2"}}, rule.Test{From: "urn:dns:other.example:x2"}, rule.Test{From: "urn:dns:other.example:x3", To: []string{"https://rules.example.org/3"}})
	})
	passed := []bool{}
	for _, r := range got.Tests {
		passed = append(passed, r.Passed)
	}
	if got.Problem == nil || got.Problem.Field != "rules[0].tests[0]" || !slices.Equal(passed, []bool{false, false, true}) || got.Tests[0].Got[0] != "https://rules.example.org/1" || len(got.Effects) > 0 {
		t.Errorf("failing tests: %+v", got)
	}
	got = check(func(a *store.Authority) { a.Rules = rule.Set{{Match: "{"}} })
	if got.Problem == nil || len(got.Tests) > 0 {
		t.Errorf("an invalid rule: %+v", got)
	}
	if now, err := s.Authority(ctx, p, testNow); err != nil || !now.SameContent(a) {
		t.Errorf("the check changed the authority: %+v, %v", now, err)
	}
}

// TestCheckAliases: an alias gets the same answer before and after a change that does not affect it.
func TestCheckAliases(t *testing.T) {
	api, s := newTestAPI(t, nil)
	n := name.MustParse("urn:dns:example.org:alb002")
	rec, err := s.Get(t.Context(), n, testNow)
	if err != nil {
		t.Fatal(err)
	}
	rec = rec.Clone()
	rec.SameAs = []string{"urn:dns:example.org:other-name"}
	if _, err := s.Apply(t.Context(), []store.Change{{Record: rec, Expected: store.AnyRevision, Time: testNow}}); err != nil {
		t.Fatal(err)
	}
	client := api.Client(person("u-admin", registrar.Administrator))
	a, err := client.Authority(t.Context(), name.MustParsePrefix("urn:dns:example.org"))
	if err != nil {
		t.Fatal(err)
	}
	a.Rules = ruleOf(rule.Test{From: "urn:dns:example.org:x1", To: []string{"https://rules.example.org/1"}}, rule.Test{From: "urn:dns:example.org:other-name"})
	got, err := client.CheckAuthority(t.Context(), a)
	if err != nil || got.Problem != nil || len(got.Effects) != 1 || got.Effects[0].Name != "urn:dns:example.org:x1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestCheckAsks: a check sends nothing to other resolvers.
func TestCheckAsks(t *testing.T) {
	api, _ := newTestAPI(t, nil)
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:x-new"), Owners: []string{"a", "b"}, Policy: store.Policy{
		Delegation: &store.Delegation{Mode: store.ModeAsk, To: "names.example.org"}, Rules: ruleOf(rule.Test{From: "urn:x-new:x1", To: []string{"https://rules.example.org/1"}}, rule.Test{From: "urn:x-new:y1"}),
	}}
	got, err := api.Client(person("u-admin", registrar.Administrator)).CheckAuthority(t.Context(), a)
	if err != nil || !got.Created || got.Problem != nil || len(got.Effects) != 2 || got.Effects[1].After != "answered by the resolver names.example.org:4500" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestCheckBounds: the cost of a check does not depend on the number of names.
func TestCheckBounds(t *testing.T) {
	api, s := newTestAPI(t, nil)
	p := name.MustParsePrefix("urn:x-many")
	changes := []store.Change{{Authority: &store.Authority{Prefix: p, Owners: []string{"a", "b"}}, Time: testNow}}
	for i := range maxExamined + 20 {
		n := name.MustParse(fmt.Sprintf("urn:x-many:%04d", i))
		changes = append(changes, store.Change{Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/"}}}, Time: testNow})
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	client := api.Client(person("u-admin", registrar.Administrator))
	for _, tt := range []struct {
		policy            store.Policy
		effects, examined int
	}{{store.Policy{}, 0, maxExamined}, {store.Policy{MaxAge: 60}, maxEffects, maxEffects}} {
		got, err := client.CheckAuthority(t.Context(), &store.Authority{Prefix: p, Owners: []string{"a", "b"}, Policy: tt.policy})
		if err != nil || !got.More || len(got.Effects) != tt.effects || got.Examined != tt.examined {
			t.Errorf("%d effects of %d names, more %v, %v; want %d of %d", len(got.Effects), got.Examined, got.More, err, tt.effects, tt.examined)
		}
	}
}

// TestCheckRights: an actor that may not change an authority may not check a change of it.
func TestCheckRights(t *testing.T) {
	api, _ := newTestAPI(t, nil)
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:other.example"), Owners: []string{"a"}}
	for _, c := range []registrar.Actor{
		person("u-1", registrar.Editor), person("u-2", registrar.Owner, "urn:dns:example.org"), person("u-3", registrar.Reader),
		person("u-4", registrar.Owner, "urn:dns:other.example"), // it would lose its address
	} {
		if _, err := api.Client(c).CheckAuthority(t.Context(), a); !errors.As(err, new(*registrar.DeniedError)) {
			t.Errorf("%s: %v", c.Who, err)
		}
	}
}
