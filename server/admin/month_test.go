package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// LookupNetIP implements [discover.DNS]. A host is away since the 14th day.
func (c *collection) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "away.example" && c.day.Load() >= 14 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

// A collection is 5,000 names at ten hosts. Of their locations, 40 do not answer as they should: 37 are
// gone, one is forbidden for programs, one redirects to the home page, and one is at a host that has
// been away for some days.
type collection struct {
	api   *API
	store *memstore.Store
	watch *links.Watcher
	count *counts.Counter
	miss  *misses.Counter
	day   atomic.Int64
	begun time.Time
}

const (
	collected = 5000
	hosts     = 10
)

// location returns the location of a name.
func (*collection) location(i int) string {
	host := fmt.Sprintf("h%d.example", i%hosts)
	switch {
	case i < 37:
		return fmt.Sprintf("http://%s/gone/%d", host, i)
	case i == 37:
		return "http://" + host + "/forbidden"
	case i == 38:
		return "http://" + host + "/deep/soft"
	case i == 39:
		return "http://away.example/39"
	}
	return fmt.Sprintf("http://%s/page/%d", host, i)
}

func (c *collection) name(i int) name.Name {
	return name.MustParse(fmt.Sprintf("urn:dns:example.org:c%04d", i))
}

func (c *collection) now() time.Time {
	return time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, int(c.day.Load())).Add(time.Since(c.begun))
}

func (c *collection) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/robots.txt", strings.HasPrefix(path, "/gone/"):
		http.NotFound(w, r)
	case path == "/forbidden":
		w.WriteHeader(http.StatusForbidden)
	case path == "/deep/soft":
		http.Redirect(w, r, "/", http.StatusFound)
	default:
		fmt.Fprintf(w, "<title>Page</title><p>This is %s at %s, and nothing else.", path, r.Host)
	}
}

func newCollection(t *testing.T) *collection {
	t.Helper()
	c := &collection{begun: time.Now()}
	web := httptest.NewServer(c)
	t.Cleanup(web.Close)
	var err error
	if c.count, err = counts.Open(counts.Options{Store: &counts.Memory{}, Every: time.Hour, Now: c.now, Authority: func(string) string { return "urn:dns:example.org" }}); err != nil {
		t.Fatal(err)
	}
	if c.miss, err = misses.Open(misses.Options{Now: c.now}); err != nil {
		t.Fatal(err)
	}
	c.api, c.store = newTestAPI(t, func(o *Options) {
		source := o.Store.(*memstore.Store)
		var changes []store.Change
		for i := range collected {
			changes = append(changes, store.Change{Time: c.now(), Record: &store.Record{Name: c.name(i), Status: nomen.Active, Locations: []nomen.Location{{URL: c.location(i)}}}})
		}
		_, err := source.Apply(t.Context(), changes)
		if err == nil {
			c.watch, err = links.Open(links.Options{
				Dir: filepath.Join(t.TempDir(), "links"), Store: source, Agent: "nomen/test", DNS: c, Gap: time.Nanosecond, Now: c.now,
				Allow: func(netip.Addr) error { return nil },
				Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, network, web.Listener.Addr().String())
				},
			})
		}
		if err == nil {
			err = c.watch.CatchUp(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		o.Links, o.Counts, o.Misses, o.Now = c.watch, c.count, c.miss, c.now
	})
	t.Cleanup(func() { _ = errors.Join(c.watch.Close(), c.count.Close()) })
	return c
}

