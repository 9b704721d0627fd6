package gateway_test

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/nomentest"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// loopback is a DNS in which every host has the address 127.0.0.1.
type loopback struct{}

func (loopback) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// fill returns a store with these records and authorities.
func fill(t testing.TB, records []*store.Record, authorities []*store.Authority) *memstore.Store {
	t.Helper()
	s := memstore.New()
	t.Cleanup(func() { s.Close() })
	var changes []store.Change
	for _, a := range authorities {
		changes = append(changes, store.Change{Authority: a, Time: time.Unix(1e9, 0)})
	}
	for _, r := range records {
		changes = append(changes, store.Change{Record: r, Time: time.Unix(1e9, 0)})
	}
	if len(changes) > 0 {
		if _, err := s.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// serve serves a store on loopback. The function change can change the options of the server.
func serve(t testing.TB, s store.Store, change func(*server.Options)) netip.AddrPort {
	t.Helper()
	o := server.Options{Resolver: resolve.New(s, resolve.Options{}), Store: s, Hosts: []string{"near.example"}}
	if change != nil {
		change(&o)
	}
	srv, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.Listen(server.Listener{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		l.Shutdown(ctx)
	})
	return netip.MustParseAddrPort(l.Public.String())
}

func ask(t testing.TB, o client.Options) *client.Client {
	t.Helper()
	o.DNS = loopback{}
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// world returns a function that puts a ForeignResolver before the resolver of a server. The
// ForeignResolver asks other servers through a client with the options other.
func world(t testing.TB, s store.Store, a gateway.Access, other client.Options) func(*server.Options) {
	return func(o *server.Options) {
		access, err := gateway.NewAccessControl(a)
		if err != nil {
			t.Fatal(err)
		}
		o.Authorities = store.NewTable(s, time.Now, time.Second)
		w, err := gateway.NewForeignResolver(gateway.ForeignOptions{Inner: o.Resolver, Authorities: o.Authorities, Other: ask(t, other), Access: access})
		if err != nil {
			t.Fatal(err)
		}
		o.Resolver, o.Explainer = w, &gateway.Explainer{Authorities: o.Authorities, Access: access, Ways: nowhere}
	}
}

// nowhere finds no resolver.
func nowhere(context.Context, name.Name) iter.Seq2[gateway.Fact, error] {
	return func(func(gateway.Fact, error) bool) {}
}

func own(prefix string) gateway.Access {
	return gateway.Access{Policy: gateway.Own, Own: []netip.Prefix{netip.MustParsePrefix(prefix)}}
}

// Through a ForeignResolver, names that are served here pass the test suite of resolvers.
func TestInnerConformance(t *testing.T) {
	nomentest.Run(t, func(t *testing.T, records []*store.Record, authorities []*store.Authority) nomen.Resolver {
		s := fill(t, records, authorities)
		access, err := gateway.NewAccessControl(gateway.Access{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := gateway.NewForeignResolver(gateway.ForeignOptions{
			Inner: resolve.New(s, resolve.Options{}), Authorities: store.NewTable(s, time.Now, time.Second),
			Other: resolve.New(fill(t, nil, nil), resolve.Options{}), Access: access,
		})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}, nomentest.Capabilities{Timed: true})
}

// located keeps the attributes of locations that a redirect and its links have.
func located(a *nomen.Answer) {
	if a.Service != nomen.I2L {
		return
	}
	for i, l := range a.Locations {
		a.Locations[i] = nomen.Location{URL: l.URL, Type: l.Type, Lang: l.Lang, Rel: l.Rel}
	}
}

// purls returns the records of names that are URLs. The server near the client serves them itself.
func purls(records []*store.Record) []*store.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *store.Record) bool { return r.Name.Scheme() != "https" })
}

// The test suite of resolvers, with the chain client, server with a ForeignResolver, client,
// server, engine. The names are those of the second server (Y95-62 to Y95-64).
func TestConformance(t *testing.T) {
	nomentest.Run(t, func(t *testing.T, records []*store.Record, authorities []*store.Authority) nomen.Resolver {
		far := serve(t, fill(t, records, authorities), nil)
		s := fill(t, purls(records), []*store.Authority{{Prefix: name.MustParsePrefix("https://purl.example"), Owners: []string{"a", "b"}}})
		near := serve(t, s, world(t, s, own("127.0.0.0/8"), client.Options{Via: "http://" + far.String()}))
		return ask(t, client.Options{Via: "http://" + near.String()})
	}, nomentest.Capabilities{Uncountried: true, Follows: true, Lossy: located, Default: nomen.I2L})
}

// exchange sends bytes and returns everything that it receives.
func exchange(t testing.TB, at netip.AddrPort, request string) string {
	t.Helper()
	return servertest.Exchange(t, net.TCPAddrFromAddrPort(at), request)
}

// hostile returns the records and authorities of a server of others.
func hostile() ([]*store.Record, []*store.Authority) {
	n := name.MustParse("urn:dns:there.example:x")
	return []*store.Record{{
			Name: n, Spelling: n.Key(), Status: nomen.Active,
			Locations: []nomen.Location{{URL: "https://there.example/x", Note: "</p><script>alert(1)</script>"}},
			Metadata:  nomen.Metadata{"title": {"<img src=x onerror=alert(1)>"}},
		}},
		[]*store.Authority{{Prefix: name.MustParsePrefix("urn:dns:there.example"), Owners: []string{"a", "b"}}}
}

// The answer of another server becomes HTML with links. It says where it comes from, and executes
// nothing. Clients other than own users get no answer. The server reads forwarded addresses only
// from trusted proxies.
func TestForeignPage(t *testing.T) {
	records, authorities := hostile()
	far := serve(t, fill(t, records, authorities), nil)
	s := fill(t, nil, nil)
	other := client.Options{Port: far.Port()}
	near := serve(t, s, world(t, s, own("127.0.0.0/8"), other))
	const fields = " HTTP/1.1\r\nHost: near.example\r\nAccept: text/html\r\nConnection: close\r\n"

	got := exchange(t, near, "GET /urn:dns:there.example:x?s=I2C"+fields+"\r\n")
	for _, want := range []string{"HTTP/1.1 200 ", `<A HREF="https://there.example/x">`, "this answer comes from there.example, the naming authority, and not from this server", "Cache-Control: private"} {
		if !strings.Contains(got, want) {
			t.Errorf("Y95-62: got\n%s\nwant %q", got, want)
		}
	}
	if strings.Contains(got, "<script>alert") || strings.Contains(got, "<img") {
		t.Errorf("got\n%s", got)
	}
	for _, target := range []string{"/urn:dns:there.example:x", "urn:dns:there.example:x?s=I2L", "http://localhost/urn:dns:there.example:x", "/uri-res/N2L?urn:dns:there.example:x"} {
		if got := exchange(t, near, "GET "+target+fields+"\r\n"); !strings.Contains(got, "\r\nLocation: https://there.example/x\r\n") {
			t.Errorf("%s: got\n%s", target, got)
		}
	}
	if got := exchange(t, near, "GET urn:dns:there.example:x HTTP/1.0\r\n\r\n"); !strings.Contains(got, "Content-Type: text/urc-0") || !strings.Contains(got, "https://there.example/x") {
		t.Errorf("got\n%s", got)
	}

	strict := serve(t, s, world(t, s, own("192.0.2.0/24"), other))
	for _, extra := range []string{"", "X-Forwarded-For: 192.0.2.7\r\n", "Forwarded: for=192.0.2.7\r\n"} {
		if got := exchange(t, strict, "GET /urn:dns:there.example:x?s=I2C"+fields+extra+"\r\n"); !strings.Contains(got, "HTTP/1.1 403 ") || strings.Contains(got, "https://there.example/x") {
			t.Errorf("Y95-65: %q: got\n%s", extra, got)
		}
	}
	behind := serve(t, s, func(o *server.Options) {
		world(t, s, own("192.0.2.0/24"), other)(o)
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for from, want := range map[string]string{"192.0.2.7": "200", "203.0.113.7": "403", "::ffff:192.0.2.7": "200"} {
		got := exchange(t, behind, "GET /urn:dns:there.example:x?s=I2C"+fields+"X-Forwarded-For: "+from+"\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+want+" ") {
			t.Errorf("%s: got\n%s", from, got)
		}
	}

	open := serve(t, s, world(t, s, gateway.Access{Policy: gateway.All, Rate: 0.001, Burst: 1}, other))
	if got := exchange(t, open, "GET /urn:dns:there.example:x?s=I2C"+fields+"\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("got\n%s", got)
	}
	if got := exchange(t, open, "GET /urn:dns:there.example:x?s=I2C"+fields+"\r\n"); !strings.HasPrefix(got, "HTTP/1.1 429 ") || !strings.Contains(got, "\r\nRetry-After: 1000\r\n") {
		t.Errorf("got\n%s", got)
	}
}

// If the server asks others for an own user, pages of other sites cannot read the answer in the
// browser of this user. They can do so neither from another origin nor under a host name that
// points to this server (DNS rebinding), on any route.
func TestForOwnUsersAlone(t *testing.T) {
	records, authorities := hostile()
	far := serve(t, fill(t, records, authorities), nil)
	here := []*store.Record{{
		Name: name.MustParse("urn:dns:here.example:y"), Spelling: "urn:dns:here.example:y", Status: nomen.Active,
		Locations: []nomen.Location{{URL: "https://here.example/y"}},
	}}
	s := fill(t, here, []*store.Authority{{Prefix: name.MustParsePrefix("urn:dns:here.example"), Owners: []string{"a", "b"}}})
	near := serve(t, s, world(t, s, own("127.0.0.0/8"), client.Options{Port: far.Port()}))
	open := serve(t, s, world(t, s, gateway.Access{Policy: gateway.All, Rate: 1000, Burst: 1000}, client.Options{Port: far.Port()}))
	const x = "urn:dns:there.example:x"
	routes := []struct {
		name, method, target, fields, body string
		found                              string // in what an own user gets
	}{
		{"web", "GET", "/" + x, "", "", "https://there.example/x"},
		{"head", "HEAD", "/" + x, "", "", "https://there.example/x"},
		{"service", "GET", "/" + x + "?s=I2C", "", "", "https://there.example/x"},
		{"1995", "GET", "/" + x, "Accept: text/urc-0\r\n", "", "https://there.example/x"},
		{"THTTP", "GET", "/uri-res/N2C?" + x, "", "", "https://there.example/x"},
		{"reserved request", "GET", "/urn:dns:there.example:urn+m", "", "", "there.example"},
		{"unknown", "GET", "/urn:dns:there.example:unknown", "", "", "comes from there.example"},
		{"no resolver", "GET", "/urn:isbn:9783161484100", "", "", " 404 "},
		{"explained", "GET", "/?name=" + x, "Accept: text/plain\r\n", "", "path here"},
		{"handler", "GET", "/-/handler?uri=" + x, "", "", "Location: /" + x},
		{"batch", "POST", "/-/resolve", "Content-Type: text/uri-list\r\n", x + "\r\n", "https://there.example/x"},
		{"batch of JSON", "POST", "/-/resolve", "Content-Type: application/jsonl\r\n", `{"name":"` + x + `","service":"I2C"}` + "\n", "https://there.example/x"},
	}
	senders := []struct {
		name, host, fields string
		allowed            bool
	}{
		{"a program", "near.example", "", true},
		{"its own page", "near.example", "Origin: http://near.example\r\n", true},
		{"its own page, told", "near.example", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nOrigin: https://near.example\r\n", true},
		{"the address bar", "near.example", "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", true},
		{"a link of another site", "near.example", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", true},
		{"an address", near.Addr().String(), "", true},
		{"an authority's host", "here.example:4500", "", true},
		{"loopback", "localhost:1", "", true},
		{"another origin", "near.example", "Origin: http://evil.example\r\n", false},
		{"another port", "near.example", "Origin: http://near.example:8080\r\n", false},
		{"no origin", "near.example", "Origin: null\r\n", false},
		{"two origins", "near.example", "Origin: http://near.example\r\nOrigin: http://evil.example\r\n", false},
		{"an origin above", "near.example", "Origin: http://near.example.evil.example\r\n", false},
		{"a script of another site", "near.example", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script\r\n", false},
		{"a frame of another site", "near.example", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n", false},
		{"a sibling", "near.example", "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n", false},
		{"rebinding", "evil.example", "", false},
		{"rebinding, told", "evil.example", "Sec-Fetch-Site: same-origin\r\n", false},
		{"rebinding to a port", "evil.example:4500", "Origin: http://evil.example:4500\r\n", false},
	}
	for _, route := range routes {
		for _, from := range senders {
			t.Run(route.name+"/"+from.name, func(t *testing.T) {
				request := route.method + " " + route.target + " HTTP/1.1\r\nHost: " + from.host + "\r\nConnection: close\r\n" + route.fields + from.fields
				if route.body != "" {
					request += "Content-Length: " + strconv.Itoa(len(route.body)) + "\r\n"
				}
				request += "\r\n" + route.body
				got := exchange(t, near, request)
				switch shared := strings.Contains(got, "\r\nAccess-Control-Allow-Origin: *\r\n"); {
				case from.allowed && (shared || !strings.Contains(got, route.found) || !strings.Contains(got, "\r\nCross-Origin-Resource-Policy: same-origin\r\n")):
					t.Errorf("got\n%s\nwant %q for this origin alone", got, route.found)
				case !from.allowed && (strings.Contains(got, "https://there.example/x") || strings.Contains(got, "comes from") || strings.Contains(got, "path here")):
					t.Errorf("another site got\n%s", got)
				case !from.allowed && route.name != "handler" && route.name != "explained" && route.method != "POST" && !strings.HasPrefix(got, "HTTP/1.1 403 "):
					t.Errorf("got\n%s\nwant 403", got)
				case !from.allowed && route.method == "GET" && strings.HasPrefix(got, "HTTP/1.1 403 ") && !strings.Contains(got, "a page of another site sent this request") && !strings.Contains(got, "add it to the hosts of the server"):
					t.Errorf("got\n%s\nwant the reason", got)
				}
				if got := exchange(t, open, request); !strings.Contains(got, "\r\nAccess-Control-Allow-Origin: *\r\n") || !strings.Contains(got, route.found) {
					t.Errorf("where everybody may ask: got\n%s", got)
				}
			})
		}
	}
	for _, from := range senders { // everyone may read answers about names that are served here
		for _, target := range []string{"/urn:dns:here.example:y?s=I2C", "http://localhost/urn:dns:here.example:y?s=I2C"} {
			got := exchange(t, near, "GET "+target+" HTTP/1.1\r\nHost: "+from.host+"\r\nConnection: close\r\n"+from.fields+"\r\n")
			if !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, "\r\nAccess-Control-Allow-Origin: *\r\n") {
				t.Errorf("%s: %s: got\n%s", target, from.name, got)
			}
		}
	}
	// A proxy of 1995 sends names with any Host field, and browsers never send such targets.
	if got := exchange(t, near, "GET "+x+" HTTP/1.1\r\nHost: there.example\r\nConnection: close\r\n\r\n"); !strings.Contains(got, "https://there.example/x") {
		t.Errorf("bare: got\n%s", got)
	}
}

// The server follows a redirect of another resolver as clients do. A redirect that leads back to
// this server is an error (RFC 9110, 7.6.3).
func TestForeignRedirections(t *testing.T) {
	records, authorities := hostile()
	old := name.MustParse("urn:dns:there.example:old")
	records = append(records, &store.Record{Name: old, Spelling: old.Key(), Status: nomen.Retired, Reason: "moved", Successors: []string{"urn:dns:there.example:x"}})
	far := serve(t, fill(t, records, authorities), nil)
	s := fill(t, nil, nil)
	near := serve(t, s, world(t, s, own("127.0.0.0/8"), client.Options{Port: far.Port()}))
	if got := exchange(t, near, "GET /urn:dns:there.example:old HTTP/1.1\r\nHost: near.example\r\nConnection: close\r\n\r\n"); !strings.Contains(got, "\r\nLocation: https://there.example/x\r\n") {
		t.Errorf("Y95-64: got\n%s", got)
	}

	// Two servers that ask each other.
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := first.Addr().String()
	first.Close()
	second := serve(t, s, world(t, s, own("127.0.0.0/8"), client.Options{Via: "http://" + at}))
	o := server.Options{Resolver: resolve.New(s, resolve.Options{}), Store: s, Hosts: []string{"near.example"}}
	world(t, s, own("127.0.0.0/8"), client.Options{Via: "http://" + second.String()})(&o)
	srv, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.Listen(server.Listener{Address: at})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Shutdown(context.Background())
	got := exchange(t, second, "GET /urn:dns:there.example:x?s=I2C HTTP/1.1\r\nHost: near.example\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 508 ") {
		t.Errorf("got\n%s", got)
	}
}

// The server forwards requests for other hosts if the policy permits it, and keeps
// its own (RFC 9110, 3.7; contract: absolute form).
func TestServerForwards(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	there := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		io.WriteString(w, "far away: "+r.Method+" "+r.Host+r.RequestURI+" "+string(b))
	})}
	go there.Serve(far)
	t.Cleanup(func() { there.Close() })
	records, authorities := hostile()
	s := fill(t, records, authorities)
	access, err := gateway.NewAccessControl(own("127.0.0.0/8"))
	if err != nil {
		t.Fatal(err)
	}
	f := gateway.NewForward(gateway.ForwardOptions{
		Access: access, Connect: []uint16{443}, DNS: hosts{map[string]string{"other.example": "192.0.43.7"}, nil, map[string]int{}},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, far.Addr().String())
		},
	})
	t.Cleanup(func() { f.Close() })
	near := serve(t, s, func(o *server.Options) { o.Forward, o.PublicURL = f, "http://names.example" })
	closed := serve(t, s, nil)
	const end = " HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n"
	for _, tt := range []struct {
		name   string
		at     netip.AddrPort
		in     string
		status string
		want   string
	}{
		{"another host", near, "GET http://other.example/a?b=c" + end, "200", "far away: GET other.example/a?b=c"},
		{"another host, HTTP/1.0", near, "GET http://other.example/a HTTP/1.0\r\n\r\n", "200", "far away: GET other.example/a"},
		{"a body", near, "POST http://other.example/a HTTP/1.1\r\nHost: other.example\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi", "200", "far away: POST other.example/a hi"},
		{"two at once", near, "GET http://other.example/1 HTTP/1.1\r\nHost: other.example\r\n\r\nGET http://other.example/2" + end, "200", "other.example/2"},
		{"its own host", near, "GET http://names.example/-/healthz" + end, "200", "ok"},
		{"this machine", near, "GET http://localhost/-/healthz" + end, "200", "ok"},
		{"a name that is served here", near, "GET urn:dns:there.example:x" + end, "200", "https://there.example/x"},
		{"an authority that is served here", near, "GET http://there.example/x" + end, "200", "https://there.example/x"},
		{"a path", near, "GET /-/healthz" + end, "200", "ok"},
		{"an address inside", near, "GET http://169.254.169.254/latest" + end, "403", "only to public addresses"},
		{"an address inside, oddly", near, "GET http://[::ffff:10.0.0.1]/" + end, "403", "only to public addresses"},
		{"a bad URL", near, "GET http://other.example:x/" + end, "400", ""},
		{"a tunnel to mail", near, "CONNECT other.example:25" + end, "403", ""},
		{"a tunnel", near, "CONNECT other.example:443 HTTP/1.1\r\nHost: other.example\r\n\r\nGET /t" + end, "200", "far away: GET other.example/t"},
		{"no proxy", closed, "GET http://other.example/a" + end, "421", "not a proxy for other hosts"},
		{"no tunnel", closed, "CONNECT other.example:443" + end, "405", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := exchange(t, tt.at, tt.in)
			if !strings.HasPrefix(got[min(len(got), 8):], " "+tt.status+" ") || !strings.Contains(got, tt.want) {
				t.Errorf("got\n%s\nwant %s %q", got, tt.status, tt.want)
			}
		})
	}
}
