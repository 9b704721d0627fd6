//go:build clients

package pages

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/browsertest"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/search"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// The budget of a page, whatever the size of the store. See also maxPage.
const (
	maxPaint  = 500 * time.Millisecond // until a browser on this machine shows something
	maxServer = 250 * time.Millisecond // of that, until the server has answered
)

// largeName is one of the names of a large store.
func largeName(i int) string { return fmt.Sprintf("urn:dns:large.example:%08d", i) }

// openLarge opens the store in a directory. If it is empty, it gets n names, of which the first has
// 1,000 revisions.
func openLarge(t *testing.T, dir string, n int) *pebblestore.Store {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Get(t.Context(), name.MustParse(largeName(n-1)), time.Time{}); err == nil {
		return s
	}
	servertest.Fill(t, s)
	apply := func(changes []store.Change) {
		if _, err := s.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
	}
	apply([]store.Change{{Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:dns:large.example"), Owners: []string{"a", "b"}}, Time: servertest.Now}})
	for i := range 1000 {
		apply([]store.Change{largeChange(0, i+1)})
	}
	reserved := store.Change{Record: &store.Record{Name: name.MustParse(largeReserved), Spelling: largeReserved, Status: nomen.Reserved}, Time: servertest.Now}
	apply([]store.Change{reserved})
	for all := range largeChanges(n) {
		apply(all)
	}
	return s
}

// largeReserved is the only reserved name of a large store.
const largeReserved = "urn:dns:large.example:reserved"

// largeChange is a change of a name of a large store.
func largeChange(i, revision int) store.Change {
	rec := &store.Record{Name: name.MustParse(largeName(i)), Spelling: largeName(i), Status: nomen.Active}
	rec.Locations = []nomen.Location{{URL: fmt.Sprintf("https://large.example/%d/%d", revision, i)}}
	rec.Metadata = nomen.Metadata{"title": {"The title of number " + strconv.Itoa(i)}}
	return store.Change{Record: rec, Expected: store.AnyRevision, Time: servertest.Now.Add(time.Duration(i) * time.Millisecond / 10), Who: "u-admin", Why: "loaded"}
}

// largeChanges yields the changes that make the names of a large store.
func largeChanges(n int) iter.Seq[[]store.Change] {
	return func(yield func([]store.Change) bool) {
		for from := 1; from < n; from += 10_000 {
			var batch []store.Change
			for i := from; i < min(n, from+10_000); i++ {
				batch = append(batch, largeChange(i, 1))
			}
			if !yield(batch) {
				return
			}
		}
	}
}

// newLargeSite returns a site with n names, a search index, and the clock of the machine. It keeps
// the names in NOMEN_DIR, if that is set, for further runs.
func newLargeSite(t *testing.T, n int) *site {
	t.Helper()
	dir := os.Getenv("NOMEN_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	start := time.Now()
	s := openLarge(t, filepath.Join(dir, "store"), n)
	t.Logf("%d names stored after %v", n, time.Since(start).Round(time.Second))
	index, err := search.Open(search.Options{Dir: filepath.Join(dir, "search"), Store: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = index.Close() })
	if err := index.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("indexed after %v", time.Since(start).Round(time.Second))
	go index.Run(t.Context())
	site := &site{t: t, store: s, who: "admin", jobs: filepath.Join(t.TempDir(), "jobs"), now: time.Now, searcher: index}
	site.misses = newMisses(t, time.Now, []string{largeName(n + 1), largeName(n + 2)})
	site.start()
	site.addTokens("Harvester")
	site.addPeople("Berta Berg", "berta@example.org")
	site.addJobs("names.csv")
	return site
}

// largePaths are the paths of the pages of a large store: at least one of each route.
func largePaths(n int) []string {
	first, mid, own := nameAt(largeName(0)), nameAt(largeName(n/2)), "authorities/urn:dns:large.example"
	return []string{
		"", "names", "names?prefix=urn:dns:large.example", "names?prefix=urn:dns:large.example&after=" + largeName(n/2), "names?status=retired", "names?prefix=urn:dns:large.example&status=reserved",
		"names?q=" + largeName(n+7), "names?q=https://large.example/1/7", "names?q=https://large.example/1", "names?q=title", "names?q=title+number", "names?q=title+1&status=retired", "names?q=no+name",
		"new", mid, mid + "?at=2020-01-01T00:00:00Z", mid + "/edit", mid + "/retire", mid + "/proof?revision=1", nameAt(web) + "/qr.svg", nameAt(web) + "/qr.png", nameAt(largeReserved) + "/delete",
		first, first + "/history", first + "/history?before=500", first + "/diff?a=1&b=900", first + "/redact", first + "/restore?to=1",
		"log", "log?who=u-admin", "log?who=u-berta000", "log?prefix=urn:dns:other.example", "log?from=2026-11-19&to=2026-11-19", "log/" + strconv.Itoa(n/2), "log/1/proof.json",
		first + "/record.json",
		"authorities", "authorities/new", own, own + "/edit", own + "/text", own + "/history", own + "/restore?to=1",
		"misses", "misses/alias?name=" + largeName(n+1) + "&of=" + largeName(0),
		"users", "users/new", "users/" + berta, "users/" + berta + "/edit", "users/" + berta + "/disable", "users/" + berta + "/link", "users/" + berta + "/redact", "users/" + berta + "/history",
		"tokens", "tokens/new", "tokens/made", "tokens/revoke/0000", "jobs", "jobs/" + checkedJob, "jobs/" + checkedJob + "/rejects", "upload", "relocate", "retire", "merge",
		"mint", "mint/made?after=0&until=100&who=u-admin", "mint/made.csv?after=0&until=100&who=u-admin",
		"statistics", "statistics/report", "statistics/changes.csv", "statistics/people.csv", "statistics/names.csv", "links", "settings", "me",
	}
}

// TestClientBudget measures every page of a large store, also during an import. NOMEN_NAMES is its
// size, and NOMEN_DIR keeps it.
func TestClientBudget(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("NOMEN_NAMES"))
	if err != nil {
		n = 1_000_000
	}
	s := newLargeSite(t, n)
	paths := largePaths(n)
	wantAllRoutes(t, paths)
	b := budget{s, s.serve(), browsertest.Start(t)}
	t.Run("rest", func(t *testing.T) { b.measure(t, paths) })
	t.Run("counted", func(t *testing.T) {
		t.Logf("counted after %v", s.counted(t).Round(time.Second))
		b.measure(t, []string{"statistics", "statistics/report", "statistics/changes.csv", "statistics/people.csv", "statistics/names.csv", "links"})
	})
	t.Run("import", func(t *testing.T) {
		ended := s.startImport(t, n/9)
		for round := 1; ; round++ {
			b.measure(t, paths)
			if state := ended(); state != adminapi.JobRunning {
				t.Logf("round %d was the last: the import is %s", round, state)
				return
			}
		}
	})
}

// wantAllRoutes checks that each route that shows a page has a path.
func wantAllRoutes(t *testing.T, paths []string) {
	t.Helper()
	mux, missing := http.NewServeMux(), map[string]bool{}
	for _, handlers := range allHandlers() {
		for route := range handlers {
			if method, path, _ := strings.Cut(route, " "); method == http.MethodGet {
				mux.Handle(method+" "+Root+path, http.NotFoundHandler())
				missing[method+" "+Root+path] = true
			}
		}
	}
	for _, path := range paths {
		_, route := mux.Handler(httptest.NewRequest(http.MethodGet, Root+path, nil))
		delete(missing, route)
	}
	for route := range missing {
		t.Errorf("%s is not measured", route)
	}
}

// A budget measures the pages of a site.
type budget struct {
	site *site
	root string
	ctx  context.Context // of the browser
}

// measure measures the pages at some paths.
func (b *budget) measure(t *testing.T, paths []string) {
	t.Helper()
	for _, path := range paths {
		a, cold, warm := b.site.times(path)
		paint := math.NaN() // of a file
		if a.Header().Get("Content-Disposition") == "" {
			paint = b.paint(t, path)
		}
		t.Logf("| `%s` | %d | %.1f | %.1f | %.0f |", path, a.Body.Len(), ms(cold), ms(warm), paint)
		if warm > maxServer || paint > ms(maxPaint) || a.Body.Len() > maxPage || a.Code >= 400 && !strings.HasPrefix(path, "names?q=") {
			t.Errorf("%s: got %d, %d bytes, %v at the server, and %.0f ms until the first paint; want at most %d, %v and %v", path, a.Code, a.Body.Len(), warm, paint, maxPage, maxServer, maxPaint)
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// paint returns the shortest time in milliseconds until the first paint of three.
func (b *budget) paint(t *testing.T, path string) float64 {
	t.Helper()
	paint := math.Inf(1)
	for range 3 {
		browsertest.Do(t, b.ctx, chromedp.Navigate(b.root+path))
		paint = min(paint, browsertest.See(t, b.ctx, chromedp.Evaluate[float64](firstPaint, chromedp.EvalAwaitPromise)))
	}
	return paint
}

// counted waits until the server has counted the names, and returns how long that took.
func (s *site) counted(t *testing.T) time.Duration {
	t.Helper()
	client := s.api.Client(people()["admin"])
	for range time.Tick(time.Second) {
		is, err := client.Statistics(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if !is.Counted.IsZero() && !is.Counting {
			return time.Since(is.Counted)
		}
	}
	return 0
}

// startImport starts an import of n names, and returns a function that returns its state.
func (s *site) startImport(t *testing.T, n int) func() string {
	t.Helper()
	r, w := io.Pipe()
	go func() {
		out, now := bufio.NewWriter(w), time.Now().Unix()
		for i := range n {
			fmt.Fprintf(out, `{"name":"urn:dns:imported.example:%08d","locations":[{"url":"https://imported.example/%d/%d"}],"metadata":{"title":["Imported number %d"]}}`+"\n", i, now, i, i)
		}
		_ = w.CloseWithError(out.Flush())
	}()
	client := s.api.Client(people()["admin"])
	j, err := client.StartImport(t.Context(), r, bulk.ImportOptions{Format: bulk.JSONLines}, adminapi.Background{Key: adminapi.NewJobID()})
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		now, err := client.Job(t.Context(), j.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now.State
	}
}

// firstPaint is the time from the beginning of a request until the browser shows something.
const firstPaint = `new Promise(done => new PerformanceObserver((list, o) => { o.disconnect(); done(list.getEntries()[0].startTime); }).observe({type: "paint", buffered: true}))`

// times gets a page five times, and returns it with the time of the first answer and the shortest
// time: others use the machine too.
func (s *site) times(path string) (a *answer, first, shortest time.Duration) {
	s.t.Helper()
	var all []time.Duration
	for range 5 {
		start := time.Now()
		a = s.get(path)
		all = append(all, time.Since(start))
	}
	return a, all[0], slices.Min(all)
}
