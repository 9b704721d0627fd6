package registrar

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

func oneRule(location string, tests ...rule.Test) rule.Set {
	return rule.Set{{Match: "n{id:d}", Locations: []nomen.Location{{URL: location}}, Tests: tests}}
}

var good = rule.Test{From: "urn:x-a:n1", To: []string{"https://h.example/1"}}

// TestPolicyRefused checks the error for each field.
func TestPolicyRefused(t *testing.T) {
	for _, tt := range []struct {
		policy  store.Policy
		field   string
		message string
	}{
		{store.Policy{Suffix: "drop"}, "suffix", "append"},
		{store.Policy{Access: "secret"}, "access", "denied, legal"},
		{store.Policy{AccessNote: "a\x00"}, "access_note", "U+0000"},
		{store.Policy{QComponent: "keep"}, "q_component", "append, ignore"},
		{store.Policy{Query: "keep"}, "query", "append, ignore"},
		{store.Policy{Choice: "first"}, "choice", "fixed"},
		{store.Policy{Failover: "mirror"}, "failover", "archive"},
		{store.Policy{CheckDigit: "crc"}, "check_digit", "noid"},
		{store.Policy{MaxAge: -1}, "max_age", "-1"},
		{store.Policy{MaxAge: maxMaxAge + 1}, "max_age", "between"},
		{store.Policy{Services: []nomen.Service{nomen.I2L, "I2X"}}, "services[1]", "I2X"},
		{store.Policy{Services: []nomen.Service{nomen.I2L, nomen.I2L}}, "services[1]", "repeated"},
		{store.Policy{Services: []nomen.Service{nomen.I2R}}, "services[0]", "fetch"},
		{store.Policy{Services: []nomen.Service{""}}, "services[0]", "empty"},
		{store.Policy{Keywords: map[string][]string{"a--b": nil}}, "keywords.a--b", "letter"},
		{store.Policy{Keywords: map[string][]string{"c": {""}}}, "keywords.c[0]", "empty"},
		{store.Policy{RComponent: map[string]string{"a b": "c=toc"}}, "r_component.a b", "characters"},
		{store.Policy{RComponent: map[string]string{"toc": "toc"}}, "r_component.toc", "keyword=value"},
		{store.Policy{RComponent: map[string]string{"toc": "x=toc"}}, "r_component.toc", "keyword must be"},
		{store.Policy{RComponent: map[string]string{"toc": "s=I2X"}}, "r_component.toc", "I2X"},
		{store.Policy{RComponent: map[string]string{"toc": "country=Finland"}}, "r_component.toc", "two letters"},
		{store.Policy{Delegation: &store.Delegation{To: "h.example"}}, "delegation.mode", "redirect or ask"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect}}, "delegation.to", "needs the address"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "a b"}}, "delegation.to", "HOST"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "https://{element}/"}}, "delegation.to", "host"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "https://h.example/{element}"}}, "delegation.to", "{+name} and no other variable"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "https://h.example/{prefix}/{+name}"}}, "delegation.to", "{+name} and no other variable"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "names.example"}}, "delegation.to", "itself"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "dspace:https://r.example/server"}}, "delegation.to", "only handles"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "dspace:https://r.example/server"}}, "delegation.to", "mode ask"},
		{store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://NAMES.example/{+name}"}}, "delegation.to", "itself"},
		{store.Policy{Rules: oneRule("javascript:{id}", good)}, "rules[0].locations[0].url", "execute"},
		{store.Policy{Rules: oneRule("file:///{id}", good)}, "rules[0].locations[0].url", "file"},
		{store.Policy{Rules: oneRule("{id}", good)}, "rules[0].locations[0].url", "scheme"},
		{store.Policy{Rules: oneRule("https://{id}/", good)}, "rules[0].locations", "host"},
		{store.Policy{Rules: oneRule("https://h.example/{other}", good)}, "rules[0].locations", "other"},
		{store.Policy{Rules: oneRule("https://h.example/{id}")}, "rules[0].tests", "at least one"},
		{store.Policy{Rules: rule.Set{{Match: "{", Tests: []rule.Test{good}, Locations: []nomen.Location{{URL: "https://h.example/"}}}}}, "rules[0].match", "closed"},
		{store.Policy{Rules: rule.Set{{Match: "n{id:d}", Locations: []nomen.Location{{URL: "https://h.example/{id}", Lang: "?"}}, Tests: []rule.Test{good}}}}, "rules[0].locations[0].lang", "?"},
		{store.Policy{Rules: rule.Set{{Match: "n{id:d}", SameAs: []string{"data:{id}"}, Tests: []rule.Test{good}}}}, "rules[0].same_as[0]", "execute"},
		{store.Policy{Rules: oneRule("https://other.example/{id}", good)}, "rules[0].tests[0]", "test 1 of rule 1, urn:x-a:n1: rule 1 gives https://other.example/1; the test expects rule 1 to give https://h.example/1"},
		{store.Policy{Rules: oneRule("https://h.example/{id}", good, rule.Test{From: "urn:x-a:n2"})}, "rules[0].tests[1]", "test 2 of rule 1, urn:x-a:n2: rule 1 gives https://h.example/2; the test expects no rule to match"},
		{store.Policy{Rules: oneRule("https://h.example/{id}", good, rule.Test{From: "urn:x-a:m2", To: []string{"https://h.example/2"}})}, "rules[0].tests[1]", "no rule matches; the test expects rule 1 to give"},
	} {
		r := New(memstore.New(), Options{})
		a := &store.Authority{Prefix: name.MustParsePrefix("urn:x-a"), Hosts: []string{"names.example"}, Policy: tt.policy}
		out, err := r.PutAuthority(t.Context(), Operator(), a, 0, "")
		var e *RefusalError
		if !errors.As(err, &e) || e.Field != tt.field || !strings.Contains(e.Message, tt.message) || out.Result.Changed {
			t.Errorf("%s: %v, want a refusal of %s with %q", tt.policy.Text(), err, tt.field, tt.message)
		}
	}
}

