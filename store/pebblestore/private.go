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

// A private is a file system that creates files and directories that only the owner can read,
// regardless of the umask. A store contains reserved names and hashes of tokens.
type private struct{ vfs.FS }

func (p private) Unwrap() vfs.FS { return p.FS }

// keptPrivate returns a private file system that wraps files. If files is nil, it wraps the file
// system of the operating system.
func keptPrivate(files vfs.FS) vfs.FS {
	if files == nil {
		files = vfs.Default
	}
	if vfs.Root(files) == vfs.Default {
		return private{files}
	}
	return files
}

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

// Create implements [vfs.FS]. It removes an existing file instead of truncating it, because the
// file can have other hard links. Pebble requires this.
func (p private) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := p.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return p.OpenReadWrite(name, category)
}

func (p private) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	if err := p.make(name); err != nil {
		return nil, err
	}
	return p.opened(p.FS.OpenReadWrite(name, category, options...))
}

// ReuseForWrite implements [vfs.FS].
func (p private) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return p.opened(p.FS.ReuseForWrite(old, name, category))
}

// OpenDir implements [vfs.FS].
func (p private) OpenDir(name string) (vfs.File, error) { return p.opened(p.FS.OpenDir(name)) }

// Remove implements [vfs.FS].
func (p private) Remove(name string) error {
	if p.FS == vfs.Default && removeFile(name) == nil {
		return nil
	}
	return p.FS.Remove(name) // for a directory, and for the error
}

// opened wraps an opened file as a waitingFile. It does not wrap files of the file systems of
// tests, which must see each sync.
func (p private) opened(f vfs.File, err error) (vfs.File, error) {
	if err == nil && p.FS == vfs.Default {
		f = waiting(f)
	}
	return f, err
}

func (p private) MkdirAll(dir string, _ os.FileMode) error {
	return p.FS.MkdirAll(dir, durable.PrivateDir)
}

// Lock implements [vfs.FS]. If the lock file cannot be created, Lock still tries to lock it and
// returns the error of the lock.
func (p private) Lock(name string) (io.Closer, error) {
	_ = p.make(name)
	return p.FS.Lock(name)
}

// tighten removes the permissions of other users from a store that they can read, for example
// because the store was copied. If the store belongs to another user, tighten logs a warning
// instead.
func tighten(o Options) {
	if o.ReadOnly || vfs.Root(o.FS) != vfs.Default {
		return
	}
	was, err := durable.Tighten(o.Dir)
	switch {
	case o.Log == nil:
	case err != nil:
		o.Log.Warn("cannot make the store private: change its mode to 0700", "dir", o.Dir, "err", err)
	case was != 0:
		o.Log.Warn(fmt.Sprintf("other users could read the store (mode %04o); now only its owner can", was), "dir", o.Dir)
	}
}

// disk adapts a file system to [durable.FS].
type disk struct{ vfs.FS }

func (d disk) CreateBeside(path string) (durable.File, string, error) {
	tmp := path + ".tmp"
	f, err := d.FS.Create(tmp, vfs.WriteCategoryUnspecified)
	return f, tmp, err
}

func (d disk) SyncParent(path string) error { return syncDir(d.FS, d.PathDir(path)) }
