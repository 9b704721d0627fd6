// Package durable replaces files atomically, so that after a crash a file has either its old or its
// new content. It also sets the owners and permissions of files.
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

// Replace calls write, and replaces the content of the file at path with the result. If Replace
// returns nil, the new content is on disk. If it returns an error, the file is unchanged, unless
// the error comes from syncing the directory. In that case, the file can have the old or the new
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

// Move renames a file or a directory within its parent directory. If Move returns nil, the new name
// is on disk.
func Move(disk FS, from, to string) error {
	if err := disk.Rename(from, to); err != nil {
		return err
	}
	return disk.SyncParent(to)
}

// Disk is the file system of the operating system.
type Disk struct {
	Mode fs.FileMode // [Private] or [Shared], for files that did not exist before

	// Keep gives the new file the mode and the group of the old file, because an administrator may
	// have set them. Keep has no effect if the old file belongs to another user, who may have
	// created the file in order to read the new content.
	Keep bool

	// Disposable files are not synced. They have checksums, and their readers ignore files that a
	// crash has damaged.
	Disposable bool
}

// newSuffix separates the name of the replaced file from a number in the name of a temporary file.
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

// Write replaces the content of the file at path; see [Replace].
func Write(disk FS, path string, content []byte) error {
	return Replace(disk, path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFile replaces the content of the file at path with text. Only the owner can read the new
// file.
func WriteFile(path, text string) error {
	return Write(Disk{Mode: Private}, path, []byte(text))
}

// Sweep removes the temporary files that a crash has left next to the file at path.
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

// Share sets the mode of a file or a directory, and changes its group to the group of model. If the
// group cannot be changed, Share removes the permissions for the group from the mode.
func Share(path string, model fs.FileInfo, mode fs.FileMode) {
	if _, group, ok := owner(model); !ok || os.Chown(path, -1, group) != nil {
		mode &^= 0o070
	}
	_ = os.Chmod(path, mode) // otherwise the file stays private
}

const othersMay fs.FileMode = 0o007

// Tighten removes the permissions of the group and of other users from a file or a directory that
// other users can access. Such permissions result from the umask. If only the group has
// permissions, Tighten does not change them, because an administrator has set them. Tighten returns
// the old mode, or 0 if it changed nothing. If the file belongs to another user, the error wraps
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
