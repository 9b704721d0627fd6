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
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/site"
	"github.com/nomen-project/nomen/store"
)

// oneWay finds one resolver.
func oneWay(context.Context, name.Name) iter.Seq2[gateway.Fact, error] {
	return func(yield func(gateway.Fact, error) bool) {
		yield(gateway.Fact{Name: "authority there.example:4500", Value: "<the host> in the name"}, nil)
	}
}

// everywhere is a DNS in which all hosts have the same address.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.43.7")}, nil
}

const asBrowser = "Accept: text/html\r\n"

func TestGatewayPages(t *testing.T) {
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.Own, Own: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	asking, s := newTestServer(t, func(o *Options) { o.Hosts = []string{"names.example"} })
	asking.explainer = &gateway.Explainer{Authorities: store.NewTable(s, time.Now, time.Hour), Ways: oneWay, Access: door}
	plain, _ := newTestServer(t, nil)
	to := map[bool]*Listening{true: listen(t, asking), false: listen(t, plain)}
	for _, tt := range []struct {
		name, target, fields string
		asks                 bool // whether the server asks other servers
		status, location     string
		want, not            string // in the body
	}{
		{"the home page explains", "/", asBrowser, false, "200", "", `<form action="/" method="get" role="search">`, ""},
		{"and redirects directly", "/", asBrowser, false, "200", "", `<button class="plain" formaction="/-/resolve">`, ""},
		{"and registers itself", "/", asBrowser, false, "200", "", `navigator.registerProtocolHandler("web+urn", document.forms[0].action + "-/handler?uri=%s")`, ""},

		{"a name here", "/?name=urn%3Aietf%3Arfc%3A2648", asBrowser, false, "200", "", `<a id="lead" class="button" rel="noreferrer" href="/urn:ietf:rfc:2648">`, ""},
		{"elsewhere", "/?name=gopher%3A%2F%2Fexample.org%2F1", asBrowser, false, "200", "", `external" href="gopher://example.org/1">`, "ZgotmplZ"},
		{"its canonical name", "/?name=%3CURN%3AIETF%3Arfc%3A+2648%3E", asBrowser, false, "200", "", `<code>urn:ietf:rfc:2648</code>`, ""},
		{"its authority", "/?name=urn:ietf:rfc:2648", asBrowser, false, "200", "", `naming authority <code>urn:ietf:rfc</code>`, ""},
		{"for programs", "/?name=urn:ietf:rfc:2648", "Accept: text/plain\r\n", false, "200", "", "path here          /urn:ietf:rfc:2648\r\n", "<"},
		{"a foreign name", "/?name=urn:isbn:0451450523", asBrowser, false, "200", "", "This name is not registered here", `id="lead"`},
		{"a foreign name, if others are asked", "/?name=urn:isbn:0451450523", asBrowser, true, "200", "", `<code>authority there.example:4500</code> <small lang="en">&lt;the host&gt; in the name</small>`, "<the host>"},
		{"a URL", "/?name=https://there.example/%22%3E%3Cscript%3E", asBrowser, false, "200", "", "This is neither a name nor a URI", "<script>"},
		{"a good URL", "/?name=https://there.example/%3Fa%3D1%26b", asBrowser, false, "200", "", `<a id="elsewhere" rel="noreferrer noopener nofollow external" href="https://there.example/?a=1&amp;b">`, ""},
		{"a script", "/?name=javascript:alert(1)", asBrowser, false, "200", "", "This page cannot link to it safely", `href="javascript`},
		{"no name", "/?name=urn:isbn:", asBrowser, false, "200", "", "This is neither a name nor a URI", `id="lead"`},
		{"nothing", "/?name=", asBrowser, false, "200", "", "This is neither a name nor a URI", ""},
		{"a mistake", "/?name=ISBN+0-451-45052-3", asBrowser, false, "200", "", "Did you mean", ""},

		{"a handler's name", "/-/handler?uri=web%2Burn%3Aietf%3Arfc%3A2648", asBrowser, false, "303", "/urn:ietf:rfc:2648", "", ""},
		{"with a query", "/-/handler?uri=web%2Burn%3Aietf%3Arfc%3A2648%3Fs%3DI2C", asBrowser, false, "303", "/urn:ietf:rfc:2648?s=I2C", "", ""},
		{"with a fragment", "/?name=urn:ietf:rfc:2648%3Fs%3DI2L%23top", asBrowser, false, "200", "", `href="/urn:ietf:rfc:2648?s=I2L#top"`, ""},
		{"its description", "/?name=urn:ietf:rfc:2648%3Fs%3DI2L%23top", asBrowser, false, "200", "", `href="/urn:ietf:rfc:2648?s=I2C"`, ""},
		{"odd octets", "/-/handler?uri=urn:ietf:rfc:2648%3F%00%C3%BC%22", asBrowser, false, "303", "/urn:ietf:rfc:2648?%00%C3%BC%22", "", ""},
		{"a handler's foreign name", "/-/handler?uri=web%2Burn%3Aisbn%3A0451450523", asBrowser, false, "200", "", "This name is not registered here", ""},
		{"the same, if others are asked", "/-/handler?uri=web%2Burn%3Aisbn%3A0451450523", asBrowser, true, "303", "/urn:isbn:0451450523", "", ""},
		{"a handler's URL is shown", "/-/handler?uri=https%3A%2F%2Fevil.example%2F", asBrowser, true, "200", "", `rel="noreferrer noopener nofollow external" href="https://evil.example/"`, ""},
		{"no foreign host", "/-/handler?uri=%2F%2Fevil.example%2F", asBrowser, true, "200", "", "This is neither a name", ""},
		{"no injected line", "/-/handler?uri=urn%3Aietf%3Arfc%3A2648%0D%0ASet-Cookie%3A+a", asBrowser, false, "303", "/urn:ietf:rfc:2648Set-Cookie:a", "", ""},
		{"no script", "/-/handler?uri=javascript%3Aalert(1)", asBrowser, true, "200", "", "This page cannot link to it", ""},
		{"an http name of an authority here", "/-/handler?uri=https%3A%2F%2Fpurl.example%2Fnet%2Fx", asBrowser, false, "303", "/https://purl.example/net/x", "", ""},
		{"nothing at all", "/-/handler", asBrowser, false, "200", "", "This is neither a name", ""},

		{"proxy auto-config", "/-/proxy.pac", "", false, "200", "", `"example.org":1`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := exchange(t, to[tt.asks].Public, "GET "+tt.target+" HTTP/1.1\r\nHost: names.example\r\nConnection: close\r\n"+tt.fields+"\r\n")
			status, fields, body := cutAnswer(got)
			if !strings.HasPrefix(status, "HTTP/1.1 "+tt.status+" ") || fieldOf(fields, "Location") != tt.location || !strings.Contains(body, tt.want) || tt.not != "" && strings.Contains(body, tt.not) {
				t.Errorf("got\n%s", got)
			}
			if fieldOf(fields, "Set-Cookie") != "" {
				t.Errorf("an injected field: %q", fields)
			}
		})
	}
}