func TestPolicyTaken(t *testing.T) {
	s := memstore.New()
	r := New(s, Options{})
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:x-a"), Owners: []string{"a", "b"}, Service: nomen.I2C, Policy: store.Policy{
		Rules: oneRule("https://h.example/{id}", good), Delegation: &store.Delegation{Mode: store.ModeAsk}, Suffix: store.SuffixAppend,
		Services: []nomen.Service{nomen.I2L, nomen.I2C, nomen.I2R}, Fetch: true, Keywords: map[string][]string{"c": {"toc"}, "s": nil},
		RComponent: map[string]string{"CCResolve:cc=uk": "country=UK&s=I2L"}, QComponent: store.PassIgnore, Query: store.PassAppend,
		Choice: store.ChoiceFixed, MaxAge: maxMaxAge, CheckDigit: "luhn", Access: store.AccessLegal, AccessNote: "why\nnot",
	}}
	out, err := r.PutAuthority(t.Context(), Operator(), a, 0, "")
	if err != nil || out.Authority.Text() != a.Text() || len(out.Warnings) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	a.Service = nomen.I2Ns
	var e *RefusalError
	if _, err := r.PutAuthority(t.Context(), Operator(), a, 1, ""); !errors.As(err, &e) || e.Field != "default_service" {
		t.Errorf("a default that is not offered: %v", err)
	}
}

// TestCheckDigit checks that new names need check characters, and existing ones do not.
func TestCheckDigit(t *testing.T) {
	for _, tt := range []struct{ method, prefix, right, wrong, want string }{
		{"noid", "ark:13030", "ark:13030/xf93gt2q", "ark:13030/xf93gt2r", "ark:13030/xf93gt2q"},  // the example of NOID
		{"luhn", "urn:x-a", "urn:x-a:79927398713", "urn:x-a:79927398710", "urn:x-a:79927398713"}, // the example of ISO/IEC 7812-1 in wide use
		{"mod97", "urn:x-a", "urn:x-a:79444", "urn:x-a:79445", "urn:x-a:79444"},                  // the example of ISO/IEC 7064
		{"namespace", "urn:isbn", "urn:isbn:9780395363416", "urn:isbn:9780395363417", "9780395363416"},
		{"luhn", "urn:x-a", "urn:x-a:18", "urn:x-a:1", "too short"},
	} {
		r := New(memstore.New(), Options{})
		a := &store.Authority{Prefix: name.MustParsePrefix(tt.prefix)}
		put := func(n string) error {
			rec := &store.Record{Spelling: n, Locations: []nomen.Location{{URL: "https://h.example/"}}}
			_, err := r.Put(t.Context(), Operator(), Request{Record: rec, Expected: store.AnyRevision}, "")
			return err
		}
		old := tt.wrong
		if err := put(old); err != nil {
			t.Fatal(err)
		}
		a.CheckDigit = tt.method
		if _, err := r.PutAuthority(t.Context(), Operator(), a, 0, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Put(t.Context(), Operator(), Request{Record: &store.Record{Spelling: old, Locations: []nomen.Location{{URL: "https://h.example/2"}}}, Expected: 1}, ""); err != nil {
			t.Errorf("%s: an old name cannot be changed: %v", tt.method, err)
		}
		if err := put(tt.right); err != nil {
			t.Errorf("%s: %s: %v", tt.method, tt.right, err)
		}
		fresh := New(memstore.New(), Options{})
		if _, err := fresh.PutAuthority(t.Context(), Operator(), a, 0, ""); err != nil {
			t.Fatal(err)
		}
		r = fresh
		var e *RefusalError
		if err := put(tt.wrong); !errors.As(err, &e) || e.Rule != "check" || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s: %s: %v, want a refusal with %q", tt.method, tt.wrong, err, tt.want)
		}
	}
}
