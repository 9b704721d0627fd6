package server

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
)

// stop shuts l down and waits for pending requests.
func stop(t *testing.T, l *Listening) {
	t.Helper()
	if err := l.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := l.Wait(); err != nil {
		t.Errorf("Wait after Shutdown: %v", err)
	}
}

func TestListenErrors(t *testing.T) {
	s, _ := newTestServer(t, nil)
	// Other processes of the tests listen at 127.0.0.1: they could take the port once it is free.
	l, err := s.Listen(Listener{Address: "127.0.0.9:0"}, Listener{Address: "127.0.0.9:0", Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen(Listener{Address: l.Public.String()}); err == nil {
		t.Error("one address was listened at twice")
	}
	if _, err := s.Listen(Listener{Address: "127.0.0.9:0"}, Listener{Address: l.Public.String(), Admin: true}); err == nil {
		t.Error("the admin listener took the public one's address")
	}
	stop(t, l)
	if _, err := net.Dial("tcp", l.Public.String()); err == nil {
		t.Error("a listener is open after Shutdown")
	}
	if p := ask(s, "/-/readyz"); p.status != http.StatusServiceUnavailable {
		t.Errorf("after Shutdown readyz says %d", p.status)
	}
}

func TestDefaultPort(t *testing.T) {
	for in, want := range map[string]string{
		"example.org": "example.org:4500", "127.0.0.1": "127.0.0.1:4500", "[::1]": "[::1]:4500", "::1": "[::1]:4500",
		"example.org:80": "example.org:80", ":0": ":0",
	} {
		if got := withPort(in, defaultPort); got != want {
			t.Errorf("Y95-29: withPort(%q) = %q, want %q", in, got, want)
		}
	}
}

// A pending request is answered before the server ends.
func TestShutdownWaits(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	s, _ := newTestServer(t, func(o *Options) {
		o.Resolver = resolverFunc(func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
			close(asked)
			<-goOn
			return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active}, nil
		})
	})
	l := listen(t, s)
	answer := make(chan string)
	go func() { answer <- exchange(t, l.Public, "GET 1 HTTP/1.0\r\n\r\n") }()
	<-asked
	ended := make(chan error)
	go func() { ended <- l.Shutdown(context.Background()) }()
	close(goOn)
	if got := <-answer; !strings.HasPrefix(got, "HTTP/1.0 200 OK") {
		t.Errorf("got %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// With any number of clients, the store can open files.
func TestConnectionsLeaveFilesForTheStore(t *testing.T) {
	for files, want := range map[uint64]int{0: 1, 256: 64, 1024: 256, 20_000: 5000, 1 << 20: 10_000, math.MaxUint64: 10_000} {
		if got := connectionsFor(files, 2); got != want {
			t.Errorf("of %d files: %d connections, want %d", files, got, want)
		}
	}
}

// certificate returns a certificate for 127.0.0.1.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
}

// Y95-75: a name resolves in the same way over every version of HTTP.
func TestVersionsOfHTTP(t *testing.T) {
	s, _ := newTestServer(t, nil)
	secure, pool := certificate(t)
	l, err := s.Listen(Listener{Address: "127.0.0.1:0", TLS: secure})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Shutdown(t.Context())
	var bodies []string
	for _, http2 := range []bool{true, false} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}
		defer transport.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+l.Public.String()+"/alb002", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "example.org"
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if want := map[bool]int{true: 2, false: 1}[http2]; resp.ProtoMajor != want || resp.StatusCode != 200 {
			t.Errorf("got %s %s", resp.Proto, resp.Status)
		}
		bodies = append(bodies, string(b))
	}
	c, err := tls.Dial("tcp", l.Public.String(), &tls.Config{RootCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET urn:dns:example.org:alb002\r\n") // HTTP/0.9
	b, err := io.ReadAll(c)
	if err != nil || string(b) != urcAlb002 {
		t.Errorf("got %q, %v", b, err)
	}
	// Clients of HTTP/1.0 say so in the handshake.
	c10, err := tls.Dial("tcp", l.Public.String(), &tls.Config{RootCAs: pool, NextProtos: []string{"http/1.0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c10.Close()
	io.WriteString(c10, "GET urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n")
	if b, err := io.ReadAll(c10); err != nil || !strings.HasSuffix(string(b), urcAlb002) {
		t.Errorf("HTTP/1.0 over TLS: %q, %v", b, err)
	}
	if bodies[0] != urcAlb002 || bodies[1] != urcAlb002 {
		t.Errorf("got %q", bodies)
	}
}

// The server does not wait for a body that it does not need, and does not read what follows as a
// request. It closes the connection. The same applies to every request that package wire leaves to
// net/http.
func TestBodiesAreNotRead(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.Limits.Timeout, o.PublicMetrics = time.Hour, true })
	l := listen(t, s)
	for _, request := range []string{
		"POST /alb002 HTTP/1.1\r\nHost: example.org\r\nContent-Length: 1000\r\n\r\nabc",
		"GET /alb002 HTTP/1.1\r\nHost: example.org\r\nContent-Length: 1000\r\n\r\n",
		"GET /-/metrics HTTP/1.1\r\nHost: example.org\r\nContent-Length: 1000\r\n\r\n",
		"POST alb002 HTTP/1.0\r\nHost: example.org\r\nContent-Length: 1000\r\n\r\n",
		"POST /alb002 HTTP/1.1\r\nHost: example.org\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"GET /alb002 HTTP/1.1\r\nHost: example.org\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /alb002 HTTP/1.1\r\nHost: example.org\r\n\r\n",
		"GET /alb002 HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /alb002 HTTP/1.0\r\n\r\n",
		"POST /-/resolve HTTP/1.1\r\nHost: example.org\r\nContent-Length: 23\r\n\r\nurn:dns:example.org:old\r\n\r\nGET / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: x\r\n\r\n",
		"OPTIONS /alb002 HTTP/1.1\r\nHost: example.org\r\n\r\nGET / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: x\r\n\r\n",
		"GET /alb002 HTTP/1.1\r\nHost: example.org\r\nUpgrade: x\r\n\r\nGET / HTTP/1.0\r\nTransfer-Encoding: x\r\n\r\n",
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			got := exchange(t, l.Public, request)
			if _, fields, _ := cutAnswer(got); strings.Count(got, "\r\nDate: ") != 1 || fieldOf(fields, "Connection") != "close" {
				t.Errorf("%q: got %q", request, got)
			}
		})
	}
}

// HEAD returns the header of GET.
func TestHEAD(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	for _, target := range []string{"alb002", "/alb002", "/urn:ietf:rfc:2648", "/urn:ietf:rfc:2648?s=I2Ls", "none", "urn+m", "/", "/-/healthz", "old?s=I2L", "split"} {
		request := " " + target + " HTTP/1.0\r\nHost: example.org\r\n\r\n"
		get, head := exchange(t, l.Public, "GET"+request), exchange(t, l.Public, "HEAD"+request)
		status, fields, body := cutAnswer(get)
		headStatus, headFields, none := cutAnswer(head)
		slices.Sort(fields)
		slices.Sort(headFields)
		if headStatus != status || !slices.Equal(headFields, fields) || none != "" || fieldOf(fields, "Content-Length") != fmt.Sprint(len(body)) {
			t.Errorf("%s:\n%s\nis not the head of\n%s", target, head, get)
		}
	}
}

// The access log has one line per request, which no request can break; it can be
// disabled.
func TestAccessLog(t *testing.T) {
	access, log := logged()
	s, _ := newTestServer(t, func(o *Options) { o.AccessLog = access })
	l := listen(t, s)
	exchange(t, l.Public, "GET alb\x9b002\" HTTP/1.0\r\nHost: example.org\r\nUser-Agent: a\x9bb\r\n\r\n")
	exchange(t, l.Public, "GET /urn:ietf:rfc:2648 HTTP/1.0\r\n\r\n")
	exchange(t, l.Admin, "GET /api/v1/version HTTP/1.0\r\nHost: localhost\r\n\r\n")
	stop(t, l)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("got %q", lines)
	}
	for i, want := range [][]string{
		{`target="alb\\x9b002\""`, "proto=HTTP/1.0", "status=400", "host=example.org", `agent=a\x9bb`},
		{"remote=127.0.0.1", "method=GET", "target=/urn:ietf:rfc:2648", "status=302", "bytes=44"},
		{"target=/api/v1/version", "status=401"},
	} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("Y95-71: line %d: %s\nlacks %s", i, lines[i], part)
			}
		}
	}
	quiet, _ := newTestServer(t, nil)
	before := log.String()
	exchange(t, listen(t, quiet).Public, "GET 2648 HTTP/1.0\r\n\r\n")
	if log.String() != before {
		t.Error("Y95-71: a log that is off was written")
	}
}