func TestProxyConfig(t *testing.T) {
	for _, tt := range []struct{ public, host, want, vary string }{
		{"", "names.example:4500", `"PROXY names.example:4500"`, "Host"},
		{"", "names.example", `"PROXY names.example:80"`, "Host"},
		{"https://names.example", "other.example", `"HTTPS names.example:443"`, ""},
	} {
		srv, _ := newTestServer(t, func(o *Options) { o.PublicURL = tt.public })
		_, fields, body := cutAnswer(exchange(t, listen(t, srv).Public, "GET /-/proxy.pac HTTP/1.1\r\nHost: "+tt.host+"\r\nConnection: close\r\n\r\n"))
		if fieldOf(fields, "Content-Type") != "application/x-ns-proxy-autoconfig" || !strings.Contains(body, tt.want) || !strings.Contains(fieldOf(fields, "Vary"), tt.vary) ||
			!strings.Contains(body, `"other.example":1`) && tt.public == "" {
			t.Errorf("%s %s: got %q\n%s", tt.public, tt.host, fields, body)
		}
	}
}

// A tunnel is counted with the status sent to the client.
func TestTunnelIsLogged(t *testing.T) {
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All})
	if err != nil {
		t.Fatal(err)
	}
	forward := gateway.NewForward(gateway.ForwardOptions{
		Access: door, Connect: []uint16{443},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			return near, far.Close()
		},
	})
	defer forward.Close()
	log, lines := logged()
	s, _ := newTestServer(t, func(o *Options) { o.Forward, o.AccessLog = forward, log })
	l := listen(t, s)
	if got := exchange(t, l.Public, "CONNECT 192.0.43.7:443 HTTP/1.1\r\nHost: there.example\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Fatalf("got %q", got)
	}
	exchange(t, l.Public, "CONNECT 192.0.43.7:25 HTTP/1.1\r\nHost: there.example\r\nConnection: close\r\n\r\n")
	for end := time.Now().Add(time.Minute); !strings.Contains(lines.String(), " status=200 ") && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // the client closes before the metrics are updated
	}
	metrics := shownMetrics(s)
	for _, status := range []string{"200", "403"} {
		if !strings.Contains(lines.String(), " status="+status+" ") || !strings.Contains(metrics, `nomen_requests_total{form="other",status="`+status+`"} 1`) {
			t.Errorf("no %s: %s", status, lines.String())
		}
	}
}

