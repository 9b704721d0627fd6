package pebblestore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/nomen-project/nomen/store"
)

// refusedAsFull writes rounds of a writer until one is refused, and returns the number
// of the last that was acknowledged.
func refusedAsFull(t *testing.T, s *Store, n int) int {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); n++ {
		results, err := s.Apply(t.Context(), round(1, n+1))
		if err == nil {
			continue
		}
		full, ok := errors.AsType[*FullError](err)
		if !ok || results != nil || full.Free >= full.Wanted || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("on a full disk: %v, %v", results, err)
		}
		return n
	}
	t.Fatal("a disk without room takes everything")
	return n
}

// A disk that is nearly full: changes are refused while there is still room for
// what was acknowledged, what is there can be read, and the store goes on by itself
// when there is room again.
func TestDiskNearlyFull(t *testing.T) {
	mem := vfs.NewCrashableMem()
	usage := func(free uint64) { mem.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 1 << 30, AvailBytes: free}) }
	usage(1 << 29)
	s := openMem(t, mem)
	n := 0
	for range 5 {
		usage(1 << 20)
		n = refusedAsFull(t, s, n)
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

// A disk that is full at once, as seen by one kind of file.
func TestDiskFull(t *testing.T) {
	for _, tt := range []struct {
		suffix string
		goesOn bool // without being opened again
	}{{".sst", true}, {".log", false}} {
		t.Run(tt.suffix, func(t *testing.T) {
			var full errorfs.Toggle
			full.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
				made := op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite
				if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.HasSuffix(op.Path, tt.suffix) && (tt.goesOn || !made) {
					return syscall.ENOSPC
				}
				return nil
			})
			mem := vfs.NewCrashableMem()
			s := openMem(t, errorfs.Wrap(mem, &full))
			n, refused := 0, false
			write := func(rounds int) (err error) {
				for range rounds {
					changes := round(1, n+1)
					changes[0].Redacts = nil // it would have tables written at once
					if _, err = s.Apply(t.Context(), changes); err != nil {
						return err
					}
					n++
				}
				return nil
			}
			if err := write(20); err != nil {
				t.Fatal(err)
			}
			full.On()
			if tt.goesOn {
				if _, err := s.db.AsyncFlush(); err != nil {
					t.Error(err)
				}
			}
			if err := write(20); err != nil {
				refused = true
				if !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("refused with %v, want ENOSPC", err)
				}
			}
			if refused == tt.goesOn {
				t.Errorf("refused: %v", refused)
			}
			checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), []int{0, n})
			full.Off()
			if tt.goesOn {
				if err := errors.Join(write(20), s.db.Flush()); err != nil {
					t.Error(err)
				}
			}
			_ = s.Close() // whatever it can still do
			s = openMem(t, mem)
			// What was refused may be there all the same, as a whole.
			for {
				if _, err := s.Get(t.Context(), round(1, n+1)[1].Record.Name, noTime); err != nil {
					break
				}
				n++
			}
			if err := write(20); err != nil {
				t.Errorf("opened again, with room: %v", err)
			}
			checkLogOf(t, s)
			checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), []int{0, n})
		})
	}
}

// A real disk that is small, where the machine lets the test have one: it is filled,
// by the store and by somebody else, and emptied again.
func TestSmallDisk(t *testing.T) {
	disk := t.TempDir()
	if err := smallDisk(t, disk, 48<<20); err != nil {
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
	for _, size := range []int{38 << 20, 48 << 20} { // the second leaves nothing
		for range 100 {
			if _, err := s.Apply(t.Context(), round(1, n+1)); err != nil {
				t.Fatal(err)
			}
			n++
		}
		if err := os.WriteFile(foreign, make([]byte, size), 0o600); err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		time.Sleep(2 * lookAfter)
		n = refusedAsFull(t, s, n)
		_ = s.Backup(t.Context(), filepath.Join(disk, "backup"), nil) // there may be room for it or not
		if _, err := s.Get(t.Context(), round(1, n)[1].Record.Name, noTime); err != nil {
			t.Errorf("Get on a full disk: %v", err)
		}
		if err := errors.Join(os.Remove(foreign), os.RemoveAll(filepath.Join(disk, "backup"))); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(t.Context(), round(1, n+1)); err != nil {
			t.Fatalf("with room again: %v", err)
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
