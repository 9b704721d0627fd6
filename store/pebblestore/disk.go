package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// errGone is why a store whose directory was deleted or replaced takes no changes.
var errGone = errors.New("the directory of the store was deleted or replaced")

// errEnding is returned to compactions of an engine that is being closed.
var errEnding = errors.New("the store is being closed")

// compactionPause is how long a compaction that found the disk full waits before the
// engine tries it again, unless there is room before: that is checked every roomTick.
const (
	compactionPause = 30 * time.Second
	roomTick        = time.Second
)

// An engineDisk is the directory of a store as one engine sees it. The engine cannot go on
// when its log or its manifest cannot be written: it panics, with locks held. So it
// never learns of that. At the first write or sync that fails, the disk is down:
// from then on nothing of the engine reaches the directory, as if the process had
// died at that moment. What it writes to its log and manifest is discarded, what it
// flushes from memory into tables is kept in memory, compactions wait for its end,
// and nothing is removed. Reads go on. The store acknowledges nothing that it wrote
// to a disk that is down, and opens another engine when the directory takes writes
// again, which recovers what is really there.
//
// Paths outside the directory are those of the file system below.
type engineDisk struct {
	vfs.FS
	dir    string
	lock   *dirLock
	onDown func(error)
	mem    *vfs.MemFS
	first  os.FileInfo // of dir when it was opened; nil if it cannot be known

	open   atomic.Bool           // the engine is open: opening one waits for compactions
	cause  atomic.Pointer[error] // why it is down
	down   chan struct{}         // closed when it is down
	limit  time.Duration         // of a call, after which the disk hangs
	calls  atomic.Int64          // that have not returned
	hung   chan struct{}         // closed when one does not return
	ending chan struct{}         // closed when the engine ends
	wal    atomic.Pointer[engineFile]

	hungOnce sync.Once
}

// newEngineDisk returns the disk of a directory. onDown, unless nil, is called once, from
// any goroutine, when the disk is down.
func newEngineDisk(files vfs.FS, dir string, lock *dirLock, onDown func(error)) *engineDisk {
	d := &engineDisk{FS: files, dir: dir, lock: lock, onDown: onDown, mem: vfs.NewMem(), down: make(chan struct{}), ending: make(chan struct{}), limit: hangAfter, hung: make(chan struct{})}
	if vfs.Root(files) == vfs.Default {
		d.first, _ = os.Stat(dir) // there may be none yet: see opened
	}
	_ = d.mem.MkdirAll(dir, 0o700) // in memory
	return d
}

// opened notes that the engine is open, and which directory that is.
func (d *engineDisk) opened() {
	d.open.Store(true)
	if d.first == nil && vfs.Root(d.FS) == vfs.Default {
		d.first, _ = os.Stat(d.dir) // if it is gone already, check says so
	}
}

// err returns why the disk is down, nil if it is not.
func (d *engineDisk) err() error {
	if err := d.cause.Load(); err != nil {
		return *err
	}
	return nil
}

// fail has the disk down. The first cause is kept.
func (d *engineDisk) fail(err error) {
	if d.cause.CompareAndSwap(nil, &err) {
		close(d.down)
		if d.onDown != nil {
			d.onDown(err)
		}
	}
}

// check has the disk down if its directory is not the one that was opened, or the log
// in it was deleted, and returns why the disk is down.
func (d *engineDisk) check() error {
	if err := d.err(); err != nil || d.first == nil {
		return err
	}
	info, err := os.Stat(d.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		d.fail(errGone)
	case err != nil:
		d.fail(err)
	case !os.SameFile(info, d.first):
		d.fail(errGone)
	default:
		if wal := d.wal.Load(); wal != nil && wal.isDeleted() {
			d.fail(errGone)
		}
	}
	return d.err()
}

// same reports whether the directory is the one that was opened.
func (d *engineDisk) same() bool {
	if d.first == nil {
		return true
	}
	info, err := os.Stat(d.dir)
	return err == nil && os.SameFile(info, d.first)
}

func (d *engineDisk) within(name string) bool { return d.PathDir(name) == d.dir }

// waits reports whether who writes such a file waits while the disk is down.
func (d *engineDisk) waits(kind fileKind) bool { return kind == compactedFile && d.open.Load() }

func (d *engineDisk) isEnding() bool {
	select {
	case <-d.ending:
		return true
	default:
		return false
	}
}

// isFull reports whether err is of a disk without room.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// A fileKind says what becomes of a file when the disk is down.
type fileKind uint8

// The kinds of files.
const (
	vitalFile     fileKind = iota // log, manifest, markers, options: writes are discarded
	flushedFile                   // a table of what was in memory: the next one is kept in memory
	compactedFile                 // a table made of others: its writer waits
)

func kindOf(name string, category vfs.DiskWriteCategory) fileKind {
	switch {
	case !strings.HasSuffix(name, ".sst") && !strings.HasSuffix(name, ".blob"):
		return vitalFile
	case category == "pebble-memtable-flush":
		return flushedFile
	default:
		return compactedFile
	}
}

