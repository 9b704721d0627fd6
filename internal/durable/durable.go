// Package durable replaces files and directories so that a crash at any moment
// leaves the old content or the new content, never a part of either. It also makes
// and keeps files private to their owner.
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

// Modes of files and directories. The umask can only narrow them.
const (
	Private    fs.FileMode = 0o600 // files that only their owner may read
	PrivateDir fs.FileMode = 0o700 // directories that only their owner may enter
	Shared     fs.FileMode = 0o666 // files of the user, for whom the umask decides
)

// A File is a file that is being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// A FS is what [Replace] and [Move] need of a file system.
type FS interface {
	// CreateBeside makes an empty file in the directory of path and returns it with
	// its name.
	CreateBeside(path string) (File, string, error)
	Rename(from, to string) error // replaces what is there
	Remove(path string) error
	SyncParent(path string) error // makes renames in the directory of path durable
}

// Replace gives the file at path the content that write produces. When it returns
// nil, the content is on disk. After an error the file is as it was, unless the
// error is that of the last step, the sync of the directory; then either content can
// be there after a crash.
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

// Move renames a file or a directory within its directory, and returns when that is
// on disk.
func Move(disk FS, from, to string) error {
	if err := disk.Rename(from, to); err != nil {
		return err
	}
	return disk.SyncParent(to)
}

// Disk is the file system of the machine, on which [Replace] makes files with this
// mode.
type Disk struct {
	Mode fs.FileMode // [Private] or [Shared]; of a file that replaces none

	// Keep gives a file that replaces another the mode and the group of that, if it
	// belongs to the same user: they were set on purpose. A file of another user may be
	// a trap.
	Keep bool

	// Disposable files are not synced: they have checksums, and one that a crash of
	// the machine has damaged is dropped by whoever reads it.
	Disposable bool
}

// newSuffix stands between the name of a file and a number in the name of the file
// that is to replace it.
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

// SyncDir writes the entries of a directory to disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Write gives the file at path this content, as [Replace] does.
func Write(disk FS, path string, content []byte) error {
	return Replace(disk, path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFile replaces a file by one with this text that only its owner can read.
func WriteFile(path, text string) error {
	return Write(Disk{Mode: Private}, path, []byte(text))
}

// Sweep removes the files that a crash has kept from replacing the file at path.
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

// Share gives a file or a directory of this process a mode, and the group of another
// file; without permissions for the group if it cannot have that.
func Share(path string, as fs.FileInfo, mode fs.FileMode) {
	if _, group, ok := owner(as); !ok || os.Chown(path, -1, group) != nil {
		mode &^= 0o070
	}
	_ = os.Chmod(path, mode) // else it stays private
}

// othersMay are the permissions of users who are neither the owner nor in the group.
const othersMay fs.FileMode = 0o007

// Tighten takes all permissions for a file or a directory from everybody but its
// owner if other users have any: that is how programs that leave it to the umask
// make files. Permissions that only the group has were given on purpose, and stay. It
// returns the mode that was changed, 0 if none was. The error contains
// [fs.ErrPermission] when the file belongs to somebody else.
func Tighten(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&othersMay == 0 || runtime.GOOS == "windows" { // which has no such modes
		return 0, err
	}
	was := info.Mode().Perm()
	if err := os.Chmod(path, was&PrivateDir); err != nil {
		return 0, fmt.Errorf("other users can read it (mode %04o): %w", was, err)
	}
	return was, nil
}
