//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// KeepOwner changes the owner and group of files in the directory dir from root to those of the
// directory model. When root runs a command on the files of a server, the server can thus still use
// the files. KeepOwner does nothing if the process does not run as root, or if model belongs to
// root.
//
// The owner of dir need not be trusted. KeepOwner does not follow symbolic links out of dir, and
// skips files with more than one hard link, because these can be files of the system.
func KeepOwner(dir, model string) error {
	info, err := os.Stat(model)
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	user, group, ok := owner(info)
	if !ok || user == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !e.IsDir() && !e.Type().IsRegular():
			return nil
		}
		return give(root, path, user, group)
	})
}

func give(root *os.Root, path string, user, group int) error {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid != 0 || !info.IsDir() && s.Nlink != 1 {
		return nil
	}
	return f.Chown(user, group)
}