// failure decides what a failed write means for its file, and returns what the engine
// is told: nil for a vital file.
func (d *engineDisk) failure(kind fileKind, err error) error {
	if err == nil {
		return nil
	}
	if d.waits(kind) && isFull(err) {
		d.waitForRoom()
		return err
	}
	d.fail(err)
	return d.refusal(kind)
}

// waitForRoom returns when the disk, which is full, has twice as much room as now, when
// the engine ends or the disk is down, and after [compactionPause] in any case.
func (d *engineDisk) waitForRoom() {
	full := d.free()
	for range compactionPause / roomTick {
		select {
		case <-d.ending:
			return
		case <-d.down:
			return
		case <-time.After(roomTick):
		}
		if d.free() > 2*full+spareBytes {
			return
		}
	}
}

// free returns how many bytes are free, 0 if that is not known.
func (d *engineDisk) free() uint64 {
	usage, err := d.FS.GetDiskUsage(d.dir)
	if err != nil {
		return 0
	}
	return usage.AvailBytes
}

// refusal is what the engine is told about a write to a disk that is down.
func (d *engineDisk) refusal(kind fileKind) error {
	switch {
	case kind == vitalFile:
		return nil
	case d.waits(kind):
		<-d.ending
		return errEnding
	default:
		return d.err()
	}
}

// Create implements [vfs.FS].
func (d *engineDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.create(name, category, func() (vfs.File, error) { return d.FS.Create(name, category) })
}

// ReuseForWrite implements [vfs.FS].
func (d *engineDisk) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.create(name, category, func() (vfs.File, error) { return d.FS.ReuseForWrite(old, name, category) })
}

// OpenReadWrite implements [vfs.FS].
func (d *engineDisk) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return d.create(name, category, func() (vfs.File, error) { return d.FS.OpenReadWrite(name, category, o...) })
}

func (d *engineDisk) create(name string, category vfs.DiskWriteCategory, create func() (vfs.File, error)) (vfs.File, error) {
	if !d.within(name) {
		return create()
	}
	kind := kindOf(name, category)
	if d.err() == nil {
		var f vfs.File
		err := d.timed(func() (err error) { f, err = create(); return err })
		if err == nil && d.err() != nil { // it hung
			err = errors.Join(d.err(), f.Close())
		}
		if err == nil {
			file := &engineFile{File: f, disk: d, kind: kind, isLog: strings.HasSuffix(name, ".log")}
			if file.isLog {
				d.wal.Store(file)
			}
			return file, nil
		}
		if err = d.failure(kind, err); err != nil && d.err() == nil {
			return nil, err
		}
	}
	if d.waits(kind) {
		return nil, d.refusal(kind)
	}
	f, err := d.mem.Create(name, category)
	if err != nil || kind != vitalFile {
		return f, err
	}
	return &engineFile{File: f, disk: d}, nil // what is written to it is discarded
}

// Open implements [vfs.FS]. The engine tries at once again what it cannot open.
func (d *engineDisk) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if d.err() != nil && d.within(name) {
		if f, err := d.mem.Open(name, o...); err == nil {
			return f, nil
		}
	}
	f, err := d.FS.Open(name, o...)
	if err != nil && d.within(name) {
		d.rest()
	}
	return f, err
}

// rest keeps the engine from trying something many thousand times a second.
func (d *engineDisk) rest() {
	select {
	case <-d.ending:
	case <-time.After(50 * time.Millisecond):
	}
}

// Stat implements [vfs.FS].
func (d *engineDisk) Stat(name string) (vfs.FileInfo, error) {
	if d.err() != nil && d.within(name) {
		if info, err := d.mem.Stat(name); err == nil {
			return info, nil
		}
	}
	return d.FS.Stat(name)
}

// OpenDir implements [vfs.FS].
func (d *engineDisk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil || name != d.dir {
		return f, err
	}
	return &engineFile{File: f, disk: d}, nil
}

// change does what changes a directory, if the disk is not down.
func (d *engineDisk) change(name string, change func() error) error {
	if !d.within(name) {
		return change()
	}
	if d.err() == nil {
		if err := d.timed(change); errors.Is(err, fs.ErrNotExist) && d.check() == nil {
			return err
		} else if err != nil {
			d.fail(err)
		}
	}
	return nil
}

// MkdirAll implements [vfs.FS].
func (d *engineDisk) MkdirAll(dir string, mode os.FileMode) error {
	return d.timed(func() error { return d.FS.MkdirAll(dir, mode) })
}

// Remove implements [vfs.FS].
func (d *engineDisk) Remove(name string) error {
	return d.change(name, func() error { return d.FS.Remove(name) })
}

// RemoveAll implements [vfs.FS].
func (d *engineDisk) RemoveAll(name string) error {
	return d.change(name, func() error { return d.FS.RemoveAll(name) })
}

// Rename implements [vfs.FS].
func (d *engineDisk) Rename(from, to string) error {
	return d.change(to, func() error { return d.FS.Rename(from, to) })
}

