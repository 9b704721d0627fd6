package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/internal/guard"
)

// A fakeDNS has the addresses of hosts. For a host in rebind, it returns another address from the
// second question on.
type fakeDNS struct {
	hosts  map[string]string
	rebind map[string]string
	asked  atomic.Int32
}

func (d *fakeDNS) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	host = strings.TrimSuffix(host, ".")
	text := d.hosts[host]
	if again := d.rebind[host]; d.asked.Add(1) > 1 && again != "" {
		text = again
	}
	if text == "" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var all []netip.Addr
	for s := range strings.SplitSeq(text, " ") {
		all = append(all, netip.MustParseAddr(s))
	}
	return all, nil
}

// A dialed records the addresses to which connections should be made, and connects to one server
// instead.
type dialed struct {
	to   string
	mu   sync.Mutex
	made []string
}

func (d *dialed) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	d.made = append(d.made, address)
	d.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, d.to)
}

const publicAddress = "192.0.43.7"

// proxied returns the address of a proxy, and the connections that the proxy makes. All of these
// lead to the given server.
func proxied(t testing.TB, o ForwardOptions, server http.HandlerFunc) (string, *dialed) {
	t.Helper()
	far := httptest.NewServer(server)
	t.Cleanup(far.Close)
	d := &dialed{to: far.Listener.Addr().String()}
	if o.Access == nil {
		o.Access = mustDoor(t, Access{Policy: All, Burst: 1000})
	}
	if o.DNS == nil {
		o.DNS = &fakeDNS{hosts: map[string]string{"there.example": publicAddress}}
	}
	if o.DialContext == nil {
		o.DialContext = d.dial
	}
	f := NewForward(o)
	t.Cleanup(func() { f.Close() })
	near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := netip.MustParseAddrPort(r.RemoteAddr).Addr()
		f.ServeHTTP(w, r.WithContext(WithClient(r.Context(), &Client{Addr: from})))
	}))
	t.Cleanup(near.Close)
	return near.Listener.Addr().String(), d
}

// exchange sends bytes and returns everything that it receives.
func exchange(t testing.TB, address, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, net.ErrClosed) && len(b) == 0 {
		t.Fatalf("after %q: %v", b, err)
	}
	return string(b)
}

func get(target string, fields ...string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n" + strings.Join(append(fields, ""), "\r\n") + "\r\n"
}

// Requests as curl -x sends them.
func TestForward(t *testing.T) { // Y95-63; RFC 9110, 7.6
	var seen *http.Request
	var body string
	at, d := proxied(t, ForwardOptions{}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		seen, body = r, string(b)
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.Header().Set("Keep-Alive", "timeout=5")
		w.Header().Set("Location", "http://10.0.0.1/")
		w.WriteHeader(http.StatusFound)
		io.WriteString(w, "far away")
	})
	got := exchange(t, at, "POST http://there.example/a%2Fb?x=1;y=2&z HTTP/1.1\r\nHost: other.example\r\nContent-Length: 4\r\n"+
		"Connection: close, X-Mine\r\nX-Mine: 1\r\nProxy-Connection: Keep-Alive\r\nProxy-Authorization: Basic eDp5\r\nKeep-Alive: 300\r\nTE: trailers\r\n"+
		"Upgrade: websocket\r\nX-Forwarded-For: 192.0.2.9\r\nForwarded: for=192.0.2.9\r\nVia: 1.0 fred\r\nX-End: stays\r\n\r\nbody")
	head, rest, _ := strings.Cut(got, "\r\n\r\n")
	if !strings.HasPrefix(head, "HTTP/1.1 302 Found\r\n") || !strings.Contains(head, "\r\nVia: 1.1 nomen-") || !strings.Contains(head, "\r\nLocation: http://10.0.0.1/") ||
		strings.Contains(head, "Proxy-Authenticate") || strings.Contains(head, "Keep-Alive") || rest != "far away" {
		t.Errorf("got %q", got)
	}
	if seen == nil {
		t.Fatal("nothing came there")
	}
	if seen.Host != "there.example" || seen.RequestURI != "/a%2Fb?x=1;y=2&z" || body != "body" || seen.Header.Get("X-End") != "stays" {
		t.Errorf("there came %s of %s with %q", seen.RequestURI, seen.Host, body)
	}
	for _, f := range []string{"X-Mine", "Proxy-Connection", "Proxy-Authorization", "Keep-Alive", "Upgrade", "X-Forwarded-For", "Forwarded"} {
		if v := seen.Header.Get(f); v != "" {
			t.Errorf("there came %s: %s", f, v)
		}
	}
	if via := strings.Join(seen.Header["Via"], ", "); !strings.HasPrefix(via, "1.0 fred, 1.1 nomen-") {
		t.Errorf("Via: %s", via)
	}
	if !slices.Equal(d.made, []string{publicAddress + ":80"}) {
		t.Errorf("connections to %q", d.made)
	}
}

