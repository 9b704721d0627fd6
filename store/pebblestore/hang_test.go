package pebblestore

import (
	"bytes"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A stuckDisk is a disk on which some calls do not return until the method free is called.
type stuckDisk struct {
	mu    sync.Mutex
	freed chan struct{} // nil if all calls return
	keeps func(errorfs.Op) bool
}

// MaybeError implements [errorfs.Injector].
func (d *stuckDisk) MaybeError(op errorfs.Op) error {
	d.mu.Lock()
	freed := d.freed
	d.mu.Unlock()
	if freed != nil && d.keeps(op) {
		<-freed
	}
	return nil
}

// String implements [errorfs.Injector].
func (d *stuckDisk) String() string { return "stuck" }

func (d *stuckDisk) stick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.freed = make(chan struct{})
}

func (d *stuckDisk) free() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.freed)
	d.freed = nil
}

// on returns a function that selects calls of some kinds for files whose names contain a text. If
// no kinds are given, it selects all calls that write.
func on(text string, kinds ...errorfs.OpKind) func(errorfs.Op) bool {
	return func(op errorfs.Op) bool {
		return strings.Contains(op.Path, text) && (slices.Contains(kinds, op.Kind) || kinds == nil && op.Kind.ReadOrWrite() == errorfs.OpIsWrite)
	}
}

const testHang = 100 * time.Millisecond

// While the calls of a disk do not return, callers that wait get an error after hangAfter, new
// changes are rejected at once, existing records can be read, and the log gets one line. When the
// calls return, the store continues by itself.
func TestDiskHangs(t *testing.T) {
	for _, tt := range []struct {
		what  string
		keeps func(errorfs.Op) bool
	}{
		{"sync of the log", on(".log", errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo)},
		{"write to the log", on(".log", errorfs.OpFileWrite)},
		{"tables", on(".sst")},
		{"manifest", on("MANIFEST")},
		{"a new log", on(".log", errorfs.OpCreate, errorfs.OpReuseForWrite)},
		{"all that writes", on("")},
	} {
		t.Run(tt.what, func(t *testing.T) {
			stuck := &stuckDisk{keeps: tt.keeps}
			mem := vfs.NewCrashableMem()
			var log bytes.Buffer
			var logging sync.Mutex
			s, err := Open(Options{
				Dir: "store", FS: fresh{errorfs.Wrap(mem, stuck)}, CacheSize: 1 << 20, watch: 10 * time.Millisecond, hangAfter: testHang,
				Log: slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
					logging.Lock()
					defer logging.Unlock()
					return log.Write(p)
				}), nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			n := 0
			for ; n < 20; n++ {
				if _, err := s.Apply(t.Context(), round(1, n+1)); err != nil {
					t.Fatal(err)
				}
			}
			for hang := range 2 {
				stuck.stick()
				flushed := make(chan struct{})
				db := s.engine.Load().db
				go func() { // in a goroutine, because AsyncFlush may hang too
					defer close(flushed)
					defer func() { _ = recover() }() // the store may have closed this engine
					for s.Condition().Cause == "" {
						_, _ = db.AsyncFlush()
						time.Sleep(time.Millisecond)
					}
				}()
				const writers = 20 // concurrent, as in a server
				refused := make(chan error, writers)
				var acknowledged sync.Map
				for w := range writers {
					go func() {
						for i := 1; ; i++ {
							changes := round(2+hang*writers+w, i)
							if _, err := s.Apply(t.Context(), changes); err != nil {
								refused <- err
								return
							}
							acknowledged.Store(changes[1].Record.Name, true)
						}
					}()
				}
				for range writers {
					select {
					case err := <-refused:
						if !store.IsAway(err) || !errors.Is(err, errHung) {
							t.Fatalf("refused with %v", err)
						}
					case <-time.After(time.Minute):
						t.Fatal("a change waits for ever")
					}
				}
				if c := s.Condition(); c.NoReads || !c.NoWrites || c.Cause != errHung.Error() || c.Since.IsZero() {
					t.Errorf("condition: %+v", c)
				}
				shortest := time.Hour // the machine may be busy during some of the attempts
				for range 20 {
					at := time.Now()
					if _, err := s.Apply(t.Context(), round(1, n+1)); !store.IsAway(err) {
						t.Fatalf("not refused: %v", err)
					}
					if shortest = min(shortest, time.Since(at)); shortest < testHang {
						break
					}
				}
				if shortest >= testHang {
					t.Errorf("refused after %v at the soonest", shortest)
				}
				for i := 1; i <= n; i++ {
					if _, err := s.Get(t.Context(), round(1, i)[1].Record.Name, noTime); err != nil {
						t.Fatalf("round %d on a disk that hangs: %v", i, err)
					}
				}
				s.BlocksRead() // as for metrics
				time.Sleep(2 * testHang)
				if s.Condition().Cause == "" {
					t.Error("the store goes on without its disk")
				}
				stuck.free()
				<-flushed
				for end := time.Now().Add(time.Minute); s.Condition() != (store.Condition{}); time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("the store does not go on: %+v", s.Condition())
					}
				}
				for range 5 {
					if _, err := s.Apply(t.Context(), round(1, n+1)); err != nil {
						t.Fatalf("on a disk that answers again: %v", err)
					}
					n++
				}
				acknowledged.Range(func(n, _ any) bool {
					if _, err := s.Get(t.Context(), n.(name.Name), noTime); err != nil {
						t.Errorf("%v was acknowledged, and is lost: %v", n, err)
					}
					return true
				})
				checkLogOf(t, s)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			logging.Lock()
			defer logging.Unlock()
			if away, back := strings.Count(log.String(), "storage is unavailable"), strings.Count(log.String(), "storage is back"); away != 2 || back != 2 {
				t.Errorf("of two hangs the log says:\n%s", &log)
			}
			s = openMem(t, mem)
			checkLogOf(t, s)
		})
	}
}

