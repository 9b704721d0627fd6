package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/guard"
)

// hosts are addresses by host name.
type hosts map[string][]netip.Addr

func (h hosts) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if found := h[strings.TrimSuffix(host, ".")]; found != nil {
		return found, nil
	}
	return nil, errNoSuchHost
}

func at(addresses ...string) (all []netip.Addr) {
	for _, a := range addresses {
		all = append(all, netip.MustParseAddr(a))
	}
	return all
}

// silent keeps connections open without sending anything until the test ends.
func silent(t *testing.T) func(net.Conn) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	return func(conn net.Conn) { <-release; conn.Close() }
}

// Y95-24: of four addresses one refuses, one hangs, one answers with an error and one is right.
// In any order, the right one is found long before the attempt at the hanging one times out.
func TestRightAddressSoon(t *testing.T) {
	port := listen(t, map[string]func(net.Conn){ // nothing listens at 127.0.0.5
		"127.0.0.6": silent(t),
		"127.0.0.7": once("HTTP/1.0 500 Out of order\r\n\r\n"),
		"127.0.0.8": once(urc("https://example.com/right")),
	})
	four := at("127.0.0.5", "127.0.0.6", "127.0.0.7", "127.0.0.8")
	const limit = time.Minute // timeout for the silent address
	for first := range four {
		turned := append(append([]netip.Addr(nil), four[first:]...), four[:first]...)
		start := time.Now()
		a, err := newClient(t, Options{DNS: addresses(turned), Port: port, Timeout: limit, Retries: -1}).Resolve(t.Context(), ask(t, alb, ""))
		if err != nil || a.Locations[0].URL != "https://example.com/right" {
			t.Errorf("%v: got %+v, %v", turned, a, err)
		}
		if took := time.Since(start); took > limit/2 {
			t.Errorf("%v: waited for the silent address: %v", turned, took)
		}
	}
}

// On the web the addresses of a host are tried in the same way.
func TestRightWebAddressSoon(t *testing.T) {
	port := listen(t, map[string]func(net.Conn){ // nothing listens at 127.0.0.5
		"127.0.0.8": once("HTTP/1.1 200 OK\r\nContent-Type: text/uri-list\r\nConnection: close\r\n\r\nhttps://example.com/right\r\n"),
	})
	dns := hosts{"resolver.example": at("127.0.0.5", "127.0.0.8")}
	a, err := newClient(t, Options{DNS: dns, Via: fmt.Sprintf("http://resolver.example:%d/", port)}).Resolve(t.Context(), ask(t, alb, nomen.I2Ls))
	if err != nil || a.Locations[0].URL != "https://example.com/right" {
		t.Errorf("got %+v, %v", a, err)
	}
}

// TestIPv6Only also runs on a machine without IPv6: there the connection goes to a server at
// 127.0.0.1 in place of ::1.
func TestIPv6Only(t *testing.T) {
	six := "::1"
	dial := new(net.Dialer).DialContext
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		six = "127.0.0.1"
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			port, ok := strings.CutPrefix(address, "[::1]:")
			if !ok {
				return nil, fmt.Errorf("dial %s: want port of [::1]", address)
			}
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
		}
	} else {
		l.Close()
	}
	port := listen(t, map[string]func(net.Conn){six: once(urc("https://example.com/six"))})
	for _, o := range []Options{{Port: port}, {Via: fmt.Sprintf("[::1]:%d", port)}, {Via: fmt.Sprintf("example.com:%d", port)}} {
		o.DNS, o.DialContext = hosts{"example.com": at("::1")}, dial
		if a, err := newClient(t, o).Resolve(t.Context(), ask(t, alb, "")); err != nil || a.Locations[0].URL != "https://example.com/six" {
			t.Errorf("%+v: got %+v, %v", o, a, err)
		}
	}
}

// A resolver moves with its names, across two authorities.
func TestMovesAcrossAuthorities(t *testing.T) {
	port := listen(t, map[string]func(net.Conn){
		"127.0.0.2": once("HTTP/1.0 301 urn:dns:second.example:alb%2D002\r\n\r\n"),
		"127.0.0.3": once("HTTP/1.0 302 moved for now to <urn:dns:third.example:alb002>\r\n\r\n"),
		"127.0.0.4": once(urc("https://third.example/x")),
	})
	dns := hosts{"example.com": at("127.0.0.2"), "second.example": at("127.0.0.3"), "third.example": at("127.0.0.4")}
	a, err := newClient(t, Options{DNS: dns, Port: port}).Resolve(t.Context(), ask(t, alb, nomen.I2L))
	if err != nil || a.Name.Key() != "urn:dns:third.example:alb002" || a.Locations[0].URL != "https://third.example/x" || len(a.Why) != 2 {
		t.Errorf("Y95-43: got %+v, %v", a, err)
	}
}

