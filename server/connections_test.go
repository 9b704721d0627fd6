package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
)

// A visitor is a client with one connection.
type visitor struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

// connectFrom connects from an address of loopback.
func connectFrom(t *testing.T, from string, to net.Addr) *visitor {
	t.Helper()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &visitor{t, c, bufio.NewReader(c)}
}

// ask sends a request and returns the status of the response, 0 if the connection is
// closed.
func (v *visitor) ask(target string) int {
	v.t.Helper()
	if _, err := io.WriteString(v, "GET "+target+" HTTP/1.1\r\nHost: example.org\r\n\r\n"); err != nil {
		return 0
	}
	return v.answer(time.Minute)
}

// answer returns the status of the next response. It returns 0 if the connection is closed, and -1
// if nothing arrives within the given time.
func (v *visitor) answer(within time.Duration) int {
	v.t.Helper()
	v.SetReadDeadline(time.Now().Add(within))
	resp, err := http.ReadResponse(v.r, nil)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return -1
	case err != nil:
		return 0
	}
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// slowServer serves with limits. For each request for urn:x-y:slow, it sends on the channel asked. It
// answers the request after it has received from the channel goOn.
func slowServer(t *testing.T, limits Limits) (s *Server, public net.Addr, asked, goOn chan struct{}) {
	asked, goOn = make(chan struct{}, 10), make(chan struct{})
	s, _ = newTestServer(t, func(o *Options) {
		limits.Timeout = time.Minute
		o.Limits = limits
		engine := o.Resolver
		o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
			if q.Name.Key() == "urn:x-y:slow" {
				asked <- struct{}{}
				select {
				case <-goOn:
				case <-t.Context().Done(): // the test has failed
				}
			}
			return engine.Resolve(ctx, q)
		})
	})
	return s, listen(t, s).Public, asked, goOn
}

// refusals returns the metric of requests and connections rejected for a reason.
func refusals(s *Server, reason string) int {
	_, rest, _ := strings.Cut(shownMetrics(s), `nomen_refused_total{reason="`+reason+`"} `)
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(line)
	return n
}

// When the table is full, the connection that has been idle longest is closed. Connections in use
// and connections with a pending request stay open.
func TestConnectionTable(t *testing.T) {
	s, public, asked, goOn := slowServer(t, Limits{Connections: 10})
	const page = "/urn:ietf:rfc:2648"
	busy, used := connectFrom(t, "127.0.0.1", public), connectFrom(t, "127.0.0.1", public)
	io.WriteString(busy, "GET /urn:x-y:slow HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal("the question did not arrive")
	}
	for range 3 { // the wire answers the second and later requests
		if used.ask(page) != 303 {
			t.Fatal("no answer")
		}
	}
	var idle []*visitor
	for range 8 {
		v := connectFrom(t, "127.0.0.1", public)
		if v.ask(page) != 303 {
			t.Fatal("no answer")
		}
		idle = append(idle, v)
	}
	used.ask(page)
	for range 10 {
		if connectFrom(t, "127.0.0.1", public).ask(page) != 303 {
			t.Error("no response although idle connections could be closed")
		}
		if used.ask(page) != 303 {
			t.Error("a connection in use made room")
		}
	}
	open := 0
	for _, v := range idle {
		if v.ask(page) != 0 {
			open++
		}
	}
	if open > 2 { // one may have been between a response and the next request
		t.Errorf("%d of %d idle connections are open", open, len(idle))
	}
	close(goOn)
	if got := busy.answer(time.Minute); got != 404 {
		t.Errorf("the request that was under way: %d", got)
	}
	if got := refusals(s, refusedIdle); got < 10 {
		t.Errorf("%d idle connections were counted", got)
	}
}

// If every connection is busy, a new one waits.
func TestConnectionTableBusy(t *testing.T) {
	_, public, asked, goOn := slowServer(t, Limits{Connections: 1})
	busy := connectFrom(t, "127.0.0.1", public)
	io.WriteString(busy, "GET /urn:x-y:slow HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal("the question did not arrive")
	}
	waits := connectFrom(t, "127.0.0.1", public)
	io.WriteString(waits, "GET /-/healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := waits.answer(50 * time.Millisecond); got != -1 {
		t.Errorf("a second connection was answered: %d", got)
	}
	close(goOn)
	if got := busy.answer(time.Minute); got != 404 {
		t.Errorf("the first: %d", got)
	}
	if got := waits.answer(time.Minute); got != 200 {
		t.Errorf("the second: %d", got)
	}
}

// The number of connections per address is limited; a new one replaces an idle one of the
// same address. Other addresses, and addresses of many clients, are not affected.
func TestConnectionShare(t *testing.T) {
	s, public, asked, goOn := slowServer(t, Limits{Connections: 20, PerAddress: 2})
	const page = "/urn:ietf:rfc:2648"
	other := connectFrom(t, "127.0.0.3", public)
	other.ask(page)
	var own []*visitor
	for range 5 {
		v := connectFrom(t, "127.0.0.2", public)
		for range 1000 { // a connection becomes idle a moment after the response
			if v.ask(page) == 303 {
				break
			}
			v = connectFrom(t, "127.0.0.2", public)
		}
		own = append(own, v)
	}
	refused := refusals(s, refusedConnection)
	var open []*visitor
	for _, v := range own {
		if v.ask(page) == 303 {
			open = append(open, v)
		}
	}
	if len(open) != 2 {
		t.Fatalf("%d connections of one address are open, want 2", len(open))
	}
	for _, v := range open {
		io.WriteString(v, "GET /urn:x-y:slow HTTP/1.1\r\nHost: x\r\n\r\n")
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Fatal("a question did not arrive")
		}
	}
	if got := connectFrom(t, "127.0.0.2", public).answer(time.Minute); got != 0 {
		t.Errorf("a connection beyond the share: %d", got)
	}
	if other.ask(page) != 303 {
		t.Error("another address lost its connection")
	}
	var many []*visitor
	for range 10 {
		many = append(many, connectFrom(t, "127.0.0.1", public))
	}
	for _, v := range many {
		if v.ask(page) != 303 {
			t.Error("this machine has a share")
		}
	}
	close(goOn)
	if got := refusals(s, refusedConnection) - refused; got != 1 {
		t.Errorf("%d connections were rejected", got)
	}
}

