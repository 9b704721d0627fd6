package server

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/answercache"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// newCachingServer returns a server of the fixture that caches answers, with more records.
func newCachingServer(t *testing.T, change func(*Options)) (*Server, store.Store) {
	t.Helper()
	s, m := newTestServer(t, func(o *Options) {
		withAnswerCache(o)
		if change != nil {
			change(o)
		}
	})
	record := func(element string, locations ...nomen.Location) store.Change {
		r := &store.Record{Spelling: "urn:dns:example.org:" + element, Status: nomen.Active, Locations: locations}
		r.Name = name.MustParse(r.Spelling)
		return store.Change{Record: r, Time: modified}
	}
	delegated := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:away.example"), Policy: store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://away.example/{name}"}}}
	var many []nomen.Location
	for i := range 500 {
		many = append(many, nomen.Location{URL: fmt.Sprintf("https://example.org/a-long-location/%d", i)})
	}
	_, err := m.Apply(t.Context(), []store.Change{
		record("national", nomen.Location{URL: "https://example.org/de", Country: "DE"}, nomen.Location{URL: "https://example.org/all", Priority: 2}),
		record("weighted", nomen.Location{URL: "https://example.org/1", Weight: 2}, nomen.Location{URL: "https://example.org/2"}),
		record("past", nomen.Location{URL: "https://example.org/past", ValidFrom: "2020-01-01T00:00:00Z"}),
		record("long", many...),
		{Authority: delegated, Time: modified},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.authorities.Forget()
	return s, m
}

// hitsOf returns how many answers have come from the cache of a server.
func hitsOf(s *Server) int {
	u, _ := s.AnswerCache()
	return int(u.Hits)
}

// TestAnswerNeverCached checks each kind of answer that must not come from the cache, with and
// without net/http.
func TestAnswerNeverCached(t *testing.T) {
	const usual = "/urn:ietf:rfc:2648"
	german := func(o *Options) { o.Country = func(netip.Addr) string { return "DE" } }
	for _, tt := range []struct {
		what, target string
		options      func(*Options)
		request      func(*request)
		hits         int // of two requests
	}{
		{"usual", usual, nil, nil, 1},
		{"description", usual + "?s=I2C", nil, nil, 1},
		{"HEAD", usual, nil, func(r *request) { r.method = "HEAD" }, 1},
		{"redirect to a successor", "/urn:dns:example.org:old", nil, nil, 1},
		{"without a country", "/urn:dns:example.org:national", nil, nil, 1},
		{"other names of a server with countries", usual, german, func(r *request) { r.country = "DE" }, 1},
		{"depends on the country", "/urn:dns:example.org:national", german, func(r *request) { r.country = "DE" }, 0},
		{"chosen by weight", "/urn:dns:example.org:weighted", nil, nil, 0},
		{"list of weighted locations", "/urn:dns:example.org:weighted?s=I2Ls", nil, nil, 1},
		{"valid for a time", "/urn:dns:example.org:past", nil, nil, 0},
		{"as of a time", usual + "?at=2026-11-20", nil, nil, 0},
		{"delegated", "/urn:dns:away.example:x", nil, nil, 0},
		{"too long", "/urn:dns:example.org:long?s=I2Ls", nil, nil, 0},
		{"too long a target", "/urn:dns:example.org:alb002?" + strings.Repeat("x", answercache.MaxTarget), nil, nil, 0},
		{"not found", "/urn:ietf:rfc:none", nil, nil, 0},
		{"retired", "/urn:dns:example.org:split", nil, nil, 0},
		{"reserved", "/urn:dns:example.org:secret", nil, nil, 0},
		{"an element", "/alb002", nil, hosted("example.org"), 0},
		{"of a location", "/uri-res/N2L?urn:ietf:rfc:2648", nil, nil, 0},
		{"home page", "/", nil, nil, 0},
		{"conditional", usual + "?s=I2C", nil, func(r *request) { r.ifNoneMatch = `"x"` }, 0},
		{"conditional by time", usual + "?s=I2C", nil, func(r *request) { r.ifModifiedSince = "Thu, 19 Nov 2020 08:30:00 GMT" }, 0},
		{"precondition", usual + "?s=I2C", nil, func(r *request) { r.ifMatch = "*" }, 0},
		{"precondition by time", usual + "?s=I2C", nil, func(r *request) { r.ifUnmodifiedSince = "Thu, 19 Nov 2026 09:30:00 GMT" }, 0},
		{"range", usual + "?s=I2C", nil, func(r *request) { r.byteRange = "bytes=0-1" }, 0},
		{"a range of a version", usual + "?s=I2C", nil, func(r *request) { r.ifRange = `"x"` }, 0},
		{"memento", usual, nil, func(r *request) { r.datetime = "Fri, 20 Nov 2026 08:30:00 GMT" }, 0},
		{"chosen language", usual + "?s=I2C", nil, func(r *request) { r.language = "de" }, 0},
		{"charset", usual + "?s=I2C", nil, func(r *request) { r.charsets = "utf-8" }, 0},
		{"passed on by others", usual, nil, func(r *request) { r.hops = 1 }, 0},
		{"HTTP/1.0", usual, nil, inHTTP10, 0},
		{"a listener for 1995", usual, nil, func(r *request) { r.protocols = Protocol1995 }, 0},
		{"a method that is not allowed", usual, nil, func(r *request) { r.method = "PUT" }, 0},
		{"without a cache", usual, func(o *Options) { o.AnswerCache = 0 }, nil, 0},
		{"a store that does not count", usual, func(o *Options) { o.Store = struct{ store.Store }{o.Store.(store.Store)} }, nil, 0},
		{"another table", usual, func(o *Options) { o.Authorities = store.NewTable(o.Store, o.Now, authorityLife) }, nil, 0},
		{"another resolver", usual, func(o *Options) { o.Resolver = wide(1) }, nil, 0},
		{"a resolver that also asks another", "/urn:dns:example.org:data", func(o *Options) {
			engine, first := o.Resolver, true
			o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
				if first = !first; first {
					return wide(1).Resolve(ctx, q)
				}
				return engine.Resolve(ctx, q)
			})
		}, accepting("application/json"), 0},
		{"a name of others", "/urn:example:pipe%7Ced", func(o *Options) {
			open, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All})
			if err != nil {
				t.Fatal(err)
			}
			o.Explainer = &gateway.Explainer{Access: open, Authorities: o.Authorities, Store: o.Store}
		}, nil, 0},
		{"a name that others have too", "/urn:example:pipe%7Ced", nil, nil, 1},
		{"stale", usual, func(o *Options) {
			stale := countedStaleStore{staleStore{o.Store.(store.Store)}}
			o.Store = stale
			o.Authorities = store.NewTable(stale, o.Now, authorityLife)
			o.Resolver = resolve.New(stale, resolve.Options{Now: o.Now, Authorities: o.Authorities})
		}, nil, 0},
	} {
		s, _ := newCachingServer(t, tt.options)
		change := func(r *request) {
			if tt.request != nil {
				tt.request(r)
			}
		}
		first := ask(s, tt.target, change)
		if again := ask(s, tt.target, change); again.status != first.status {
			t.Errorf("%s: first %d, then %d", tt.what, first.status, again.status)
		}
		if got := hitsOf(s); got != tt.hits {
			t.Errorf("%s: %d answers from the cache, want %d", tt.what, got, tt.hits)
		}
		if tt.request == nil {
			s, _ := newCachingServer(t, tt.options)
			here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4500}
			answer := s.short(allProtocols, here, here)
			for range 2 {
				answer(nil, wire.Plain{Method: "GET", Target: tt.target, Host: "localhost:4500"})
			}
			if got := hitsOf(s); got != tt.hits {
				t.Errorf("%s: %d answers from the cache without net/http, want %d", tt.what, got, tt.hits)
			}
		}
	}
}

