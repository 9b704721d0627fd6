// Package durable replaces files and directories atomically: after a crash there is either the
// old or the new content, never a part. It also keeps files private to their owner.
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

// Modes of files and directories. The umask can only remove permissions from them.
const (
	Private    fs.FileMode = 0o600 // files that only their owner can read
	PrivateDir fs.FileMode = 0o700 // directories that only their owner can enter
	Shared     fs.FileMode = 0o666 // files with the permissions of the umask
)

// A File is a file that is being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// A FS is the file system interface of [Replace] and [Move].
type FS interface {
	// CreateBeside creates an empty file in the directory of path and returns it with its name.
	CreateBeside(path string) (File, string, error)
	Rename(from, to string) error // replaces an existing file
	Remove(path string) error
	SyncParent(path string) error // makes renames in the directory of path durable
}

// Replace replaces the file at path by the output of write. When it returns nil, the new
// content is on disk. After an error the file is unchanged, unless the failed step was the
// last one, the sync of the directory. In that case the file may have either content after a
// crash.
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

// Move renames a file or directory within its directory. It returns when the rename is on disk.
func Move(disk FS, from, to string) error {
	if err := disk.Rename(from, to); err != nil {
		return err
	}
	return disk.SyncParent(to)
}

// Disk is the operating system's file system. [Replace] creates files with its Mode.
type Disk struct {
	Mode fs.FileMode // [Private] or [Shared], for a file that does not exist yet

	// Keep gives the mode and group of a replaced file to its replacement, because they may
	// have been set on purpose. It applies only if the replaced file belongs to the user of
	// this process, because a file of another user may be there to make the replacement
	// readable for that user.
	Keep bool

	// Disposable files are not synced: they have checksums, and readers ignore a file that was
	// damaged in a crash.
	Disposable bool
}

// newSuffix comes between the name of a file and a number in the name of the temporary file.
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
			if at, ok := err.(*fs.PathError); ok { // name the file that the caller knows
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

// Sync implements [File].
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

// WriteFile replaces a file with one that has this text and that only its owner can read.
func WriteFile(path, text string) error {
	return Write(Disk{Mode: Private}, path, []byte(text))
}

// Sweep removes temporary files that a crash has left beside the file at path.
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

// Share sets the mode of a file or directory, and gives it the group of another file. If it
// cannot set the group, it omits the group's permissions.
func Share(path string, as fs.FileInfo, mode fs.FileMode) {
	if _, group, ok := owner(as); !ok || os.Chown(path, -1, group) != nil {
		mode &^= 0o070
	}
	_ = os.Chmod(path, mode) // on failure it stays private
}

// othersMay are the permissions of other users.
const othersMay fs.FileMode = 0o007

// Tighten removes all permissions except the owner's from a file or directory, if other users
// have any. Programs that leave permissions to the umask create such files. Permissions for the
// group alone were set on purpose and stay. It returns the previous mode, or 0 if it changed
// nothing. The error contains [fs.ErrPermission] if the file belongs to another user.
func Tighten(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&othersMay == 0 || runtime.GOOS == "windows" { // Windows has no such modes
		return 0, err
	}
	was := info.Mode().Perm()
	if err := os.Chmod(path, was&PrivateDir); err != nil {
		return 0, fmt.Errorf("other users can read it (mode %04o): %w", was, err)
	}
	return was, nil
}