// Another port of one of our hosts is another server, to which a proxy forwards.
func TestOtherPort(t *testing.T) {
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All})
	if err != nil {
		t.Fatal(err)
	}
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "there: "+r.Host+r.URL.Path) }))
	defer there.Close()
	_, port, _ := net.SplitHostPort(there.Listener.Addr().String())
	forward := gateway.NewForward(gateway.ForwardOptions{
		Access: door, DNS: everywhere{}, Reach: func(netip.Addr) error { return nil },
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, there.Listener.Addr().String())
		},
	})
	defer forward.Close()
	s, _ := newTestServer(t, func(o *Options) { o.Forward, o.PublicURL = forward, "http://names.example:8080" })
	l := listen(t, s)
	_, own, _ := net.SplitHostPort(l.Public.String())
	for _, tt := range []struct {
		host  string
		there bool
	}{
		{"127.0.0.1:" + port, true},
		{"127.0.0.1:" + own, false},
		{"127.0.0.1", false},
		{"127.0.0.1:", false},
		{"127.0.0.1:80", false},
		{"127.0.0.1:4500", true}, // without an authority
		{"[::1]", false},
		{"[::1]:" + port, true},
		{"localhost:0" + own, false},
		{"localhost:" + port, true},
		{"names.example:8080", false},
		{"names.example:8081", true},
		{"example.org", false},
		{"example.org:4500", false},
		{"example.org:" + port, true},
	} {
		got := exchange(t, l.Public, "GET http://"+tt.host+"/ HTTP/1.1\r\nHost: "+tt.host+"\r\nConnection: close\r\n\r\n")
		if passed := strings.Contains(got, "there: "+tt.host+"/"); !strings.HasPrefix(got, "HTTP/1.1 200 ") || passed != tt.there {
			t.Errorf("%s: %q", tt.host, got)
		}
	}
}

// Y95-55, Y95-63: a proxy forwards requests for another host to its resolver, including
// reserved requests; requests for authorities here are answered by this server; without
// the proxy, the others are rejected.
func TestProxiedReservedRequest(t *testing.T) {
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All})
	if err != nil {
		t.Fatal(err)
	}
	far, there := newTestServer(t, nil)
	authority := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:far.example"), Description: "The far archive", Owners: []string{"a", "b"}}
	if _, err := there.Apply(t.Context(), []store.Change{{Authority: authority, Time: testNow}}); err != nil {
		t.Fatal(err)
	}
	at := listen(t, far).Public.String()
	forward := gateway.NewForward(gateway.ForwardOptions{
		Access: door, DNS: everywhere{}, Reach: func(netip.Addr) error { return nil },
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, at)
		},
	})
	defer forward.Close()
	passing, _ := newTestServer(t, func(o *Options) { o.Forward = forward })
	closed, _ := newTestServer(t, nil)
	own := "This is the resolver of the naming authority urn:dns:example.org."
	for _, tt := range []struct {
		s            *Server
		target, host string
		found        bool
		want         string
	}{
		{passing, "http://far.example:4500/urn+m", "far.example:4500", true, "The far archive"},
		{passing, "http://far.example:4500/urn:dns:far.example:urn+m", "far.example:4500", true, "The far archive"},
		{passing, "http://example.org:4500/urn+m", "example.org:4500", true, own},
		{passing, "http://localhost/urn:dns:example.org:urn+m", "localhost", true, own},
		{closed, "http://far.example:4500/urn+m", "far.example:4500", false, ""},
		{closed, "http://example.org:4500/urn+m", "example.org:4500", true, own},
	} {
		got := exchange(t, listen(t, tt.s).Public, "GET "+tt.target+" HTTP/1.1\r\nHost: "+tt.host+"\r\nConnection: close\r\nAccept: text/plain\r\n\r\n")
		if found := strings.HasPrefix(got, "HTTP/1.1 200 "); found != tt.found || !strings.Contains(got, tt.want) || strings.Contains(got, "far archive") != strings.Contains(tt.want, "far archive") {
			t.Errorf("%s: got\n%s\nwant %q", tt.target, got, tt.want)
		}
	}
}