// check checks the 40 locations, and twice as many that answer.
func (c *collection) check(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	defer all.Wait()
	for host := range hosts {
		all.Go(func() {
			for i := host; i < 120; i += hosts {
				if _, _, err := c.watch.Check(t.Context(), c.location(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestMonthOfACollection is the report of a librarian: it lists the locations that are dead, and not those
// that only seem so; the most resolved names; and the names that were not found, with what was meant.
// Robots add no names. A report about other names has nothing of this.
func TestMonthOfACollection(t *testing.T) {
	c := newCollection(t)
	for _, day := range []int64{0, 1, 2, 5, 6, 9, 10, 14, 15, 20, 21, 22} {
		c.day.Store(day)
		c.check(t)
	}
	for i := range 100 {
		by := new(counts.Client)
		by.Set(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), "Mozilla/5.0 Firefox/140.0")
		c.count.Resolved(by, c.name(i%7+50).Key(), counts.Of(nomen.I2L), c.now())
		if i < 5 {
			c.count.Failed(by, "urn:dns:example.org:c00X1", c.now())
			c.miss.Add("urn:dns:example.org:c00X1", []string{c.name(1).Key()})
		}
		c.miss.AddFrom(fmt.Sprint("urn:dns:example.org:wp-admin", i), nil, true)
	}
	for i := range 30 { // programs that search for weaknesses, and say that they are browsers
		c.miss.Add(fmt.Sprint("urn:dns:example.org:.env", i), nil)
	}
	got, err := c.month(t, registrar.Operator(), "urn:dns:example.org")
	if err != nil {
		t.Fatal(err)
	}
	if got.Links == nil || len(got.Links.Dead) != 37 {
		t.Fatalf("got %+v, want 37 dead locations", got.Links)
	}
	for _, l := range got.Links.Dead {
		if !strings.Contains(l.URL, "/gone/") || len(l.Names) != 1 {
			t.Errorf("dead: got %s with the names %q", l.URL, l.Names)
		}
	}
	look := map[string]string{}
	for _, l := range got.Links.Look {
		look[l.URL] = l.Verdict
	}
	if look[c.location(37)] != "blocked" || look[c.location(38)] != "suspect" || len(look) != 2 {
		t.Errorf("links to look at: got %v, want the forbidden and the soft one", look)
	}
	if got.Resolutions.Total.Regular != 100 || len(got.Resolutions.Names) != 7 || got.Resolutions.Names[0].Regular != 15 {
		t.Errorf("resolutions: got %+v", got.Resolutions)
	}
	if len(got.Misses) != 1 || got.Misses[0].Count != 5 || got.Misses[0].Suggestions[0] != c.name(1).Key() || got.Misses[0].Seen != 1 || got.MissesRare != 30 {
		t.Errorf("failed lookups: got %+v", got.Misses)
	}
	if got.FailedShare < 4.7 || got.FailedShare > 4.8 { // 5 of 105
		t.Errorf("share of failed lookups: got %.2f %%, want 4.76 %%", got.FailedShare)
	}
	if got.Changes.Created < collected {
		t.Errorf("changes: got %+v, want at least %d names created", got.Changes, collected)
	}
	rows := map[string]int{}
	for _, r := range got.Rows() {
		rows[r[0]]++
	}
	if rows["dead link"] != 37 || rows["link to look at"] != 2 || rows["failed lookup"] != 1 || rows["name"] != 7 {
		t.Errorf("rows: got %v", rows)
	}
	text := got.Text()
	for _, want := range []string{"dead links: 37\n", "links to look at: 2\n", "failed lookups: 5 (4.8 %", "perhaps meant: " + c.name(1).Key(), "more in the CSV file"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	other, err := c.month(t, registrar.Operator(), "urn:dns:other.example")
	if err != nil || other.Resolutions.Total.Sum() != 0 || len(other.Misses) != 0 || len(other.Links.Dead) != 0 || other.Changes.Created != 0 {
		t.Errorf("other names: got %+v, %v", other, err)
	}
}

// month returns the report of 2026-10 when the changes are counted.
func (c *collection) month(t *testing.T, a registrar.Actor, prefix string) (*adminapi.MonthReport, error) {
	t.Helper()
	for tick := time.Tick(20 * time.Millisecond); ; <-tick {
		if r, err := c.api.MonthReport(t.Context(), a, prefix, "2026-10"); err != nil || !r.Counting {
			return r, err
		}
	}
}

// TestMonthRights checks that a report has only what its reader may see: low counts of names are for
// owners, and other prefixes are refused.
func TestMonthRights(t *testing.T) {
	c := newCollection(t)
	by := new(counts.Client)
	by.Set(netip.MustParseAddr("192.0.2.1"), "Mozilla/5.0 Firefox/140.0")
	c.count.Resolved(by, c.name(50).Key(), counts.Of(nomen.I2L), c.now())
	actor := func(role registrar.Role) registrar.Actor {
		return registrar.Actor{Who: "x", Grants: []registrar.Grant{{Role: role, Prefixes: []name.Prefix{name.MustParsePrefix("urn:dns:example.org")}}}}
	}
	for role, names := range map[registrar.Role]int{registrar.Reader: 0, registrar.Editor: 0, registrar.Owner: 1} {
		got, err := c.month(t, actor(role), "urn:dns:example.org")
		if err != nil || len(got.Resolutions.Names) != names || got.Resolutions.Total.Sum() != 1 {
			t.Errorf("%v: got %+v, %v, want %d names", role, got, err, names)
		}
	}
	var denied *registrar.DeniedError
	if _, err := c.month(t, actor(registrar.Owner), "urn:dns:other.example"); !errors.As(err, &denied) {
		t.Errorf("another prefix: got %v, want a DeniedError", err)
	}
	if _, err := c.month(t, actor(registrar.Owner), "x y"); err == nil {
		t.Error("an invalid prefix: got no error")
	}
}
