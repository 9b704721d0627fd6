package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// A spy is a resolver that records its questions.
type spy struct {
	asked []nomen.Question
	reply func(nomen.Question) (*nomen.Answer, error)
}

func (s *spy) Resolve(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
	s.asked = append(s.asked, q)
	return s.reply(q)
}

func TestDelegationAsked(t *testing.T) {
	other := &spy{reply: func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{
			Service: q.Service, Name: q.Name, Status: nomen.Active, Why: []string{"theirs"},
			Locations: []nomen.Location{at("javascript:alert(1)"), at("https://h.example/1"), at("not a URI")},
			Names:     []string{"urn:x-b:1", "data:,x"},
		}, nil
	}}
	asked := ""
	d := newDesk(t, store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "Resolver.example"}}, resolve.Options{
		Ask: func(to string) (nomen.Resolver, error) { asked = to; return other, nil },
	})
	d.leads("1", "https://h.example/1?x", func(q *nomen.Question) {
		q.R, q.Q, q.Component, q.Hops, q.Accept = "r", "x", "toc", 3, "text/html"
		q.Default, q.Strict = nomen.I2C, true
	})
	if asked != "resolver.example:4500" || len(other.asked) != 1 {
		t.Fatalf("asked %q, %+v", asked, other.asked)
	}
	want := nomen.Question{Name: name.MustParse("urn:x-a:1"), Service: nomen.I2L, R: "r", Component: "toc", Hops: 4, Accept: "text/html"}
	if got := other.asked[0]; got != want {
		t.Errorf("it was asked %+v, want %+v", got, want)
	}
	a, err := d.ask(nomen.I2Ns, "1", func(q *nomen.Question) { q.Explain = true })
	if err != nil || !slices.Equal(a.Names, []string{"urn:x-b:1"}) || a.Why[len(a.Why)-1] != "theirs" || len(a.Why) < 3 {
		t.Errorf("names: %+v, %v", a, err)
	}
}

// The errors of RFC 2483 stay distinct, and a failure is not an answer.
func TestDelegationErrors(t *testing.T) {
	failure := errors.New("no route to host")
	for _, tt := range []struct {
		reply error
		want  []error
	}{
		{&nomen.Error{Kind: nomen.Unknown, Name: "x"}, []error{&nomen.Error{Kind: nomen.Unknown}}},
		{&nomen.Error{Kind: nomen.NoResult}, []error{&nomen.Error{Kind: nomen.NoResult}}},
		{&nomen.Error{Kind: nomen.Gone, Answer: &nomen.Answer{Status: nomen.Retired, Reason: "why"}}, []error{&nomen.Error{Kind: nomen.Gone}}},
		{&nomen.Error{Kind: nomen.Denied, Legal: true}, []error{&nomen.Error{Kind: nomen.Denied}}},
		{&nomen.Error{Kind: nomen.Malformed, Rule: "NSS", Offset: 4}, []error{&nomen.Error{Kind: nomen.Malformed}}},
		{fmt.Errorf("client: %w", nomen.ErrLoop), []error{nomen.ErrLoop}},
		{failure, []error{nomen.ErrUpstream, failure}},
	} {
		d := newDesk(t, store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk}}, resolve.Options{
			Ask: func(string) (nomen.Resolver, error) {
				return &spy{reply: func(nomen.Question) (*nomen.Answer, error) { return nil, tt.reply }}, nil
			},
		})
		a, err := d.ask(nomen.I2L, "1")
		for _, want := range tt.want {
			if a != nil || !errors.Is(err, want) {
				t.Errorf("%v: %+v, %v, want %v", tt.reply, a, err, want)
			}
		}
		var e *nomen.Error
		isAnswer := errors.As(err, &e)
		if isAnswer != errors.As(tt.reply, new(*nomen.Error)) {
			t.Errorf("%v became %v", tt.reply, err)
		}
		if isAnswer && (e.Name != "urn:x-a:1" || e.Kind == nomen.Denied && !e.Legal || e.Kind == nomen.Gone && e.Answer.Reason != "why") {
			t.Errorf("%v became %+v", tt.reply, e)
		}
	}
	nobody := newDesk(t, store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "r.example"}}, resolve.Options{})
	nobody.refuses(nomen.NoResult, nomen.I2L, "1")
	broken := newDesk(t, store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "r.example"}}, resolve.Options{
		Ask: func(string) (nomen.Resolver, error) { return nil, failure },
	})
	if _, err := broken.ask(nomen.I2L, "1"); !errors.Is(err, nomen.ErrUpstream) {
		t.Errorf("no resolver: %v", err)
	}
}

