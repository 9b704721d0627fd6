package store_test

import (
	"errors"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

func TestCompileDelegation(t *testing.T) {
	for _, tt := range []struct{ to, host, link, via string }{
		{to: "resolver.example", host: "resolver.example:4500"}, // Y95-29
		{to: "Resolver.Example:80", host: "resolver.example:80"},
		{to: "[2001:db8::1]:8080", host: "[2001:db8::1]:8080"},
		{to: "192.0.2.1", host: "192.0.2.1:4500"},
		{to: "https://resolver.example/{+name}", link: "https://resolver.example/urn:x-a:b"},
		{to: "dspace:https://repository.example/server", via: "dspace:https://repository.example/server"},
		{to: "dspace:http://192.0.2.1:8080", via: "dspace:http://192.0.2.1:8080"},
		{to: ""},
	} {
		a := authority("urn:x-a")
		a.Delegation = &store.Delegation{Mode: store.ModeAsk, To: tt.to}
		c, err := a.Compile()
		if err != nil || c.Host != tt.host || c.Via != tt.via || c.Rules != nil || (c.Link != nil) != (tt.link != "") {
			t.Errorf("%q: %+v, %v", tt.to, c, err)
			continue
		}
		if c.Link != nil {
			if got, err := c.Link.Asking(a.Prefix, name.MustParse("urn:x-a:b"), nil); got != tt.link || err != nil {
				t.Errorf("%q: %q, %v, want %q", tt.to, got, err, tt.link)
			}
		}
	}
	for _, to := range []string{
		"user@resolver.example", "resolver.example/x", "resolver.example:0", "resolver.example:65536", "resolver.example:",
		":4500", "a b", "resolver.example?x", "resolver.example#x", "resolver%2Eexample", "javascript:x", "https://{element}/",
		"ftp://resolver.example/{+name}", "{+name}", "dspace:https://repository.example/server", "dspace:x",
	} {
		a := authority("urn:x-a")
		a.Delegation = &store.Delegation{Mode: store.ModeRedirect, To: to}
		var e *store.DelegationError
		if c, err := a.Compile(); !errors.As(err, &e) || e.To != to {
			t.Errorf("%q: %+v, %v, want an error", to, c, err)
		}
	}
}

// The address of a DSpace repository is a URL without a query.
func TestCompileDSpace(t *testing.T) {
	for _, to := range []string{"dspace:", "dspace:repository.example", "dspace:ftp://h.example/", "dspace:https:///server", "dspace:https://u@h.example/", "dspace:https://h.example/?x", "dspace:https://h.example/#x", "dspace:https://h.example/{name}"} {
		a := authority("hdl:20.500.9999")
		a.Delegation = &store.Delegation{Mode: store.ModeAsk, To: to}
		var e *store.DelegationError
		if c, err := a.Compile(); !errors.As(err, &e) || e.To != to {
			t.Errorf("%q: %+v, %v, want an error", to, c, err)
		}
	}
}

func TestCompileRich(t *testing.T) {
	if c, err := storetest.RichAuthority().Compile(); err != nil || c.Rules == nil || c.Host != "resolver.example:4500" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCompileRules(t *testing.T) {
	a := authority("urn:x-a")
	a.Rules = rule.Set{{
		Match:     "{id:d1-}",
		Locations: []nomen.Location{{URL: "https://h.example/{id}"}},
		Tests:     []rule.Test{{From: "urn:x-a:12", To: []string{"https://h.example/12"}}},
	}}
	c, err := a.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if r, ok, _ := c.Rules.Apply(name.MustParse("urn:x-a:7"), rule.Request{}); !ok || r.Locations[0].URL != "https://h.example/7" {
		t.Errorf("urn:x-a:7 gives %+v, %v", r, ok)
	}
	a.Rules[0].Tests[0].To[0] = "https://h.example/13"
	var failed *rule.TestError
	if _, err := a.Compile(); !errors.As(err, &failed) {
		t.Errorf("a rule whose test fails: %v", err)
	}
}
