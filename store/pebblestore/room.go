package pebblestore

import (
	"fmt"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// How much room must be left on the disk for a change to be accepted: what is in
// memory has still to be written into tables. On a small disk it is a part of it.
const roomShare = 8 // of the disk, one part in, at most

// How often it is looked at: after so much time, and so many bytes.
const (
	lookAfter      = 100 * time.Millisecond
	lookAfterBytes = 1 << 20
)

// A FullError is returned by Apply when the disk has too little room left. Nothing
// was written; the store goes on by itself when there is room again. It is
// [syscall.ENOSPC].
type FullError struct {
	Free, Wanted uint64 // bytes
}

func (e *FullError) Error() string {
	const mib = 1 << 20
	return fmt.Sprintf("pebblestore: the disk is full: %d MiB are free, %d have to be: nothing was written; make room, and it goes on by itself",
		e.Free/mib, (e.Wanted+mib-1)/mib)
}

// Unwrap returns ENOSPC.
func (e *FullError) Unwrap() error { return syscall.ENOSPC }

// A room watches how much is left on a disk. It is for one goroutine.
type room struct {
	fs    vfs.FS
	dir   string
	spare uint64

	looked time.Time
	since  int // bytes written since then
	err    error
}

// check returns a *FullError if nothing is to be written now.
func (r *room) check(now time.Time) error {
	if r.err == nil && r.since < lookAfterBytes && now.Sub(r.looked) < lookAfter {
		return nil
	}
	r.looked, r.since, r.err = now, 0, nil
	usage, err := r.fs.GetDiskUsage(r.dir)
	if err != nil {
		return nil // where it is not known, a write will tell
	}
	if wanted := min(r.spare, usage.TotalBytes/roomShare); usage.AvailBytes < wanted {
		r.err = &FullError{usage.AvailBytes, wanted}
	}
	return r.err
}
