package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
)

// A connection is kept as long as the server allows, and closed if a response was not read to
// its end. A connection that the server closed meanwhile is not an error.
func TestKeptConnections(t *testing.T) {
	const list = "Content-Type: text/uri-list\r\n"
	for _, tt := range []struct {
		name, answer string
		close        bool // by the server, after each response
		connections  int32
	}{
		{"kept", "HTTP/1.1 200 OK\r\n" + list + "Content-Length: 21\r\n\r\nhttps://example.org/x", false, 1},
		{"chunked", "HTTP/1.1 200 OK\r\n" + list + "Transfer-Encoding: chunked\r\n\r\n15\r\nhttps://example.org/x\r\n0\r\n\r\n", false, 1},
		{"after 100 and 103", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n" + list + "Content-Length: 21\r\n\r\nhttps://example.org/x", false, 1},
		{"said to be closed", "HTTP/1.1 200 OK\r\n" + list + "Connection: close\r\nContent-Length: 21\r\n\r\nhttps://example.org/x", true, 5},
		{"closed without a word", "HTTP/1.1 200 OK\r\n" + list + "Content-Length: 21\r\n\r\nhttps://example.org/x", true, 5},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n" + list + "\r\nhttps://example.org/x", true, 5},
		{"with more than announced", "HTTP/1.1 200 OK\r\n" + list + "Content-Length: 21\r\n\r\nhttps://example.org/xHTTP/1.1 200 OK\r\n\r\n", false, 5},
	} {
		var connections atomic.Int32
		port := listen(t, map[string]func(net.Conn){"127.0.0.1": func(conn net.Conn) {
			defer conn.Close()
			connections.Add(1)
			for {
				if _, err := readRequest(conn, ""); err != nil {
					return
				}
				if _, err := io.WriteString(conn, tt.answer); err != nil || tt.close {
					return
				}
			}
		}})
		c := newClient(t, Options{Via: fmt.Sprintf("http://127.0.0.1:%d/", port), Retries: -1})
		for range 5 {
			if a, err := c.Resolve(t.Context(), ask(t, alb, nomen.I2Ls)); err != nil || a.Locations[0].URL != "https://example.org/x" {
				t.Errorf("%s: got %+v, %v", tt.name, a, err)
			}
		}
		if n := connections.Load(); n != tt.connections {
			t.Errorf("%s: %d connections, want %d", tt.name, n, tt.connections)
		}
	}
}

// A cancelled request does not affect the next one.
func TestGivenUp(t *testing.T) {
	base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "slow") {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/uri-list")
		io.WriteString(w, "https://example.org"+r.URL.Path[len("/urn:x-y"):])
	})
	c := newClient(t, Options{Via: base})
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if _, err := c.Resolve(ctx, ask(t, "urn:x-y:slow", nomen.I2Ls)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
		a, err := c.Resolve(t.Context(), ask(t, fmt.Sprintf("urn:x-y:%d", i), nomen.I2Ls))
		if err != nil || a.Locations[0].URL != fmt.Sprintf("https://example.org:%d", i) {
			t.Errorf("got %+v, %v", a, err)
		}
	}
}

// If a server closes a connection before it answers, the request is repeated once on a new
// connection.
func TestNoAnswerOnWeb(t *testing.T) {
	var asked atomic.Int32
	port := listen(t, map[string]func(net.Conn){"127.0.0.1": func(conn net.Conn) {
		readRequest(conn, "")
		asked.Add(1)
		conn.Close()
	}})
	_, err := newClient(t, Options{Via: fmt.Sprintf("http://127.0.0.1:%d/", port), Retries: -1}).Resolve(t.Context(), ask(t, alb, ""))
	var e *UnreachableError
	if !errors.As(err, &e) || !errors.Is(err, errNoAnswer) || asked.Load() != 1 {
		t.Errorf("got %v after %d requests", err, asked.Load())
	}
}

