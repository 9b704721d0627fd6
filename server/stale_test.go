package server

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// staleStore is a store whose database is away: it has everything in its cache, for callers
// who accept stale data.
type staleStore struct{ store.Store }

func (staleStore) note(ctx context.Context) error {
	if stale := store.StalenessOf(ctx); stale != nil {
		stale.Note(testNow.Add(-time.Hour))
		return nil
	}
	return &store.AwayError{Cause: "the database is on holiday"}
}

func (s staleStore) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	if err := s.note(ctx); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, n, at)
}

func (s staleStore) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	if err := s.note(ctx); err != nil {
		return nil, err
	}
	return s.Store.Authority(ctx, p, at)
}

func (s staleStore) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	if err := s.note(ctx); err != nil {
		return func(yield func(*store.Authority, error) bool) { yield(nil, err) }
	}
	return s.Store.Authorities(ctx, at)
}

// newStaleServer returns a server of a staleStore that forwards requests for other hosts to
// a server that says "there", and asks others about names for its own users.
func newStaleServer(t *testing.T) *Server {
	t.Helper()
	access := func(policy gateway.Policy) *gateway.AccessControl {
		door, err := gateway.NewAccessControl(gateway.Access{Policy: policy, Own: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		if err != nil {
			t.Fatal(err)
		}
		return door
	}
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "there") }))
	t.Cleanup(there.Close)
	forward := gateway.NewForward(gateway.ForwardOptions{
		Access: access(gateway.All), DNS: everywhere{}, Reach: func(netip.Addr) error { return nil },
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, there.Listener.Addr().String())
		},
	})
	t.Cleanup(func() { _ = forward.Close() })
	s, _ := newTestServer(t, func(o *Options) {
		stale := staleStore{o.Store.(store.Store)}
		o.Store, o.Authorities = stale, store.NewTable(stale, o.Now, authorityLife)
		inner := resolve.New(stale, resolve.Options{Now: o.Now, Authorities: o.Authorities})
		own := access(gateway.Own)
		foreign, err := gateway.NewForeignResolver(gateway.ForeignOptions{Inner: inner, Authorities: o.Authorities, Access: own, Other: resolverFunc(
			func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
				return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://there.example/"}}}, nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		o.Resolver, o.Forward = foreign, forward
		o.Explainer = &gateway.Explainer{Authorities: o.Authorities, Store: stale, Access: own}
	})
	return s
}

// While the database is unavailable, requests that do not need it are answered as usual: the proxy
// forwards requests for other hosts, and own users may ask about names of others. Every response
// that comes from the cache says so, even if only the authorities came from the cache.
func TestStaleDoors(t *testing.T) {
	l := listen(t, newStaleServer(t))
	const isStale = "\r\nCache-Status: nomen; hit; ttl=-3600; detail=storage-away\r\n"
	for _, tt := range []struct {
		request, status string
		want            []string
		fresh           bool
	}{
		{"GET http://far.example/x HTTP/1.1\r\nHost: far.example\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 ", []string{"there"}, true},
		{"POST http://far.example/x HTTP/1.1\r\nHost: far.example\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx", "HTTP/1.1 200 ", []string{"there"}, true},
		{"GET http://far.example/x HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ", []string{"there"}, true},
		{"GET http://localhost/urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 303 ", []string{"\r\nAge: 3600\r\n"}, false},
		{"GET http://localhost/urn:dns:example.org:urn+m HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ", []string{"\r\nAge: 3600\r\n"}, false},
		{"GET http://localhost/-/proxy.pac HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 ", []string{"\r\nAge: 3600\r\n", "example.org"}, false},
		{"GET /urn:dns:example.org:urn+m HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ", []string{"\r\nAge: 3600\r\n"}, false},
		{"GET urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ", []string{"\r\nAge: 3600\r\n", "stale-since: "}, false},
		{"GET urn:dns:example.org:alb002\r\n", "", []string{"stale-since: "}, true},
		{"GET /urn:dns:there.example:x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 303 ", []string{"https://there.example/"}, false},
		{"POST /-/resolve HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/uri-list\r\nContent-Length: 18\r\n\r\nurn:ietf:rfc:2648\n", "HTTP/1.1 200 ", []string{`"stale_since":`}, false},
	} {
		got := exchange(t, l.Public, tt.request)
		if !strings.HasPrefix(got, tt.status) || strings.Contains(got, isStale) == tt.fresh {
			t.Errorf("%q: stale %v, want %v:\n%s", tt.request, strings.Contains(got, isStale), !tt.fresh, got)
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q: no %q in\n%s", tt.request, want, got)
			}
		}
	}
}