// TestLoop checks that a loop of delegations ends.
func TestLoop(t *testing.T) {
	var d *desk
	hops := 0
	d = newDesk(t, store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk}}, resolve.Options{
		Ask: func(string) (nomen.Resolver, error) { hops++; return d.engine, nil },
	})
	if a, err := d.ask(nomen.I2L, "1"); !errors.Is(err, nomen.ErrLoop) || a != nil || hops != nomen.MaxHops {
		t.Errorf("%+v, %v after %d hops, want %d", a, err, hops, nomen.MaxHops)
	}
}

func TestDelegationRedirects(t *testing.T) {
	for _, tt := range []struct {
		to      string
		service nomen.Service
		r, q    string
		want    string
	}{
		{"https://r.example/{+name}", nomen.I2L, "", "", "https://r.example/urn:x-a:a%2F1"},
		{"https://r.example/{+name}", nomen.I2C, "r", "q=1", "https://r.example/urn:x-a:a%2F1?+r?=q=1"},
		{"https://r.example/?id={name}", nomen.I2L, "r", "q", "https://r.example/?id=urn%3Ax-a%3Aa%252F1"},
		{"https://r.example/{+name}", nomen.I2L, "r#x", "", "https://r.example/urn:x-a:a%2F1"},
		{"r.example", nomen.I2L, "", "", "http://r.example:4500/urn:x-a:a%2F1"},
		{"r.example:80", nomen.I2C, "", "", "http://r.example:80/urn:x-a:a%2F1?s=I2C"},
		{"r.example:80", nomen.I2C, "r", "", "http://r.example:80/urn:x-a:a%2F1?+r"},
	} {
		d := newDesk(t, store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: tt.to}}, resolve.Options{})
		a, err := d.ask(tt.service, "a%2F1", func(q *nomen.Question) { q.R, q.Q = tt.r, tt.q })
		if err != nil || a.Redirect != tt.want || a.Service != tt.service {
			t.Errorf("%s: %+v, %v, want %s", tt.to, a, err, tt.want)
		}
	}
	d := newDesk(t, store.Policy{Query: store.PassAppend, Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://r.example/a/{+element}"}}, resolve.Options{})
	plain := func(q *nomen.Question) { q.Query = "x=1" }
	if a, err := d.ask(nomen.I2L, "b", plain); err != nil || a.Redirect != "https://r.example/a/b?x=1" {
		t.Errorf("with a plain query: %+v, %v", a, err)
	}
	d.refuses(nomen.NoResult, nomen.I2L, "b/../../c")
}

// TestDelegationPassesDirectives checks that a redirection keeps all parts of the question.
func TestDelegationPassesDirectives(t *testing.T) {
	other, err := uri.Parse("urn:x-a:b&c")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(q *nomen.Question) {
		q.Component, q.At = "a b&c", time.Date(2126, 11, 21, 12, 0, 0, 500e6, time.FixedZone("", 3600)) // later than the authority
	}
	for _, tt := range []struct {
		to      string
		service nomen.Service
		change  func(*nomen.Question)
		want    string
	}{
		{"r.example:80", nomen.I2L, ask, "http://r.example:80/urn:x-a:1?c=a%20b%26c&at=2126-11-21T11:00:00.5Z"},
		{"r.example:80", nomen.I2Cs, ask, "http://r.example:80/urn:x-a:1?s=I2Cs&c=a%20b%26c&at=2126-11-21T11:00:00.5Z"},
		{"r.example:80", nomen.IisI, func(q *nomen.Question) { q.Other = other }, "http://r.example:80/urn:x-a:1?s=I=I&with=urn%3Ax-a%3Ab%26c"},
		{"r.example:80", nomen.I2C, func(q *nomen.Question) { ask(q); q.R = "r" }, "http://r.example:80/urn:x-a:1?+r"},
		{"https://r.example/{+name}{?s,c}", nomen.I2L, func(*nomen.Question) {}, "https://r.example/urn:x-a:1"},
		{"https://r.example/{+name}{?s,c}", nomen.I2C, ask, "https://r.example/urn:x-a:1?s=I2C&c=a%20b%26c"},
		{"https://r.example/{+name}{?s,c}", nomen.I2C, func(q *nomen.Question) { q.Q = "q" }, "https://r.example/urn:x-a:1?=q"},
		{"https://r.example/{+name}", nomen.I2C, ask, "https://r.example/urn:x-a:1"},
	} {
		d := newDesk(t, store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: tt.to}}, resolve.Options{})
		a, err := d.ask(tt.service, "1", tt.change)
		if err != nil || a.Redirect != tt.want {
			t.Errorf("%s: %+v, %v, want %s", tt.to, a, err, tt.want)
		}
	}
}