// A Location cannot end a line of the next request.
func TestNoInjectionOnWeb(t *testing.T) {
	for _, target := range []string{"http://127.0.0.1:1/a%0d%0aX:y", "http://[fe80::1%25a%0d%0aX:y]:1/", "http://127.0.0.1:1/?a b", "http://u:p@127.0.0.1:1/"} {
		var sent strings.Builder
		n := newInternet(t)
		n.host("example.com", "192.0.2.1", says(moved(302, "Found", target)))
		o := Options{DNS: n, Retries: -1, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if n.serve[address] != nil {
				return n.dial(ctx, network, address)
			}
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				r, _ := readRequest(theirs, "")
				sent.WriteString(r.line + "|" + strings.Join(r.header, "|"))
			}()
			return ours, nil
		}}
		a, err := newClient(t, o).Resolve(t.Context(), ask(t, alb, nomen.I2C))
		if err == nil && (len(a.Locations) != 1 || a.Locations[0].URL != target) {
			t.Errorf("%q: got %+v", target, a)
		}
		if got := sent.String(); strings.Contains(got, "|X:") || strings.Contains(got, "Authorization") {
			t.Errorf("%q: sent %q, %v", target, got, err)
		}
	}
}

// On a persistent connection, the deadline of one request does not apply to the next, whichever
// transport sends it.
func TestTimeOfEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlain(func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				for n := 0; ; n++ {
					if _, err := readRequest(there, ""); err != nil {
						return
					}
					if n == 3 {
						io.Copy(io.Discard, there) // until it is closed
						return
					}
					io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}()
			return here, nil
		}, &http.Transport{}, 1)
		defer p.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		get := func(limit time.Duration) error {
			deadline := time.Time{}
			if limit > 0 {
				deadline = time.Now().Add(limit)
			}
			resp, _, err := p.roundTrip(req, deadline)
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
			}
			return err
		}
		for _, limit := range []time.Duration{time.Second, 0, 5 * time.Second} {
			if err := get(limit); err != nil {
				t.Fatalf("with %v: %v", limit, err)
			}
			time.Sleep(10 * time.Second)
		}
		start := time.Now()
		if err := get(2 * time.Second); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Errorf("got %v after %v, want the deadline", err, time.Since(start))
		}
	})
}

func TestLinkValues(t *testing.T) {
	for _, tt := range []struct{ field, want string }{
		{`<a>; rel="x"`, `<a>; rel="x"`},
		{`<a,b>; rel="x", <c>`, `<a,b>; rel="x"|<c>`},
		{`<a>; title="b, <c>, \", \\", <d>;e="f"`, `<a>; title="b, <c>, \", \\"|<d>;e="f"`},
		{`<a">; rel=x, <b>`, `<a">; rel=x|<b>`},
		{`<a`, `<a`},
		{`"a\`, `"a\`},
		{``, ``},
	} {
		var got []string
		for v := range linkValues(tt.field) {
			got = append(got, strings.TrimSpace(v))
		}
		if got := strings.Join(got, "|"); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.field, got, tt.want)
		}
	}
}

