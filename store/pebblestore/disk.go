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

	"github.com/nomen-project/nomen/internal/pacer"
)

var errGone = errors.New("the directory of the store was deleted or replaced")

// errEnding makes compactions end while an engine is being closed.
var errEnding = errors.New("the store is being closed")

// A compaction that finds the disk full waits for at most compactionPause. It checks the free space
// every roomTick.
const (
	compactionPause = 30 * time.Second
	roomTick        = time.Second
)

// An engineDisk is the file system of one engine for the directory of a store. It hides disk
// failures from Pebble, which would otherwise panic, while it holds locks, when it cannot write its
// log or manifest.
//
// At the first failed write or sync, the engineDisk goes down. From then on the directory does not
// change, as if the process had died at that moment: writes to the log and the manifest are
// discarded, tables flushed from memory stay in memory, compactions block until the engine is
// closed, and no file is removed. Reads still work. The store does not acknowledge writes to a disk
// that is down. When the directory can be written again, the store opens another engine, which
// recovers the data on disk.
//
// Paths outside the directory go to the underlying file system.
type engineDisk struct {
	vfs.FS
	dir    string
	lock   *dirLock
	onDown func(error)
	locked func() error // called when the engine has the lock, before it reads the directory; may be nil
	pacer  *pacer.Pacer // of flushes and compactions; may be nil
	mem    *vfs.MemFS
	first  os.FileInfo // description of dir when it was opened; nil if unknown

	open   atomic.Bool                 // false while Pebble still opens the database, because Pebble then waits for compactions
	cause  atomic.Pointer[diskFailure] // why the disk is down
	down   chan struct{}               // closed when the disk goes down
	limit  time.Duration               // maximum duration of a call, after which the disk counts as hanging
	calls  atomic.Int64                // number of calls in progress
	hung   chan struct{}               // closed when a call exceeds limit
	ending chan struct{}               // closed when the engine begins to close
	wal    atomic.Pointer[engineFile]

	hungOnce sync.Once
}

// A diskFailure is the reason why a disk is down, and the time of the failure.
type diskFailure struct {
	err   error
	since time.Time
}

// newEngineDisk returns the disk of a directory. The function onDown, if not nil, is called once
// when the disk goes down. The call can be in any goroutine.
func newEngineDisk(files vfs.FS, dir string, lock *dirLock, onDown func(error)) *engineDisk {
	d := &engineDisk{FS: files, dir: dir, lock: lock, onDown: onDown, mem: vfs.NewMem(), down: make(chan struct{}), ending: make(chan struct{}), limit: hangAfter, hung: make(chan struct{})}
	if vfs.Root(files) == vfs.Default {
		d.first, _ = os.Stat(dir) // the directory may not exist yet: see opened
	}
	_ = d.mem.MkdirAll(dir, 0o700) // cannot fail: it is in memory
	return d
}

func (d *engineDisk) opened() {
	d.open.Store(true)
	if d.first == nil && vfs.Root(d.FS) == vfs.Default {
		d.first, _ = os.Stat(d.dir) // if the directory is gone already, check will report it
	}
}

func (d *engineDisk) err() error {
	if f := d.cause.Load(); f != nil {
		return f.err
	}
	return nil
}

// fail takes the disk down with the cause err. If the disk is already down, fail does nothing.
func (d *engineDisk) fail(err error) {
	if d.cause.CompareAndSwap(nil, &diskFailure{err, time.Now()}) {
		close(d.down)
		if d.onDown != nil {
			d.onDown(err)
		}
	}
}

// check takes the disk down if the write-ahead log was deleted, or if the directory was deleted or
// replaced. It returns the reason why the disk is down, or nil.
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

// same reports whether the path of the directory still leads to the directory that was opened.
func (d *engineDisk) same() bool {
	if d.first == nil {
		return true
	}
	info, err := os.Stat(d.dir)
	return err == nil && os.SameFile(info, d.first)
}

func (d *engineDisk) within(name string) bool { return d.PathDir(name) == d.dir }

func (d *engineDisk) waits(kind fileKind) bool { return kind == compactedFile && d.open.Load() }

