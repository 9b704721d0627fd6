//go:build clients

package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// browser returns a context of a new browser.
func browser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// do does in a browser what a person does, one step after the other.
func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// see returns what a person sees in a browser.
func see[T any](t *testing.T, ctx context.Context, what chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, what)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// serve serves the pages to a browser in which a user is signed in.
func (s *site) serve() string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.AddCookie(&http.Cookie{Name: "who", Value: s.who})
		s.pages.ServeHTTP(w, r)
	}))
	s.t.Cleanup(srv.Close)
	return srv.URL + Root
}

// layoutFaults returns what is wider than the window, what is too small to hit, and fields
// without a label.
const layoutFaults = `(() => {
	const faults = [], wide = document.documentElement.scrollWidth - innerWidth;
	if (wide > 0) faults.push(wide + " px wider than the window");
	for (const e of document.querySelectorAll("button, select, textarea, summary, input[type=text], nav a, .button, .choice label")) {
		const r = e.getBoundingClientRect();
		if (r.width > 0 && r.right > 0 && (r.height < 43.9 || r.width < 24)) faults.push(e.outerHTML.slice(0, 80) + " is " + r.width + " x " + r.height);
	}
	for (const e of document.querySelectorAll("td a, th a, dd a, li a, td input")) {
		const r = e.getBoundingClientRect();
		if (r.height < 24 || r.width < 8) faults.push(e.outerHTML.slice(0, 80) + " is " + r.width + " x " + r.height);
	}
	for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
		if (e.labels.length == 0 && !e.ariaLabel) faults.push(e.outerHTML.slice(0, 80) + " has no label");
	return faults;
})()`

// TestClientLayout opens every page in a narrow and in a wide window.
func TestClientLayout(t *testing.T) {
	s := newSite(t)
	s.change(alb, "moved to a longer place", func(r *store.Record) {
		r.Locations = append(r.Locations, nomen.Location{URL: "https://example.org/" + fmt.Sprintf("%0300d", 7), Type: "text/html", Lang: "de", Note: "a note"})
		r.Metadata = nomen.Metadata{"title": {"A title that is quite long, as titles of albums are"}}
	})
	root, ctx := s.serve(), browser(t)
	for _, width := range []int64{320, 1280} {
		for _, path := range []string{
			"", "names", "names?prefix=urn:dns:", "names?q=urn:dns:example.org:a|b", "names?q=https://example.org/", "names?q=urn:dns:example.org:none", "new",
			nameAt(alb), nameAt(alb) + "?at=never", nameAt(alb) + "/history", nameAt(alb) + "/diff?a=1&b=2", nameAt(alb) + "/edit",
			nameAt(alb) + "/retire", nameAt(alb) + "/restore?to=1", nameAt(alb) + "/redact", "nothing",
			nameAt("urn:dns:example.org:secret") + "/delete",
		} {
			do(t, ctx, chromedp.EmulateViewport(width, 700), chromedp.Navigate(root+path))
			for _, fault := range see(t, ctx, chromedp.Evaluate[[]string](layoutFaults)) {
				t.Errorf("%s at %d px: %s", path, width, fault)
			}
		}
	}
}

// TestClientEdit edits a name with the keyboard. Enter in a field saves, and does not press the
// first of the other buttons.
func TestClientEdit(t *testing.T) {
	s := newSite(t)
	root, ctx := s.serve(), browser(t)
	do(t, ctx,
		chromedp.Navigate(root+nameAt(alb)+"/edit"),
		chromedp.Click("button[value=add-location]"),
		chromedp.WaitVisible("#location-1-url"),
		chromedp.SendKeys("#location-1-url", "https://example.org/typed\r"),
		chromedp.WaitVisible(".notice"),
	)
	if got := s.record(alb); len(got.Locations) != 2 || got.Locations[1].URL != "https://example.org/typed" {
		t.Errorf("got %+v", got)
	}
	do(t, ctx,
		chromedp.Navigate(root+nameAt(alb)+"/edit"),
		chromedp.SendKeys("#location-1-url", " x y\r"),
		chromedp.WaitVisible(".faults"),
	)
	if got := see(t, ctx, chromedp.Evaluate[string]("document.activeElement.className")); got != "faults" {
		t.Errorf("after an error the focus is on %q", got)
	}
}
