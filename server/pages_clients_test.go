//go:build clients

package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/browsertest"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// newReadingRoom serves names as readers see them, on a free port, and returns the URL.
func newReadingRoom(t *testing.T) string {
	t.Helper()
	library := ofLibrary(t)
	var st store.Store
	s, _ := newTestServer(t, func(o *Options) {
		library(o)
		st = o.Store.(store.Store)
	})
	long := strings.Repeat("a-long-part-", 20)
	record := func(key string, at time.Time, r store.Record) {
		r.Name, r.Spelling = name.MustParse(key), key
		if _, err := st.Apply(t.Context(), []store.Change{{Record: &r, Expected: store.AnyRevision, Time: at}}); err != nil {
			t.Fatal(err)
		}
	}
	rich := store.Record{
		Status: nomen.Active, SameAs: []string{"urn:doi:10.17487/rfc2648"},
		Locations: []nomen.Location{
			{URL: "https://example.org/thesis.pdf", Type: "application/pdf", Lang: "de", Note: "The whole thesis"},
			{URL: "https://example.org/" + long, Type: "text/html", Priority: 2},
		},
		Metadata: nomen.Metadata{"title": {"Measuring the growth of moss on library roofs"}, "creator": {"Moss, Anna"}, "description": {long}, "date": {"1999-08-05"}},
	}
	record("urn:dns:example.org:thesis", modified, store.Record{Status: nomen.Active, Metadata: rich.Metadata})
	record("urn:dns:example.org:thesis", modified.Add(time.Hour), rich)
	record("urn:dns:example.org:"+long, modified, rich)
	gone := store.Record{
		Status: nomen.Retired, Reason: "withdrawn by the author", ShowLocations: true, Metadata: rich.Metadata, Successors: []string{"urn:dns:example.org:thesis", "urn:dns:example.org:alb002"},
		Locations: []nomen.Location{{URL: "https://archive.example/copy", Rel: "archive"}},
	}
	record("urn:dns:example.org:gone", modified, rich)
	record("urn:dns:example.org:gone", modified.Add(time.Hour), gone)
	hostile := rich
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	hostile.Metadata = nomen.Metadata{"title": {evil + "\u202e"}, "creator": {evil}, "x-" + evil: {evil}}
	hostile.Locations = []nomen.Location{{URL: "https://example.org/", Note: evil}}
	record("urn:dns:example.org:hostile", modified, hostile)
	return "http://" + listen(t, s).Public.String()
}

// readerPages are the paths of the pages that readers see, by a short name.
func readerPages() map[string]string {
	return map[string]string{
		"home": "/", "name": "/urn:dns:example.org:thesis?s=I2C", "past": "/urn:dns:example.org:thesis?s=I2C&at=2026-11-19T08:45:00Z", "long": "/urn:dns:example.org:" + strings.Repeat("a-long-part-", 20) + "?s=I2C",
		"gone": "/urn:dns:example.org:gone", "unknown": "/urn:dns:example.org:Thesis", "malformed": "/urn:dns:example.org:a%250", "hostile": "/urn:dns:example.org:hostile?s=I2C",
		"explain": "/?name=urn:dns:example.org:thesis", "mistake": "/?name=ISBN+0-451-45052-3", "page": "/-/nothing", "problem": "/-/problems/retired", "registries": "/-/registry/", "registry": "/-/registry/services",
		"authority": "/urn:dns:example.org:urn+m",
	}
}

// TestClientPages opens every page of readers in light and dark, narrow, enlarged and with forced
// colours, walks through it with the keyboard, and looks for scripts that run and for violations
// of the policy. If NOMEN_TEST_PICTURES names a directory, pictures of the pages are kept there.
func TestClientPages(t *testing.T) {
	base, ctx := newReadingRoom(t), browsertest.Start(t)
	watch := browsertest.NewWatch(t, ctx)
	for label, path := range readerPages() {
		t.Run(label, func(t *testing.T) {
			browsertest.Do(t, ctx, chromedp.EmulateViewport(1280, 1024), chromedp.Navigate(base+path))
			for _, said := range watch.Take() {
				t.Error(said)
			}
			if got := browsertest.See(t, ctx, chromedp.Evaluate[string](`document.querySelector("header .home").innerText`)); got != "Library & <Archive>" {
				t.Errorf("the site is %q", got)
			}
			if size := browsertest.See(t, ctx, chromedp.Evaluate[int](`document.querySelector("header img").naturalWidth`)); size == 0 {
				t.Error("the logo was not loaded")
			}
			for _, fault := range browsertest.Faults(t, ctx) {
				t.Error(fault)
			}
			keepPictures(t, ctx, label)
		})
	}
}