// A countedStaleStore is a stale store that counts its changes.
type countedStaleStore struct{ staleStore }

func (s countedStaleStore) Invalidations() *store.Invalidations {
	return store.InvalidationsOf(s.Store)
}

// TestAnswerKey checks that an answer is repeated only for the same request.
func TestAnswerKey(t *testing.T) {
	s, _ := newCachingServer(t, nil)
	const usual = "/urn:ietf:rfc:2648"
	ask(s, usual)
	for what, change := range map[string]func(*request){
		"method":          func(r *request) { r.method = "HEAD" },
		"target":          func(r *request) { r.target = "/URN:ietf:rfc:2648" },
		"query":           func(r *request) { r.target = usual + "?" },
		"mount":           func(r *request) { r.mount = "/names" },
		"Host":            hosted("localhost"),
		"Accept":          accepting("text/plain"),
		"Accept-Language": speaking("de"),
		"Accept-Encoding": func(r *request) { r.encodings = "gzip" },
		"country":         func(r *request) { r.country = "DE" },
		"local address":   func(r *request) { r.local = netip.MustParseAddrPort("127.0.0.9:4500") },
		"local port":      func(r *request) { r.local = netip.MustParseAddrPort("192.0.2.1:80") },
		"TLS":             func(r *request) { r.secure = true },
		"a proxy":         func(r *request) { r.proxied = true },
	} {
		before := hitsOf(s)
		if ask(s, usual, change); hitsOf(s) != before {
			t.Errorf("another %s gets the same answer", what)
		}
		if ask(s, usual, change); hitsOf(s) != before+1 {
			t.Errorf("another %s: the answer was not kept", what)
		}
	}
	before := hitsOf(s)
	if ask(s, usual); hitsOf(s) != before+1 {
		t.Error("the first answer was not kept")
	}
}

