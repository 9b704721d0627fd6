package client

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
)

// Audits ask every address and list the differences (Y95-24).
func TestAudit(t *testing.T) {
	n := newInternet(t)
	answers := []string{
		urc("https://example.com/x") + "=====\r\nhttps://example.com/y\r\n",
		urc("https://example.com/y") + "=====\r\nhttps://example.com/x\r\n", // in another order
		urc("https://example.com/z"),
		"HTTP/1.0 404 No\r\n\r\n",
		"HTTP/1.0 500 No\r\n\r\n",
		moved(301, "urn:dns:example.com:other", ""),
	}
	for i, a := range answers {
		n.host("example.com", fmt.Sprintf("192.0.2.%d", i+1), says(a))
	}
	for _, o := range []Options{{}, {Via: "example.com"}} {
		r, err := n.client(o).Audit(t.Context(), ask(t, alb, nomen.I2Ls))
		if err != nil || r.Agree() || len(r.Answers) != 6 || r.Host != "example.com:4500" {
			t.Fatalf("%+v: got %+v, %v", o, r, err)
		}
		for i, want := range [][]string{nil, nil, {"locations"}, {"result"}, nil, {"redirect", "locations"}} {
			got := r.Answers[i]
			if got.Addr != netip.MustParseAddrPort(fmt.Sprintf("192.0.2.%d:4500", i+1)) || !slices.Equal(got.Differs, want) || (got.Err != nil) != (i == 3 || i == 4) {
				t.Errorf("%+v, %d: got %+v, want %q", o, i, got, want)
			}
		}
	}
	n.hosts["example.com"] = n.hosts["example.com"][:2]
	if r, err := n.client(Options{}).Audit(t.Context(), ask(t, alb, nomen.I2Ls)); err != nil || !r.Agree() {
		t.Errorf("got %+v, %v", r, err)
	}
	const head = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"
	one, two := `{"url":"https://example.com/x","type":"text/html"}`, `{"url":"https://example.com/x","type":"text/plain"}`
	alike := newInternet(t)
	alike.host("example.com", "192.0.2.1", says(head+`{"locations":[`+one+","+two+"]}"))
	alike.host("example.com", "192.0.2.2", says(head+`{"locations":[`+two+","+one+"]}"))
	if r, err := alike.client(Options{}).Audit(t.Context(), ask(t, alb, nomen.I2Ls)); err != nil || !r.Agree() {
		t.Errorf("the same in another order: %+v, %v", r, err)
	}
	var e *RouteError
	if r, err := n.client(Options{Via: "http://example.com/"}).Audit(t.Context(), ask(t, alb, "")); !errors.As(err, &e) {
		t.Errorf("on the web: got %+v, %v", r, err)
	}
}

// Audits respect the limits of a host and send the components of the name.
func TestAuditLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newInternet(t)
		for i := range 3 {
			n.host("proxy.example", fmt.Sprintf("192.0.2.%d", i+1), func(request) string {
				time.Sleep(time.Second)
				return urc("https://example.com/x")
			})
		}
		start := time.Now()
		r, err := n.client(Options{Via: "proxy.example", PerHost: 1}).Audit(t.Context(), ask(t, rfc+"?=q", nomen.I2Ls))
		if err != nil || !r.Agree() || time.Since(start) != 3*time.Second || n.asked[0].line != "GET "+rfc+"?=q HTTP/1.0" {
			t.Errorf("got %+v, %v after %v and %q", r, err, time.Since(start), n.lines())
		}
		q := ask(t, rfc, nomen.I2Ls)
		q.Q = "a#b"
		if r, err := n.client(Options{Via: "proxy.example"}).Audit(t.Context(), q); !errors.Is(err, errControl) {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// fixed is a resolver with one answer.
type fixed struct {
	answer *nomen.Answer
	err    error
}

func (f fixed) Resolve(context.Context, nomen.Question) (*nomen.Answer, error) {
	return f.answer, f.err
}

func TestChain(t *testing.T) {
	yes := fixed{answer: &nomen.Answer{Revision: 7}}
	unknown, gone := fixed{err: &nomen.Error{Kind: nomen.Unknown, Name: "u"}}, fixed{err: &nomen.Error{Kind: nomen.Gone}}
	broken, other := fixed{err: errors.New("broken")}, fixed{err: errors.New("other")}
	for _, tt := range []struct {
		name  string
		rule  func(error) bool
		chain []nomen.Resolver
		want  string // error; "" for the answer
	}{
		{"first", nil, []nomen.Resolver{yes, broken}, ""},
		{"after unknown", nil, []nomen.Resolver{unknown, yes}, ""},
		{"after failure", nil, []nomen.Resolver{broken, unknown, yes}, ""},
		{"not after gone", nil, []nomen.Resolver{gone, yes}, gone.err.Error()},
		{"unknown to all", nil, []nomen.Resolver{unknown, unknown}, unknown.err.Error()},
		{"the failed one might have known", nil, []nomen.Resolver{unknown, broken, unknown}, "broken"},
		{"all failed", nil, []nomen.Resolver{broken, other}, "broken\nother"},
		{"by another rule", OnFailure, []nomen.Resolver{unknown, yes}, unknown.err.Error()},
		{"by another rule, failure", OnFailure, []nomen.Resolver{broken, yes}, ""},
		{"empty", nil, nil, "client: the chain has no resolvers"},
	} {
		a, err := NewChain(tt.rule, tt.chain...).Resolve(t.Context(), nomen.Question{})
		if (err == nil) != (a != nil) || err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
			t.Errorf("%s: got %v, %v, want %q", tt.name, a, err, tt.want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := NewChain(nil, yes).Resolve(cancelled, nomen.Question{}); a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", a, err)
	}
}
