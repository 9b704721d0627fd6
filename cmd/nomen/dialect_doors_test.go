package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/dialect/ark"
	"github.com/nomen-project/nomen/dialect/arklet"
	"github.com/nomen-project/nomen/dialect/ezid"
	"github.com/nomen-project/nomen/dialect/handle"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// noAccounts has no tokens and no users.
type noAccounts struct{ dialect.Accounts }

// deadPages are locations that the checks of links have found dead.
type deadPages map[string]bool

func (d deadPages) Key(location string) string { return "link " + location }

func (d deadPages) Dead(location string) (since, changed time.Time, dead bool) {
	return modifiedThen, modifiedThen, d[location]
}

var modifiedThen = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// A dialectServer has a listener for each dialect, whose names are the keys of at.
type dialectServer struct {
	at      map[string]string // URLs
	counter *counts.Counter
	client  *http.Client
}

func newDialectServer(t *testing.T, dead deadPages) *dialectServer {
	t.Helper()
	now := func() time.Time { return modifiedThen.AddDate(0, 0, 5) }
	s := memstore.New()
	t.Cleanup(func() { s.Close() })
	scope := dialect.Scope{name.MustParsePrefix("ark:99999"), name.MustParsePrefix("hdl:20.500.9999")}
	apply := func(c store.Change) {
		t.Helper()
		c.Time = modifiedThen
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range scope {
		apply(store.Change{Authority: &store.Authority{Prefix: p, Owners: []string{"archive", "library"}, Policy: store.Policy{Failover: store.FailoverArchive}}})
		for _, r := range []*store.Record{
			{Spelling: p.String() + "/a", Locations: []nomen.Location{{URL: "https://a.example/page"}, {URL: "https://archive.example/page", Rel: "archive"}}},
			{Spelling: p.String() + "/gone", Status: nomen.Retired, Reason: "withdrawn"},
			{Spelling: p.String() + "/held", Status: nomen.Reserved},
		} {
			if r.Name = name.MustParse(r.Spelling); r.Status == "" {
				r.Status = nomen.Active
			}
			apply(store.Change{Record: r})
		}
	}
	counter, err := counts.Open(counts.Options{Store: &counts.Memory{}, Every: 1000 * time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = counter.Close() })
	table := store.NewTable(s, now, time.Second)
	log := slog.New(slog.DiscardHandler)
	resolver := resolve.New(s, resolve.Options{Now: now, Authorities: table, Dead: dead})
	arks := dialect.Scope{scope[0]}
	known := dialect.NewIdentities(noAccounts{}, nil, now)
	registrar := registrar.New(s, registrar.Options{Now: now, Authorities: table})
	all := map[string]dialect.Handler{
		"ezid": ezid.New(ezid.Options{Scope: arks, Identities: known, Store: s, Registrar: registrar, Resolver: resolver, Authorities: table, Now: now, Log: log}),
	}
	make := func(key string, h dialect.Handler, err error) {
		t.Helper()
		if all[key] = h; err != nil {
			t.Fatal(err)
		}
	}
	arkHandler, err := ark.New(ark.Options{Scope: arks, Store: s, Resolver: resolver, Authorities: table})
	make("ark", arkHandler, err)
	arkletHandler, err := arklet.New(arklet.Options{Scope: arks, Identities: known, Store: s, Registrar: registrar, Resolver: resolver, Authorities: table, Now: now, Log: log})
	make("arklet", arkletHandler, err)
	handles, err := handle.New(handle.Options{Scope: scope[1:], Identities: known, Store: s, Registrar: registrar, Resolver: resolver, Authorities: table, Now: now, Log: log})
	make("handle", handles, err)
	srv, err := server.New(server.Options{Store: s, Resolver: resolver, Authorities: table, Now: now, Dialects: all, Counts: counter})
	if err != nil {
		t.Fatal(err)
	}
	d := &dialectServer{at: map[string]string{}, counter: counter, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	var listeners []server.Listener
	keys := []string{"ark", "arklet", "ezid", "handle"}
	for _, key := range keys {
		listeners = append(listeners, server.Listener{Address: "127.0.0.1:0", Dialects: []string{key}})
	}
	l, err := srv.Listen(listeners...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Shutdown(t.Context()) })
	for i, key := range keys {
		d.at[key] = "http://" + l.Addrs[i].String()
	}
	return d
}

// get returns the response to a request of a browser.
func (d *dialectServer) get(t *testing.T, method, url string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "Mozilla/5.0 Firefox/140.0")
	res, err := d.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res
}