// Loops of any length end, on real sockets too.
func TestLoopsOnSockets(t *testing.T) {
	for _, size := range []int{1, 2, 11} {
		var asked atomic.Int32
		port := listen(t, map[string]func(net.Conn){"127.0.0.1": func(conn net.Conn) {
			defer conn.Close()
			r, err := readRequest(conn, "")
			if err != nil {
				return
			}
			asked.Add(1)
			var i int
			fmt.Sscanf(r.line, "GET %d", &i)
			io.WriteString(conn, moved(302, "Found", fmt.Sprintf("urn:dns:example.com:%d", (i+1)%size)))
		}})
		c := newClient(t, Options{DNS: addresses(at("127.0.0.1")), Port: port, MaxRedirects: 20})
		_, err := c.Resolve(t.Context(), ask(t, "urn:dns:example.com:0", ""))
		var e *RedirectError
		if !errors.As(err, &e) || !e.Loop || int(asked.Load()) != size {
			t.Errorf("Y95-44: loop of %d: %v after %d requests", size, err, asked.Load())
		}
	}
}

// Y95-32: a resolver that understands only Simple-Requests.
func TestOldest(t *testing.T) {
	port := listen(t, map[string]func(net.Conn){"127.0.0.1": func(conn net.Conn) {
		defer conn.Close()
		if r, err := readRequest(conn, ""); err == nil && r.line == "GET alb002" {
			io.WriteString(conn, "=====\nhttps://example.com/old\n")
		}
	}})
	o := Options{DNS: addresses(at("127.0.0.1")), Port: port, Simple: true, Retries: -1}
	a, err := newClient(t, o).Resolve(t.Context(), ask(t, alb, ""))
	if err != nil || a.Locations[0].URL != "https://example.com/old" {
		t.Errorf("got %+v, %v", a, err)
	}
	o.Simple = false
	var e *UnreachableError
	if _, err := newClient(t, o).Resolve(t.Context(), ask(t, alb, "")); !errors.As(err, &e) {
		t.Errorf("a Full-Request: %v", err)
	}
}

// A result that ends within a URL is incomplete, and the next address is asked. One that ends
// between two parts cannot be told from a complete one.
func TestTruncatedResult(t *testing.T) {
	const head = "HTTP/1.0 200 OK\r\nContent-Type: text/urc-0\r\n\r\n"
	half := "=====\r\nhttps://example.com/one\r\n=====\r\n<URL:https://example.com/tw"
	for _, answer := range []string{head + half, half, head + half + "\r\no\r\n"} {
		port := listen(t, map[string]func(net.Conn){"127.0.0.1": once(answer), "127.0.0.2": once(head + half + "o>\r\n")})
		o := Options{DNS: addresses(at("127.0.0.1")), Port: port, Retries: -1}
		_, err := newClient(t, o).Resolve(t.Context(), ask(t, alb, nomen.I2Ls))
		var e *UnreachableError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "truncated") {
			t.Errorf("%q: %v", answer, err)
		}
		o.DNS = addresses(at("127.0.0.1", "127.0.0.2"))
		a, err := newClient(t, o).Resolve(t.Context(), ask(t, alb, nomen.I2Ls))
		if err != nil || len(a.Locations) != 2 || a.Locations[1].URL != "https://example.com/two" {
			t.Errorf("%q: got %+v, %v", answer, a, err)
		}
	}
	port := listen(t, map[string]func(net.Conn){"127.0.0.1": once(head + "=====\r\nhttps://example.com/one\r\n=====\r\n")})
	a, err := newClient(t, Options{DNS: addresses(at("127.0.0.1")), Port: port}).Resolve(t.Context(), ask(t, alb, nomen.I2Ls))
	if err != nil || a.Locations[0].URL != "https://example.com/one" {
		t.Errorf("got %+v, %v", a, err)
	}
}

// Y95-46: metadata in Greek.
func TestGreekResult(t *testing.T) {
	port := listen(t, map[string]func(net.Conn){"127.0.0.1": once("HTTP/1.0 200 OK\r\nContent-Type: text/urc-0\r\n\r\n" +
		"=====;charset=ISO-8859-7;language=el\r\nhttps://example.com/x\r\n\xc1\xe8\xde\xed\xe1\r\n")})
	a, err := newClient(t, Options{DNS: addresses(at("127.0.0.1")), Port: port}).Resolve(t.Context(), ask(t, alb, ""))
	if err != nil || a.Locations[0].Note != "Αθήνα" || a.Locations[0].Lang != "el" {
		t.Errorf("got %+v, %v", a, err)
	}
}

