//go:build clients

package gateway_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/browsertest"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
)

// A gate is a server that own users may ask for all names, as a proxy and as a
// Gopher server.
type gate struct {
	http, gopher netip.AddrPort
	landing      string // URL to which a name of another server leads
}

func newGate(t *testing.T) gate {
	t.Helper()
	landing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!DOCTYPE html><title>Landed</title><h1 id=\"landed\">You have landed</h1><p>from "+r.Referer()+".</p>")
	}))
	t.Cleanup(landing.Close)

	far := name.MustParse("urn:dns:there.example:x")
	farther := serve(t, fill(t,
		[]*store.Record{{Name: far, Spelling: far.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: landing.URL + "/landed", Type: "text/html", Note: "Where it landed"}}}},
		[]*store.Authority{{Prefix: name.MustParsePrefix("urn:dns:there.example"), Owners: []string{"a", "b"}}},
	), nil)

	one := name.MustParse("urn:dns:here.example:one")
	s := fill(t,
		[]*store.Record{{Name: one, Spelling: one.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: "gopher://gopher.example/1/pond", Note: "The pond"}}, Metadata: nomen.Metadata{"title": {"The first of all"}}}},
		[]*store.Authority{{Prefix: name.MustParsePrefix("urn:dns:here.example"), Owners: []string{"a", "b"}, List: true}},
	)
	access, err := gateway.NewAccessControl(own("127.0.0.0/8"))
	if err != nil {
		t.Fatal(err)
	}
	f := gateway.NewForward(gateway.ForwardOptions{
		Access: access, DNS: hosts{map[string]string{"other.example": "192.0.43.7"}, nil, map[string]int{}},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, landing.Listener.Addr().String())
		},
	})
	t.Cleanup(func() { f.Close() })
	g := gate{landing: landing.URL + "/landed"}
	g.http = serve(t, s, func(o *server.Options) {
		world(t, s, own("127.0.0.0/8"), client.Options{Port: farther.Port()})(o)
		o.Forward = f
		burrow, err := gateway.NewGopher(gateway.GopherOptions{Resolver: o.Resolver, Store: s, Authorities: o.Authorities})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go burrow.Serve(l)
		t.Cleanup(func() { burrow.Shutdown(context.Background()) })
		g.gopher = netip.MustParseAddrPort(l.Addr().String())
	})
	return g
}

// TestClients requests names through the gateway with programs that do not understand names. `make
// test-clients` installs the programs.
func TestClients(t *testing.T) {
	g := newGate(t)
	base, hole := "http://"+g.http.String(), "gopher://"+g.gopher.String()
	const there = "urn:dns:there.example:x"
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"curl through the proxy", []string{"curl", "-sS", "-i", "-x", base, "http://other.example/a"}, "You have landed"},
		{"curl asks the proxy for a name", []string{"curl", "-sS", "-i", "-x", base, "--request-target", there, "http://other.example/"}, g.landing},
		{"curl is kept from inside", []string{"curl", "-sS", "-i", "-x", base, "http://169.254.169.254/"}, "403 Forbidden"},
		{"curl may not tunnel", []string{"curl", "-sS", "-i", "-x", base, "-X", "CONNECT", "--request-target", "other.example:443", "http://other.example/"}, "405 Method Not Allowed"},
		{"curl follows a name of others", []string{"curl", "-sS", "-L", base + "/" + there}, "You have landed"},
		{"curl as a Gopher client", []string{"curl", "-sS", hole + "/1/" + there}, "hWhere it landed\tURL:" + g.landing + "\t"},
		{"lynx reads the explanation", []string{"lynx", "-dump", "-width=500", base + "/?name=" + there}, "Go to the resource"},
		{"lynx reads the page of others", []string{"lynx", "-dump", "-width=500", base + "/" + there + "?s=I2C"}, "the naming authority, and not from this server"},
		{"lynx as a Gopher client", []string{"lynx", "-dump", hole + "/1urn:dns:here.example:one"}, "The pond"},
		{"lynx at the root", []string{"lynx", "-dump", hole + "/"}, "urn:dns:here.example"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), tt.args[0], tt.args[1:]...).Output()
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v: %v\n%s\nwant %q", tt.args, err, out, tt.want)
			}
		})
	}
}

// A person pastes a name on the home page, reads the explanation, and follows the link to the
// resource.
func TestClientBrowser(t *testing.T) {
	g := newGate(t)
	ctx := browsertest.Start(t)
	browsertest.Do(t, ctx, chromedp.Navigate("http://"+g.http.String()+"/"))
	if !browsertest.See(t, ctx, chromedp.Evaluate[bool](`!document.getElementById("handler").hidden`)) {
		t.Error("the script of the home page did not run")
	}
	browsertest.Do(t, ctx,
		chromedp.SendKeys("#name", " <urn:dns:there.example: x>"),
		chromedp.Click("form button:not([formaction])"),
		chromedp.WaitVisible("#lead"),
	)
	explanation := browsertest.See(t, ctx, chromedp.Text("main"))
	for _, want := range []string{"namespace dns", "urn:dns:there.example:x", "looks up the name at another resolver"} {
		if !strings.Contains(explanation, want) {
			t.Errorf("got %q, want %q", explanation, want)
		}
	}
	browsertest.Do(t, ctx, chromedp.Click("#lead"), chromedp.WaitVisible("#landed"))
	at, landed := browsertest.See(t, ctx, chromedp.Location()), browsertest.See(t, ctx, chromedp.Text("body"))
	if at != g.landing || !strings.Contains(landed, "You have landed") || strings.Contains(landed, "from http") {
		t.Errorf("at %s: %q", at, landed)
	}

	// A web+urn link, in the form in which a browser passes it to the handler page.
	browsertest.Do(t, ctx, chromedp.Navigate("http://"+g.http.String()+"/-/handler?uri=web%2Burn%3Adns%3Athere.example%3Ax"), chromedp.WaitVisible("#landed"))
	if at := browsertest.See(t, ctx, chromedp.Location()); at != g.landing {
		t.Errorf("at %s", at)
	}
}

// A browser that uses the proxy auto-config file sends requests for the hosts of the authorities to
// this server, although DNS does not have these hosts.
func TestClientProxyConfig(t *testing.T) {
	g := newGate(t)
	ctx := browsertest.Start(t, chromedp.Flag("proxy-pac-url", "http://"+g.http.String()+"/-/proxy.pac"))
	browsertest.Do(t, ctx, chromedp.Navigate("http://here.example/one"))
	if page := browsertest.See(t, ctx, chromedp.Text("body")); !strings.Contains(page, "The first of all") {
		t.Errorf("got %q", page)
	}
}