// Close does not wait for a disk that hangs. Open waits for the disk, logs that it does so, and
// succeeds as soon as the disk responds.
func TestDiskHangsAtEnds(t *testing.T) {
	stuck := &stuckDisk{keeps: on("")}
	o := Options{Dir: "store", FS: fresh{errorfs.Wrap(vfs.NewMem(), stuck)}, CacheSize: 1 << 20, watch: 10 * time.Millisecond, hangAfter: testHang}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, 1, 2)
	stuck.stick()
	if err := s.Close(); !errors.Is(err, errHung) || !strings.Contains(err.Error(), "acknowledged changes are on disk") {
		t.Errorf("Close: %v", err)
	}
	stuck.free()
	var again *Store
	for end := time.Now().Add(time.Minute); again == nil; time.Sleep(time.Millisecond) { // until the first store has released its lock
		if again, err = Open(o); err != nil && (!errors.Is(err, ErrLocked) || time.Now().After(end)) {
			t.Fatal(err)
		}
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	stuck.stick()
	said := make(chan string, 1)
	o.Log = slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		select {
		case said <- string(p):
		default:
		}
		return len(p), nil
	}), nil))
	opened := make(chan *Store)
	go func() {
		s, err := Open(o)
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	if line := <-said; !strings.Contains(line, "opening the store waits for the disk") {
		t.Errorf("the log says %q", line)
	}
	stuck.free()
	s = <-opened
	defer s.Close()
	for end := time.Now().Add(time.Minute); s.Condition() != (store.Condition{}); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the store does not go on: %+v", s.Condition())
		}
	}
	write(t, s, 3)
}

// If the process itself was suspended, so that a timer is overdue once, the stopwatch does not
// report that the disk hangs.
func TestStopwatchCountsSteps(t *testing.T) {
	over := make(chan string, 1)
	w := startStopwatch(4*time.Hour, func() { over <- "over" })
	for step := range hangSteps {
		if len(over) > 0 {
			t.Errorf("over after %d steps", step)
		}
		w.tick()
	}
	if len(over) != 1 {
		t.Error("not over after all steps")
	}
	w.stop()
	w.tick()
	if len(over) != 1 {
		t.Error("over again after it was stopped")
	}
}

type writerFunc func([]byte) (int, error)

// Write implements [io.Writer].
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestDiskSlow checks that the disk does not count as hanging if a batch takes longer than the
// limit for one call, because the batch reads many records from a slow disk.
func TestDiskSlow(t *testing.T) {
	const each, limit, names = 20 * time.Millisecond, time.Second, 3000
	var reads atomic.Int64
	var slow errorfs.Toggle
	slow.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".sst") && op.Kind == errorfs.OpFileReadAt {
			reads.Add(1)
			time.Sleep(each)
		}
		return nil
	})
	mem := vfs.NewMem()
	batch := func(revision int) []store.Change {
		all := make([]store.Change, names)
		for i := range all {
			all[i] = round(1, i+1)[1]
			all[i].Record.Metadata = map[string][]string{"title": {rand.Text() + strings.Repeat(rand.Text(), 20)}}
			all[i].Expected = uint64(revision)
		}
		return all
	}
	s := openMem(t, mem)
	if _, err := s.Apply(t.Context(), batch(0)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Dir: "store", FS: fresh{errorfs.Wrap(mem, &slow)}, CacheSize: 64 << 10, hangAfter: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	slow.On()
	defer slow.Off()
	began := time.Now()
	_, err = s.Apply(t.Context(), batch(1))
	if took := time.Since(began); err != nil || took < limit {
		t.Errorf("%v after %v and %d reads; want success after more than %v", err, took, reads.Load(), limit)
	}
	if c := s.Condition(); c != (store.Condition{}) {
		t.Errorf("condition: %+v", c)
	}
}
