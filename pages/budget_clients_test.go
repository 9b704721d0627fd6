//go:build clients

package pages

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/browsertest"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// The budget of a page, whatever the size of the store.
const (
	maxPaint  = 500 * time.Millisecond // until a browser on this machine shows something
	maxServer = 250 * time.Millisecond // of that, until the server has answered
)

// largeName is one of the names of a large store.
func largeName(i int) string { return fmt.Sprintf("urn:dns:large.example:%08d", i) }

// newLargeSite returns a site with n names, of which the first has 300 revisions.
func newLargeSite(t *testing.T, n int) *site {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	servertest.Fill(t, s)
	apply := func(changes []store.Change) {
		if _, err := s.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
	}
	change := func(i, revision int) store.Change {
		rec := &store.Record{Name: name.MustParse(largeName(i)), Spelling: largeName(i), Status: nomen.Active}
		rec.Locations = []nomen.Location{{URL: fmt.Sprintf("https://large.example/%d/%d", revision, i)}}
		rec.Metadata = nomen.Metadata{"title": {"The title of number " + strconv.Itoa(i)}}
		return store.Change{Record: rec, Expected: store.AnyRevision, Time: servertest.Now, Who: "u-admin", Why: "loaded"}
	}
	apply([]store.Change{{Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:dns:large.example"), Owners: []string{"a", "b"}}, Time: servertest.Now}})
	for from := range (n + 9_999) / 10_000 {
		batch := []store.Change{}
		for i := from * 10_000; i < min(n, (from+1)*10_000); i++ {
			batch = append(batch, change(i, 1))
		}
		apply(batch)
	}
	for i := range 300 {
		apply([]store.Change{change(0, i+2)})
	}
	site := siteOf(t, s, largeName(n+1), largeName(n+2))
	site.addTokens("Harvester")
	site.addPeople("Berta Berg", "berta@example.org")
	return site
}

// TestClientBudget measures every page of a large store. NOMEN_NAMES is its size.
func TestClientBudget(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("NOMEN_NAMES"))
	if err != nil {
		n = 1_000_000
	}
	start := time.Now()
	s := newLargeSite(t, n)
	t.Logf("%d names loaded in %v", n, time.Since(start).Round(time.Second))
	root, ctx := s.serve(), browsertest.Start(t)
	mid := largeName(n / 2)
	for _, path := range []string{
		"", "names", "names?prefix=urn:dns:large.example", "names?prefix=urn:dns:large.example&after=" + mid, "names?status=retired", "names?prefix=urn:dns:large.example&status=retired",
		"names?q=" + largeName(n+7), "names?q=https://large.example/1/7", "names?q=https://large.example/1", "names?q=no+name",
		"new", nameAt(mid), nameAt(largeName(0)) + "/history", nameAt(largeName(0)) + "/diff?a=1&b=200", nameAt(mid) + "/edit", nameAt(mid) + "/retire", nameAt(largeName(0)) + "/redact", nameAt(largeName(0)) + "/restore?to=1",
		nameAt(mid) + "/proof", "log", "log?who=u-admin", "log?who=u-berta000", "log?prefix=urn:dns:other.example", "log?from=2026-11-19&to=2026-11-19", "log/" + strconv.Itoa(n/2),
		"authorities", "authorities/urn:dns:large.example", "misses", "users", "users/" + berta, "tokens", "jobs", "upload", "relocate", "retire", "merge", "settings", "me",
	} {
		server := s.serverTime(path)
		paint := math.Inf(1)
		for range 3 {
			browsertest.Do(t, ctx, chromedp.Navigate(root+path))
			paint = min(paint, browsertest.See(t, ctx, chromedp.Evaluate[float64](firstPaint, chromedp.EvalAwaitPromise)))
		}
		t.Logf("%6.1f ms server, %6.1f ms paint: %s", float64(server.Microseconds())/1000, paint, path)
		if server > maxServer || paint > float64(maxPaint.Milliseconds()) {
			t.Errorf("%s takes %v at the server, and %.0f ms until the first paint; want at most %v and %v", path, server, paint, maxServer, maxPaint)
		}
	}
}

// firstPaint is the time from the beginning of a request until the browser shows something.
const firstPaint = `new Promise(done => new PerformanceObserver((list, o) => { o.disconnect(); done(list.getEntries()[0].startTime); }).observe({type: "paint", buffered: true}))`

// serverTime returns the shortest time of five answers: others use the machine too.
func (s *site) serverTime(path string) time.Duration {
	s.t.Helper()
	var all []time.Duration
	for range 5 {
		r := httptest.NewRequest(http.MethodGet, Root+path, nil)
		r.AddCookie(&http.Cookie{Name: "who", Value: s.who})
		w := httptest.NewRecorder()
		start := time.Now()
		s.pages.ServeHTTP(w, r)
		all = append(all, time.Since(start))
		if w.Code >= 500 {
			s.t.Errorf("%s: got %d", path, w.Code)
		}
	}
	return slices.Min(all)
}
