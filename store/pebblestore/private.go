package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
)

// A private file system makes files and directories that only their owner can read,
// whatever the umask: a store has reserved and embargoed names, and secrets of tokens.
// It wraps one of the machine's.
type private struct{ vfs.FS }

// Unwrap implements [vfs.FS].
func (p private) Unwrap() vfs.FS { return p.FS }

// make makes an empty file, unless there is one.
func (p private) make(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, durable.Private)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Create implements [vfs.FS]. As the engine demands, a file that exists is removed and
// not truncated: it may have other names.
func (p private) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := p.FS.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return p.OpenReadWrite(name, category)
}

// OpenReadWrite implements [vfs.FS].
func (p private) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	if err := p.make(name); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(name, category, options...)
}

// MkdirAll implements [vfs.FS].
func (p private) MkdirAll(dir string, _ os.FileMode) error {
	return p.FS.MkdirAll(dir, durable.PrivateDir)
}

// Lock implements [vfs.FS]. Where the file of the lock cannot be made, the locking
// itself tells why.
func (p private) Lock(name string) (io.Closer, error) {
	_ = p.make(name)
	return p.FS.Lock(name)
}

// tighten makes a store that an earlier program has left to the umask private. A
// store that belongs to another user stays as it is, with a warning.
func tighten(o Options) {
	if o.ReadOnly || vfs.Root(o.FS) != vfs.Default {
		return
	}
	was, err := durable.Tighten(o.Dir)
	switch {
	case o.Log == nil:
	case err != nil:
		o.Log.Warn("the store cannot be made private: change its mode to 0700", "dir", o.Dir, "err", err)
	case was != 0:
		o.Log.Warn(fmt.Sprintf("other users could read the store (mode %04o); now only its owner can", was), "dir", o.Dir)
	}
}

// disk is the file system of a store for what replaces files.
type disk struct{ vfs.FS }

// CreateBeside implements [durable.FS].
func (d disk) CreateBeside(path string) (durable.File, string, error) {
	tmp := path + ".tmp"
	f, err := d.FS.Create(tmp, vfs.WriteCategoryUnspecified)
	return f, tmp, err
}

// SyncParent implements [durable.FS].
func (d disk) SyncParent(path string) error { return syncDir(d.FS, d.PathDir(path)) }
