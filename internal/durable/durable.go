// Package durable replaces files and directories atomically. After a crash, a file has either its
// old or its new content. The package can also make files readable only by their owner.
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

// Modes of new files and directories, from which the umask can remove permissions.
const (
	Private    fs.FileMode = 0o600 // files that only the owner can read
	PrivateDir fs.FileMode = 0o700 // directories that only the owner can enter
	Shared     fs.FileMode = 0o666 // files whose permissions the umask decides
)

// A File is a file that [Replace] writes.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// An FS is a file system for [Replace] and [Move].
type FS interface {
	// CreateBeside creates an empty file in the directory of path, and returns the file and its
	// name.
	CreateBeside(path string) (File, string, error)
	Rename(from, to string) error // replaces an existing file
	Remove(path string) error
	SyncParent(path string) error // makes renames in the directory of path durable
}

// Replace replaces the file at path with what write writes. If it returns nil, the new content is
// on disk. If it returns an error, the file has not changed, except if syncing the directory has
// failed. The file can then have the old or the new content after a crash.
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

// Move renames a file or a directory within its directory. If it returns nil, the new name is on
// disk.
func Move(disk FS, from, to string) error {
	if err := disk.Rename(from, to); err != nil {
		return err
	}
	return disk.SyncParent(to)
}

// Disk is the file system of the operating system.
type Disk struct {
	Mode fs.FileMode // [Private] or [Shared], for files that did not exist before

	// Keep gives the new file the mode and the group of the old one, which an administrator may
	// have set. This requires that the old file belongs to the user of this process, because
	// another user may have created it in order to read the new content.
	Keep bool

	// Disposable files are not synced. They have checksums, and their readers ignore files that a
	// crash has damaged.
	Disposable bool
}

// newSuffix is between the name of the file and a number in the name of a temporary file.
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
			if at, ok := err.(*fs.PathError); ok { // report the file that the caller knows
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

// Write replaces the file at path with content; see [Replace].
func Write(disk FS, path string, content []byte) error {
	return Replace(disk, path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFile replaces the file at path with text. Only its owner can read the new file.
func WriteFile(path, text string) error {
	return Write(Disk{Mode: Private}, path, []byte(text))
}

// Sweep removes temporary files that a crash has left next to the file at path.
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

// Share sets the mode of a file or a directory, and gives it the group of the file described by
// model. If that fails, the group gets no permissions.
func Share(path string, model fs.FileInfo, mode fs.FileMode) {
	if _, group, ok := owner(model); !ok || os.Chown(path, -1, group) != nil {
		mode &^= 0o070
	}
	_ = os.Chmod(path, mode) // otherwise the file stays private
}

const othersMay fs.FileMode = 0o007

// Tighten removes all permissions except the owner's if a file or a directory has any for users
// outside its group. Such files come from programs that leave permissions to the umask. If only the
// group has permissions, they were set on purpose, so Tighten does not change them. It returns the
// old mode, or 0 if it changed nothing. If the file belongs to another user, the error wraps
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