// TestDialectCounts checks what a request to each dialect counts for: for its name, and for all names
// together.
func TestDialectCounts(t *testing.T) {
	t.Parallel()
	const a, h = "ark:99999", "hdl:20.500.9999"
	for _, tt := range []struct {
		dialect, method, target string
		status                  int
		names, all              string
	}{
		{"handle", "GET", "/20.500.9999/a", 302, h + "/a I2L regular 1", "I2L regular 1"},
		{"handle", "HEAD", "/20.500.9999/a", 302, "", ""},
		{"handle", "GET", "/20.500.9999/a?noredirect", 200, h + "/a I2C regular 1", "I2C regular 1"},
		{"handle", "GET", "/20.500.9999/a?action=showurls", 200, h + "/a I2Ls regular 1", "I2Ls regular 1"},
		{"handle", "GET", "/api/handles/20.500.9999/a", 200, h + "/a I2C regular 1", "I2C regular 1"},
		{"handle", "GET", "/20.500.9999/none", 404, "", "failed regular 1"},
		{"handle", "GET", "/20.500.9999/a?urlappend=.evil.example", 302, h + "/a I2L regular 1", "I2L regular 1"},
		{"ark", "GET", "/ark:99999/a", 303, a + "/a I2L regular 1", "I2L regular 1"},
		{"ark", "GET", "/ark:99999/a?info", 200, a + "/a I2C regular 1", "I2C regular 1"},
		{"ark", "HEAD", "/ark:99999/a?info", 200, "", ""},
		{"ark", "GET", "/ark:99999/gone", 410, a + "/gone gone regular 1", "gone regular 1"},
		{"ark", "GET", "/ark:99999/none", 404, "", "failed regular 1"},
		{"ezid", "GET", "/ark:/99999/a", 302, a + "/a I2L regular 1", "I2L regular 1"},
		{"ezid", "GET", "/ark:/99999/a/part", 302, a + "/a I2L regular 1", "I2L regular 1"},
		{"ezid", "HEAD", "/ark:/99999/a", 302, "", ""},
		{"ezid", "GET", "/ark:/99999/gone/part", 410, a + "/gone gone regular 1", "gone regular 1"},
		{"ezid", "GET", "/ark:/99999/none", 404, "", "failed regular 1"},
		{"ezid", "GET", "/ark:/99999/held", 404, "", ""},
		{"arklet", "GET", "/resolve/ark:/99999/a", 302, a + "/a I2L regular 1", "I2L regular 1"},
		{"arklet", "GET", "/ark:/99999/a", 302, a + "/a I2L regular 1", "I2L regular 1"},
		{"arklet", "HEAD", "/ark:/99999/a", 302, "", ""},
		{"arklet", "GET", "/ark:/99999/none", 404, "", "failed regular 1"},
	} {
		t.Run(tt.dialect+" "+tt.method+" "+tt.target, func(t *testing.T) {
			d := newDialectServer(t, nil)
			for range 2 { // the second is a double click
				if res := d.get(t, tt.method, d.at[tt.dialect]+tt.target); res.StatusCode != tt.status {
					t.Errorf("got status %d, want %d", res.StatusCode, tt.status)
				}
			}
			reader, err := d.counter.Reader(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for kind, want := range map[counts.Kind]string{counts.OfName: tt.names, counts.OfAuthority: tt.all} {
				var lines []string
				for r, err := range reader.Rows(t.Context(), counts.Query{Kind: kind, To: 60000, Prefix: true}) {
					if err != nil {
						t.Fatal(err)
					}
					for _, cell := range r.Cells {
						lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %v %v %d", r.Text, cell.What, cell.Class, cell.N)))
					}
				}
				if got := strings.Join(lines, ", "); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

// TestDialectFailover checks that each dialect redirects to an archived copy while a location is dead.
func TestDialectFailover(t *testing.T) {
	t.Parallel()
	const page, copied = "https://a.example/page", "https://archive.example/page"
	targets := []string{
		"handle /20.500.9999/a", "ark /ark:99999/a", "ark /ark:/99999/a", "ezid /ark:/99999/a", "ezid /ark:99999/a", "arklet /ark:/99999/a", "arklet /resolve/ark:/99999/a",
	}
	for _, dead := range []bool{false, true} {
		d := newDialectServer(t, deadPages{page: dead})
		want := map[bool]string{false: page, true: copied}[dead]
		for _, target := range targets {
			key, path, _ := strings.Cut(target, " ")
			for _, method := range []string{"GET", "HEAD"} {
				res := d.get(t, method, d.at[key]+path)
				if got := res.Header.Get("Location"); res.StatusCode/100 != 3 || got != want {
					t.Errorf("%s %s, dead %t: got %d to %s, want a redirect to %s", method, target, dead, res.StatusCode, got, want)
				}
			}
		}
		// What follows a name is appended to the copy too.
		if got := d.get(t, "GET", d.at["ezid"]+"/ark:/99999/a/part").Header.Get("Location"); got != want+"/part" {
			t.Errorf("ezid, dead %t: got %s, want %s", dead, got, want+"/part")
		}
	}
}
