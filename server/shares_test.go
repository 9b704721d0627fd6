package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/gateway"
)

// The rate of costly requests is limited per address (429), for HEAD as for GET, without
// affecting others. The local host and trusted proxies may stand for many clients.
func TestRates(t *testing.T) {
	for _, tt := range []struct{ method, target string }{
		{"GET", "/-/list/urn:dns:example.org"},
		{"HEAD", "/-/list/urn:dns:example.org"},
		{"GET", "/-/timemap/urn:ietf:rfc:2648"},
		{"GET", "/-/timemap/link/urn:ietf:rfc:2648"},
		{"GET", "/?name=urn:ietf:rfc:2648"},
		{"GET", "/-/handler?uri=urn:ietf:rfc:2648"},
		{"GET", "/uri-res/L2Ns?https://example.org/"},
		{"POST", "/-/resolve"},
	} {
		s, _ := newTestServer(t, func(o *Options) {
			o.Limits.Rate, o.Limits.Burst = 1, 2
			o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.128/25")}
		})
		ask := func(from string) *reply {
			a := &gateway.Client{Addr: netip.MustParseAddr(from)}
			a.Many = s.isShared(a.Addr)
			r := &request{method: tt.method, target: tt.target, version: version{1, 1}, host: "example.org", contentType: typeURIList, body: strings.NewReader("")}
			p := s.decide(gateway.WithClient(t.Context(), a), r)
			p.drop()
			return p
		}
		for i, want := range []bool{false, false, true, true} {
			if p := ask("192.0.2.1"); (p.status == http.StatusTooManyRequests) != want || want && p.get("Retry-After") != "1" {
				t.Errorf("%v, request %d: %d %v", tt, i, p.status, p.fields)
			}
		}
		for _, from := range []string{"192.0.2.2", "192.0.2.200", "192.0.2.200", "192.0.2.200", "127.0.0.1", "::1", "127.0.0.1", "127.0.0.1"} {
			if p := ask(from); p.status == http.StatusTooManyRequests {
				t.Errorf("%v from %s: %d", tt, from, p.status)
			}
		}
		if p := ask("2001:db8::1"); p.status == http.StatusTooManyRequests {
			t.Errorf("%v: an address of IPv6: %d", tt, p.status)
		}
		ask("2001:db8::2")
		if p := ask("2001:db8::3"); p.status != http.StatusTooManyRequests {
			t.Errorf("%v: a third address of one /64: %d", tt, p.status)
		}
		if got := refusals(s, refusedLimit); got != 3 {
			t.Errorf("%v: %d refusals were counted", tt, got)
		}
	}
}

// The memory for the bodies of lists is limited, in total and per address, and released
// with the response.
func TestBodyRoom(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.Limits.BatchBytes = 1 << 10 })
	s.bodies = gateway.NewTurns(3*minBody, minBody)
	list := func(from string) *reply {
		r := &request{method: "POST", target: batchPath, version: version{1, 1}, host: "example.org", contentType: typeURIList, body: strings.NewReader("urn:ietf:rfc:1\n")}
		return s.decide(gateway.WithClient(t.Context(), &gateway.Client{Addr: netip.MustParseAddr(from)}), r)
	}
	first := list("192.0.2.1")
	for _, tt := range []struct {
		from string
		want int
	}{{"192.0.2.1", 429}, {"192.0.2.2", 200}, {"192.0.2.3", 200}, {"192.0.2.4", 503}} {
		p := list(tt.from)
		if p.status != tt.want {
			t.Errorf("%s: %d, want %d", tt.from, p.status, tt.want)
		}
		if tt.want == 200 {
			defer p.drop()
		}
	}
	first.drop()
	p := list("192.0.2.1")
	if p.status != 200 {
		t.Errorf("when the first was sent: %d", p.status)
	}
	p.drop()
}

// A list of names that does not arrive in time gets 408, and holds no turn before.
func TestSlowBody(t *testing.T) {
	t.Parallel() // waits for the timeout
	s, _ := newTestServer(t, func(o *Options) {
		o.Limits.Timeout = 5 * time.Second // enough to answer another list
		o.Limits.Costly = 1
	})
	l := listen(t, s)
	c, err := net.Dial("tcp", l.Public.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /-/resolve HTTP/1.1\r\nHost: x\r\nContent-Type: text/uri-list\r\nContent-Length: 100\r\n\r\nurn")
	if resp, got, _ := post(t, l, "", typeURIList, "urn:ietf:rfc:2648\n"); len(got) != 1 {
		t.Errorf("another list: %v %v", resp, got)
	}
	c.SetReadDeadline(time.Now().Add(time.Minute))
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("got %v, %v; want 408", resp, err)
	}
}

// HEAD and ranges of a list are limited in cost: a list that takes too long to read is
// sent without tag and length.
func TestMeasureEnds(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.Limits.Measure = time.Nanosecond })
	for _, change := range []func(*request){
		func(r *request) { r.method = "HEAD" },
		func(r *request) { r.byteRange = "bytes=0-1" },
	} {
		p := ask(s, "/-/list/urn:dns:example.org", change)
		if p.status != 200 || p.get("ETag") != "" || p.get("Content-Length") != "" || p.stream == nil {
			t.Errorf("got %d %v", p.status, p.fields)
		}
		p.drop()
	}
}

// A request to another resolver ends soon after its client is gone, and not before.
func TestClientGone(t *testing.T) {
	asked := make(chan context.Context, 1)
	s, _ := newTestServer(t, func(o *Options) {
		o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
			ctx, cancel := gateway.Asking(ctx)
			defer cancel()
			asked <- ctx
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	l := listen(t, s)
	for _, request := range []string{
		"GET /urn:ietf:rfc:2648?s=I2R HTTP/1.1\r\nHost: x\r\nX-Other: not a plain request\r\n\r\n",
		"GET urn:ietf:rfc:2648 HTTP/1.0\r\n\r\n",
		"GET urn:ietf:rfc:2648\r\n",
	} {
		c, err := net.Dial("tcp", l.Public.String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, request)
		ctx := <-asked
		if until, ok := ctx.Deadline(); !ok || time.Until(until) > gateway.AskTimeout {
			t.Errorf("%q: asked until %v", request, until)
		}
		gone := gateway.ClientOf(ctx).Gone
		if gone.Err() != nil {
			t.Errorf("%q: the client is there", request)
		}
		c.Close()
		select {
		case <-gone.Done():
		case <-time.After(time.Minute):
			t.Errorf("%q: the closed client was not noticed", request)
		}
		if ctx.Err() != nil {
			t.Errorf("%q: no grace for a client that only closed its side", request)
		}
	}
}

// The admin listener reads nothing after a request whose end is ambiguous (RFC 9112,
// 6.1).
func TestAdminFraming(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	for _, in := range []string{
		"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
		"POST /x HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		got := exchange(t, l.Admin, in+"GET /-/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if n := strings.Count(got, "HTTP/1."); n != 1 {
			t.Errorf("%q: %d answers: %s", in, n, got)
		}
	}
}
