//go:build clients

package pages

import (
	"context"
	"flag"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/internal/browsertest"
)

var update = flag.Bool("update", false, "write the golden file of the order of Tab anew")

// serve serves the pages to a browser in which a user is signed in.
func (s *site) serve() string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == Root+sender {
			showSender(w, r)
			return
		}
		r.AddCookie(&http.Cookie{Name: "who", Value: s.who})
		s.pages.ServeHTTP(w, r)
	}))
	s.t.Cleanup(srv.Close)
	return srv.URL + Root
}

// sender is the path of a page with a button that sends any form.
const sender = "send"

func showSender(w http.ResponseWriter, r *http.Request) {
	form, _ := url.ParseQuery(r.FormValue("form")) // ours
	fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><title>Send</title><form method="post" action="%s">`, html.EscapeString(Root+r.FormValue("to")))
	for key, values := range form {
		fmt.Fprintf(w, `<input type="hidden" name="%s" value="%s">`, html.EscapeString(key), html.EscapeString(values[0]))
	}
	fmt.Fprint(w, `<button>Send</button></form>`)
}

// smallTargets returns what is less than 44 pixels high: more than WCAG 2.2 AA requires.
const smallTargets = `[...document.querySelectorAll("button, select, textarea, summary, input[type=text], nav a, .button, .choice label")].
	map(e => [e, e.getBoundingClientRect()]).
	filter(([e, r]) => r.width > 0 && r.right > 0 && (r.height < 43.9 || r.width < 24)).
	map(([e, r]) => e.outerHTML.slice(0, 80) + " is " + r.width + " x " + r.height)`

// A theatre shows the sites of a stage to a browser.
type theatre struct {
	*stage
	urls map[string]string // of servers, by site and user
}

func (th *theatre) key(r row) string {
	s := th.of(r)
	return fmt.Sprintf("%p %s", s.store, s.who)
}

// open opens the page of a row.
func (th *theatre) open(t *testing.T, ctx context.Context, r row) {
	t.Helper()
	key := th.key(r)
	if th.urls[key] == "" {
		th.urls[key] = th.of(r).serve()
	}
	root := th.urls[key]
	if r.form == "" {
		browsertest.Do(t, ctx, chromedp.Navigate(root+r.path))
		return
	}
	browsertest.Do(t, ctx, chromedp.Navigate(root+sender+"?"+url.Values{"to": {r.path}, "form": {r.form}}.Encode()), chromedp.Click("button"), chromedp.WaitReady("main"))
}

// german returns what is wrong with the layout in German, whose words are longer.
func (th *theatre) german(t *testing.T, ctx context.Context, r row) []string {
	t.Helper()
	cookie := func(value string) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, network.SetCookie, network.SetCookieParams{Name: "lang", Value: value, URL: th.urls[th.key(r)], Path: Root})
			return err
		})
	}
	browsertest.Do(t, ctx, cookie("de"))
	th.open(t, ctx, r)
	browsertest.Do(t, ctx, cookie("en"), chromedp.EmulateViewport(320, 256))
	if lang := browsertest.See(t, ctx, chromedp.Evaluate[string]("document.documentElement.lang")); lang != "de" {
		t.Errorf("%s: in the language %q, want de", r, lang)
	}
	return browsertest.Layout(t, ctx)
}

// TestClientRows opens every page, and looks for what some people could not use.
func TestClientRows(t *testing.T) {
	th := &theatre{newStage(t), map[string]string{}}
	ctx := browsertest.Start(t)
	watch := browsertest.NewWatch(t, ctx)
	orders := ""
	for _, r := range allRows() {
		if r.file {
			continue
		}
		th.open(t, ctx, r)
		faults := append(browsertest.Faults(t, ctx), browsertest.See(t, ctx, chromedp.Evaluate[[]string](smallTargets))...)
		for _, fault := range append(faults, watch.Take()...) {
			t.Errorf("%s: %s", r, fault)
		}
		if r.state == "full" {
			for _, fault := range th.german(t, ctx, r) {
				t.Errorf("%s, in German: %s", r, fault)
			}
			th.open(t, ctx, r)
			orders += tabOrder(t, ctx, r)
		}
	}
	wantGolden(t, "testdata/tab-order.txt", orders)
}

// tabOrder returns what Tab reaches on a page of a row, without the navigation.
func tabOrder(t *testing.T, ctx context.Context, r row) string {
	t.Helper()
	order, _ := browsertest.Tabs(t, ctx)
	order = slices.DeleteFunc(order, func(at string) bool { return strings.HasPrefix(at, "button lang=") }) // of the footer
	text := strings.Join(order, "\n") + "\n"
	if _, rest, ok := strings.Cut(text, "button Sign out\n"); ok && r.route != "GET {$}" {
		text = rest
	}
	return "# " + r.String() + "\n" + text
}

// wantGolden compares a text with a file.
func wantGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, string(want)); d != "" {
		t.Errorf("%s (got -, want +; -update writes it anew):\n%s", file, d)
	}
}

// TestClientEdit edits a name with the keyboard. Enter in a field saves, and does not press the
// first of the other buttons.
func TestClientEdit(t *testing.T) {
	s := newSite(t)
	root, ctx := s.serve(), browsertest.Start(t)
	browsertest.Do(t, ctx,
		chromedp.Navigate(root+nameAt(alb)+"/edit"),
		chromedp.Click("button[value=add-location]"),
		chromedp.WaitVisible("#location-1-url"),
		chromedp.SendKeys("#location-1-url", "https://example.org/typed\r"),
		chromedp.WaitVisible(".notice"),
	)
	if got := s.record(alb); len(got.Locations) != 2 || got.Locations[1].URL != "https://example.org/typed" {
		t.Errorf("got %+v", got)
	}
	browsertest.Do(t, ctx,
		chromedp.Navigate(root+nameAt(alb)+"/edit"),
		chromedp.SendKeys("#location-1-url", " x y\r"),
		chromedp.WaitVisible(".faults"),
	)
	if got := browsertest.See(t, ctx, chromedp.Evaluate[string]("document.activeElement.className")); got != "faults" {
		t.Errorf("after an error the focus is on %q", got)
	}
}