func (d *engineDisk) isEnding() bool {
	select {
	case <-d.ending:
		return true
	default:
		return false
	}
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

type fileKind uint8

const (
	vitalFile     fileKind = iota // log, manifest, marker, options: writes are discarded
	flushedFile                   // a table flushed from memory: kept in memory
	compactedFile                 // a table made by a compaction: its writer blocks
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

// failure takes the disk down after a failed write. It returns the error for the engine, which is
// nil for vital files.
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

// waitForRoom waits until the disk has more free space, but for at most [compactionPause]. It
// returns early if the engine is being closed or the disk is down.
func (d *engineDisk) waitForRoom() {
	full, _ := freeSpace(d.FS, d.dir)
	for range compactionPause / roomTick {
		select {
		case <-d.ending:
			return
		case <-d.down:
			return
		case <-time.After(roomTick):
		}
		if free, _ := freeSpace(d.FS, d.dir); free > spareBytes && (free-spareBytes)/2 > full {
			return
		}
	}
}

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

// Create implements [vfs.FS]. Before Create creates a marker, which is a file that names another
// file, it syncs the directory. Otherwise a crash could leave the marker without the other file.
func (d *engineDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.create(name, category, func() (vfs.File, error) {
		if d.within(name) && strings.HasPrefix(d.PathBase(name), "marker.") {
			if err := syncDir(d.FS, d.dir); err != nil {
				return nil, err
			}
		}
		return d.FS.Create(name, category)
	})
}

func (d *engineDisk) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.create(name, category, func() (vfs.File, error) { return d.FS.ReuseForWrite(old, name, category) })
}

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
		if err == nil && d.err() != nil { // the disk went down because the call took too long
			err = errors.Join(d.err(), f.Close())
		}
		if err == nil {
			file := &engineFile{File: f, disk: d, kind: kind, isLog: strings.HasSuffix(name, ".log")}
			if kind != vitalFile {
				file.turn = d.pacer.Begin()
			}
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
	return &engineFile{File: f, disk: d}, nil // writes to the file are discarded
}

// Open implements [vfs.FS]. It delays errors, because the engine retries at once.
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

// rest slows down an engine that retries in a loop to 20 attempts per second.
func (d *engineDisk) rest() {
	select {
	case <-d.ending:
	case <-time.After(50 * time.Millisecond):
	}
}

func (d *engineDisk) Stat(name string) (vfs.FileInfo, error) {
	if d.err() != nil && d.within(name) {
		if info, err := d.mem.Stat(name); err == nil {
			return info, nil
		}
	}
	return d.FS.Stat(name)
}

func (d *engineDisk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil || name != d.dir {
		return f, err
	}
	return &engineFile{File: f, disk: d}, nil
}

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

func (d *engineDisk) MkdirAll(dir string, mode os.FileMode) error {
	return d.timed(func() error { return d.FS.MkdirAll(dir, mode) })
}

func (d *engineDisk) Remove(name string) error {
	return d.change(name, func() error { return d.FS.Remove(name) })
}

func (d *engineDisk) RemoveAll(name string) error {
	return d.change(name, func() error { return d.FS.RemoveAll(name) })
}

func (d *engineDisk) Rename(from, to string) error {
	return d.change(to, func() error { return d.FS.Rename(from, to) })
}

func (d *engineDisk) Link(from, to string) error {
	return d.change(to, func() error { return d.FS.Link(from, to) })
}

// Lock implements [vfs.FS]. The store holds the lock for all its engines.
func (d *engineDisk) Lock(name string) (io.Closer, error) {
	held, err := d.lock.take(d.FS, name)
	if err == nil && d.locked != nil {
		err = d.locked()
	}
	return held, err
}

func (d *engineDisk) Unwrap() vfs.FS { return d.FS }

// A dirLock is the lock of a directory. The engines of one store share it.
type dirLock struct {
	mu      sync.Mutex
	held    io.Closer
	lenient bool // a failure to lock is accepted, because a read-only file system needs no lock
}

// take acquires the lock, unless the store already has it. Closing the result does not release the
// lock. If another store or process has the lock, the error is [ErrLocked].
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

// lockError returns ErrLocked if err means that another store or process has the lock. File systems
// have many errors for this case. lockError therefore treats only the few errors with another
// meaning differently: that the lock file cannot be created, or that the file system does not
// support locks.
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

// probe is a file that a store writes to find out whether its directory is writable.
const probe = "PROBE.tmp"

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