// TestAnswerChanged checks that a change is visible in the next answer.
func TestAnswerChanged(t *testing.T) {
	s, m := newCachingServer(t, nil)
	const usual = "/urn:dns:example.org:alb002"
	location := func() string { t.Helper(); return ask(s, usual).get("Location") }
	for range 2 {
		if got := location(); got != "https://example.org/albums/2" {
			t.Fatalf("got %q", got)
		}
	}
	n := name.MustParse("urn:dns:example.org:alb002")
	moved := &store.Record{Name: n, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/moved"}}}
	if _, err := m.Apply(t.Context(), []store.Change{{Record: moved, Expected: store.AnyRevision, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	if got := location(); got != "https://example.org/moved" {
		t.Errorf("after a change: got %q", got)
	}
	a := *testAuthorities()[1]
	a.Redirect = 308
	location()
	if _, err := m.Apply(t.Context(), []store.Change{{Authority: &a, Expected: store.AnyRevision, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	s.authorities.Forget()
	if p := ask(s, usual); p.status != 308 {
		t.Errorf("after a change of the authority: got %d", p.status)
	}
}

// TestAnswersInRace checks that, while a name changes, no answer is older than the last change that
// was acknowledged before the request.
func TestAnswersInRace(t *testing.T) {
	for _, tt := range twinStores {
		t.Run(tt.name, func(t *testing.T) {
			m := tt.open(t)
			defer m.Close()
			table := store.NewTable(m, time.Now, authorityLife)
			s, err := New(Options{Store: m, Authorities: table, Resolver: resolve.New(m, resolve.Options{Authorities: table}), AnswerCache: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			const changes = 200
			var acknowledged atomic.Int64
			var ended atomic.Bool
			var all sync.WaitGroup
			for i := range 4 {
				all.Go(func() {
					here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4500}
					answer := s.short(allProtocols, here, here)
					for !ended.Load() {
						least := acknowledged.Load()
						location := ""
						if i%2 == 0 {
							location = ask(s, "/urn:example:a").get("Location")
						} else if out, ok := answer(nil, wire.Plain{Method: "GET", Target: "/urn:example:a", Host: "localhost"}); ok {
							_, fields, _ := cutAnswer(string(out))
							location = fieldOf(fields, "Location")
						}
						n, err := strconv.ParseInt(strings.TrimPrefix(location, "https://example.org/"), 10, 64)
						if least > 0 && (err != nil || n < least) {
							t.Errorf("got %q after change %d was acknowledged", location, least)
							return
						}
					}
				})
			}
			for i := range changes {
				r := &store.Record{Name: name.MustParse("urn:example:a"), Status: nomen.Active, Locations: []nomen.Location{{URL: fmt.Sprintf("https://example.org/%d", i+1)}}}
				if _, err := m.Apply(t.Context(), []store.Change{{Record: r, Expected: store.AnyRevision, Time: testNow}}); err != nil {
					t.Error(err)
				}
				acknowledged.Store(int64(i + 1))
				runtime.Gosched()
				if before, last := hitsOf(s), time.Now().Add(10*time.Second); i%50 == 49 { // until an answer was repeated
					for hitsOf(s) == before && time.Now().Before(last) {
						runtime.Gosched()
					}
				}
			}
			ended.Store(true)
			all.Wait()
			if hitsOf(s) == 0 {
				t.Error("no answer came from the cache")
			}
		})
	}
}

// TestAnswerReplaced checks that a server does not use the cached answers of the server that it
// replaces, and continues its counts.
func TestAnswerReplaced(t *testing.T) {
	s, _ := newCachingServer(t, nil)
	l := listen(t, s)
	c := dialShort(t, l)
	get := func() string { return c.ask(t, "GET", "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\n\r\n") }
	for range 3 {
		if got := get(); !strings.Contains(got, "<http://localhost/urn:ietf:rfc:2648>") {
			t.Fatalf("got %q", got)
		}
	}
	next := with(t, s, func(o *Options) { o.PublicURL, o.AnswerCache = "https://names.example", 1<<20 })
	<-l.Replace(next)
	if got := get(); !strings.Contains(got, "<https://names.example/urn:ietf:rfc:2648>") {
		t.Errorf("after a reload: got %q", got)
	}
	if got := hitsOf(next); got != 2 {
		t.Errorf("%d hits after a reload, want 2", got)
	}
	if get(); hitsOf(next) != 3 {
		t.Errorf("%d hits, want 3", hitsOf(next))
	}
}

// TestAnswerCounted checks that answers from the cache are counted and logged like others.
func TestAnswerCounted(t *testing.T) {
	log, lines := logged()
	s, _ := newCachingServer(t, func(o *Options) { o.AccessLog = log })
	c := dialShort(t, listen(t, s))
	for range 3 {
		for _, other := range []string{"", "X-Other: 1\r\n"} {
			c.ask(t, "GET", "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\n"+other+"\r\n")
		}
	}
	if hits := hitsOf(s); hits != 5 {
		t.Errorf("%d answers from the cache, want 5", hits)
	}
	if got := shownMetrics(s); !strings.Contains(got, `nomen_requests_total{form="web",status="303"} 6`) {
		t.Errorf("metrics: %q", got)
	}
	same := map[string]int{}
	for line := range strings.Lines(lines.String()) {
		_, line, _ = strings.Cut(line, "msg=request ")
		before, after, _ := strings.Cut(line, " seconds=")
		_, after, _ = strings.Cut(after, " ")
		same[before+after]++
	}
	if len(same) != 1 {
		t.Errorf("the log has different lines: %v", same)
	}
}

// TestIsCommon checks which replies can be repeated.
func TestIsCommon(t *testing.T) {
	for _, tt := range []struct {
		what   string
		change func(*reply)
		want   bool
	}{
		{"usual", func(*reply) {}, true},
		{"an error", func(p *reply) { p.status = 404 }, false},
		{"a reason phrase", func(p *reply) { p.reason = "Found at x" }, false},
		{"private", func(p *reply) { p.private = true }, false},
		{"a stream", func(p *reply) { p.stream = func(context.Context, io.Writer) error { return nil } }, false},
		{"something to release", func(p *reply) { p.release = func() {} }, false},
		{"changed earlier", func(p *reply) { p.add("Last-Modified", httpDate(testNow.Add(-time.Second))) }, true},
		{"changed in this second", func(p *reply) { p.add("Last-Modified", httpDate(testNow)) }, false},
	} {
		p := newReply(303)
		if tt.change(p); p.isCommon(testNow.Add(time.Second/2)) != tt.want {
			t.Errorf("%s: got %v, want %v", tt.what, !tt.want, tt.want)
		}
	}
}

// TestAnswerHTTP2 checks that over HTTP/2 and TLS, answers from the cache are the same as other
// answers.
func TestAnswerHTTP2(t *testing.T) {
	s, _ := newCachingServer(t, nil)
	plainly, _ := newCachingServer(t, func(o *Options) { o.AnswerCache = 0 })
	secure := func(s *Server) *httptest.Server {
		l := httptest.NewUnstartedServer(s.Public())
		l.EnableHTTP2 = true
		l.StartTLS()
		t.Cleanup(l.Close)
		return l
	}
	known, other := secure(s), secure(plainly)
	get := func(l *httptest.Server, method, target string) (status int, fields http.Header, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, l.URL+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "names.example"
		resp, err := l.Client().Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.ProtoMajor != 2 {
			t.Fatalf("%s: %v", resp.Proto, err)
		}
		return resp.StatusCode, resp.Header, string(b)
	}
	for _, method := range []string{"GET", "HEAD"} {
		for _, target := range []string{"/urn:ietf:rfc:2648", "/urn:ietf:rfc:2648?s=I2C", "/urn:dns:example.org:old"} {
			wantStatus, wantFields, wantBody := get(other, method, target)
			for _, how := range []string{"miss", "hit"} {
				status, fields, body := get(known, method, target)
				if status != wantStatus || !maps.EqualFunc(fields, wantFields, slices.Equal) || body != wantBody {
					t.Errorf("%s %s, %s: got %d %v %q, want %d %v %q", method, target, how, status, fields, body, wantStatus, wantFields, wantBody)
				}
			}
		}
	}
	if hits := hitsOf(s); hits != 6 {
		t.Errorf("%d answers from the cache, want 6", hits)
	}
}

// TestAnswerDates checks that Date is the time of each answer.
func TestAnswerDates(t *testing.T) {
	now := testNow
	s, _ := newCachingServer(t, func(o *Options) { o.Now = func() time.Time { return now } })
	for range 3 {
		if got, want := ask(s, "/urn:ietf:rfc:2648").get("Date"), httpDate(now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		now = now.Add(time.Hour)
	}
	if hits := hitsOf(s); hits != 2 {
		t.Errorf("%d answers from the cache, want 2", hits)
	}
}

// TestAnswerCacheUsage checks the size and the evictions of a small cache.
func TestAnswerCacheUsage(t *testing.T) {
	const size = 64 << 10
	s, _ := newCachingServer(t, func(o *Options) { o.AnswerCache = size })
	for i := range 500 {
		for range 2 {
			ask(s, fmt.Sprintf("/urn:ietf:rfc:2648?%d", i))
		}
	}
	u, ok := s.AnswerCache()
	if !ok || u.Bytes == 0 || u.Bytes > size || u.Capacity != size || u.Hits+u.Misses != 1000 || u.Evictions == 0 {
		t.Errorf("%+v, %v", u, ok)
	}
}