// Link implements [vfs.FS].
func (d *engineDisk) Link(from, to string) error {
	return d.change(to, func() error { return d.FS.Link(from, to) })
}

// Lock implements [vfs.FS]: the store has the lock, whatever engines it opens.
func (d *engineDisk) Lock(name string) (io.Closer, error) { return d.lock.take(d.FS, name) }

// Unwrap implements [vfs.FS].
func (d *engineDisk) Unwrap() vfs.FS { return d.FS }

// A engineFile is a file, or the directory, of an engineDisk.
type engineFile struct {
	vfs.File
	disk  *engineDisk
	kind  fileKind
	isLog bool
}

// do does what writes, and returns what the engine is told.
func (f *engineFile) do(write func() error) error {
	if f.kind == compactedFile && f.disk.isEnding() {
		return errEnding
	}
	if f.disk.err() != nil {
		return f.disk.refusal(f.kind)
	}
	err := f.disk.timed(write)
	if down := f.disk.err(); down != nil { // others may have failed meanwhile, or it hung
		return f.disk.refusal(f.kind)
	}
	return f.disk.failure(f.kind, err)
}

// Write implements [vfs.File].
func (f *engineFile) Write(p []byte) (n int, err error) {
	err = f.do(func() (err error) { n, err = f.File.Write(p); return err })
	if err == nil {
		n = len(p)
	}
	return n, err
}

// WriteAt implements [vfs.File].
func (f *engineFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.do(func() (err error) { n, err = f.File.WriteAt(p, at); return err })
	if err == nil {
		n = len(p)
	}
	return n, err
}

// Sync implements [vfs.File].
func (f *engineFile) Sync() error { return f.sync(func() error { return f.File.Sync() }) }

// SyncData implements [vfs.File].
func (f *engineFile) SyncData() error { return f.sync(func() error { return f.File.SyncData() }) }

// sync does not take for kept what was written to a file that has no name any more.
func (f *engineFile) sync(sync func() error) error {
	return f.do(func() error {
		err := sync()
		if err == nil && f.isLog {
			_ = f.disk.check() // the store asks the disk before it acknowledges
		}
		return err
	})
}

// SyncTo implements [vfs.File].
func (f *engineFile) SyncTo(n int64) (full bool, err error) {
	err = f.do(func() (err error) { full, err = f.File.SyncTo(n); return err })
	return full, err
}

// maxPreallocated is how much of a log is reserved on disk before it is written, in
// bytes. The engine wants a whole table in memory, of which small changes fill little.
const maxPreallocated = 4 << 20

// Preallocate implements [vfs.File]. It is a hint.
func (f *engineFile) Preallocate(from, n int64) error {
	if f.disk.err() != nil {
		return nil
	}
	return f.disk.timed(func() error { return f.File.Preallocate(from, min(n, maxPreallocated)) })
}

// Close implements [vfs.File].
func (f *engineFile) Close() error {
	f.disk.wal.CompareAndSwap(f, nil)
	if err := f.disk.timed(f.File.Close); err != nil && f.disk.err() == nil {
		return f.disk.failure(f.kind, err)
	}
	return nil
}

// isDeleted reports whether the file has no name any more.
func (f *engineFile) isDeleted() bool {
	info, err := f.File.Stat()
	return err == nil && isUnlinked(info)
}

// A dirLock is the lock of a directory, which the engines of one store share.
type dirLock struct {
	mu      sync.Mutex
	held    io.Closer
	lenient bool // a file system that takes no writes needs no lock
}

// take takes the lock, unless it is held. What it returns does not release it. The error
// is [ErrLocked] if another store or process holds it.
func (l *dirLock) take(files vfs.FS, name string) (io.Closer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		held, err := files.Lock(name)
		if l.lenient && errors.Is(err, syscall.EROFS) {
			return io.NopCloser(nil), nil
		}
		if err != nil {
			return nil, lockError(err)
		}
		l.held = held
	}
	return io.NopCloser(nil), nil
}

// lockError returns ErrLocked if err says that another store or process holds the lock.
// File systems report this in different ways, so every other known cause is ruled out: a
// lock file that cannot be made, and a file system without locks.
func lockError(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return err
	}
	for _, no := range []error{syscall.ENOLCK, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EINVAL, syscall.EIO, syscall.ENOSPC} {
		if errors.Is(err, no) {
			return fmt.Errorf("cannot be locked: %w", err)
		}
	}
	return ErrLocked
}

func (l *dirLock) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	held := l.held
	l.held = nil
	return held.Close()
}

// probe is the name of the file with which a store tries whether its directory takes
// writes again.
const probe = "PROBE.tmp"

// tryWrite writes a file, waits for the disk, and removes it.
func tryWrite(files vfs.FS, dir string) error {
	name := files.PathJoin(dir, probe)
	f, err := files.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	err = errors.Join(err, f.Sync(), f.Close(), files.Remove(name))
	if err == nil {
		err = syncDir(files, dir)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