func TestForwardRefuses(t *testing.T) {
	at, d := proxied(t, ForwardOptions{}, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "far away") })
	for _, tt := range []struct {
		name, request, want string
	}{
		{"another scheme", get("ftp://there.example/"), "400"},
		{"no host", get("/path"), "400"},
		{"a password", get("http://me:secret@there.example/"), "400"},
		{"mail", get("http://there.example:25/"), "403"},
		{"ssh", get("http://there.example:22/"), "403"},
		{"an unknown host", get("http://nowhere.example/"), "502"},
		{"TRACE", "TRACE http://there.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "405"},
		{"CONNECT", "CONNECT there.example:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "403"},
		{"sixteen proxies and an unknown host", get("http://nowhere.example/", "Via: "+strings.Repeat("1.1 x, ", 15)+"1.1 x"), "502"},
		{"many proxies", get("http://there.example/", "Via: "+strings.Repeat("1.1 x, ", 17)), "508"},
		{"a large body", "PUT http://there.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n", "413"},
		{"OPTIONS for us", "OPTIONS http://there.example/ HTTP/1.1\r\nHost: x\r\nMax-Forwards: 0\r\nConnection: close\r\n\r\n", "204"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := exchange(t, at, tt.request)
			if !strings.HasPrefix(got, "HTTP/1.1 "+tt.want+" ") {
				t.Errorf("got %q, want %s", got, tt.want)
			}
			if tt.want != "204" && !strings.Contains(got, "\r\nContent-Type: text/plain; charset=utf-8\r\n") {
				t.Errorf("got %q, want it in text/plain", got)
			}
			head, _, _ := strings.Cut(got, "\r\n\r\n")
			for _, line := range strings.Split(head, "\r\n")[1:] {
				field, _, _ := strings.Cut(line, ":")
				if !slices.Contains([]string{"Allow", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Date", "Proxy-Status", "X-Content-Type-Options"}, field) {
					t.Errorf("got the field %q", line)
				}
			}
		})
	}
	if len(d.made) != 0 {
		t.Errorf("connections to %q", d.made)
	}
	if got := exchange(t, at, get("http://there.example:8080/")); !strings.HasSuffix(got, "far away") {
		t.Errorf("a good one: %q", got)
	}
}

// The proxy never connects to a private network, whatever the spelling of the address and the
// answer of DNS.
func TestForwardGuard(t *testing.T) {
	private := []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1",
		"224.0.0.1", "255.255.255.255", "[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::127.0.0.1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001:db8::1]", "[ff02::1]",
	}
	dns := &fakeDNS{hosts: map[string]string{
		"inside.example": "10.0.0.1", "mapped.example": "::ffff:127.0.0.1", "both.example": "127.0.0.1 " + publicAddress,
		"0x7f000001": "127.0.0.1", "2130706433": "127.0.0.1", "0177.0.0.1": "127.0.0.1", "127.1": "127.0.0.1", "localhost": "127.0.0.1 ::1",
	}}
	at, d := proxied(t, ForwardOptions{DNS: dns, Connect: []uint16{443}}, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "far away") })
	names := []string{"inside.example", "mapped.example", "localhost", "0x7f000001", "2130706433", "0177.0.0.1", "127.1"}
	for _, host := range slices.Concat(private, names) {
		if got := exchange(t, at, get("http://"+host+"/latest/meta-data")); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
			t.Errorf("%s: got %q", host, got)
		}
		if got := exchange(t, at, "CONNECT "+host+":443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
			t.Errorf("CONNECT %s: got %q", host, got)
		}
	}
	if len(d.made) != 0 {
		t.Errorf("connections to %q", d.made)
	}
	// If a host has public and private addresses, the proxy connects only to the public one.
	if got := exchange(t, at, get("http://both.example/")); !strings.HasSuffix(got, "far away") || !slices.Equal(d.made, []string{publicAddress + ":80"}) {
		t.Errorf("got %q by %q", got, d.made)
	}
}

