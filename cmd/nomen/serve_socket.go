package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// maxSocketPath is the maximum length of the path of a Unix socket, in bytes: the size of sun_path
// in unix(7), without the NUL.
const maxSocketPath = 107

// An adminSocketFile is a listener on a Unix socket that only the user of this process can
// connect to.
type adminSocketFile struct {
	net.Listener
	path  string
	made  os.FileInfo
	quiet bool // do not announce this listener
}

// openSocket listens on a Unix socket. It replaces the socket of a server that was killed, but does
// not replace any other file.
func openSocket(path string) (*adminSocketFile, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("%s: the path of a Unix socket can have at most %d bytes; use --admin unix:PATH with a shorter path", path, maxSocketPath)
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := listenPrivately(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, listenFault(err))
	}
	l.SetUnlinkOnClose(false) // another server may have the path by then
	made, err := os.Lstat(path)
	if err := errors.Join(err, os.Chmod(path, 0o600)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &adminSocketFile{Listener: l, path: path, made: made}, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s: the file exists and is not a socket; remove it, or use another path", path)
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
		return fmt.Errorf("%s: another server listens on this socket", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s: cannot tell whether a server listens on this socket: %w", path, listenFault(err))
	}
	return os.Remove(path)
}

// remove removes the socket, unless another server has replaced it.
func (s *adminSocketFile) remove() {
	now, err := os.Lstat(s.path)
	if err == nil && os.SameFile(now, s.made) && now.ModTime().Equal(s.made.ModTime()) { // another file can have the same inode, but not also the same time
		_ = os.Remove(s.path) // the next server replaces it
	}
}
