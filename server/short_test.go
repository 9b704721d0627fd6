package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// shortTargets are paths of all kinds, and whether they are answered without net/http.
var shortTargets = []struct {
	target string
	short  bool
}{
	{"/urn:ietf:rfc:2648", true},
	{"/URN:IETF:RFC:2648", true},
	{"/urn:ietf:rfc:none", true},
	{"/urn:ietf:rfc:2648?s=I2L", true},
	{"/urn:ietf:rfc:2648?s=I2Ls", true},
	{"/urn:ietf:rfc:2648?s=I2C", true},
	{"/urn:ietf:rfc:2648?s=I2Cs", true},
	{"/urn:ietf:rfc:2648?s=I2N", true},
	{"/urn:ietf:rfc:2648?s=I=I&with=urn:ietf:rfc:2648", true},
	{"/urn:ietf:rfc:2648?at=2026-11-19", false},
	{"/urn:ietf:rfc:2648?at=2026-13-19", true},
	{"/urn:ietf:rfc:2648?=a", true},
	{"/urn:ietf:rfc:2648?+a?=b", true},
	{"/urn:ietf:rfc:2648?plain=1", true},
	{"/urn:ietf:rfc:2648?", true},
	{"/urn:dns:example.org:queried", true},
	{"/urn:dns:example.org:a%2Fb", true},
	{"/urn:dns:example.org:a%0D%0Ab", true},
	{"/urn:dns:example.org:old", true},
	{"/urn:dns:example.org:split", true},
	{"/urn:dns:example.org:bare", true},
	{"/urn:dns:example.org:secret", true},
	{"/urn:dns:other.example:alb002", true}, // 307
	{"/urn:dns:nowhere.example:x", true},
	{"/urn:example:pipe|ed", true},
	{"/ark:12345/x", true}, // a description
	{"/https://purl.example/net/x", true},
	{"/https://purl.example/cgi?id=7&s=I2C", false}, // may be a name with a query
	{"/urn:ietf:rfc:2648?s=I%3DI&with=urn:ietf:rfc:2648", true},
	{"/urn:ietf:rfc:2648?s=I2R", true}, // not available
	{"/urn:ietf:rfc:2648?s=I2Rs", true},
	{"/urn:dns:example.org:urn+a", false},
	{"/urn:ietf:rfc:%zz", false},
	{"/urn:", false},
	{"/alb002", false},
	{"/2648", false},
	{"/", false},
	{"//urn:ietf:rfc:2648", false},
	{"/-/metrics", false},
	{"/-/list/urn:dns:example.org", false},
	{"/-/timemap/urn:ietf:rfc:2648", false},
	{"/uri-res/N2L?urn:ietf:rfc:2648", false},
	{"/robots.txt", false},
	{"/.well-known/x", false},
}

// shortFields are the other fields of requests.
var shortFields = []string{
	"",
	"Accept: */*\r\n",
	"Accept: text/html,application/xhtml+xml;q=0.9\r\nAccept-Language: fi, en;q=0.5\r\nAccept-Encoding: gzip, zstd\r\nUser-Agent: a/1\r\nConnection: keep-alive\r\n",
	"accept: application/json\r\nACCEPT-ENCODING:\tgzip \r\n",
	"Accept: text/plain\r\n",
	"Accept: text/html;x=\"a,b\";q=0.1, text/plain;q=0.2\r\nAccept-Encoding: gzip, identity;q=0\r\n",
	"Accept: application/json;q=0.1, */*;q=0.1, application/problem+json\r\n",
	"Accept: none/none, text/none;q=0\r\n",
	"Upgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-User: ?1\r\n" +
		"Referer: https://example.com/\r\nPriority: u=0, i\r\nDNT: 1\r\nSec-GPC: 1\r\nCache-Control: no-cache\r\nPragma: no-cache\r\nSec-CH-UA-Mobile: ?0\r\n",
}

