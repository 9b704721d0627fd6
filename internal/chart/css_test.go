package chart_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/chart"
)

// colours returns the values of the custom properties in the first block of a style sheet
// after a text.
func colours(t *testing.T, after string) map[string]string {
	t.Helper()
	_, rest, ok := strings.Cut(chart.CSS, after)
	_, rest, ok2 := strings.Cut(rest, ".chart {")
	block, _, ok3 := strings.Cut(rest, "}")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("no block after %q", after)
	}
	found := map[string]string{}
	for declaration := range strings.SplitSeq(block, ";") {
		if name, value, ok := strings.Cut(declaration, ":"); ok && strings.HasPrefix(strings.TrimSpace(name), "--") {
			found[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return found
}

// luminance returns the relative luminance of a colour #rgb or #rrggbb (WCAG 2.2).
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	digits := strings.TrimPrefix(colour, "#")
	if len(digits) == 3 {
		digits = strings.Repeat(digits[:1], 2) + strings.Repeat(digits[1:2], 2) + strings.Repeat(digits[2:], 2)
	}
	rgb, err := strconv.ParseUint(digits, 16, 24)
	if err != nil || len(digits) != 6 {
		t.Fatalf("colour %q: %v", colour, err)
	}
	linear := func(c uint64) float64 {
		s := float64(c&0xff) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8) + 0.0722*linear(rgb)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast checks that each colour has a contrast of 4.5:1 to the page and to what is drawn
// on it, in light and dark, where WCAG 2.2 asks for 3:1 (1.4.11).
func TestContrast(t *testing.T) {
	if got := contrast(t, "#fff", "#767676"); math.Abs(got-4.54) > 0.005 { // the known limit for grey on white
		t.Fatalf("the contrast of #767676 is %v", got)
	}
	for scheme, papers := range map[string][]string{"": {"#fff", "#f6f6f6"}, "(prefers-color-scheme: dark)": {"#161616", "#121212", "#242424"}} {
		found := colours(t, scheme)
		for i := range chart.MaxSeries {
			c := found["--c"+strconv.Itoa(i)]
			for _, paper := range append(papers, found["--ink"]) {
				if got := contrast(t, c, paper); got < 4.5 {
					t.Errorf("%q: colour %d on %s: %.2f", scheme, i, paper, got)
				}
			}
		}
	}
	if forced := colours(t, "(forced-colors: active)"); len(forced) != chart.MaxSeries+1 {
		t.Errorf("forced colours: %v", forced)
	}
}