// Data that arrives on an idle connection is not an answer to the next request.
func TestIdleConnectionSpeaks(t *testing.T) {
	for _, late := range []string{
		"", // only closed
		"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: text/uri-list\r\nContent-Length: 21\r\n\r\nhttps://example.org/y",
		"\r\n",
	} {
		idle, spoken := make(chan bool), make(chan bool)
		var connections atomic.Int32
		port := listen(t, map[string]func(net.Conn){"127.0.0.1": func(conn net.Conn) {
			defer conn.Close()
			first := connections.Add(1) == 1
			if _, err := readRequest(conn, ""); err != nil {
				return
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/uri-list\r\nContent-Length: 21\r\n\r\nhttps://example.org/x")
			if first {
				<-idle
				io.WriteString(conn, late)
				if late == "" {
					conn.Close()
				}
				spoken <- true
			}
			<-t.Context().Done()
		}})
		c := newClient(t, Options{Via: fmt.Sprintf("http://127.0.0.1:%d/", port), Retries: -1, Timeout: time.Minute})
		for i := range 2 {
			if a, err := c.Resolve(t.Context(), ask(t, alb, nomen.I2Ls)); err != nil || a.Locations[0].URL != "https://example.org/x" {
				t.Errorf("%q: got %+v, %v", late, a, err)
			}
			if i == 0 {
				idle <- true
				<-spoken
			}
		}
		if n := connections.Load(); n != 2 {
			t.Errorf("%q: %d connections, want 2", late, n)
		}
	}
}

// pipes is a network in memory whose servers answer each request at once, except those for
// /silent. It counts the open connections.
type pipes struct{ open, made atomic.Int32 }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.open.Add(1)
	p.made.Add(1)
	go func() {
		defer p.open.Add(-1)
		defer there.Close()
		for {
			r, err := readRequest(there, "")
			if err != nil {
				return
			}
			if !strings.Contains(r.line, "/silent") {
				io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}
	}()
	return here, nil
}

// begin requests a URL and returns a function that ends the request.
func begin(t *testing.T, p *plain, url string, deadline time.Time) (func(), error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, _, err := p.roundTrip(req, deadline)
	if err != nil {
		return nil, err
	}
	return func() { io.Copy(io.Discard, resp.Body) }, nil
}

// Connections to hosts that are not asked again are closed, and the number of open ones is
// bounded.
func TestIdleConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n pipes
		p := newPlain(n.dial, &http.Transport{}, 2)
		defer p.CloseIdleConnections()
		for i := range 2 * maxIdleAll {
			end, err := begin(t, p, fmt.Sprintf("http://h%d.example/", i), time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			end()
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if open := n.open.Load(); open != maxIdleAll {
			t.Errorf("%d connections are open, want %d", open, maxIdleAll)
		}
		for _, i := range []int{0, 2*maxIdleAll - 1} { // closed, and kept
			made := n.made.Load()
			end, err := begin(t, p, fmt.Sprintf("http://h%d.example/", i), time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			end()
			if got, want := n.made.Load()-made, int32(1); (got == want) != (i == 0) {
				t.Errorf("host %d: %d new connections", i, got)
			}
		}
		time.Sleep(2 * maxIdleTime)
		synctest.Wait()
		if open := n.open.Load(); open != 0 {
			t.Errorf("%d connections are open after %v", open, 2*maxIdleTime)
		}
	})
}

// A slow response on one connection does not affect others.
func TestDeadlineOnKeptConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n pipes
		p := newPlain(n.dial, &http.Transport{}, 2)
		defer p.CloseIdleConnections()
		var ends []func()
		for range 2 {
			end, err := begin(t, p, "http://example.org/", time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, end)
		}
		for _, end := range ends {
			end()
		}
		if _, err := begin(t, p, "http://example.org/silent", time.Now().Add(time.Second)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		synctest.Wait()
		if open, made := n.open.Load(), n.made.Load(); open != 1 || made != 2 {
			t.Errorf("%d of %d connections are open, want 1 of 2", open, made)
		}
	})
}

// The Host field has no zone, which is only meaningful on this machine.
func TestHostField(t *testing.T) {
	for host, want := range map[string]string{
		"[fe80::1%eth0]:80": "[fe80::1]:80", "[fe80::1%eth0]": "[fe80::1]", "[::1]:80": "[::1]:80", "example.org": "example.org", "a%b": "a%b",
	} {
		if got := hostField(host); got != want {
			t.Errorf("%s: got %q, want %q", host, got, want)
		}
	}
}

// A host in another script is asked for by its name in ASCII (RFC 5891).
func TestInternationalHost(t *testing.T) {
	n := newInternet(t)
	n.hosts["xn--bcher-kva.example"] = []string{"192.0.2.5"}
	n.serve["192.0.2.5:80"] = says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/uri-list\r\n\r\nhttps://example.org/x\r\n")
	a, err := n.client(Options{Via: "http://b\u00fccher.example/"}).Resolve(t.Context(), ask(t, alb, nomen.I2Ls))
	if err != nil || a.Locations[0].URL != "https://example.org/x" || n.asked[0].field("Host") != "xn--bcher-kva.example" || n.asked[0].field("User-Agent") != "" {
		t.Errorf("got %+v, %v after %q", a, err, n.asked)
	}
}