// Idle connections are recognized with TLS too, in HTTP/1.1 and HTTP/2.
func TestConnectionTableTLS(t *testing.T) {
	config, pool := certificate(t)
	s, _ := newTestServer(t, func(o *Options) { o.Limits.Connections = 1 })
	l, err := s.Listen(Listener{Address: "127.0.0.1:0", TLS: config})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Shutdown(t.Context())
	for range 2 {
		for _, h2 := range []bool{false, true} {
			c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}, Timeout: time.Minute}
			defer c.CloseIdleConnections()
			resp, err := c.Get("https://" + l.Public.String() + "/-/healthz")
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if want := map[bool]int{false: 1, true: 2}[h2]; resp.ProtoMajor != want {
				t.Errorf("HTTP/%d, want %d", resp.ProtoMajor, want)
			}
		}
	}
}

// pipes is a listener whose connections have addresses chosen by the test.
type pipes struct {
	net.Listener
	from chan string
}

func (p *pipes) Accept() (net.Conn, error) {
	from, ok := <-p.from
	if !ok {
		return nil, net.ErrClosed
	}
	c, _ := net.Pipe()
	return pipeFrom{c, &net.TCPAddr{IP: net.ParseIP(from), Port: 1}}, nil
}

type pipeFrom struct {
	net.Conn
	from net.Addr
}

func (p pipeFrom) RemoteAddr() net.Addr { return p.from }

// If the table is full, a connection of the address with the most connections is closed, even if
// this address keeps opening connections and all of them are new.
func TestConnectionRoom(t *testing.T) {
	const shared = "127.0.0.1"
	type step struct {
		from string
		busy bool   // it has a pending request from then on
		ok   bool   // it is accepted
		left string // the addresses of the connections then open, in order of arrival
	}
	for name, steps := range map[string][]step{
		"a hoarder pays for itself and for others": {
			{"10.0.0.1", false, true, "1"},
			{"10.0.0.2", false, true, "12"},
			{"10.0.0.2", false, true, "122"},
			{"10.0.0.2", false, true, "1222"},
			{"10.0.0.2", false, true, "1222"},
			{"10.0.0.2", false, true, "1222"},
			{"10.0.0.3", false, true, "1223"},
			{"10.0.0.4", false, true, "1234"},
			{"10.0.0.2", false, true, "1342"},
		},
		"addresses that have as many": {
			{"10.0.0.1", false, true, "1"},
			{"10.0.0.2", false, true, "12"},
			{"10.0.0.2", false, true, "122"},
			{"10.0.0.1", false, true, "1221"},
			{"10.0.0.3", false, true, "1213"},
			{"10.0.0.4", false, true, "2134"},
			{"10.0.0.5", false, true, "1345"},
		},
		"an IPv6 network is one address": {
			{"2001:db8::1", false, true, "1"},
			{"10.0.0.2", false, true, "12"},
			{"2001:db8::3", false, true, "123"},
			{"2001:db8::4", false, true, "1234"},
			{"10.0.0.5", false, true, "2345"},
			{"10.0.0.6", false, true, "2456"},
		},
		"what is answered is kept": {
			{"10.0.0.1", false, true, "1"},
			{"10.0.0.2", true, true, "12"},
			{"10.0.0.2", true, true, "122"},
			{"10.0.0.2", true, true, "1222"},
			{"10.0.0.2", false, false, "1222"},
			{"10.0.0.3", false, true, "2223"},
		},
		"an address that many share takes from everybody": {
			{"10.0.0.1", false, true, "1"},
			{shared, true, true, "11"},
			{shared, true, true, "111"},
			{shared, true, true, "1111"},
			{shared, false, true, "1111"},
			{"10.0.0.3", false, true, "1113"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pipes{from: make(chan string)}
			refused := make(chan string, 100)
			table := newLimitedListener(p, 4, 4, func(a netip.Addr) bool { return a.String() == shared }, func(reason string) { refused <- reason })
			accepted := make(chan *limitedConn)
			go func() {
				for {
					c, err := table.Accept()
					if err != nil {
						close(accepted)
						return
					}
					accepted <- c.(*limitedConn)
				}
			}()
			defer close(p.from)
			var all []*limitedConn
			for i, step := range steps {
				p.from <- step.from
				ok := false
				for !ok {
					select {
					case c := <-accepted:
						ok = true
						all = append(all, c)
						if step.busy {
							table.state(c, http.StateActive)
						}
					case reason := <-refused:
						if reason == refusedIdle {
							continue
						}
					}
					break
				}
				left := ""
				for _, c := range all {
					table.mu.Lock()
					if from := c.RemoteAddr().String(); c.isOpen {
						left += from[strings.LastIndexAny(from[:len(from)-2], ".:")+1:][:1]
					}
					table.mu.Unlock()
				}
				if ok != step.ok || left != step.left {
					t.Errorf("%d, %s: let in %v, open %s; want %v, %s", i, step.from, ok, left, step.ok, step.left)
				}
			}
		})
	}
}
