package pebblestore

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/pacer"
)

type engineFile struct {
	vfs.File
	disk  *engineDisk
	kind  fileKind
	isLog bool
	turn  *pacer.Turn // of the flush or compaction that writes the file; nil for other files
}

func (f *engineFile) do(write func() error) error {
	if f.kind == compactedFile && f.disk.isEnding() {
		return errEnding
	}
	if f.disk.err() != nil {
		return f.disk.refusal(f.kind)
	}
	err := f.disk.timed(write)
	if down := f.disk.err(); down != nil { // another write may have failed at the same time, or this one took too long
		return f.disk.refusal(f.kind)
	}
	return f.disk.failure(f.kind, err)
}

func (f *engineFile) Write(p []byte) (n int, err error) {
	f.turn.Rest(f.disk.ending)
	err = f.do(func() (err error) { n, err = f.File.Write(p); return err })
	if err == nil {
		n = len(p)
	}
	return n, err
}

func (f *engineFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.do(func() (err error) { n, err = f.File.WriteAt(p, at); return err })
	if err == nil {
		n = len(p)
	}
	return n, err
}

func (f *engineFile) Sync() error { return f.sync(func() error { return f.File.Sync() }) }

func (f *engineFile) SyncData() error { return f.sync(func() error { return f.File.SyncData() }) }

// sync calls the given function, and checks that the write-ahead log still exists. Syncing a
// deleted file would succeed without saving anything.
func (f *engineFile) sync(sync func() error) error {
	return f.do(func() error {
		err := sync()
		if err == nil && f.isLog {
			_ = f.disk.check() // the store looks at the state of the disk before it acknowledges changes
		}
		return err
	})
}

func (f *engineFile) SyncTo(n int64) (full bool, err error) {
	err = f.do(func() (err error) { full, err = f.File.SyncTo(n); return err })
	return full, err
}

// maxPreallocated is the maximum disk space that is reserved for a write-ahead log in advance, in
// bytes. The engine requests the size of a whole memtable, which small changes do not fill.
const maxPreallocated = 4 << 20

// Preallocate implements [vfs.File]. Preallocation is only an optimization.
func (f *engineFile) Preallocate(from, n int64) error {
	if f.disk.err() != nil {
		return nil
	}
	return f.disk.timed(func() error { return f.File.Preallocate(from, min(n, maxPreallocated)) })
}

func (f *engineFile) Close() error {
	f.disk.wal.CompareAndSwap(f, nil)
	if err := f.disk.timed(f.File.Close); err != nil && f.disk.err() == nil {
		return f.disk.failure(f.kind, err)
	}
	return nil
}

func (f *engineFile) isDeleted() bool {
	info, err := f.File.Stat()
	return err == nil && isUnlinked(info)
}