// lastLines are the beginnings of requests that are the last of their connection: the text after the
// target.
var lastLines = []string{
	" HTTP/1.1\r\nHost: localhost:4500\r\nConnection: close\r\n",
	" HTTP/1.0\r\nHost: localhost:4500\r\n",
	" HTTP/1.0\r\n",
	" HTTP/1.0\r\nConnection: close\r\n",
}

// TestShortLast checks that the first and last request of a connection gets the bytes that net/http
// would send, whether or not net/http answers it.
func TestShortLast(t *testing.T) {
	testLast(t, nil)
	testLast(t, withAnswerCache)
}

func testLast(t *testing.T, change func(*Options)) {
	s, _ := newTestServer(t, change)
	l := listen(t, s)
	asked := 0
	for _, method := range []string{"GET", "HEAD"} {
		for i, line := range lastLines {
			for k, tt := range shortTargets {
				head := method + " " + tt.target + line + shortFields[(i+k)%len(shortFields)]
				head = strings.ReplaceAll(head, "Connection: keep-alive\r\n", "")
				got := exchange(t, l.Public, head+"\r\n")
				want := exchange(t, l.Public, head+"X-Other: 1\r\n\r\n") // a field that the shortcut does not support
				again := exchange(t, l.Public, head+"\r\n")
				if got == "" || got != want || again != want {
					t.Errorf("%q:\ngot   %q\nagain %q\nwant  %q", head, got, again, want)
				}
				asked += 3
			}
		}
	}
	if got := requestsOf(s); got != asked {
		t.Errorf("%d requests were counted, want %d", got, asked)
	}
}

// requestsOf returns the number of requests in the metrics.
func requestsOf(s *Server) (n int) {
	for line := range strings.Lines(shownMetrics(s)) {
		if _, value, ok := strings.Cut(line, "} "); ok && strings.HasPrefix(line, "nomen_requests_total{") {
			one, _ := strconv.Atoi(strings.TrimSpace(value))
			n += one
		}
	}
	return n
}

// TestShort checks that responses without net/http are byte for byte those of net/http, with and
// without a cache of answers, whether or not the cache has the answer.
func TestShort(t *testing.T) {
	s, _ := newTestServer(t, nil)
	plainly, _ := newTestServer(t, nil)
	slow := dialShort(t, listen(t, plainly))
	hits := func(s *Server) uint64 { u, _ := s.AnswerCache(); return u.Hits }
	for _, method := range []string{"GET", "HEAD"} {
		for _, fields := range shortFields {
			cached, _ := newTestServer(t, withAnswerCache)
			known, _ := newTestServer(t, withAnswerCache)
			slowCached := dialShort(t, listen(t, known))
			for _, tt := range shortTargets {
				head := method + " " + tt.target + " HTTP/1.1\r\nHost: localhost:4500\r\n" + fields
				answer := s.short(allProtocols, slow.LocalAddr(), slow.RemoteAddr())
				got, ok := answer([]byte("before"), plainOf(t, head+"\r\n"))
				if ok != tt.short {
					t.Errorf("%q: answered %v, want %v", head, ok, tt.short)
				}
				if !ok {
					if string(got) != "before" {
						t.Errorf("%q: not answered, but %q", head, got)
					}
					continue
				}
				// A field that the shortcut does not support.
				want := slow.ask(t, method, head+"X-Other: 1\r\n\r\n")
				if string(got) != "before"+want {
					t.Errorf("%q:\ngot  %q\nwant %q", head, got, "before"+want)
				}
				pool, slowPool := hits(cached), hits(known)
				for _, how := range []string{"miss", "hit"} {
					answer := cached.short(allProtocols, slow.LocalAddr(), slow.RemoteAddr())
					if got, ok := answer(nil, plainOf(t, head+"\r\n")); !ok || string(got) != want {
						t.Errorf("%q with a cache, %s:\ngot  %q\nwant %q", head, how, got, want)
					}
					if got := slowCached.ask(t, method, head+"X-Other: 1\r\n\r\n"); got != want {
						t.Errorf("%q with a cache, by net/http, %s:\ngot  %q\nwant %q", head, how, got, want)
					}
				}
				kept := uint64(0)
				if want < "HTTP/1.1 4" {
					kept = 1
				}
				if pool, slowPool = hits(cached)-pool, hits(known)-slowPool; pool != kept || slowPool != kept {
					t.Errorf("%q: %d and %d answers from the cache, want %d", head, pool, slowPool, kept)
				}
			}
		}
	}
}

