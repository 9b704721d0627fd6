package client_test

import (
	"context"
	"errors"
	"iter"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/nomentest"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// loopback resolves every host to a loopback address.
type loopback struct{}

func (loopback) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// start serves the records on loopback and returns the address.
func start(t testing.TB, records []*store.Record, authorities []*store.Authority) netip.AddrPort {
	t.Helper()
	st := memstore.New()
	t.Cleanup(func() { st.Close() })
	var changes []store.Change
	for _, a := range authorities {
		changes = append(changes, store.Change{Authority: a, Time: time.Unix(1e9, 0)})
	}
	for _, r := range records {
		changes = append(changes, store.Change{Record: r, Time: time.Unix(1e9, 0)})
	}
	if _, err := st.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Resolver: resolve.New(st, resolve.Options{Fetch: nomentest.Fetch}), Store: st})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Listen(server.Listener{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return netip.MustParseAddrPort(l.Public.String())
}

// through returns a builder of client -> server -> engine -> store, with client options that
// depend on the server's address.
func through(options func(netip.AddrPort) client.Options) func(*testing.T, []*store.Record, []*store.Authority) nomen.Resolver {
	return func(t *testing.T, records []*store.Record, authorities []*store.Authority) nomen.Resolver {
		o := options(start(t, records, authorities))
		o.DNS = loopback{}
		c, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

func direct(at netip.AddrPort) client.Options { return client.Options{Port: at.Port()} }

func proxied(at netip.AddrPort) client.Options { return client.Options{Via: at.String()} }

func byTHTTP(at netip.AddrPort) client.Options {
	return client.Options{Via: "http://" + at.String() + "/uri-res/"}
}

// byFinder returns options with a finder that yields a failed step and then the resolver.
func byFinder(at netip.AddrPort) client.Options {
	return client.Options{Finder: found{
		{Kind: discover.Path, URL: "http://127.0.0.1:1/"},
		{Kind: discover.Path, URL: "http://" + at.String() + "/{name}", Services: nil},
	}}
}

// found yields the same ways for every name.
type found []discover.Way

func (f found) Find(context.Context, name.Name) iter.Seq2[discover.Way, error] {
	return func(yield func(discover.Way, error) bool) {
		for _, w := range f {
			if !yield(w, nil) {
				return
			}
		}
	}
}

func onWeb(at netip.AddrPort) client.Options { return client.Options{Via: "http://" + at.String()} }

// inJSON is like o, for a user who prefers JSON.
func inJSON(o func(netip.AddrPort) client.Options) func(netip.AddrPort) client.Options {
	return func(at netip.AddrPort) client.Options {
		out := o(at)
		out.Accept = "application/json"
		return out
	}
}

// urc keeps what text/urc-0 can express of a location.
func urc(a *nomen.Answer) {
	for i, l := range a.Locations {
		a.Locations[i] = nomen.Location{URL: l.URL, Note: l.Note, Lang: l.Lang}
	}
}

// located keeps what a redirection and its links express of a location.
func located(a *nomen.Answer) {
	if a.Service != nomen.I2L {
		return
	}
	for i, l := range a.Locations {
		a.Locations[i] = nomen.Location{URL: l.URL, Type: l.Type, Lang: l.Lang, Rel: l.Rel}
	}
}

// TestConformance runs the resolver suite on client -> server -> engine, in every form of the
// protocol (Y95-28, Y95-38, Y95-75).
func TestConformance(t *testing.T) {
	ofHost := nomentest.Capabilities{
		Under: name.MustParsePrefix("urn:dns:" + nomentest.Host), Default: nomen.I2C,
		Unranked: true, Uncountried: true, Uncomponented: true, Follows: true, Succeeds: true, Timed: true,
	}
	ofAll := nomentest.Capabilities{Default: nomen.I2C, Unranked: true, Uncountried: true, Follows: true, Succeeds: true, Timed: true}
	web := nomentest.Capabilities{Uncountried: true, Follows: true, Timed: true, Ruled: true, Undefaulted: true, Undelegated: true, Fetches: true, Lossy: located}
	thttp := web
	thttp.Default = nomen.I2L
	with := func(c nomentest.Capabilities, lossy func(*nomen.Answer)) nomentest.Capabilities {
		c.Lossy = lossy
		return c
	}
	still := func(o func(netip.AddrPort) client.Options) func(netip.AddrPort) client.Options {
		return func(at netip.AddrPort) client.Options {
			out := o(at)
			out.MaxRedirects = -1
			return out
		}
	}
	staying := web
	staying.Follows = false
	for _, tt := range []struct {
		name    string
		options func(netip.AddrPort) client.Options
		c       nomentest.Capabilities
	}{
		{"1995", direct, with(ofHost, urc)},
		{"1995 in JSON", inJSON(direct), ofHost},
		{"proxy", proxied, with(ofAll, urc)},
		{"proxy in JSON", inJSON(proxied), ofAll},
		{"web", onWeb, web},
		{"RFC 2169", byTHTTP, thttp},
		{"after a failed step", byFinder, web},
		{"web without following", still(onWeb), staying},
	} {
		t.Run(tt.name, func(t *testing.T) { nomentest.Run(t, through(tt.options), tt.c) })
	}
}

// A retired name redirects to its successor in the 1995 protocol as it does on the web, and the
// name is sent in the user's spelling.
func TestEndToEnd(t *testing.T) {
	at := start(t, nomentest.Records(), nomentest.Authorities())
	for form, o := range map[string]client.Options{"1995": direct(at), "proxy": proxied(at), "web": onWeb(at)} {
		var steps []string
		o.DNS, o.Trace = loopback{}, func(step string) { steps = append(steps, step) }
		c, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		q, err := client.Parse("<URN:dns:" + nomentest.Host + ":\n  repl%61ced>")
		if err != nil {
			t.Fatal(err)
		}
		q.Service = nomen.I2L
		a, err := c.Resolve(t.Context(), q)
		if err != nil || a.Locations[0].URL != "https://example.org/single" {
			t.Errorf("Y95-43: %s: got %+v, %v", form, a, err)
		}
		told := strings.Join(steps, "\n")
		if !strings.Contains(told, "repl%61ced") || !strings.Contains(told, "unencrypted") || !strings.Contains(told, "redirected to urn:dns:"+nomentest.Host+":single") {
			t.Errorf("%s: the trace is\n%s", form, told)
		}
		c.Close()
	}
}

func BenchmarkResolve(b *testing.B) {
	at := start(b, nomentest.Records(), nomentest.Authorities())
	for form, o := range map[string]client.Options{"1995": direct(at), "proxy": proxied(at), "web": onWeb(at)} {
		o.DNS = loopback{}
		c, err := client.New(o)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(form, func(b *testing.B) { nomentest.Bench(b, c) })
		c.Close()
	}
}

// A resource that is not available is distinguished from an unknown name (RFC 2483, 2).
func TestNoResource(t *testing.T) {
	c, err := client.New(byTHTTP(start(t, nomentest.Records(), nomentest.Authorities())))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, service := range []nomen.Service{nomen.I2R, nomen.I2Rs} {
		for spelling, kind := range map[string]nomen.Kind{"urn:ietf:rfc:2648": nomen.NoResult, "urn:x-fetched:none": nomen.Unknown} {
			a, err := c.Resolve(t.Context(), nomen.Question{Name: name.MustParse(spelling), Service: service})
			if !errors.Is(err, &nomen.Error{Kind: kind}) {
				t.Errorf("%s of %s: %+v, %v, want %v", service, spelling, a, err, kind)
			}
		}
	}
}
