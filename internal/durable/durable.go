// Package durable replaces files and directories atomically: after a crash, a file has either its
// old or its new content, never a part of either. The package also makes files readable only by
// their owner.
package durable

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Modes of new files and directories. The umask can remove permissions from them, but not add any.
const (
	Private    fs.FileMode = 0o600 // files that only their owner can read
	PrivateDir fs.FileMode = 0o700 // directories that only their owner can enter
	Shared     fs.FileMode = 0o666 // files whose permissions the umask determines
)

// A File is a file that [Replace] writes.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// An FS has the operations of a file system that [Replace] and [Move] need.
type FS interface {
	// CreateBeside creates an empty file in the directory of path, and returns the file and its
	// name.
	CreateBeside(path string) (File, string, error)
	Rename(from, to string) error // renames a file; replaces an existing file
	Remove(path string) error
	SyncParent(path string) error // makes renames in the directory of path durable, so that they survive a crash
}

// Replace replaces the file at path with the output of the function write. When it returns nil, the
// new content is on disk. If it returns an error, the file is unchanged, with one exception: if
// only the last step failed, the sync of the directory, the file can have the old or the new
// content after a crash.
func Replace(disk FS, path string, write func(io.Writer) error) error {
	f, tmp, err := disk.CreateBeside(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, disk.Remove(tmp))
	}
	if err := disk.Rename(tmp, path); err != nil {
		return errors.Join(err, disk.Remove(tmp))
	}
	return disk.SyncParent(path)
}

// Move renames a file or directory; the new name must be in the same directory. When it returns
// nil, the rename is on disk.
func Move(disk FS, from, to string) error {
	if err := disk.Rename(from, to); err != nil {
		return err
	}
	return disk.SyncParent(to)
}

// Disk is the operating system's file system. [Replace] creates files with its Mode.
type Disk struct {
	Mode fs.FileMode // [Private] or [Shared]; the mode of files that did not exist before

	// Keep gives the mode and the group of the replaced file to the new file, because an
	// administrator may have set them on purpose. This happens only if the replaced file belongs to
	// the user of this process: another user may have created the file in order to be able to read
	// the new content.
	Keep bool

	// Disposable files are not synced. They have checksums, and programs that read them ignore
	// files that a crash has damaged.
	Disposable bool
}

// newSuffix is part of the name of a temporary file: the name of the file that it replaces,
// newSuffix, and a number.
const newSuffix = ".new"

// CreateBeside implements [FS].
func (d Disk) CreateBeside(path string) (File, string, error) {
	const attempts = 100
	for n := 1; ; n++ {
		tmp := filepath.Clean(path) + newSuffix + strconv.FormatUint(uint64(rand.Uint32()), 10)
		f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, d.Mode)
		switch {
		case errors.Is(err, fs.ErrExist) && n < attempts:
			continue
		case err != nil:
			if at, ok := err.(*fs.PathError); ok { // put the file that the caller knows into the error
				err = &fs.PathError{Op: "create", Path: path, Err: at.Err}
			}
			return nil, "", err
		case d.Keep:
			if info, err := os.Stat(path); err == nil && isOurs(info) {
				Share(tmp, info, info.Mode().Perm())
			}
		case d.Disposable:
			return unsynced{f}, tmp, nil
		}
		return f, tmp, nil
	}
}

type unsynced struct{ File }

// Sync does nothing.
func (unsynced) Sync() error { return nil }

// Rename implements [FS].
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements [FS].
func (Disk) Remove(path string) error { return os.Remove(path) }

// SyncParent implements [FS].
func (d Disk) SyncParent(path string) error {
	if d.Disposable {
		return nil
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir syncs the entries of a directory.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Write replaces the file at path with content, as [Replace] does.
func Write(disk FS, path string, content []byte) error {
	return Replace(disk, path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFile replaces a file. The new file has the given text, and only its owner can read it.
func WriteFile(path, text string) error {
	return Write(Disk{Mode: Private}, path, []byte(text))
}

// Sweep removes the temporary files of [Replace] that are left beside the file at path after a
// crash.
func Sweep(path string) error {
	dir, base := filepath.Split(filepath.Clean(path))
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), base+newSuffix)
		if _, bad := strconv.ParseUint(number, 10, 64); !ok || bad != nil || !e.Type().IsRegular() {
			continue
		}
		err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
	}
	return err
}

// Share sets the mode of a file or directory, and gives it the group of another file, described by
// the parameter model. If the group cannot be set, the mode gets no permissions for the group.
func Share(path string, model fs.FileInfo, mode fs.FileMode) {
	if _, group, ok := owner(model); !ok || os.Chown(path, -1, group) != nil {
		mode &^= 0o070
	}
	_ = os.Chmod(path, mode) // if this fails, the file stays private
}

// othersMay has the permission bits for users who are neither the owner nor in the group.
const othersMay fs.FileMode = 0o007

// Tighten removes all permissions except the owner's from a file or directory if users outside its
// group have any. Such files come from programs that leave permissions to the umask. If only the
// group has permissions, someone has set them on purpose, and they stay. Tighten returns the mode
// from before, or 0 if it changed nothing. If the file belongs to another user, the error contains
// [fs.ErrPermission].
func Tighten(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&othersMay == 0 || runtime.GOOS == "windows" { // Windows has no such permissions
		return 0, err
	}
	was := info.Mode().Perm()
	if err := os.Chmod(path, was&PrivateDir); err != nil {
		return 0, fmt.Errorf("other users can read it (mode %04o): %w", was, err)
	}
	return was, nil
}
