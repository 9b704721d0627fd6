//go:build clients

package chart_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen/internal/browsertest"
	"github.com/nomen-project/nomen/internal/chart"
)

// misplaced lists the texts that are outside of their picture or on another text.
const misplaced = `[...document.querySelectorAll("svg")].flatMap(svg => {
	const out = [], box = svg.viewBox.baseVal, seen = [];
	for (const text of svg.querySelectorAll("text")) {
		const b = text.getBBox();
		if (b.x < -1 || b.y < -1 || b.y + b.height > box.height + 1 || b.x + b.width > box.width + 1) {
			out.push(svg.getAttribute("aria-labelledby") + ": outside: " + text.textContent);
		}
		for (const [other, o] of seen) {
			if (b.x < o.x + o.width && o.x < b.x + b.width && b.y + b.height*0.2 < o.y + o.height*0.8 && o.y + o.height*0.2 < b.y + b.height*0.8) {
				out.push(svg.getAttribute("aria-labelledby") + ": overlap: " + text.textContent + " / " + other);
			}
		}
		seen.push([text.textContent, b]);
	}
	return out;
})`

// refused lists scripts, what the policy of the page would refuse, and areas that are not painted
// because their pattern is missing.
const refused = `[
	...[...document.querySelectorAll("script, figure [style], figure style")].map(e => e.outerHTML),
	...[...document.querySelectorAll("rect[fill]")].filter(e => !document.querySelector(e.getAttribute("fill").slice(4, -1))).map(e => e.outerHTML),
]`

// TestClientCharts draws all charts with a browser, light and dark, wide and narrow, under a
// strict policy, and checks that texts have room. With -artifacts it keeps the pictures.
func TestClientCharts(t *testing.T) {
	server := httptest.NewServer(gallery(t))
	t.Cleanup(server.Close)
	for scheme, setting := range map[string]string{"dark": "0", "light": "1"} {
		ctx := browsertest.Start(t, chromedp.Flag("blink-settings", "preferredColorScheme="+setting))
		for _, columns := range []int64{320, 1000} {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(columns, 900), chromedp.Navigate(server.URL)); err != nil {
				t.Fatal(err)
			}
			n, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.querySelectorAll("svg text").length`))
			if err != nil || n < 100 {
				t.Errorf("%d texts: %v", n, err)
			}
			for what, script := range map[string]string{"texts without room": misplaced, "faults": refused} {
				faults, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](script))
				if err != nil || len(faults) > 0 {
					t.Errorf("%s, %d pixels: %s: %q: %v", scheme, columns, what, faults, err)
				}
			}
			png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d.png", scheme, columns)), png, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// gallery serves a page with all samples, whose policy allows only its own style sheet.
func gallery(t *testing.T) http.Handler {
	t.Helper()
	charts := samples(t)
	page := `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Charts</title><link rel="stylesheet" href="/style.css">`
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		page += string(charts[name])
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'")
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, page)
	})
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		_, _ = io.WriteString(w, ":root { color-scheme: light dark; } body { font: 17px/1.5 sans-serif; } "+chart.CSS)
	})
	return mux
}
