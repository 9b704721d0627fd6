//go:build clients || attack

package browsertest

import (
	"context"
	_ "embed" // for the scripts
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed layout.js
var layout string

//go:embed axe-run.js
var axeRun string

//go:embed forced.js
var forced string

//go:embed tab.js
var tab string

// axe returns the source of axe-core, which scripts/prepare.sh clients installs.
func axe(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		script, err := os.ReadFile(filepath.Join(dir, "bin", "tools", "axe-core-4.14.1.js"))
		if err == nil {
			return string(script)
		}
	}
	t.Fatal("axe-core not found: run scripts/prepare.sh clients")
	return ""
}

// Axe returns the violations that axe-core finds on the page, by its rules for WCAG 2.2 AA and its
// best practices.
func Axe(t testing.TB, ctx context.Context) []string {
	t.Helper()
	if !See(t, ctx, chromedp.Evaluate[bool]("!!window.axe")) {
		See(t, ctx, chromedp.Evaluate[bool](axe(t)+";true"))
	}
	return See(t, ctx, chromedp.Evaluate[[]string](axeRun, chromedp.EvalAwaitPromise))
}

// Layout returns what is hidden or too small in a window of this width.
func Layout(t testing.TB, ctx context.Context) []string {
	t.Helper()
	return See(t, ctx, chromedp.Evaluate[[]string](layout))
}

// Faults returns the accessibility problems of the page. It checks a narrow and a wide window,
// light, dark and forced colours, and the use of the keyboard. The narrow window has the size of a
// window of 1,280 × 1,024 pixels at a zoom of 400 %.
func Faults(t testing.TB, ctx context.Context) (all []string) {
	t.Helper()
	add := func(where string, faults []string) {
		for _, f := range faults {
			all = append(all, where+": "+f)
		}
	}
	Do(t, ctx, chromedp.EmulateViewport(320, 256, chromedp.EmulateScale(4)))
	add("zoom 400 %", Layout(t, ctx))
	Do(t, ctx, chromedp.EmulateViewport(1280, 1024))
	add("wide", Layout(t, ctx))
	for _, scheme := range []string{"light", "dark"} {
		Do(t, ctx, Prefer("prefers-color-scheme", scheme))
		add("axe, "+scheme, Axe(t, ctx))
	}
	Do(t, ctx, Prefer("forced-colors", "active"))
	add("forced colours", See(t, ctx, chromedp.Evaluate[[]string](forced)))
	Do(t, ctx, Prefer("prefers-reduced-motion", "reduce")) // scrolling then takes no time
	_, faults := Tabs(t, ctx)
	add("keyboard", faults)
	return all
}

// Tabs presses Tab until every element has had the focus. It returns the elements in this order,
// and the problems that it has found.
func Tabs(t testing.TB, ctx context.Context) (order, faults []string) {
	t.Helper()
	want := See(t, ctx, chromedp.Evaluate[[]string](tab+".all()"))
	for range want {
		Do(t, ctx, chromedp.KeyEvent(kb.Tab))
		at := See(t, ctx, chromedp.Evaluate[[]string](tab+".now()"))
		order, faults = append(order, at[0]), append(faults, at[1:]...)
	}
	if strings.Join(order, "\n") != strings.Join(want, "\n") {
		faults = append(faults, "Tab goes to\n"+strings.Join(order, "\n")+"\nwant\n"+strings.Join(want, "\n"))
	}
	return order, faults
}