// withAnswerCache makes a server cache answers.
func withAnswerCache(o *Options) {
	o.Authorities = store.NewTable(o.Store, o.Now, authorityLife)
	o.Resolver = resolve.New(o.Store, resolve.Options{Now: o.Now, Authorities: o.Authorities})
	o.AnswerCache = 16 << 20
}

// plainOf parses a header like the listener.
func plainOf(t *testing.T, head string) wire.Plain {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
	if err != nil {
		return wire.Plain{Method: "GET", Target: strings.Fields(head)[1], Host: "localhost:4500"}
	}
	return wire.Plain{
		Method: r.Method, Target: r.RequestURI, Host: r.Host, Agent: r.UserAgent(),
		Accept: r.Header.Get("Accept"), Languages: r.Header.Get("Accept-Language"), Coding: r.Header.Get("Accept-Encoding"),
	}
}

// A shortConn is a connection for several requests.
type shortConn struct {
	net.Conn
	in *bufio.Reader
}

func dialShort(t *testing.T, l *Listening) *shortConn {
	t.Helper()
	c, err := net.Dial("tcp", l.Public.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	return &shortConn{c, bufio.NewReader(c)}
}

// ask returns the bytes of a response.
func (c *shortConn) ask(t *testing.T, method, request string) string {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c.next(t, method)
}

func (c *shortConn) next(t *testing.T, method string) string {
	t.Helper()
	var raw strings.Builder
	in := bufio.NewReader(io.TeeReader(oneByte{c.in}, &raw))
	resp, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("after %q: %v", raw.String(), err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatalf("after %q: %v", raw.String(), err)
	}
	return raw.String()
}

// A oneByte reader returns one byte at a time.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:1]) }

// TestShortInOrder checks that responses with and without net/http on one connection come
// in the order of the requests, however those arrive, and are counted and logged alike.
func TestShortInOrder(t *testing.T) {
	log, lines := logged()
	s, _ := newTestServer(t, func(o *Options) { o.AccessLog = log })
	l := listen(t, s)
	c := dialShort(t, l)
	var all strings.Builder
	var want []string
	for i := range 60 {
		target, status := "/urn:ietf:rfc:2648", "303"
		switch i % 4 {
		case 1:
			target, status = fmt.Sprintf("/urn:ietf:rfc:none%d", i), "404"
		case 3:
			target, status = "/", "200"
		}
		other := ""
		if i%5 == 4 {
			other = "X-Other: 1\r\n"
		}
		fmt.Fprintf(&all, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", target, other)
		want = append(want, status+" "+target)
	}
	text := all.String()
	go func() {
		for len(text) > 0 { // in arbitrary pieces
			n := min(len(text), 997)
			if _, err := io.WriteString(c, text[:n]); err != nil {
				return
			}
			text = text[n:]
			time.Sleep(time.Millisecond)
		}
	}()
	for i, w := range want {
		status, target, _ := strings.Cut(w, " ")
		got := c.next(t, "GET")
		if !strings.HasPrefix(got, "HTTP/1.1 "+status) || status == "404" && !strings.Contains(got, target[1:]) {
			t.Fatalf("answer %d: got %q, want %s", i, got, w)
		}
	}
	if got := strings.Count(lines.String(), "msg=request "); got != len(want) {
		t.Errorf("%d requests are logged, want %d", got, len(want))
	}
	if got := shownMetrics(s); !strings.Contains(got, `nomen_requests_total{form="web",status="303"} 30`) {
		t.Errorf("metrics: %q", got)
	}
}

// A delegated name is answered by another resolver: its client must be watched.
func TestShortDelegated(t *testing.T) {
	a := parsedTarget{form: formWeb, name: name.MustParse("urn:ietf:rfc:2648")}
	if !a.isLocal() {
		t.Error("a name without an authority is not at hand")
	}
	authority := *testAuthorities()[0]
	a.authority = &authority
	if !a.isLocal() {
		t.Error("a name of an authority is not at hand")
	}
	authority.Delegation = &store.Delegation{Mode: store.ModeAsk, To: "example.org"}
	if a.isLocal() {
		t.Error("a delegated name is at hand")
	}
	authority.Delegation, authority.Service, authority.Fetch = nil, nomen.I2R, true
	if a.isLocal() {
		t.Error("a resource is at hand")
	}
	authority.Service, authority.Services = "", []nomen.Service{nomen.I2R, nomen.I2C}
	if a.isLocal() {
		t.Error("a resource, the only service offered, is answered without net/http")
	}
	a.query.service = nomen.I2C
	if !a.isLocal() {
		t.Error("a description is not at hand")
	}
	a.query.at = testNow // when it may have belonged to another authority
	if a.isLocal() {
		t.Error("the past is at hand")
	}
}

// A client of unknown country has the country ZZ with and without net/http: its response
// is private.
func TestShortCountry(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, func(o *Options) { o.Country = func(netip.Addr) string { return "" } })
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/1"}}}, nil
	}
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4500}
	if _, ok := s.short(allProtocols, here, here)(nil, wire.Plain{Method: "GET", Target: "/urn:example:a", Host: "localhost"}); !ok || h.last.Country != unknownCountry {
		t.Errorf("%v, asked for %q, want %q", ok, h.last.Country, unknownCountry)
	}
}

