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

// Limits of the free space that is required to accept a change; the space is needed to flush
// data from memory. On a small disk the requirement is a share of the disk. On every disk it is at
// least the size of the write-ahead log that the next opening would replay, plus spareBytes.
const (
	roomShare   = 8 // at most one eighth of the disk, and of its inodes
	spareInodes = 64
	spareBytes  = 1 << 20 // in addition to what is replayed
)

// How often the space is checked: after this time, or this number of bytes.
const (
	lookAfter      = 100 * time.Millisecond
	lookAfterBytes = 1 << 20
)

// A FullError is wrapped by the [*store.AwayError] that Apply returns when the disk has too
// little space. Nothing was written; the store accepts changes again when there is space.
// It unwraps to [syscall.ENOSPC].
type FullError struct {
	Free, Wanted uint64 // bytes, or inodes
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

// freeSpace returns the free bytes and all bytes of the disk of a directory. If they are
// unknown it returns the maximum, so that only a failing write shows that the disk is full.
func freeSpace(files vfs.FS, dir string) (free, total uint64) {
	usage, err := files.GetDiskUsage(dir)
	if err != nil {
		return math.MaxUint64, math.MaxUint64
	}
	return usage.AvailBytes, usage.TotalBytes
}

// A room is the free space required on a disk.
type room struct {
	fs    vfs.FS
	dir   string
	spare uint64
	last  atomic.Pointer[store.DiskUsage] // as of the last check; nil if it is unknown
}

// check returns a *FullError if there is too little space for a store whose opening would
// replay this many bytes.
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

// A roomWatch checks the space at intervals. It must not be used concurrently.
type roomWatch struct {
	looked time.Time
	since  int // bytes written since looked
	err    error
}

// check returns a *FullError if nothing may be written now.
func (w *roomWatch) check(now time.Time, look func() error) error {
	if w.err == nil && w.since < lookAfterBytes && now.Sub(w.looked) < lookAfter {
		return nil
	}
	w.looked, w.since = now, 0
	w.err = look()
	return w.err
}
