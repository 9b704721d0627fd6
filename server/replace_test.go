package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
)

// with returns the server that replaces s, with other options.
func with(t testing.TB, s *Server, change func(*Options)) *Server {
	t.Helper()
	next, _ := newTestServer(t, func(o *Options) {
		o.Resolver, o.Store, o.Authorities, o.Admin, o.Metrics = s.resolver, s.store, s.authorities, s.admin, s.metrics
		if change != nil {
			change(o)
		}
	})
	return next
}

// TestReplaceUnderLoad replaces a server while it answers requests on new and on open
// connections, in both protocols, with and without net/http. No request fails.
func TestReplaceUnderLoad(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	var ended atomic.Bool
	var asked atomic.Int64
	var all sync.WaitGroup
	load := func(ask func() error) {
		all.Go(func() {
			for !ended.Load() {
				if err := ask(); err != nil {
					t.Error(err)
					return
				}
				asked.Add(1)
			}
		})
	}
	shown := func(answer string) error {
		if !strings.Contains(answer, "<http://a.example/") && !strings.Contains(answer, "<http://b.example/") {
			return fmt.Errorf("an answer of neither server: %q", answer)
		}
		return nil
	}
	first := with(t, s, func(o *Options) { o.PublicURL = "http://a.example" })
	<-l.Replace(first)
	for range 2 {
		kept := dialShort(t, l)
		load(func() error {
			return shown(kept.ask(t, "GET", "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a.example\r\n\r\n"))
		})
		load(func() error {
			return shown(exchange(t, l.Public, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"))
		})
		load(func() error {
			return contains(exchange(t, l.Public, "GET urn:ietf:rfc:2648 HTTP/1.0\r\n\r\n"), "rfc2648")
		})
		load(func() error {
			return contains(exchange(t, l.Public, "GET /-/list/urn:dns:example.org HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"), "\r\nalb002\r\n")
		})
	}
	const replacements = 30
	for i := range replacements {
		next := with(t, s, func(o *Options) {
			o.PublicURL = "http://" + string("ab"[i%2]) + ".example"
			o.Hosts = []string{"a.example"}
		})
		select {
		case <-l.Replace(next):
		case <-time.After(time.Minute):
			t.Fatal("the previous server did not complete its requests")
		}
		for before := asked.Load(); asked.Load() < before+10 && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	ended.Store(true)
	all.Wait()
}

// contains returns an error if an answer does not contain a text.
func contains(answer, want string) error {
	if !strings.Contains(answer, want) {
		return fmt.Errorf("%q is not in %q", want, answer)
	}
	return nil
}

// A request in progress completes with the server that began it.
func TestReplaceCompletes(t *testing.T) {
	s, _ := newTestServer(t, nil)
	begun, end := make(chan struct{}), make(chan struct{})
	inner := s.resolver
	slow := with(t, s, func(o *Options) {
		o.PublicURL = "http://old.example"
		o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
			close(begun)
			<-end
			return inner.Resolve(ctx, q)
		})
	})
	l := listen(t, slow)
	answer := make(chan string)
	go func() {
		answer <- exchange(t, l.Public, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	}()
	<-begun
	completed := l.Replace(with(t, slow, func(o *Options) { o.PublicURL, o.Resolver = "http://new.example", inner }))
	if got := exchange(t, l.Public, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); !strings.Contains(got, "<http://new.example/") {
		t.Errorf("a new request: got %q", got)
	}
	select {
	case <-completed:
		t.Error("the previous server is said to have completed its requests")
	default:
	}
	close(end)
	if got := <-answer; !strings.Contains(got, "<http://old.example/") {
		t.Errorf("the request in progress: got %q", got)
	}
	<-completed
}

// What clients have used of their limits is kept, and new limits apply at once.
func TestReplaceLimits(t *testing.T) {
	limits := func(rate float64, burst, connections int) func(*Options) {
		return func(o *Options) {
			o.Limits.Rate, o.Limits.Burst, o.Limits.Connections, o.Limits.PerAddress = rate, burst, connections, connections
		}
	}
	s, _ := newTestServer(t, limits(1, 2, 4))
	l := listen(t, s)
	client := netip.MustParseAddr("192.0.2.1")
	spend := func() bool { return s.current.Load().rates.Spend(client, testNow) == nil }
	if got := []bool{spend(), spend(), spend()}; !slices.Equal(got, []bool{true, true, false}) {
		t.Fatalf("got %v, the burst is not 2", got)
	}
	<-l.Replace(with(t, s, limits(1, 2, 4)))
	if spend() {
		t.Error("the rate began anew")
	}
	<-l.Replace(with(t, s, limits(1000, 2000, 4)))
	if got := s.current.Load().rates.Spend(netip.MustParseAddr("192.0.2.2"), testNow); got != nil {
		t.Error(got)
	}
	idle := make([]net.Conn, 4)
	for i := range idle {
		var err error
		if idle[i], err = net.Dial("tcp", l.Public.String()); err != nil {
			t.Fatal(err)
		}
		defer idle[i].Close()
		io.WriteString(idle[i], "GET /-/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		idle[i].Read(make([]byte, 1<<10))
	}
	for s.Connections()[l.Public.String()] != 4 {
		time.Sleep(time.Millisecond)
	}
	<-l.Replace(with(t, s, limits(1, 2, 1)))
	if got := s.current.Load().Connections()[l.Public.String()]; got > 1 {
		t.Errorf("%d connections are open, more than the new limit", got)
	}
}

// A server that is draining goes on draining, and middleware sees all requests from now on.
func TestReplaceState(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	kept := dialShort(t, l)
	for range 2 { // the second is answered without net/http
		kept.ask(t, "GET", "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	<-l.Replace(with(t, s, func(o *Options) {
		o.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Seen", "yes")
				next.ServeHTTP(w, r)
			})
		}
	}))
	if got := kept.ask(t, "GET", "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\n\r\n"); !strings.Contains(got, "Seen: yes") {
		t.Errorf("middleware did not see %q", got)
	}
	l.Drain(t.Context(), 0)
	<-l.Replace(with(t, s, nil))
	if got := exchange(t, l.Public, "GET /-/readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); !strings.Contains(got, " 503 ") {
		t.Errorf("draining: got %q", got)
	}
}

// A trusted proxy that is new counts as one at once, on open connections too.
func TestReplaceProxies(t *testing.T) {
	s, _ := newTestServer(t, nil)
	listen(t, s)
	from := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}
	if s.isShared(netip.MustParseAddr("192.0.2.1")) {
		t.Fatal("a stranger is trusted")
	}
	next := with(t, s, func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	c := &shortcut{from: addrOf(from).Addr()}
	c.use(s)
	c.use(next)
	if !c.server.isShared(c.from) {
		t.Error("the proxy is not trusted")
	}
}