// The proxy looks up a host once for each connection, and connects to the address that it has
// checked, even if DNS changes meanwhile.
func TestForwardRebinding(t *testing.T) {
	dns := &fakeDNS{hosts: map[string]string{"turn.example": publicAddress}, rebind: map[string]string{"turn.example": "127.0.0.1"}}
	at, d := proxied(t, ForwardOptions{DNS: dns}, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "far away") })
	if got := exchange(t, at, get("http://turn.example/")); !strings.HasSuffix(got, "far away") || dns.asked.Load() != 1 {
		t.Errorf("got %q after %d questions", got, dns.asked.Load())
	}
	for range 3 {
		if got := exchange(t, at, get("http://turn.example/")); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
			t.Errorf("got %q", got)
		}
	}
	if !slices.Equal(d.made, []string{publicAddress + ":80"}) {
		t.Errorf("connections to %q", d.made)
	}
}

// By default, the proxy connects only to public addresses, and with the dialer of package net.
func TestForwardDefaults(t *testing.T) {
	f := NewForward(ForwardOptions{})
	defer f.Close()
	_, err := f.dial(t.Context(), "tcp", "127.0.0.1:80")
	var e *guard.AddressError
	if !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
	if f.Admits(&Client{Addr: ownUser}, http.MethodGet) || (*Forward)(nil).Admits(&Client{Addr: ownUser}, http.MethodGet) {
		t.Error("the zero value admits a client")
	}
	f = NewForward(ForwardOptions{Access: mustDoor(t, Access{Policy: All})})
	if !f.Admits(&Client{Addr: stranger}, http.MethodGet) || f.Admits(&Client{Addr: stranger}, http.MethodConnect) {
		t.Error("GET has to be passed on, CONNECT not")
	}
}

// If a request leads the proxy to itself, the proxy rejects it.
func TestForwardLoop(t *testing.T) {
	var f *Forward
	requests := 0
	near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.URL.Host == "" { // as it comes from a proxy
			r.URL.Scheme, r.URL.Host = "http", r.Host
		}
		f.ServeHTTP(w, r)
	}))
	defer near.Close()
	d := &dialed{to: near.Listener.Addr().String()}
	f = NewForward(ForwardOptions{
		Access: mustDoor(t, Access{Policy: All}), DialContext: d.dial,
		DNS: &fakeDNS{hosts: map[string]string{"there.example": publicAddress}},
	})
	defer f.Close()
	if got := exchange(t, near.Listener.Addr().String(), get("http://there.example/")); !strings.HasPrefix(got, "HTTP/1.1 508 ") || requests != 2 {
		t.Errorf("got %q after %d requests", got, requests)
	}
}

func TestForwardLimits(t *testing.T) {
	release := make(chan struct{})
	server := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			w.Header().Set("Content-Length", "5000")
			io.WriteString(w, strings.Repeat("x", 5000))
		case "/endless":
			for range 100 {
				io.WriteString(w, strings.Repeat("x", 100))
				w.(http.Flusher).Flush()
			}
		case "/slow":
			<-release
		case "/upload":
			io.Copy(io.Discard, r.Body)
		default:
			io.WriteString(w, "far away")
		}
	}
	at, _ := proxied(t, ForwardOptions{MaxResponse: 1000, MaxRequest: 100}, server)
	hasty, _ := proxied(t, ForwardOptions{Timeout: 200 * time.Millisecond}, server)
	defer close(release)
	if got := exchange(t, at, get("http://there.example/long")); !strings.HasPrefix(got, "HTTP/1.1 502 ") || strings.Contains(got, "xxx") {
		t.Errorf("long: got %q", got)
	}
	if got := exchange(t, at, get("http://there.example/endless")); !strings.HasPrefix(got, "HTTP/1.1 200 ") || strings.Count(got, "x") > 1100 || strings.HasSuffix(got, "0\r\n\r\n") {
		t.Errorf("endless: got %q", got)
	}
	if got := exchange(t, hasty, get("http://there.example/slow")); !strings.HasPrefix(got, "HTTP/1.1 504 ") {
		t.Errorf("slow: got %q", got)
	}
	chunked := "POST http://there.example/upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"c8\r\n" + strings.Repeat("x", 200) + "\r\n0\r\n\r\n"
	if got := exchange(t, at, chunked); strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("upload: got %q", got)
	}

	at, _ = proxied(t, ForwardOptions{Access: mustDoor(t, Access{Policy: All, Rate: 0.001, Burst: 1})}, server)
	exchange(t, at, get("http://there.example/"))
	if got := exchange(t, at, get("http://there.example/")); !strings.HasPrefix(got, "HTTP/1.1 429 ") || !strings.Contains(got, "\r\nRetry-After: 1000\r\n") {
		t.Errorf("got %q", got)
	}
	at, _ = proxied(t, ForwardOptions{Access: mustDoor(t, Access{Policy: Own, Own: prefixes("192.0.2.0/24")})}, server)
	if got := exchange(t, at, get("http://there.example/")); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
		t.Errorf("got %q", got)
	}
}

