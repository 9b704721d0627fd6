//go:build clients

package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// bad is a page with one fault for each kind that this package looks for.
const bad = `<!DOCTYPE html><html lang="en"><head><title>Bad</title>
<style>:root { color-scheme: light dark } @media (prefers-color-scheme: dark) { #dark { color: #333; background: #222 } }
#dim { color: #aaa; background: #fff } #over:focus { outline: none } #cover { position: fixed; z-index: 1; inset: 0 0 auto auto; width: 50rem; height: 12rem; background: #fff }
#stubborn { forced-color-adjust: none } button { border: 0 } </style></head><body><main><h1>Bad</h1>
<div id="cover">cover</div>
<p id="dim">dim</p><p id="dark">dark</p>
<p style="width: 500px">wide</p>
<p style="width: 4rem; overflow: hidden; white-space: nowrap">a text that is cut off</p>
<form><input type="text" name="nameless"><button id="over">Over</button></form>
<a id="small" href="/small" style="font-size: 6px; position: absolute; top: 10px; right: 10px">x</a>
<p><mark id="stubborn">stubborn</mark></p>
<p tabindex="3" id="jumps">jumps</p>
<script>console.log("hello")</script>
</main></body></html>`

// TestClientFaults shows that each kind of fault is found.
func TestClientFaults(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/policy" {
			w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		}
		_, _ = w.Write([]byte(bad))
	}))
	t.Cleanup(s.Close)
	ctx := Start(t)
	watch := NewWatch(t, ctx)
	Do(t, ctx, chromedp.Navigate(s.URL+"/policy"))
	reported := strings.Join(watch.Take(), "\n")
	for _, want := range []string{"console: security", "issue: ContentSecurityPolicyIssue"} {
		if !strings.Contains(reported, want) {
			t.Errorf("%q is not reported:\n%s", want, reported)
		}
	}
	Do(t, ctx, chromedp.Navigate(s.URL))
	if got := strings.Join(watch.Take(), "\n"); !strings.Contains(got, "console: log") || strings.Contains(got, "security") {
		t.Errorf("reported:\n%s", got)
	}
	found := strings.Join(Faults(t, ctx), "\n")
	for _, want := range []string{
		"zoom 400 %: 1", "px wider than the window", " is cut off", " is 3", " has no label", "axe, light: color-contrast", `axe, dark: color-contrast: Elements must meet minimum color contrast ratio thresholds: <p id="dark">`,
		"axe, light: label: ", "keeps its own colours", "has no line around it", "the focus on button over cannot be seen", "is not in sight while it has the focus", "Tab goes to\ninput",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("%q is not found:\n%s", want, found)
		}
	}
}
