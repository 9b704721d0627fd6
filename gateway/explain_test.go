package gateway

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A finderFunc is a finder of ways.

func TestPlain(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"urn:ietf:rfc:2648", "urn:ietf:rfc:2648"},
		{"  <urn:ietf:\n  rfc:2648>\t", "urn:ietf:rfc:2648"},
		{"<URL:http://example.org/a>", "http://example.org/a"},
		{"web+urn:ietf:rfc:2648", "urn:ietf:rfc:2648"},
		{"WEB+URN:ietf:rfc:2648", "URN:ietf:rfc:2648"},
		{"url:web+urn:a23:b", "urn:a23:b"},
		{"alb002", "alb002"},
		{"web+", "web+"},
		{"", ""},
	} {
		if got := plain(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func explainer(t testing.TB, a Access, f Ways) *Explainer {
	alone := &store.Record{Spelling: "urn:dns:alone.example:one", Status: nomen.Active}
	secret := &store.Record{Spelling: "urn:dns:alone.example:two", Status: nomen.Reserved}
	s := newStore(t, []*store.Record{here("one", nomen.Location{URL: "https://here.example/1"}), alone, secret},
		&store.Authority{Prefix: name.MustParsePrefix("https://purl.example"), Owners: []string{"a", "b"}})
	e := &Explainer{Authorities: store.NewTable(s, time.Now, time.Hour), Store: s, Access: mustDoor(t, a)}
	e.Ways = f
	return e
}

func TestExplain(t *testing.T) {
	e := explainer(t, Access{}, nil)
	part := func(name, value string) func(*Explanation) bool {
		return func(x *Explanation) bool { return slices.Contains(x.Parts, Fact{name, value}) }
	}
	remark := func(text string) func(*Explanation) bool {
		return func(x *Explanation) bool {
			return slices.ContainsFunc(x.Remarks, func(s string) bool { return strings.Contains(s, text) })
		}
	}
	for _, tt := range []struct {
		in    string
		name  string // key
		leads bool
		link  string
		all   []func(*Explanation) bool
	}{
		{"urn:dns:HERE.example:one", "urn:dns:here.example:one", true, "", []func(*Explanation) bool{
			part("namespace", "dns"), func(x *Explanation) bool { return x.Authority.Prefix.String() == "urn:dns:here.example" },
		}},
		{"urn:dns:alone.example:one", "urn:dns:alone.example:one", true, "", nil},
		{"urn:dns:alone.example:two", "urn:dns:alone.example:two", false, "", nil},
		{"<web+urn:isbn:0-451-45052-3>", "urn:isbn:9780451450524", false, "", []func(*Explanation) bool{
			part("namespace", "isbn"), func(x *Explanation) bool { return strings.Contains(x.Kind, "the namespace isbn: ") },
		}},
		{"urn:isbn:0451450524", "", false, "", []func(*Explanation) bool{ // a wrong check digit
			func(x *Explanation) bool { return len(x.Remarks) > 0 || x.Fault != nil },
		}},
		{"urn:dns:here.example:one?s=I2C#top", "urn:dns:here.example:one", true, "", []func(*Explanation) bool{part("directive s", "I2C"), part("fragment", "top")}},
		{"urn:dns:here.example:one?s=I2L&c=ToC&c=a&zz=1", "urn:dns:here.example:one", true, "", []func(*Explanation) bool{ // N12-25, N12-29, N12-30
			part("directive s", "I2L"), part("directive c (ignored)", "ToC"), part("directive zz (ignored)", "1"),
		}},
		{"urn:dns:here.example:one?s=I2U", "urn:dns:here.example:one", true, "", []func(*Explanation) bool{part("directive s (ignored)", "I2U")}}, // N12-32
		{"urn:dns:here.example:one?+de?=q=1#top", "urn:dns:here.example:one", true, "", []func(*Explanation) bool{ // RFC 8141, 2.3
			part("r-component", "de"), part("q-component", "q=1"), part("fragment", "top"),
		}},
		{"urn:dns:here.example:one?page", "urn:dns:here.example:one", true, "", []func(*Explanation) bool{part("query", "page")}},
		{"urn:whatnot:x", "urn:whatnot:x", false, "", []func(*Explanation) bool{remark("its namespace is unknown")}},
		{"https://purl.example/x", "https://purl.example/x", true, "", nil},
		{"https://there.example/x?y#z", "https://there.example/x", false, "https://there.example/x?y#z", []func(*Explanation) bool{part("scheme", "https"), part("query", "y"), part("fragment", "z")}},
		{"gopher://there.example/1x", "", false, "gopher://there.example/1x", nil},
		{"javascript:alert(1)", "", false, "", nil},
		{"data:text/html,<script>", "", false, "", nil},
		{"http:///x", "", false, "", nil},
		{"urn:dns", "", false, "", []func(*Explanation) bool{func(x *Explanation) bool { return x.Fault != nil && x.Fault.Rule != "" && x.Fault.Message != "" }}},
		{"urn:isbn:", "", false, "", []func(*Explanation) bool{func(x *Explanation) bool { return x.Fault != nil && x.Fault.Offset == 9 }}},
		{"alb002", "", false, "", []func(*Explanation) bool{func(x *Explanation) bool { return x.Fault != nil }}},
		{strings.Repeat("u", maxExplained+1), "", false, "", []func(*Explanation) bool{func(x *Explanation) bool { return x.Fault != nil && len(x.Given) == maxExplained }}},
		{"", "", false, "", []func(*Explanation) bool{func(x *Explanation) bool { return x.Fault != nil }}},
	} {
		x, err := e.Explain(t.Context(), tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if tt.name != "" && x.Name.Key() != tt.name || x.Leads() != tt.leads || x.Link != tt.link {
			t.Errorf("%.60q: got %+v", tt.in, x)
		}
		for i, holds := range tt.all {
			if !holds(x) {
				t.Errorf("%.60q: %d does not hold: %+v, fault %+v", tt.in, i, x, x.Fault)
			}
		}
	}
}

func TestExplainWays(t *testing.T) {
	asked := 0
	find := Ways(func(ctx context.Context, n name.Name) iter.Seq2[Fact, error] {
		return func(yield func(Fact, error) bool) {
			asked++
			if _, ok := ctx.Deadline(); !ok {
				t.Error("nothing bounds the search")
			}
			if !yield(Fact{"authority there.example:4500", "the host in the name"}, nil) ||
				!yield(Fact{}, errors.New("no answer of DNS")) {
				return
			}
			for yield(Fact{"https://known.example/", "a known resolver"}, nil) {
			}
		}
	})
	e := explainer(t, Access{Policy: Own, Own: prefixes("192.0.2.0/24"), Total: 1}, find)
	own := WithClient(t.Context(), &Client{Addr: ownUser})
	x, err := e.Explain(own, "urn:dns:there.example:x")
	if err != nil || !x.Asks || !x.Leads() || len(x.Ways) != maxWays || x.Ways[0] != (Fact{"authority there.example:4500", "the host in the name"}) || x.NoWay != "DNS failed" {
		t.Errorf("got %+v, %v", x, err)
	}
	for _, tt := range []struct {
		ctx context.Context
		in  string
	}{
		{WithClient(t.Context(), &Client{Addr: stranger}), "urn:dns:there.example:x"},
		{own, "urn:dns:here.example:one"},
		{own, "https://there.example/x"},
		{own, "urn:"},
	} {
		asked = 0
		if x, err := e.Explain(tt.ctx, tt.in); err != nil || asked != 0 || x.Asks || len(x.Ways) != 0 {
			t.Errorf("%s: asked %d times: %+v, %v", tt.in, asked, x, err)
		}
	}
	leave, err := e.Access.enter(&Client{Addr: ownUser})
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if x, err := e.Explain(own, "urn:dns:there.example:x"); err != nil || len(x.Ways) != 0 || x.NoWay == "" || !x.Asks {
		t.Errorf("got %+v, %v", x, err)
	}
}

// An explanation does not reveal the DNS servers used here; the log does.
func TestNoWay(t *testing.T) {
	lost := &net.DNSError{Err: "read udp 10.1.2.3:5353->10.1.2.4:53: i/o timeout", Name: "there.example", Server: "10.1.2.4:53", IsTimeout: true}
	refused := &net.DNSError{Err: "the server says REFUSED", Name: "there.example", Server: "10.1.2.4:53"}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{lost, "DNS timed out"},
		{refused, "DNS failed"},
		{&net.DNSError{Err: "no such host", Name: "there.example", Server: "10.1.2.4:53", IsNotFound: true}, "DNS has no records for there.example"},
		{&discover.RuleError{Key: "urn.arpa", Reason: "they lead in a circle"}, "invalid rules of urn.arpa: they lead in a circle"},
		{context.DeadlineExceeded, "DNS timed out"},
		{&net.OpError{Op: "dial", Net: "udp", Addr: net.UDPAddrFromAddrPort(netip.MustParseAddrPort("10.1.2.4:53")), Err: errors.New("refused")}, "DNS failed"},
	} {
		var told strings.Builder
		e := explainer(t, Access{Policy: All}, func(context.Context, name.Name) iter.Seq2[Fact, error] {
			return func(yield func(Fact, error) bool) {
				yield(Fact{}, fmt.Errorf("discover: rules for urn: %w", tt.err))
			}
		})
		e.Log = slog.New(slog.NewTextHandler(&told, nil))
		x, err := e.Explain(WithClient(t.Context(), &Client{Addr: stranger}), "urn:dns:there.example:x")
		if err != nil || x.NoWay != tt.want {
			t.Errorf("%v: got %q, %v, want %q", tt.err, x.NoWay, err, tt.want)
		}
		if !strings.Contains(told.String(), tt.err.Error()) {
			t.Errorf("%v: logged %s", tt.err, &told)
		}
	}
}

// A remark about a check digit says of what it is, and what it should be once.
func TestRemarkOfCheckDigit(t *testing.T) {
	e := explainer(t, Access{}, nil)
	x, err := e.Explain(t.Context(), "urn:isbn:0395363412")
	if want := []string{"ISBN-10 check digit (modulo 11): is 2, should be 1"}; err != nil || !slices.Equal(x.Remarks, want) {
		t.Errorf("got %q, %v, want %q", x.Remarks, err, want)
	}
}
