package pebblestore

import (
	"fmt"
	"math"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/store"
)

// A store accepts changes only while the disk has a minimum of free space, so that the memtables
// can be written to disk. On a small disk, the minimum is a share of the disk. It is at least
// spareBytes more than the size of the write-ahead log, which is replayed when the store is opened.
const (
	roomShare   = 8 // the limit is at most an eighth of the disk, and of its inodes
	spareInodes = 64
	spareBytes  = 1 << 20 // bytes besides the log
)

// The free space is checked again after the time lookAfter, or after lookAfterBytes were written.
const (
	lookAfter      = 100 * time.Millisecond
	lookAfterBytes = 1 << 20
)

// A FullError reports that the disk does not have enough free space. The [*store.AwayError] from
// Apply wraps it. Nothing was written. The store accepts changes again when the disk has enough
// free space. A FullError unwraps to [syscall.ENOSPC].
type FullError struct {
	Free, Wanted uint64 // number of bytes or inodes
	Inodes       bool
}

func (e *FullError) Error() string {
	const mib = 1 << 20
	if e.Inodes {
		return fmt.Sprintf("%d inodes are free, but %d are needed: delete files; no restart is needed", e.Free, e.Wanted)
	}
	return fmt.Sprintf("%d MiB are free, but %d MiB are needed: free disk space; no restart is needed", e.Free/mib, (e.Wanted+mib-1)/mib)
}

// Unwrap returns ENOSPC.
func (e *FullError) Unwrap() error { return syscall.ENOSPC }

// freeSpace returns the free space and the size of the disk with the given directory, in bytes.
// Unknown values are the maximum. In this case, only a failed write shows that the disk is full.
func freeSpace(files vfs.FS, dir string) (free, total uint64) {
	usage, err := files.GetDiskUsage(dir)
	if err != nil {
		return math.MaxUint64, math.MaxUint64
	}
	return usage.AvailBytes, usage.TotalBytes
}

// A room checks the free space on a disk.
type room struct {
	fs    vfs.FS
	dir   string
	spare uint64
	last  atomic.Pointer[store.DiskUsage] // result of the last check; nil if unknown
}

// check returns a [*FullError] if the disk does not have enough free space. The parameter replay is
// the number of bytes of the write-ahead log that are replayed when the store is opened.
func (r *room) check(replay uint64) error {
	free, total := freeSpace(r.fs, r.dir)
	wanted := max(min(r.spare, total/roomShare), replay+spareBytes)
	if total != math.MaxUint64 {
		r.last.Store(&store.DiskUsage{Free: free, Size: total, Required: wanted})
	}
	if free < wanted {
		return &FullError{Free: free, Wanted: wanted}
	}
	if vfs.Root(r.fs) != vfs.Default {
		return nil
	}
	files, err := statfs(r.dir)
	if wanted := min(spareInodes, files.inodes/roomShare); err == nil && files.freeInodes < wanted {
		return &FullError{Free: files.freeInodes, Wanted: wanted, Inodes: true}
	}
	return nil
}

// A roomWatch limits the frequency of checks of the free space. It must not be used concurrently.
type roomWatch struct {
	looked time.Time
	since  int // bytes written since the last check
	err    error
}

// check calls look if a check is due, and returns the result of the last check.
func (w *roomWatch) check(now time.Time, look func() error) error {
	if w.err == nil && w.since < lookAfterBytes && now.Sub(w.looked) < lookAfter {
		return nil
	}
	w.looked, w.since = now, 0
	w.err = look()
	return w.err
}