// A response is abandoned as soon as it exceeds the limit.
func TestHugeAnswer(t *testing.T) {
	const size, piece = 200 << 20, 1 << 20
	for _, form := range []string{"1995", "web"} {
		var sent atomic.Int64
		port := listen(t, map[string]func(net.Conn){"127.0.0.1": func(conn net.Conn) {
			defer conn.Close()
			if _, err := readRequest(conn, ""); err != nil {
				return
			}
			io.WriteString(conn, "HTTP/1.0 200 OK\r\nContent-Type: text/urc-0\r\n\r\n=====\r\n")
			for b := make([]byte, piece); sent.Load() < size; sent.Add(piece) {
				if _, err := conn.Write(b); err != nil {
					return
				}
			}
		}})
		o := Options{DNS: addresses(at("127.0.0.1")), Port: port}
		if form == "web" {
			o.Via = fmt.Sprintf("http://127.0.0.1:%d", port)
		}
		if _, err := newClient(t, o).Resolve(t.Context(), ask(t, alb, nomen.I2C)); !isSize("body")(err) {
			t.Errorf("%s: got %v", form, err)
		}
		if n := sent.Load(); n > size/2 {
			t.Errorf("%s: %d bytes were taken", form, n)
		}
	}
}

// A server on the Internet cannot make the client connect to a private address, in whatever
// spelling: in the name of an authority, by a redirection, or by DNS that changes its answer.
func TestGuardSpellings(t *testing.T) {
	var reached atomic.Int32
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	port := netip.MustParseAddrPort(l.Addr().String()).Port()

	literals := []string{
		"127.0.0.1", "127.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "localhost",
		"0.0.0.0", "0", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
		"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a00:1]",
		"[2002:7f00:1::]", "[fe80::1]", "[fe80::1%25lo]", "[fc00::1]", "[fd00::1]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[2001::1]",
	}
	n := newInternet(t)
	n.hosts["example.com"] = []string{"2606:2800:220:1::1"}
	// A private address in any spelling is looked up as a name, since the system understands
	// more spellings than we do.
	o := Options{DNS: lookup(func(ctx context.Context, network, host string) ([]netip.Addr, error) {
		if found, err := n.LookupNetIP(ctx, network, host); err == nil {
			return found, nil
		}
		return net.DefaultResolver.LookupNetIP(ctx, network, strings.TrimSuffix(host, "."))
	}), DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if n.serve[address] != nil {
			return n.dial(ctx, network, address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	for _, o.Guard = range []bool{false, true} {
		c := newClient(t, o)
		for _, host := range literals {
			n.serve["[2606:2800:220:1::1]:4500"] = says(moved(302, "Found", fmt.Sprintf("http://%s:%d/", host, port)))
			if a, err := c.Resolve(t.Context(), ask(t, alb, nomen.I2C)); err == nil && (len(a.Why) == 0 || !strings.Contains(a.Why[0], "could not be read")) {
				t.Errorf("%s, guard %v: got %+v", host, o.Guard, a)
			}
		}
	}
	for _, host := range literals { // as an authority that looks like a host name
		name := "urn:dns:" + strings.Trim(host, "[]") + ":x"
		q, err := Parse(name)
		if err == nil {
			_, err = newClient(t, Options{Guard: true, Port: port}).Resolve(t.Context(), q)
		}
		if err == nil {
			t.Errorf("%s is asked", name)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("the private server was asked %d times", reached.Load())
	}
}

// lookup is a [discover.DNS].
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

func (f lookup) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	return f(ctx, network, host)
}

// A name server that returns a public address first and a private one later does not succeed,
// because the address checked is the one connected to.
func TestGuardRebinding(t *testing.T) {
	n := newInternet(t)
	n.serve["[2606:2800:220:1::1]:4500"] = says(moved(301, "urn:dns:example.com:again", ""))
	n.serve["10.0.0.1:4500"] = says(urc("https://private.example/"))
	n.serve["[::ffff:10.0.0.1]:4500"] = n.serve["10.0.0.1:4500"]
	for _, second := range []string{"10.0.0.1", "::ffff:10.0.0.1"} {
		for _, guarded := range []bool{false, true} {
			asked := 0
			dns := lookup(func(context.Context, string, string) ([]netip.Addr, error) {
				if asked++; asked == 1 {
					return at("2606:2800:220:1::1"), nil
				}
				return at(second), nil
			})
			c := newClient(t, Options{DNS: dns, DialContext: n.dial, Guard: guarded})
			a, err := c.Resolve(t.Context(), ask(t, alb, ""))
			var e *guard.AddressError
			if !errors.As(err, &e) || asked != 2 {
				t.Errorf("%s: got %+v, %v after %d look-ups", second, a, err, asked)
			}
		}
	}
}
