package links

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A fullStore is a store that a watcher can follow.
type fullStore interface {
	store.Store
	store.Feed
}

// onStores runs a test with each kind of store.
func onStores(t *testing.T, test func(t *testing.T, s fullStore)) {
	t.Run("memstore", func(t *testing.T) { test(t, memstore.New()) })
	t.Run("pebblestore", func(t *testing.T) {
		s, err := pebblestore.Open(pebblestore.Options{Dir: "store", FS: vfs.NewMem(), CacheSize: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, s)
	})
	if testing.Short() {
		return
	}
	t.Run("pgstore", func(t *testing.T) {
		server, err := pgtest.Start(pgtest.Options{})
		if err != nil {
			testrun.Missing(t, fmt.Sprintf("PostgreSQL (%v)", err))
		}
		t.Cleanup(func() { _ = server.Stop() })
		s, err := pgstore.Open(t.Context(), pgstore.Options{URL: server.URL()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, s)
	})
}

// put makes or replaces the record of a name.
func put(t *testing.T, s fullStore, key string, status nomen.Status, urls ...string) {
	t.Helper()
	r := &store.Record{Name: name.MustParse(key), Status: status}
	for _, u := range urls {
		r.Locations = append(r.Locations, nomen.Location{URL: u})
	}
	if _, err := s.Apply(t.Context(), []store.Change{{Record: r, Expected: store.AnyRevision, Time: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Settle(t.Context(), s); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
}

func openAt(t *testing.T, dir string, s Source) *Watcher {
	t.Helper()
	w, err := Open(Options{Dir: dir, Store: s, Agent: "nomen/test", Allow: func(a netip.Addr) error { return errors.New("no network in this test") }})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func known(t *testing.T, w *Watcher, url string) bool {
	t.Helper()
	_, ok, err := w.Of(url)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// TestFollow checks which locations of which stores are found, also after a restart, and that those
// without names are forgotten.
func TestFollow(t *testing.T) {
	onStores(t, func(t *testing.T, s fullStore) {
		defer s.Close()
		dir := filepath.Join(t.TempDir(), "links")
		put(t, s, "urn:example:a", nomen.Active, "http://a.example/1", "https://A.example/2", "mailto:a@a.example", "ftp://a.example/")
		put(t, s, "urn:example:b", nomen.Reserved, "http://b.example/1")
		w := openAt(t, dir, s)
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		put(t, s, "urn:example:c", nomen.Active, "http://c.example/1", "http://a.example/1")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w = openAt(t, dir, s)
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for url, want := range map[string]bool{
			"http://a.example/1": true, "https://A.example/2": true, "http://c.example/1": true,
			"http://b.example/1": false, "mailto:a@a.example": false, "ftp://a.example/": false,
		} {
			if got := known(t, w, url); got != want {
				t.Errorf("%s: known %v, want %v", url, got, want)
			}
		}
		if n := w.Status().Counts["unknown"]; n != 3 {
			t.Errorf("%d locations, want 3", n)
		}
		put(t, s, "urn:example:c", nomen.Active, "http://d.example/1")
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.visit(t.Context(), "c.example")
		if known(t, w, "http://c.example/1") || !known(t, w, "http://d.example/1") {
			t.Error("a location without names is known, or its successor is not")
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.Of("http://a.example/1"); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: got %v, want ErrClosed", err)
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestOtherLog checks that states of another store, and states of another version, are deleted.
func TestOtherLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "links")
	for i, url := range []string{"http://a.example/1", "http://b.example/1", "http://c.example/1"} {
		s := memstore.New()
		put(t, s, "urn:example:"+string(rune('a'+i)), nomen.Active, url)
		w := openAt(t, dir, s)
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if is := w.Status(); !known(t, w, url) || is.Counts["unknown"] != 1 {
			t.Errorf("%s: got %+v", url, is)
		}
		w.mu.Lock()
		if i == 1 {
			w.meta.Version = metaVersion + 1
			_ = w.apply(jsonWrite(keyOf(spaceMeta), w.meta))
		}
		w.mu.Unlock()
		_ = w.Close()
	}
}

// TestLease checks that a watcher without the lease does not read the log of changes.
func TestLease(t *testing.T) {
	s := memstore.New()
	put(t, s, "urn:example:a", nomen.Active, "http://a.example/1")
	w, err := Open(Options{Dir: filepath.Join(t.TempDir(), "links"), Store: s, Agent: "x", Lease: func(context.Context) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if known(t, w, "http://a.example/1") || !w.Status().Other {
		t.Errorf("status %+v; want that another server reads the log", w.Status())
	}
}

// TestScale measures the directory and the queue for NOMEN_LINKS locations. The names are not in a
// store: only the states are measured. The work of the next visits, and that of
// an hour, must be found in 50 ms; the whole process must not take more than 300 MiB if NOMEN_LINKS is
// set.
func TestScale(t *testing.T) {
	n := testrun.Repeats(100_000, 20_000)
	if text := os.Getenv("NOMEN_LINKS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "links")
	w := openAt(t, dir, memstore.New())
	now := time.Now()
	const perHost = 2000
	begun := time.Now()
	for first := 0; first < n; first += perHost {
		host := fmt.Sprintf("repository-%d.example.org", first/perHost)
		w.mu.Lock()
		err := w.update(host, func(c *hostChange) error {
			earliest := now.Add(goodEvery)
			for i := first; i < min(first+perHost, n); i++ {
				due := now.Add(-time.Hour + time.Duration(hashOf(strconv.Itoa(i))%uint64(goodEvery)))
				if due.Before(earliest) {
					earliest = due
				}
				state := State{Verdict: Good, Outcome: OK, Status: 200, Checked: now, Good: now, Due: minute(due), Print: hashOf(host + strconv.Itoa(i)), Stable: 3}
				c.set(fmt.Sprintf("https://%s/handle/10024/%d", host, i), nil, &state)
			}
			c.queue(earliest)
			return nil
		})
		w.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(begun)
	db := w.table.(*side)
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := db.Compact(t.Context(), []byte{0}, []byte{0xff}, false); err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	hosts, _ := w.take(usualVisits)
	for _, h := range hosts {
		if _, _, err := w.pick(h); err != nil {
			t.Fatal(err)
		}
	}
	next := time.Since(begun)
	search, found := time.Hour, 0
	for range 10 { // other processes can delay some of them
		begun = time.Now()
		hosts, found = w.dueUntil(t, now.Add(time.Hour))
		search = min(search, time.Since(begun))
	}
	size := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, _ error) error {
		if info, err := d.Info(); err == nil && !d.IsDir() {
			size += info.Size()
		}
		return nil
	})
	t.Logf("%d locations written in %v, %.1f bytes each; %d of %d hosts with %d locations due in an hour found in %v, those of the next %d visits in %v", n, took.Round(time.Millisecond), float64(size)/float64(n), len(hosts), n/perHost, found, search, usualVisits, next)
	if (next > 50*time.Millisecond || search > 50*time.Millisecond) && !testrun.RaceEnabled {
		t.Errorf("the work of the next visits was found in %v, that of an hour in %v, want 50 ms", next, search)
	}
	if most := mostMemory(t); os.Getenv("NOMEN_LINKS") != "" {
		t.Logf("the process had at most %d MiB", most>>20)
		if most > 300<<20 {
			t.Errorf("the process had %d MiB, want at most 300", most>>20)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// dueUntil returns the hosts that are visited until a time, and the number of their locations that are due.
func (w *Watcher) dueUntil(t *testing.T, until time.Time) (hosts []string, found int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.table.scan([]byte{spaceQueue}, keyOf(spaceQueue, uint32Text(secondsOf(until))), func(key, _ []byte) bool {
		hosts = append(hosts, string(key[5:]))
		return true
	})
	for _, h := range hosts {
		prefix := keyOf(spaceDue, h, "\x00", string([]byte{classes - 1}))
		err = errors.Join(err, w.table.scan(prefix, append(prefix, uint32Text(minutesOf(until))...), func(_, _ []byte) bool {
			found++
			return true
		}))
	}
	if err != nil {
		t.Fatal(err)
	}
	return hosts, found
}

// mostMemory returns the largest size that this process had in memory.
func mostMemory(t *testing.T) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%d kB", &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes << 10
}
