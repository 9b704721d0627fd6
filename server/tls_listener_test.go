package server

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serveOwnTLS serves on TLS listeners of the caller, like those of an ACME client.
func serveOwnTLS(t *testing.T, limits Limits) (l *Listening, pool *x509.CertPool) {
	t.Helper()
	config, pool := certificate(t)
	config.NextProtos = []string{"h2", "http/1.1"}
	limits.Timeout = time.Minute
	s, _ := newTestServer(t, func(o *Options) { o.Limits = limits })
	open := func() net.Listener {
		l, err := tls.Listen("tcp", "127.0.0.1:0", config)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l, err := s.Listen(Listener{Open: open()}, Listener{Open: open(), Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Shutdown(t.Context()) })
	return l, pool
}

// secureClient returns a client that connects from an address of loopback.
func secureClient(t *testing.T, pool *x509.CertPool, from string, http2 bool) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2,
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// A TLS listener of the caller serves what the server's own does, on both listeners: every
// version of HTTP, the protocol of 1995, and links to https.
func TestServeOwnTLS(t *testing.T) {
	l, pool := serveOwnTLS(t, Limits{})
	for _, http2 := range []bool{true, false} {
		c := secureClient(t, pool, "127.0.0.1", http2)
		for address, at := range map[string]string{
			"public": "https://" + l.Public.String() + "/-/proxy.pac", "admin": "https://" + l.Admin.String() + "/-/healthz",
		} {
			resp, err := c.Get(at)
			if err != nil {
				t.Errorf("%s, HTTP/2 %v: %v", address, http2, err)
				continue
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if want := map[bool]int{false: 1, true: 2}[http2]; err != nil || resp.ProtoMajor != want || resp.StatusCode != 200 {
				t.Errorf("%s: %s %s, want HTTP/%d, 200: %v", address, resp.Proto, resp.Status, want, err)
			}
			if address == "public" && !strings.Contains(string(b), "HTTPS "+l.Public.String()) {
				t.Errorf("HTTP/2 %v: the client does not count as secure: %s", http2, b)
			}
		}
	}
	for _, tt := range []struct{ in, want string }{
		{"GET urn:dns:example.org:alb002\r\n", urcAlb002}, // Y95-73: HTTP/0.9
		{"GET urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n", urcAlb002},
		{"GET /-/healthz HTTP/1.1\r\nHost: x\r\n\r\nGET urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n", urcAlb002},
	} {
		c, err := tls.Dial("tcp", l.Public.String(), &tls.Config{RootCAs: pool})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, tt.in)
		if b, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(b), tt.want) {
			t.Errorf("%q: %q, %v", tt.in, b, err)
		}
		c.Close()
	}
}

// The limits of connections hold for a TLS listener of the caller, in every version of HTTP:
// a new connection replaces an idle one of the same address, other addresses keep theirs, and
// a closed connection frees its slot.
func TestServeOwnTLSLimits(t *testing.T) {
	config, pool := certificate(t)
	config.NextProtos = []string{"h2", "http/1.1"}
	s, _ := newTestServer(t, func(o *Options) { o.Limits.Timeout = time.Minute })
	for _, name := range []string{"public", "admin"} {
		own, err := tls.Listen("tcp", "127.0.0.1:0", config)
		if err != nil {
			t.Fatal(err)
		}
		of := newLimitedListener(own, 20, 2, s.isShared, s.metrics.Refused)
		l := &Listening{server: s, done: make(chan error, 1), endWork: func() {}}
		if name == "public" {
			l.serve(s.publicServer(allProtocols), of, s.onWire(of, allProtocols))
		} else {
			l.serve(s.adminServer(allProtocols), of, bareListener{of})
		}
		t.Cleanup(func() { _ = l.Shutdown(t.Context()) })
		open := func() int {
			of.mu.Lock()
			defer of.mu.Unlock()
			if len(of.secure) != of.n {
				t.Errorf("%s: %d TLS connections of %d", name, len(of.secure), of.n)
			}
			return of.n
		}
		refused := refusals(s, refusedIdle)
		var clients []*http.Client
		for i := range 12 {
			from := "127.0.0.2"
			if i < 2 {
				from = "127.0.0.3"
			}
			c := secureClient(t, pool, from, i%2 == 0)
			clients = append(clients, c)
			var err error
			for range 1000 { // a connection becomes idle a moment after the response
				var resp *http.Response
				if resp, err = c.Get("https://" + own.Addr().String() + "/-/healthz"); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					break
				}
			}
			if err != nil {
				t.Fatalf("%s: client %d: %v", name, i, err)
			}
		}
		if n := open(); n != 4 {
			t.Errorf("%s: %d connections of two addresses are open, want 2 of each", name, n)
		}
		if n := refusals(s, refusedIdle) - refused; n != 8 {
			t.Errorf("%s: %d idle connections were replaced, want 8", name, n)
		}
		for _, c := range clients {
			c.CloseIdleConnections()
		}
		for end := time.Now().Add(30 * time.Second); open() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %d slots of closed connections are not free", name, open())
			}
		}
	}
}

// A client that does not complete the handshake is disconnected in time, and does not keep
// others from being served.
func TestServeOwnTLSHandshake(t *testing.T) {
	t.Parallel()                                                    // it waits for the timeout
	l, pool := serveOwnTLS(t, Limits{HeadTimeout: 3 * time.Second}) // enough for others on a busy machine
	for _, at := range []net.Addr{l.Public, l.Admin} {
		silent, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		resp, err := secureClient(t, pool, "127.0.0.1", true).Get("https://" + at.String() + "/-/healthz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		_ = silent.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := bufio.NewReader(silent).ReadByte(); err != io.EOF {
			t.Errorf("a client without a handshake: %v, want %v", err, io.EOF)
		}
	}
}
