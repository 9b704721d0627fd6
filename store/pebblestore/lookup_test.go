package pebblestore

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// filled opens a store on disk with n names, all in the lowest level.
func filled(t *testing.T, n int) (s *Store, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i := 0; i < n; i += 1000 {
		numbers := make([]int, 0, 1000)
		for j := i; j < i+1000; j++ {
			numbers = append(numbers, j)
		}
		write(t, s, numbers...)
	}
	if err := settled(t, s); err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// again closes s and opens its directory with the options o.
func again(t *testing.T, s *Store, o Options) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// look looks up random names of the first n. It returns, for each lookup on average, how many
// blocks were requested and how many were read from files.
func look(t *testing.T, s *Store, n, times int) (asked, read float64) {
	t.Helper()
	asked0, read0 := s.BlocksRead()
	for range times {
		want := storetest.Typical(rand.IntN(n)).Name
		r, err := s.Get(t.Context(), want, time.Time{})
		if err != nil || r.Name.Key() != want.Key() {
			t.Fatalf("got %v, %v; want %s", r, err, want)
		}
	}
	asked1, read1 := s.BlocksRead()
	return float64(asked1-asked0) / float64(times), float64(read1-read0) / float64(times)
}

// TestBlocks checks that a lookup in the lowest level requests an index block and a data block, and
// that the lookup of a missing name requests no more.
func TestBlocks(t *testing.T) {
	const n = 30_000
	s, _ := filled(t, n)
	if asked, _ := look(t, s, n, 2000); asked > 2.1 {
		t.Errorf("a look-up asks for %.2f blocks, want 2", asked)
	}
	asked0, _ := s.BlocksRead()
	for i := range 1000 {
		absent := name.FromKey(storetest.Typical(i).Name.Key() + "x")
		if r, err := s.Get(t.Context(), absent, time.Time{}); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("%s: got %v, %v", absent, r, err)
		}
	}
	if asked, _ := s.BlocksRead(); asked-asked0 > 2100 {
		t.Errorf("1000 look-ups of what is not there ask for %d blocks, want 2000", asked-asked0)
	}
}

// TestWarm checks that names that were read in the background are not read again, and that reading
// in the background ends.
func TestWarm(t *testing.T) {
	const n = 20_000
	s, dir := filled(t, n)
	s = again(t, s, Options{Dir: dir, CacheSize: 64 << 20})
	if _, read := look(t, s, n, 500); read == 0 {
		t.Error("a cold look-up read nothing from files")
	}
	s = again(t, s, Options{Dir: dir, CacheSize: 64 << 20})
	s.engine.Load().warm(64 << 20)
	if _, read := look(t, s, n, 500); read > 0 {
		t.Errorf("a warm look-up read %.2f blocks from files", read)
	}
	const small = 1 << 20
	s = again(t, s, Options{Dir: dir, CacheSize: small})
	s.engine.Load().warm(small)
	if size := s.engine.Load().db.Metrics().BlockCache.Size; size == 0 || size > small {
		t.Errorf("a cache of %d bytes has %d", small, size)
	}
	s = again(t, s, Options{Dir: dir, Warm: true})
	if err := s.Close(); err != nil { // while names are being read in the background
		t.Error(err)
	}
}

// TestTidy checks that names in several levels are in one level after Tidy, and that all of them
// are found there.
func TestTidy(t *testing.T) {
	const n = 20_000
	s, dir := filled(t, n)
	s = again(t, s, Options{Dir: dir, baseSize: 64 << 10})
	var changes []store.Change
	for i := range n / 4 {
		r := storetest.Typical(4 * i)
		r.Locations = nil
		changes = append(changes, store.Change{Record: r, Expected: store.AnyRevision, Time: time.Unix(1, 0)})
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	if err := s.engine.Load().db.Flush(); err != nil {
		t.Fatal(err)
	}
	if above, _ := s.engine.Load().names(); len(above) == 0 {
		t.Fatal("there is nothing above the lowest level")
	}
	if err := s.engine.Load().tidy(t.Context(), func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	if above, _ := s.engine.Load().names(); len(above) == 0 {
		t.Error("what was to stop went on")
	}
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if above, all := sizes(s.engine.Load().names()); above != 0 || all < 2 {
		t.Errorf("%d bytes of %d are above the lowest level", above, all)
	}
	if asked, _ := look(t, s, n, 2000); asked > 2.1 {
		t.Errorf("a look-up asks for %.2f blocks, want 2", asked)
	}
	if _, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("verify: %+v", f) }, nil); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	write(t, s, n)
	if err := s.Tidy(ended); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	s = again(t, s, Options{Dir: dir, ReadOnly: true})
	if err := s.Tidy(t.Context()); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("got %v, want store.ErrReadOnly", err)
	}
}
