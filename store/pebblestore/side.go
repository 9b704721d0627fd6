package pebblestore

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/pacer"
)

// A Side is a database in a directory of its own, for data that is derived from a store, such as an
// index. The files are private. If the disk fails, the Side stops writing and the process
// continues.
type Side struct {
	*pebble.DB
	database *database
	lock     *dirLock
}

// SideOptions say which directory [OpenSide] opens, and how.
type SideOptions struct {
	Dir       string       // created if necessary, but its parent is not
	FS        vfs.FS       // file system; if nil, the file system of the operating system
	CacheSize int64        // memory for uncompressed data, in bytes
	Log       *slog.Logger // logger for the errors of the engine; nil for no log
	Pacer     *pacer.Pacer // see [Options]

	// Sought has the first bytes of the keys that are read at random. The entries with such keys
	// are stored in small blocks that are fast to decompress.
	Sought []byte
}

const soughtSize = 4 << 10 // bytes of data that are compressed together

// spanPolicy returns the function that determines how entries are compressed, or nil for the
// default.
func (s *SideOptions) spanPolicy() func(start []byte) (pebble.SpanPolicy, []byte, error) {
	if len(s.Sought) == 0 {
		return nil
	}
	return func(start []byte) (pebble.SpanPolicy, []byte, error) {
		return pebble.SpanPolicy{PreferFastCompression: bytes.IndexByte(s.Sought, start[0]) >= 0}, []byte{start[0] + 1}, nil
	}
}

// OpenSide opens or creates a Side. If another process has opened the Side, the error wraps
// [ErrLocked].
func OpenSide(s SideOptions) (*Side, error) {
	o := Options{Dir: s.Dir, FS: s.FS, CacheSize: s.CacheSize, Log: s.Log, Pacer: s.Pacer}
	o.defaults()
	// If the data directory was moved away or deleted, it must not be created again.
	if _, err := o.FS.Stat(o.FS.PathDir(o.Dir)); err != nil {
		return nil, err
	}
	if vfs.Root(o.FS) == vfs.Default {
		if _, err := durable.Tighten(o.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	lock := &dirLock{}
	if len(s.Sought) > 0 {
		o.blockSize = soughtSize
	}
	db, err := openDatabase(o, lock, nil, func(p *pebble.Options, _ *engineDisk) {
		p.Experimental.SpanPolicyFunc = s.spanPolicy()
		for i := range p.Levels {
			p.Levels[i].FilterPolicy = pebble.NoFilterPolicy
		}
	})
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return &Side{db.DB, db, lock}, nil
}

// Err returns the reason why the disk has failed, or nil. After a failure, writes have no effect
// although their methods return nil. Callers must therefore call Err after each write that matters.
func (s *Side) Err() error { return s.database.disk.check() }

// Close closes the database and releases its directory. All iterators and snapshots must be closed
// first.
func (s *Side) Close() error { return s.database.closeAlone() }