// keepPictures keeps pictures of the present page.
func keepPictures(t *testing.T, ctx context.Context, label string) {
	t.Helper()
	dir := os.Getenv("NOMEN_TEST_PICTURES")
	if dir == "" {
		return
	}
	media := func(kind, scheme string) chromedp.Action[chromedp.Void] {
		p := emulation.SetEmulatedMediaParams{Media: kind, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, p)
			return err
		})
	}
	for view, set := range map[string][]chromedp.Action[chromedp.Void]{
		"light": {media("screen", "light"), chromedp.EmulateViewport(1000, 900)}, "dark": {media("screen", "dark"), chromedp.EmulateViewport(1000, 900)},
		"narrow": {media("screen", "light"), chromedp.EmulateViewport(320, 900)}, "print": {media("print", "dark"), chromedp.EmulateViewport(800, 900)},
	} {
		browsertest.Do(t, ctx, set...)
		picture := browsertest.See(t, ctx, chromedp.FullScreenshot(90))
		if err := os.WriteFile(filepath.Join(dir, label+"-"+view+".jpg"), picture, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// TestClientReader pastes a name without JavaScript, reads what it is, goes to an earlier day, and
// follows the way from a page about a misprint to the registered name.
func TestClientReader(t *testing.T) {
	base, ctx := newReadingRoom(t), browsertest.Start(t, browsertest.WithoutScript())
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	browsertest.Do(t, ctx,
		chromedp.Navigate(base+"/"),
		chromedp.SendKeys("#name", " urn:dns:example.org: thesis\r"),
		chromedp.WaitVisible("#lead"),
		chromedp.Click(`a[href$="?s=I2C"]`),
		chromedp.WaitVisible("main .where"),
	)
	text := browsertest.See(t, ctx, chromedp.Text("main"))
	for _, want := range []string{"Measuring the growth of moss", "https://example.org/thesis.pdf", "How to cite it", base + "/urn:dns:example.org:thesis", "History"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	browsertest.Do(t, ctx, chromedp.SetValue("#at", "2026-11-19"), chromedp.Click("form button"), chromedp.WaitVisible("main .banner"))
	if at := browsertest.See(t, ctx, chromedp.Location()); at != base+"/urn:dns:example.org:thesis?s=I2C&at=2026-11-19" {
		t.Errorf("at %s", at)
	}
	browsertest.Do(t, ctx, chromedp.Navigate(base+"/urn:dns:example.org:Thesis"), chromedp.WaitVisible("main li a"))
	if got := browsertest.See(t, ctx, chromedp.Text("main li a")); got != "urn:dns:example.org:thesis" {
		t.Errorf("suggested %q", got)
	}
}

// TestClientGo goes from the home page to a resource on another server in one step. The policy of
// the home page must not keep the browser from following the redirects of its form.
func TestClientGo(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>There</title><h1 id=landed>There</h1>")
	}))
	t.Cleanup(there.Close)
	s, st := newTestServer(t, ofLibrary(t))
	put(t, st, &store.Record{Spelling: "urn:dns:example.org:away", Status: nomen.Active, Locations: []nomen.Location{{URL: there.URL + "/x"}}})
	ctx, cancel := context.WithTimeout(browsertest.Start(t), 30*time.Second)
	defer cancel()
	home := "http://" + listen(t, s).Public.String() + "/"
	browsertest.Do(t, ctx,
		chromedp.Navigate(home),
		chromedp.SendKeys("#name", "urn:dns:example.org:away"),
		chromedp.Click("button[formaction]"),
		chromedp.WaitVisible("#landed"),
	)
	if at := browsertest.See(t, ctx, chromedp.Location()); at != there.URL+"/x" {
		t.Errorf("at %s", at)
	}
	visited := browsertest.See(t, ctx, chromedp.NavigationEntries())
	if back := visited.Entries[visited.CurrentIndex-1].URL; back != home {
		t.Errorf("the button Back leads to %s, want %s", back, home)
	}
}
