package pebblestore

import (
	"fmt"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// How much room must be left on the disk for a change to be accepted: what is in
// memory has still to be written into tables. On a small disk it is a part of it, but
// never less than the write-ahead log that an opening would have to replay, and some
// files for it.
const (
	roomShare   = 8 // of the disk and of its inodes, one part in, at most
	spareInodes = 64
	spareBytes  = 1 << 20 // beside what is replayed
)

// How often it is looked at: after so much time, and so many bytes.
const (
	lookAfter      = 100 * time.Millisecond
	lookAfterBytes = 1 << 20
)

// A FullError is in the [*store.AwayError] that Apply returns when the disk has too
// little room left. Nothing was written; the store goes on by itself when there is
// room again. It is [syscall.ENOSPC].
type FullError struct {
	Free, Wanted uint64 // bytes, or inodes
	Inodes       bool
}

func (e *FullError) Error() string {
	const mib = 1 << 20
	if e.Inodes {
		return fmt.Sprintf("%d inodes are free, %d must be: delete files; changes are accepted again without a restart", e.Free, e.Wanted)
	}
	return fmt.Sprintf("%d MiB are free, %d MiB must be: make room; changes are accepted again without a restart", e.Free/mib, (e.Wanted+mib-1)/mib)
}

// Unwrap returns ENOSPC.
func (e *FullError) Unwrap() error { return syscall.ENOSPC }

// A room says how much must be left on a disk.
type room struct {
	fs    vfs.FS
	dir   string
	spare uint64
}

// check returns a *FullError if there is too little room for a store whose opening
// would replay so many bytes.
func (r *room) check(replay uint64) error {
	usage, err := r.fs.GetDiskUsage(r.dir)
	if err != nil {
		return nil // where it is not known, a write will tell
	}
	if wanted := max(min(r.spare, usage.TotalBytes/roomShare), replay+spareBytes); usage.AvailBytes < wanted {
		return &FullError{Free: usage.AvailBytes, Wanted: wanted}
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

// A roomWatch looks at the room from time to time. It is for one goroutine.
type roomWatch struct {
	looked time.Time
	since  int // bytes written since then
	err    error
}

// check returns a *FullError if nothing is to be written now.
func (w *roomWatch) check(now time.Time, look func() error) error {
	if w.err == nil && w.since < lookAfterBytes && now.Sub(w.looked) < lookAfter {
		return nil
	}
	w.looked, w.since = now, 0
	w.err = look()
	return w.err
}
