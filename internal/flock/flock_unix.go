//go:build unix && !solaris && !illumos && !aix

package flock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes an advisory lock on f, or returns [ErrLocked]. The lock lasts until f is closed or the
// process ends.
func Try(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
