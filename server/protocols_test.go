package server

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/wire"
)

// listenAll serves on several listeners until the test ends.
func listenAll(t *testing.T, s *Server, listeners ...Listener) *Listening {
	t.Helper()
	l, err := s.Listen(listeners...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Shutdown(t.Context()) })
	return l
}

// A listener serves the protocols that it is for, and answers requests of the other one in the
// protocol in which they were sent.
func TestProtocolsOfListeners(t *testing.T) {
	s, _ := newTestServer(t, nil)
	const local = "127.0.0.1:0"
	l := listenAll(t, s, Listener{Address: local}, Listener{Address: local, Protocols: ProtocolWeb},
		Listener{Address: local, Protocols: Protocol1995}, Listener{Address: local, Protocols: ProtocolWeb | Protocol1995})
	const both, web, old = "both", "web", "1995"
	for _, tt := range []struct {
		request string
		of      string // the protocols of the listeners that answer it
		want    string // the beginning of the answer there
	}{
		{"GET urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n", old, "HTTP/1.0 200 OK"},
		{"GET alb002 HTTP/1.0\r\nHost: example.org\r\n\r\n", old, "HTTP/1.0 200 OK"},
		{"GET alb002 HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n", old, "HTTP/1.0 200 OK"},
		{"HEAD urn+m HTTP/1.0\r\nHost: example.org\r\n\r\n", old, "HTTP/1.0 200 OK"},
		{"GET /urn:dns:example.org:alb002 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", web, "HTTP/1.1 303 "},
		{"GET /alb002 HTTP/1.0\r\nHost: example.org\r\n\r\n", web, "HTTP/1.0 200 OK"},
		{"GET http://example.org/alb002 HTTP/1.0\r\n\r\n", web, "HTTP/1.0 200 OK"},
		{"GET /uri-res/N2L?urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n", web, "HTTP/1.0 302 "},
		{"GET / HTTP/1.0\r\n\r\n", web, "HTTP/1.0 200 OK"},
		{"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", web, "HTTP/1.1 204 "},
		{"POST /-/resolve HTTP/1.0\r\nContent-Type: text/uri-list\r\nContent-Length: 0\r\n\r\n", web, "HTTP/1.0 200 OK"},
		{"GET /-/healthz HTTP/1.0\r\n\r\n", both, "HTTP/1.0 200 OK"},
		{"GET /-/readyz?x HTTP/1.0\r\n\r\n", both, "HTTP/1.0 200 OK"},
		{"GET /-/healthzx HTTP/1.0\r\n\r\n", web, "HTTP/1.0 404 "},
	} {
		for i, protocols := range []string{web + old + both, web + both, old + both, web + old + both} {
			got := exchange(t, l.Addrs[i], tt.request)
			if strings.Contains(protocols, tt.of) {
				if !strings.HasPrefix(got, tt.want) {
					t.Errorf("listener %d: %q: got %.80q, want %q", i, tt.request, got, tt.want)
				}
				continue
			}
			status, fields, body := cutAnswer(got)
			if !strings.HasPrefix(status, tt.want[:9]+"421 ") {
				t.Errorf("listener %d: %q: got %q, want 421", i, tt.request, status)
			}
			if !strings.HasPrefix(tt.request, "HEAD") && (!strings.Contains(body, "This listener ") || fieldOf(fields, "Content-Length") == "0") {
				t.Errorf("listener %d: %q: got %q", i, tt.request, body)
			}
			if tt.of == old && !strings.HasPrefix(fieldOf(fields, "Content-Type"), "text/urc-0") {
				t.Errorf("Y95-45: listener %d: %q: got %q, want text/urc-0", i, tt.request, fields)
			}
		}
	}
	// Y95-25: a Simple-Request gets a body alone.
	if got := exchange(t, l.Addrs[1], "GET urn:dns:example.org:alb002\r\n"); strings.HasPrefix(got, "HTTP/") || !strings.Contains(got, "This listener ") {
		t.Errorf("a Simple-Request at a listener for the web: %q", got)
	}
	if got := exchange(t, l.Addrs[2], "GET urn:dns:example.org:alb002\r\n"); got != urcAlb002 {
		t.Errorf("Y95-73: a Simple-Request at a listener for 1995: %q", got)
	}
}

// The protocol of 1995 works without TLS beside a listener with TLS, and over TLS without a
// negotiated protocol. Names are answered at all of them, and the links are right for the scheme of
// each request.
func TestListenersWithAndWithoutTLS(t *testing.T) {
	s, _ := newTestServer(t, nil)
	secure, pool := certificate(t)
	l := listenAll(t, s, Listener{Name: "https", Address: "127.0.0.1:0", TLS: secure}, Listener{Address: "127.0.0.1:0", Protocols: ProtocolWeb},
		Listener{Address: "127.0.0.1:0"}, Listener{Address: "127.0.0.1:0", Admin: true, TLS: secure})
	if l.Public != l.Addrs[0] || l.Admin != l.Addrs[3] {
		t.Errorf("Public %v, Admin %v of %v", l.Public, l.Admin, l.Addrs)
	}
	const old = "GET urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n"
	if got := exchange(t, l.Addrs[2], old); !strings.HasSuffix(got, urcAlb002) {
		t.Errorf("1995 without TLS: %q", got)
	}
	c, err := tls.Dial("tcp", l.Public.String(), &tls.Config{RootCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, old)
	if b, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(b), urcAlb002) {
		t.Errorf("1995 over TLS: %q, %v", b, err)
	}
	client := secureClient(t, pool, "127.0.0.1", true)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for i, scheme := range []string{"https", "http", "http"} {
		origin := scheme + "://" + l.Addrs[i].String()
		resp, err := client.Get(origin + "/urn:dns:example.org:alb002")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if want := `<` + origin + `/urn:dns:example.org:alb002>; rel="cite-as"`; resp.StatusCode != http.StatusSeeOther || !strings.HasPrefix(resp.Header.Get("Link"), want) {
			t.Errorf("%s: %s, Link %q, want 303 and %s", origin, resp.Status, resp.Header.Get("Link"), want)
		}
		if to := resp.Header.Get("Location"); strings.HasPrefix(to, "https://127.0.0.1") {
			t.Errorf("%s: the name is redirected to %s", origin, to)
		}
	}
	resp, err := client.Get("https://" + l.Admin.String() + "/-/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.ProtoMajor != 2 || resp.StatusCode != 200 {
		t.Errorf("admin API over TLS: %s %s", resp.Proto, resp.Status)
	}
	if n := s.Connections(); len(n) != 4 || n["https"] == 0 {
		t.Errorf("open connections: %v", n)
	}
}

