package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/nomen-project/nomen/store"
)

// refusedAsFull writes rounds of a writer until one is rejected, and returns the number of the last
// round that was acknowledged. If noBytes is true, the disk may have no bytes left. Then a write of
// the engine can fail before the store checks the free space.
func refusedAsFull(t *testing.T, s *Store, n int, noBytes bool) int {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); n++ {
		results, err := s.Apply(t.Context(), round(1, n+1))
		if err == nil {
			continue
		}
		var full *FullError
		if noBytes && results == nil && !errors.As(err, &full) && store.IsAway(err) && errors.Is(err, syscall.ENOSPC) {
			return n
		}
		if !errors.As(err, &full) || results != nil || full.Free >= full.Wanted || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("on a full disk: %v, %v", results, err)
		}
		return n
	}
	t.Fatal("a disk without room takes everything")
	return n
}

// When a disk is nearly full, the store rejects changes while there is still space for the
// acknowledged ones. Existing records can be read, and the store continues by itself when there is
// space again.
func TestDiskNearlyFull(t *testing.T) {
	mem := vfs.NewCrashableMem()
	usage := func(free uint64) { mem.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 1 << 30, AvailBytes: free}) }
	usage(1 << 29)
	s := openMem(t, mem)
	n := 0
	for range 5 {
		usage(1 << 20)
		n = refusedAsFull(t, s, n, false)
		if _, err := s.Get(t.Context(), round(1, n)[0].Record.Name, noTime); n > 0 && err != nil {
			t.Errorf("Get on a full disk: %v", err)
		}
		checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), []int{0, n})
		usage(1 << 29)
		if _, err := s.Apply(t.Context(), round(1, n+1)); err != nil {
			t.Fatalf("with room again: %v", err)
		}
		n++
	}
	if n < 5 {
		t.Errorf("%d rounds were acknowledged", n)
	}
	checkLogOf(t, s)
}

func checkLogOf(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("verify: %+v", f) }, nil); err != nil {
		t.Error(err)
	}
}

// A fresh file system creates a new file instead of reusing an old one, because package errorfs
// does not inject errors into reused files.
type fresh struct{ vfs.FS }

// ReuseForWrite implements [vfs.FS].
func (f fresh) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.Remove(old); err != nil {
		return nil, err
	}
	return f.Create(name, category)
}

// The disk fails suddenly for one kind of file and one kind of call. Acknowledged changes can still
// be read, no change is acknowledged that a crash could lose, the engine does not notice the
// failure, and the store continues when the disk works again.
func TestDiskFails(t *testing.T) {
	for _, tt := range []struct {
		suffix string
		kinds  []errorfs.OpKind
		err    syscall.Errno
	}{
		{".sst", nil, syscall.ENOSPC},
		{".sst", nil, syscall.EIO},
		{".log", nil, syscall.ENOSPC},
		{".log", []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}, syscall.EIO},
		{".log", []errorfs.OpKind{errorfs.OpCreate}, syscall.ENOSPC},
		{"MANIFEST", nil, syscall.EIO}, // an engine opens without it, and fails at its next table
		{"", []errorfs.OpKind{errorfs.OpFileSync}, syscall.EIO},
		{"", nil, syscall.EROFS},
	} {
		t.Run(fmt.Sprint(tt.suffix, len(tt.kinds), tt.err), func(t *testing.T) {
			var fails errorfs.Toggle
			fails.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
				// If tables fail, the probe must fail too: after a compaction, an engine can open
				// without writing a table.
				concerned := strings.Contains(op.Path, tt.suffix) || tt.suffix == ".sst" && strings.HasSuffix(op.Path, probe)
				if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && concerned && (tt.kinds == nil || slices.Contains(tt.kinds, op.Kind)) {
					return tt.err
				}
				return nil
			})
			mem := vfs.NewCrashableMem()
			var log bytes.Buffer
			s, err := Open(Options{
				Dir: "store", FS: fresh{errorfs.Wrap(mem, &fails)}, CacheSize: 1 << 20, watch: 10 * time.Millisecond,
				Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			n := 0
			write := func(rounds int) error {
				for range rounds {
					if _, err := s.Apply(t.Context(), round(1, n+1)); err != nil {
						return err
					}
					n++
				}
				return nil
			}
			if err := write(20); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				engine := s.engine.Load()
				valid := answerNow(t, s)
				fails.On()
				var refused error
				for end := time.Now().Add(time.Minute); refused == nil && time.Now().Before(end); refused = write(1) {
					_, _ = s.engine.Load().db.AsyncFlush()
				}
				away := (*store.AwayError)(nil)
				if !errors.As(refused, &away) || !errors.Is(refused, tt.err) {
					t.Fatalf("refused with %v, want %v", refused, tt.err)
				}
				if c := s.Condition(); c.NoReads || tt.suffix != "MANIFEST" && (!c.NoWrites || c.Cause != causeOf(tt.err) || c.Since.IsZero()) {
					t.Errorf("condition: %+v", c)
				}
				for i := 1; i <= n; i++ {
					if _, err := s.Get(t.Context(), round(1, i)[1].Record.Name, noTime); err != nil {
						t.Fatalf("round %d on a disk that fails: %v", i, err)
					}
				}
				if err := s.Backup(t.Context(), "backup", nil); err == nil {
					t.Error("a backup was made of a disk that fails")
				}
				checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), []int{0, n})
				fails.Off()
				for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
					if s.Condition() == (store.Condition{}) {
						break
					} else if time.Now().After(end) {
						t.Fatalf("the store does not go on: %+v", s.Condition())
					}
				}
				// The new engine may lack changes that readers of the previous engine have seen.
				if s.engine.Load() != engine && valid() {
					t.Error("an answer from the previous engine is valid")
				}
				// A batch that was rejected may have been written nevertheless, but only as a
				// whole.
				for {
					if _, err := s.Get(t.Context(), round(1, n+1)[1].Record.Name, noTime); err != nil {
						break
					}
					n++
				}
				if err := write(20); err != nil {
					t.Fatalf("on a disk that does not fail any more: %v", err)
				}
				checkLogOf(t, s)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			away, back := strings.Count(log.String(), "storage is unavailable"), strings.Count(log.String(), "storage is back")
			if away != back || away < 3 || away > 3 && tt.suffix != "MANIFEST" { // the manifest is written only after a table
				t.Errorf("of three failures the log says:\n%s", &log)
			}
			s = openMem(t, mem)
			checkLogOf(t, s)
			checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), []int{0, n})
		})
	}
}