// Fields of proxies are used only if they come from a trusted one.
func TestForwarded(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	})
	for _, tt := range []struct {
		remote string
		header http.Header
		want   client
	}{
		{"192.0.2.1:99", http.Header{"X-Forwarded-For": {"1.2.3.4"}, "X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"https"}}, client{netip.MustParseAddr("192.0.2.1"), "h.example", false, "", false}},
		{"10.0.0.1:99", http.Header{"X-Forwarded-For": {"1.2.3.4"}, "X-Forwarded-Host": {"names.example"}, "X-Forwarded-Proto": {"https"}}, client{netip.MustParseAddr("1.2.3.4"), "names.example", true, "", true}},
		{"10.0.0.1:99", http.Header{"X-Forwarded-For": {"6.6.6.6, 1.2.3.4", "10.0.0.2"}}, client{netip.MustParseAddr("1.2.3.4"), "h.example", false, "", true}},
		{"[::1]:99", http.Header{"X-Forwarded-For": {"nonsense"}, "X-Forwarded-Host": {"a b"}}, client{netip.MustParseAddr("::1"), "h.example", false, "", true}},
		{"[::ffff:10.0.0.1]:99", http.Header{"X-Forwarded-For": {"[2001:db8::1]"}}, client{netip.MustParseAddr("2001:db8::1"), "h.example", false, "", true}},
		{"10.0.0.1:99", http.Header{"Forwarded": {`for=6.6.6.6, For="[2001:db8::1]:99";proto=http`, `for=10.0.0.2;host="names.example:8080";Proto=HTTPS`}, "X-Forwarded-For": {"2001:db8::1, 10.0.0.2"}}, client{netip.MustParseAddr("2001:db8::1"), "names.example:8080", true, "", true}},
		// What a client writes into the field that the proxy does not set, or with a
		// quoted string, cannot change its address.
		{"10.0.0.1:99", http.Header{"Forwarded": {"for=6.6.6.6;host=evil.example;proto=https"}, "X-Forwarded-For": {"1.2.3.4"}}, client{netip.Addr{}, "h.example", false, "", true}},
		{"10.0.0.1:99", http.Header{"Forwarded": {"for=6.6.6.6, for=10.0.0.2"}, "X-Forwarded-For": {"1.2.3.4, 10.0.0.2"}}, client{netip.Addr{}, "h.example", false, "", true}},
		{"10.0.0.1:99", http.Header{"Forwarded": {`for="6.6.6.6`, "for=1.2.3.4"}}, client{netip.Addr{}, "h.example", false, "", true}},
		{"10.0.0.1:99", http.Header{"Forwarded": {`for=1.2.3.4;host="evil, for=6.6.6.6"`}}, client{netip.MustParseAddr("1.2.3.4"), "h.example", false, "", true}},
		{"10.0.0.1:99", http.Header{"Forwarded": {`for=1.2.3.4;host="evil;for=6.6.6.6"`}}, client{netip.MustParseAddr("1.2.3.4"), "h.example", false, "", true}},
		{"10.0.0.1:99", http.Header{"Forwarded": {`for=6.6.6.6;x="\""`, "for=1.2.3.4"}}, client{netip.MustParseAddr("1.2.3.4"), "h.example", false, "", true}},
		{"10.0.0.1:99", http.Header{"Forwarded": {"for=_hidden;host=a b;;="}}, client{netip.MustParseAddr("10.0.0.1"), "h.example", false, "", true}},
		{"192.0.2.1:99", http.Header{"Forwarded": {"for=1.2.3.4;host=evil.example"}}, client{netip.MustParseAddr("192.0.2.1"), "h.example", false, "", false}},
		{"10.0.0.1:99", http.Header{}, client{netip.MustParseAddr("10.0.0.1"), "h.example", false, "", true}},
	} {
		r := &http.Request{RemoteAddr: tt.remote, Host: "h.example", Header: tt.header}
		if got := s.clientOf(r); got != tt.want {
			t.Errorf("%s with %v: got %v, want %v", tt.remote, tt.header, got, tt.want)
		}
	}
}

func TestMetrics(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.PublicMetrics = true })
	l := listen(t, s)
	exchange(t, l.Public, "GET alb002 HTTP/1.0\r\nHost: example.org\r\n\r\n")
	exchange(t, l.Public, "GET /urn:ietf:rfc:2648 HTTP/1.0\r\n\r\n")
	exchange(t, l.Public, "GET /uri-res/N2L?urn:example:none HTTP/1.0\r\n\r\n")
	exchange(t, l.Public, "GET /-/list/urn:dns:example.org HTTP/1.0\r\n\r\n")
	got := exchange(t, l.Public, "GET /-/metrics?x=1 HTTP/1.0\r\n\r\n")
	for _, want := range []string{
		`nomen_requests_total{form="1995",status="200"} 1`,
		`nomen_requests_total{form="web",status="302"} 1`,
		`nomen_requests_total{form="thttp",status="404"} 1`,
		`nomen_requests_total{form="list",status="200"} 1`,
		`nomen_request_duration_seconds_count{form="1995"} 1`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// A panic in a resolver ends a request, not the server.
func TestPanic(t *testing.T) {
	failures, log := logged()
	s, _ := newTestServer(t, func(o *Options) {
		o.Resolver = resolverFunc(func(context.Context, nomen.Question) (*nomen.Answer, error) { panic("oops") })
		o.Log = failures
	})
	l := listen(t, s)
	exchange(t, l.Public, "GET /urn:ietf:rfc:1 HTTP/1.0\r\n\r\n")
	if got := exchange(t, l.Public, "GET /-/healthz HTTP/1.0\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 200 OK") {
		t.Errorf("afterwards: %q", got)
	}
	if !strings.Contains(log.String(), "oops") {
		t.Errorf("the log is %q", log.String())
	}
}

func BenchmarkDecide(b *testing.B) {
	s, _ := newTestServer(b, nil)
	for _, target := range []string{"2648", "/urn:ietf:rfc:2648"} {
		b.Run(target, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p := ask(s, target, hosted("x")); p.status >= 400 {
					b.Fatal(p.status)
				}
			}
		})
	}
}

// BenchmarkServe measures one client over a socket: one connection per request in the
// protocol of 1995, one connection for all on the web.
func BenchmarkServe(b *testing.B) {
	s, _ := newTestServer(b, nil)
	l := listen(b, s)
	b.Run("1995", func(b *testing.B) {
		for b.Loop() {
			exchange(b, l.Public, "GET 2648 HTTP/1.0\r\n\r\n")
		}
	})
	b.Run("web", func(b *testing.B) {
		c, err := net.Dial("tcp", l.Public.String())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		in := bufio.NewReader(c)
		for b.Loop() {
			io.WriteString(c, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: x\r\n\r\n")
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
		}
	})
}
