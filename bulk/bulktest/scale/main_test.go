//go:build unix

package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// TestHundredThousand loads a hundred thousand names and looks some of them up, which must be
// found. Then it opens the existing store, and looks names up again.
func TestHundredThousand(t *testing.T) {
	const n = 100_000
	dir := filepath.Join(t.TempDir(), "store")
	forgotten := 0
	for _, open := range []bool{false, true} {
		r := run{n: n, dir: dir, subs: 1, samples: 2000, open: open, forget: func() { forgotten++ }}
		if err := r.all(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if forgotten == 0 {
		t.Error("the cold look-ups were not cold")
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, last := 0, ""
	for rec, err := range s.List(t.Context(), store.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Name.Key() <= last || rec.Revision != 1 || rec.Modified.After(time.Now()) {
			t.Fatalf("%s after %s, revision %d, of %s", rec.Name, last, rec.Revision, rec.Modified)
		}
		got, last = got+1, rec.Name.Key()
	}
	if got != n {
		t.Errorf("got %d names, want %d", got, n)
	}
	again := run{n: n, dir: dir, subs: 1, samples: 1, forget: func() {}}
	if err := again.all(t.Context()); err == nil {
		t.Error("a store that was there was loaded over")
	}
}