// The handler of WellKnown gets only the requests below /.well-known/ that arrive at its own
// listener.
func TestWellKnown(t *testing.T) {
	s, _ := newTestServer(t, nil)
	challenge := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if wire.Target(r) == "/.well-known/acme-challenge/token" {
				io.WriteString(w, "token.key")
				return
			}
			if !strings.HasPrefix(wire.Target(r), wellKnownPath) {
				t.Errorf("got %s", wire.Target(r))
			}
			next.ServeHTTP(w, r)
		})
	}
	l := listenAll(t, s, Listener{Address: "127.0.0.1:0", WellKnown: challenge}, Listener{Address: "127.0.0.1:0"})
	for target, want := range map[string][2]string{
		"/.well-known/acme-challenge/token": {"200", "404"},
		"/.well-known/acme-challenge/other": {"404", "404"},
		"/urn:dns:example.org:alb002":       {"302", "302"},
		"urn:dns:example.org:alb002":        {"200", "200"},
	} {
		for i, status := range want {
			if got := exchange(t, l.Addrs[i], "GET "+target+" HTTP/1.0\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 "+status) {
				t.Errorf("listener %d: %s: got %.40q, want %s", i, target, got, status)
			}
		}
	}
}

// If one listener cannot be opened, none stays open.
func TestListenClosesAll(t *testing.T) {
	s, _ := newTestServer(t, nil)
	own, err := net.Listen("tcp", "127.0.0.9:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen(Listener{Open: own}, Listener{Address: "192.0.2.1:1"}); err == nil {
		t.Fatal("a foreign address was opened")
	}
	if _, err := own.Accept(); err == nil {
		t.Error("a listener is open after an error")
	}
}

// The access log names the listener of each request, also if the shortcut answered the request.
func TestAccessLogNamesListener(t *testing.T) {
	var log bytes.Buffer
	s, _ := newTestServer(t, func(o *Options) { o.AccessLog = slog.New(slog.NewTextHandler(&log, nil)) })
	l, err := s.Listen(Listener{Name: "one", Address: "127.0.0.1:0"}, Listener{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range l.Addrs {
		c := dialShort(t, &Listening{Public: at})
		for range 2 {
			c.ask(t, "GET", "GET /urn:dns:example.org:alb002 HTTP/1.1\r\nHost: a\r\n\r\n")
		}
		c.ask(t, "GET", "GET 2648 HTTP/1.0\r\n\r\n")
	}
	stop(t, l)
	if n, m := strings.Count(log.String(), "listener=one "), strings.Count(log.String(), "listener="+l.Addrs[1].String()+" "); n != 3 || m != 3 {
		t.Errorf("%d and %d lines name their listeners, want 3 and 3:\n%s", n, m, log.String())
	}
}

// A middleware, and the option SameOrigin, apply to every request of a connection, including those
// that the shortcut could answer.
func TestMiddlewareSeesEveryRequest(t *testing.T) {
	three := func(s *Server) (got string) {
		c := dialShort(t, listen(t, s))
		for range 3 {
			got += c.ask(t, "GET", "GET /urn:dns:example.org:alb002 HTTP/1.1\r\nHost: a\r\n\r\n")
		}
		return got
	}
	s, _ := newTestServer(t, func(o *Options) {
		o.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Seen", "yes")
				next.ServeHTTP(w, r)
			})
		}
	})
	if got := three(s); strings.Count(got, "X-Seen: yes") != 3 {
		t.Errorf("the middleware did not see all three requests: %q", got)
	}
	s, _ = newTestServer(t, func(o *Options) { o.SameOrigin = true })
	if got := three(s); strings.Count(got, " 303 ") != 3 || strings.Contains(got, "Access-Control") {
		t.Errorf("with SameOrigin: %q", got)
	}
}

// A Unix socket does not lower the number of connections of the other listeners.
func TestLimitsWithUnixSocket(t *testing.T) {
	s, _ := newTestServer(t, nil)
	socket, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	const local = "127.0.0.1:0"
	two := []Listener{{Address: local}, {Address: local, Admin: true}}
	if two, three := connectionsFor(6000, 2), connectionsFor(6000, 3); two != 1500 || three != 1000 {
		t.Errorf("of 6000 files two listeners get %d each, three %d", two, three)
	}
	for want, listeners := range map[int][]Listener{2: append(two[:2:2], Listener{Open: socket, Admin: true}), 3: append(two[:2:2], Listener{Address: local})} {
		l := listenAll(t, s, listeners...)
		if got := l.sharing(); got != want {
			t.Errorf("%v: %d listeners share the open files, want %d", l.Addrs, got, want)
		}
	}
}
