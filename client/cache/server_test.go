package cache_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/client/cache"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/nomentest"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// start serves the records on loopback.
func start(t *testing.T, records []*store.Record, authorities []*store.Authority) (address string, st *memstore.Store) {
	t.Helper()
	st = memstore.New()
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
	s, err := server.New(server.Options{Resolver: resolve.New(st, resolve.Options{}), Store: st})
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
	return l.Public.String(), st
}

// TestConformance runs the resolver suite on cache -> client -> server -> engine, first with an
// empty cache and then with a full one.
func TestConformance(t *testing.T) {
	located := func(a *nomen.Answer) {
		for i, l := range a.Locations {
			if a.Service == nomen.I2L {
				a.Locations[i] = nomen.Location{URL: l.URL, Type: l.Type, Lang: l.Lang, Rel: l.Rel}
			}
		}
	}
	for kind, k := range storages(t, cache.Limits{}) {
		for _, fill := range []string{"empty", "full"} {
			t.Run(kind+" "+fill, func(t *testing.T) {
				nomentest.Run(t, func(t *testing.T, records []*store.Record, authorities []*store.Authority) nomen.Resolver {
					address, _ := start(t, records, authorities)
					c, err := client.New(client.Options{Via: "http://" + address, DNS: loopback{}})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { c.Close() })
					return cache.New(c, k, cache.Options{})
				}, nomentest.Capabilities{Uncountried: true, Follows: true, Lossy: located})
			})
		}
	}
}

// counted counts a client's responses by status.
type counted struct {
	net.Conn
	whole, unchanged *atomic.Int32
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	head := string(p[:n])
	if strings.HasPrefix(head, "HTTP/1.1 200") || strings.HasPrefix(head, "HTTP/1.0 200") {
		c.whole.Add(1)
	} else if strings.Contains(head, " 304 ") {
		c.unchanged.Add(1)
		if _, body, _ := strings.Cut(head, "\r\n\r\n"); body != "" {
			c.whole.Add(1)
		}
	}
	return n, err
}

// Resolving 1,000 descriptions again takes 1,000 conditional requests without a body (Y95-67),
// in every form of the protocol. A change is seen at once.
func TestThousand(t *testing.T) {
	const size = 1000
	p := name.MustParsePrefix("urn:dns:names.example")
	var records []*store.Record
	for i := range size {
		n := name.MustParse(fmt.Sprintf("urn:dns:names.example:%d", i))
		records = append(records, &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: fmt.Sprintf("https://example.org/%d", i)}}})
	}
	address, st := start(t, records, []*store.Authority{{Prefix: p, Owners: []string{"a", "b"}}})
	for form, o := range map[string]client.Options{"web": {Via: "http://" + address}, "proxy": {Via: address}, "THTTP": {Via: "http://" + address + "/uri-res/"}} {
		var whole, unchanged atomic.Int32
		o.DNS = loopback{}
		o.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return counted{conn, &whole, &unchanged}, err
		}
		c, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		k, err := cache.OpenDisk(t.TempDir(), cache.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		cached := cache.New(c, k, cache.Options{})
		for round, want := range [][2]int32{{size, 0}, {0, size}} {
			whole.Store(0)
			unchanged.Store(0)
			for _, r := range records {
				a, err := cached.Resolve(t.Context(), nomen.Question{Name: r.Name, Service: nomen.I2C})
				if err != nil || a.Locations[0].URL != r.Locations[0].URL {
					t.Fatalf("%s: got %+v, %v", form, a, err)
				}
			}
			if got := [2]int32{whole.Load(), unchanged.Load()}; got != want {
				t.Errorf("%s, round %d: got %d whole answers and %d without a body, want %d", form, round+1, got[0], got[1], want)
			}
		}
		changed := *records[7]
		changed.Locations = []nomen.Location{{URL: "https://example.org/changed/" + form}}
		if _, err := st.Apply(t.Context(), []store.Change{{Record: &changed, Expected: store.AnyRevision, Time: time.Now()}}); err != nil {
			t.Fatal(err)
		}
		if a, err := cached.Resolve(t.Context(), nomen.Question{Name: changed.Name, Service: nomen.I2C}); err != nil || a.Locations[0].URL != changed.Locations[0].URL {
			t.Errorf("%s: after a change: %+v, %v", form, a, err)
		}
		records[7] = &changed
		c.Close()
	}
}