// answerNow returns a function that reports whether an answer without any record, made now, is still
// valid.
func answerNow(t *testing.T, s *Store) func() bool {
	t.Helper()
	var d store.Dependencies
	d.Begin(s.Invalidations())
	d.Vouch(nil)
	v, ok := d.Validity(nil)
	if !ok || !v.Holds(s.Invalidations()) {
		t.Fatal("an answer is not valid at once")
	}
	return func() bool { return v.Holds(s.Invalidations()) }
}

// TestDiskFailsConditionAtOnce checks that a store never says that it accepts changes after one was
// rejected because its disk failed.
func TestDiskFailsConditionAtOnce(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	disk := s.engine.Load().disk
	onDown := disk.onDown
	disk.onDown = func(err error) {
		_, refused := s.Apply(t.Context(), round(1, 1))
		if c := s.Condition(); refused == nil || !c.NoWrites || c.Cause != causeOf(err) || c.Since.IsZero() {
			t.Errorf("a change is answered with %v, and the condition is %+v", refused, c)
		}
		onDown(err)
	}
	disk.fail(syscall.EIO)
}

// If the machine permits it, the test makes a real disk that is small. The store and another
// process fill the disk, and then it is emptied again.
func TestSmallDisk(t *testing.T) {
	disk := t.TempDir()
	if err := smallDisk(t, disk, 128<<20); err != nil {
		t.Logf("no small disk can be made, TestDiskNearlyFull and TestDiskFull have to do: %v", err)
		return
	}
	dir := filepath.Join(disk, "store")
	s, err := Open(Options{Dir: dir, CacheSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	foreign := filepath.Join(disk, "foreign")
	n := 0
	// Each log has 4 MiB from the beginning, and is removed some time after its flush. A redaction
	// causes a flush, in every fifth round: even if no log is removed in time, 50 rounds leave room.
	for _, size := range []int{112 << 20, 128 << 20} { // the second fills the disk completely
		for range 50 {
			if _, err := s.Apply(t.Context(), round(1, n+1)); err != nil {
				t.Fatal(err)
			}
			n++
		}
		if err := os.WriteFile(foreign, make([]byte, size), 0o600); err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		time.Sleep(2 * lookAfter)
		// A table that is being written may take the last bytes at any time.
		n = refusedAsFull(t, s, n, true)
		_ = s.Backup(t.Context(), filepath.Join(disk, "backup"), nil) // there may be room for it or not
		if _, err := s.Get(t.Context(), round(1, n)[1].Record.Name, noTime); err != nil {
			t.Errorf("Get on a full disk: %v", err)
		}
		if err := errors.Join(os.Remove(foreign), os.RemoveAll(filepath.Join(disk, "backup"))); err != nil {
			t.Fatal(err)
		}
		// If a write of a table met the full disk, another engine is opened first.
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			_, err := s.Apply(t.Context(), round(1, n+1))
			if err == nil {
				break
			}
			if !errors.As(err, new(*store.AwayError)) || time.Now().After(end) {
				t.Fatalf("with room again: %v", err)
			}
		}
		n++
	}
	checkLogOf(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = Open(Options{Dir: dir, CacheSize: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	checkLogOf(t, s)
	for i := 1; i <= n; i++ {
		if _, err := s.Get(t.Context(), round(1, i)[1].Record.Name, noTime); err != nil {
			t.Fatalf("round %d of %d is lost: %v", i, n, err)
		}
	}
	t.Logf("%d rounds on a disk that was full twice", n)
}
