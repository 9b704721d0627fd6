package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// An UnwritableError reports a directory that this process cannot write. Its message names the user
// of the process, and what to do.
type UnwritableError struct {
	Dir      string
	User     string // user of this process
	Owner    string // owner of Dir, or ""
	Mode     fs.FileMode
	ReadOnly bool // the file system is read-only for this process
	Err      error
}

func (e *UnwritableError) Error() string {
	what := fmt.Sprintf("cannot write to %s as user %s: ", e.Dir, e.User)
	switch {
	case e.ReadOnly:
		return what + "its file system is read-only; if systemd runs the server with ProtectSystem=strict, add ReadWritePaths=" + e.Dir + " to its unit"
	case e.masked():
		return what + "it belongs to root and has mode 0000; if systemd runs the server, ProtectHome or InaccessiblePaths of its unit hides this directory: choose a directory elsewhere, such as below /var/lib/nomen"
	case e.Owner != "":
		what += fmt.Sprintf("the directory belongs to user %s and has mode %04o; ", e.Owner, e.Mode)
	}
	return what + "make it writable for this user, for example with 'chown " + e.User + " " + e.Dir + "'"
}

// masked reports whether systemd seems to hide the directory. Over such a directory, systemd mounts
// an empty directory that belongs to root and has mode 0000.
func (e *UnwritableError) masked() bool { return e.Owner == "root" && e.Mode == 0 }

// Unwrap returns the error of the operating system.
func (e *UnwritableError) Unwrap() error { return e.Err }

// Unwritable returns an [*UnwritableError] if err means that this process cannot create path.
// Otherwise it returns err.
func Unwritable(path string, err error) error {
	readOnly := errors.Is(err, syscall.EROFS)
	if !readOnly && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	e := &UnwritableError{Dir: filepath.Dir(filepath.Clean(path)), User: CurrentUser(), ReadOnly: readOnly, Err: err}
	for {
		info, err := os.Stat(e.Dir)
		if err == nil {
			e.Mode = info.Mode().Perm()
			e.Owner = OwnerOf(info)
			return e
		}
		parent := filepath.Dir(e.Dir)
		if parent == e.Dir {
			return e
		}
		e.Dir = parent
	}
}

// CurrentUser returns the name of the effective user of this process, or the user ID if the user
// has no name.
func CurrentUser() string { return userName(os.Geteuid()) }

// OwnerOf returns the name of the user who owns a file, or "" if the owner is unknown.
func OwnerOf(info fs.FileInfo) string {
	if id, _, ok := owner(info); ok {
		return userName(id)
	}
	return ""
}

func userName(id int) string {
	text := strconv.Itoa(id)
	if u, err := user.LookupId(text); err == nil && u.Username != "" {
		return u.Username
	}
	return text
}
