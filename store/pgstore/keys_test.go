package pgstore

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/store"
)

// TestBounds compares the keys within the bounds with those that match a scan.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		odd := rapid.StringOfN(rapid.RuneFrom([]rune("!a~\x00 \x7fä")), 0, 4, -1)
		key := rapid.StringOfN(rapid.RuneFrom([]rune("!a}~")), 1, 4, -1).Draw(r, "key")
		scan := store.Scan{Prefix: odd.Draw(r, "prefix"), After: odd.Draw(r, "after")}
		lower, upper, ok := bounds(scan)
		got := ok && key >= lower && key < upper
		want := strings.HasPrefix(key, scan.Prefix) && key > scan.After
		if got != want {
			r.Errorf("%q in %+v: %t by the bounds %q and %q, want %t", key, scan, got, lower, upper, want)
		}
		for _, bound := range []string{lower, upper} {
			if ok && strings.ContainsFunc(bound, func(c rune) bool { return c <= ' ' || c > 0x7f }) {
				r.Errorf("%+v: the bound %q cannot be asked for", scan, bound)
			}
		}
	})
}