// The time limit for connecting is for all addresses of a host together.
func TestDialTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewForward(ForwardOptions{
			Timeout: time.Minute, DNS: &fakeDNS{hosts: map[string]string{"there.example": "192.0.43.7 192.0.43.8"}},
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		begin := time.Now()
		if _, err := f.dial(context.Background(), "tcp", "there.example:80"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
	})
}

// A tunnel with data in only one direction does not count as silent.
func TestTunnelOfOneSpeaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewForward(ForwardOptions{Idle: time.Minute, Whole: time.Hour})
		client, near := net.Pipe()
		far, server := net.Pipe()
		passed := make(chan struct{})
		go func() {
			defer close(passed)
			f.pass(near, near, far)
		}()
		go func() {
			for range 5 {
				time.Sleep(50 * time.Second)
				io.WriteString(server, "x")
			}
		}()
		begin := time.Now()
		b, err := io.ReadAll(client)
		if string(b) != "xxxxx" || err != nil || time.Since(begin) != 250*time.Second+time.Minute {
			t.Errorf("got %q, %v after %s", b, err, time.Since(begin))
		}
		<-passed
		client.Close()
		server.Close()
	})
}

func TestTunnel(t *testing.T) { // RFC 9110, 9.3.6
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	go func() {
		for {
			c, err := far.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				line, _ := bufio.NewReader(c).ReadString('\n')
				fmt.Fprintf(c, "you said %s", line)
			}()
		}
	}()
	d := &dialed{to: far.Addr().String()}
	at, _ := proxied(t, ForwardOptions{Connect: []uint16{443}, DialContext: d.dial}, nil)
	hasty, _ := proxied(t, ForwardOptions{Connect: []uint16{443}, DialContext: d.dial, Idle: time.Second}, nil)
	const connect = "CONNECT there.example:443 HTTP/1.1\r\nHost: there.example:443\r\n\r\n"
	want := "HTTP/1.1 200 Connection established\r\n\r\nyou said hello\n"
	if got := exchange(t, at, connect+"hello\n"); got != want { // data that the client sends before the response is not lost
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Equal(d.made, []string{publicAddress + ":443"}) {
		t.Errorf("connections to %q", d.made)
	}
	for _, target := range []string{"there.example:25", "there.example:8443", "there.example", "there.example:x"} {
		got := exchange(t, at, "CONNECT "+target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 40") {
			t.Errorf("%s: got %q", target, got)
		}
	}
	if len(d.made) != 1 {
		t.Errorf("connections to %q", d.made)
	}
	begin := time.Now() // a silent tunnel is closed
	if got := exchange(t, hasty, connect); !strings.HasPrefix(got, "HTTP/1.1 200 ") || time.Since(begin) > 30*time.Second {
		t.Errorf("got %q after %s", got, time.Since(begin))
	}
}

// An address that does not answer does not delay the next addresses, and the attempt to connect to
// it ends.
func TestForwardTriesAddressesByTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hangs = "192.0.43.8:80"
		f := NewForward(ForwardOptions{
			DNS: &fakeDNS{hosts: map[string]string{"there.example": "10.0.0.1 192.0.43.8 " + publicAddress}},
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				if address == hangs {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				ours, theirs := net.Pipe()
				theirs.Close()
				return ours, nil
			},
		})
		defer f.Close()
		begin := time.Now()
		c, err := f.dial(t.Context(), "tcp", "there.example:80")
		if err != nil || time.Since(begin) > time.Second {
			t.Fatalf("after %v: %v", time.Since(begin), err)
		}
		c.Close()
	})
}