// The Content-Security-Policy allows exactly the scripts on the pages.
func TestHomePolicy(t *testing.T) {
	srv, _ := newTestServer(t, nil)
	l := listen(t, srv)
	for _, target := range []string{"/", "/?name=urn:a23:b"} {
		_, fields, body := cutAnswer(exchange(t, l.Public, "GET "+target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+asBrowser+"\r\n"))
		policy := fieldOf(fields, "Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", target, policy)
		}
		for _, element := range []string{"script", "style"} {
			_, rest, ok := strings.Cut(body, "<"+element+">")
			text, _, _ := strings.Cut(rest, "</"+element+">")
			if ok && !strings.Contains(policy, element+"-src "+site.Digest(text)) {
				t.Errorf("%s: a %s that the policy %s forbids:\n%s", target, element, policy, text)
			}
		}
	}
}

// Names that may need other servers are not answered by the shortcut, which does not
// detect that a client is gone.
func TestForeignIsNotAtHand(t *testing.T) {
	for _, policy := range []gateway.Policy{gateway.Off, gateway.All} {
		door, err := gateway.NewAccessControl(gateway.Access{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := newTestServer(t, func(o *Options) { o.Explainer = &gateway.Explainer{Access: door} })
		for target, want := range map[string]bool{"/urn:ietf:rfc:2648": true, "/urn:isbn:0451450523": policy == gateway.Off} {
			c := &shortcut{server: s, ctx: store.Staleness{Context: t.Context()}}
			if _, ok := c.answer(nil, wire.Plain{Method: "GET", Target: target, Host: "localhost"}); ok != want {
				t.Errorf("%s: %s: got %v", policy, target, ok)
			}
		}
	}
}

// A server that never responds to a proxied request does not block other clients: each
// client has its share of the proxy, a client that closes is detected, and one that waits
// gets 504 in time. Requests for names here are answered all the while.
func TestSlowForward(t *testing.T) {
	for name, request := range map[string]string{
		"1.1":       "GET http://far.example/urn:x-far:1 HTTP/1.1\r\nHost: far.example\r\n\r\n",
		"1.0":       "GET http://far.example/urn:x-far:1 HTTP/1.0\r\n\r\n",
		"pipelined": "GET http://far.example/urn:x-far:1 HTTP/1.1\r\nHost: far.example\r\n\r\nGET / HTTP/1.1\r\nHost: far.example\r\n\r\n",
		"a body":    "POST http://far.example/urn:x-far:1 HTTP/1.1\r\nHost: far.example\r\nContent-Length: 9\r\n\r\nx",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // waits for the timeout
			testSlowForward(t, request)
		})
	}
}

func testSlowForward(t *testing.T, request string) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var open, ever atomic.Int64
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			open.Add(1)
			ever.Add(1)
			go func() {
				io.Copy(io.Discard, c)
				c.Close()
				open.Add(-1)
			}()
		}
	}()
	const total, timeout = 64, 10 * time.Second
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All, Total: total, Rate: 1000, Burst: 1000})
	if err != nil {
		t.Fatal(err)
	}
	forward := gateway.NewForward(gateway.ForwardOptions{
		Access: door, DNS: everywhere{}, Reach: func(netip.Addr) error { return nil }, Timeout: timeout,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, silent.Addr().String())
		},
	})
	defer forward.Close()
	s, _ := newTestServer(t, func(o *Options) { o.Forward = forward })
	l := listen(t, s)
	send := func(from, request string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", l.Public.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		io.WriteString(c, request)
		return c
	}
	const requests = 100
	var all []net.Conn
	answers := make(chan error, requests)
	for range requests {
		c := send("127.0.0.2", request)
		all = append(all, c)
		go func() {
			_, err := c.Read(make([]byte, 1))
			answers <- err
		}()
	}
	for range requests - total/4 { // the others are forwarded, and not answered
		if err := <-answers; err != nil {
			t.Fatal(err)
		}
	}
	for until := time.Now().Add(time.Minute); ever.Load() < total/4 && time.Now().Before(until); {
		time.Sleep(5 * time.Millisecond)
	}
	if n := open.Load(); n > total/4 {
		t.Errorf("one client has %d requests under way, want %d", n, total/4)
	}
	began := time.Now()
	other := send("127.0.0.3", "GET http://far.example/urn:x-far:2 HTTP/1.1\r\nHost: far.example\r\nConnection: close\r\n\r\n")
	own := send("127.0.0.3", "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if b, err := io.ReadAll(own); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 303 ") || time.Since(began) > timeout/2 {
		t.Errorf("a name here: %v after %v: %s", err, time.Since(began), b)
	}
	for _, c := range all {
		c.Close()
	}
	if b, err := io.ReadAll(other); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 504 ") || time.Since(began) > 2*timeout {
		t.Errorf("another client of the proxy: %v after %v: %s", err, time.Since(began), b)
	}
	for until := time.Now().Add(time.Minute); open.Load() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d requests are still under way, of clients that have left", open.Load())
		}
	}
}
