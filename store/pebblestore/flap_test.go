package pebblestore

import (
	"bytes"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/nomen-project/nomen/internal/quiet"
	"github.com/nomen-project/nomen/store"
)

// The state of a disk can change all the time, because the disk fails again and again, or because
// its space is just enough. Even then, each acknowledged change must be on disk, the condition must
// agree with the answers, and the log must not be flooded.
func TestDiskFlaps(t *testing.T) {
	var fails errorfs.Toggle
	fails.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.EIO
		}
		return nil
	})
	usage := func(mem *vfs.MemFS, free uint64) {
		mem.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 1 << 30, AvailBytes: free})
	}
	for _, tt := range []struct {
		name     string
		times    int
		turn     func(mem *vfs.MemFS, on bool)
		log      int // maximum number of lines in the log
		failures bool
	}{
		{"fails", 7, func(_ *vfs.MemFS, on bool) {
			if on {
				fails.On()
			} else {
				fails.Off()
			}
		}, 14, true},
		{"is full", 60, func(mem *vfs.MemFS, on bool) { usage(mem, map[bool]uint64{true: 1 << 20, false: 1 << 29}[on]) }, quiet.Burst, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			usage(mem, 1<<29)
			var log bytes.Buffer
			s, err := Open(Options{
				Dir: "store", FS: fresh{errorfs.Wrap(mem, &fails)}, CacheSize: 1 << 20, watch: time.Millisecond,
				Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			n := 0
			until := func(what string, is func(store.Condition) bool) {
				t.Helper()
				for end := time.Now().Add(time.Minute); !is(s.Condition()); time.Sleep(time.Millisecond / 2) {
					if time.Now().After(end) {
						t.Fatalf("%s: %+v", what, s.Condition())
					}
				}
			}
			for range tt.times {
				tt.turn(mem, true)
				for end := time.Now().Add(time.Minute); ; n++ {
					if _, err := s.Apply(t.Context(), round(1, n+1)); store.IsAway(err) {
						break
					} else if err != nil || time.Now().After(end) {
						t.Fatalf("round %d: %v", n+1, err)
					}
				}
				checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), []int{0, n})
				until("the state is not noticed", func(c store.Condition) bool { return c.NoWrites && c.Cause != "" })
				tt.turn(mem, false)
				until("it does not go on", func(c store.Condition) bool { return c == store.Condition{} })
				for ; tt.failures; n++ { // a change that was rejected may have been written nevertheless
					if _, err := s.Get(t.Context(), round(1, n+1)[1].Record.Name, noTime); err != nil {
						break
					}
				}
			}
			checkLogOf(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if lines := strings.Count(log.String(), "storage is "); lines > tt.log || lines < min(tt.log, 2*tt.times) {
				t.Errorf("%d changes of state, and %d lines of log:\n%s", 2*tt.times, lines, &log)
			}
			checkCrash(t, mem.CrashClone(vfs.CrashCloneCfg{}), []int{0, n})
		})
	}
}

// If the state changes all the time, the last state is always logged, even if late, with the number
// of changes that were not logged.
func TestStateLines(t *testing.T) {
	var log bytes.Buffer
	s := &Store{report: slog.New(slog.NewTextHandler(&log, nil))}
	s.state.tell()
	for range 2 * quiet.Burst {
		s.away(syscall.EIO)
		s.state.err, s.state.cause = nil, ""
		s.state.changes++
		s.logState()
	}
	s.away(syscall.EIO)
	s.logState()
	if n := strings.Count(log.String(), "\n"); n != quiet.Burst || strings.Contains(log.String(), "suppressed") {
		t.Errorf("%d lines: %s", n, &log)
	}
	s.state.lines = quiet.Lines{} // as if a minute had passed
	log.Reset()
	s.logState() // as watch does
	s.logState()
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "storage is unavailable") || !strings.Contains(log.String(), "suppressed=60") {
		t.Errorf("the last state: %s", &log)
	}
}