// Allocations of a redirect, starting from the bytes of the request.
func TestShortAllocations(t *testing.T) {
	s, _ := newTestServer(t, nil)
	answer := s.short(allProtocols, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4500}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1})
	q := wire.Plain{Method: "GET", Target: "/urn:ietf:rfc:2648", Host: "localhost:4500", Accept: "*/*"}
	out := make([]byte, 0, 4<<10)
	const most = 17
	least := math.Inf(1)
	for range 5 { // goroutines of other tests may allocate meanwhile, and a collection empties pools
		least = min(least, testing.AllocsPerRun(100, func() {
			if _, ok := answer(out, q); !ok {
				t.Fatal("not answered")
			}
		}))
	}
	if least > most {
		t.Errorf("a redirection takes %v allocations, want at most %d", least, most)
	}
}

// A panic closes the connection and is logged, and affects nothing else.
func TestShortPanic(t *testing.T) {
	log, lines := logged()
	s, _ := newTestServer(t, func(o *Options) {
		good := o.Resolver
		o.Log = log
		o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
			if strings.HasSuffix(q.Name.Key(), ":bad") {
				panic("a mistake")
			}
			return good.Resolve(ctx, q)
		})
	})
	l := listen(t, s)
	const get = "GET /urn:ietf:rfc:%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for range 2 {
		c := dialShort(t, l)
		for range 3 {
			if got := c.ask(t, "GET", fmt.Sprintf(get, "2648")); !strings.HasPrefix(got, "HTTP/1.1 303 ") {
				t.Fatalf("got %q", got)
			}
		}
		fmt.Fprintf(c, get, "bad")
		if b, err := io.ReadAll(c.in); err != nil || len(b) > 0 {
			t.Errorf("got %q, %v", b, err)
		}
	}
	if got := strings.Count(lines.String(), "a mistake"); got != 2 {
		t.Errorf("%d lines, want 2: %s", got, lines.String())
	}
}
