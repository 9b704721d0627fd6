//go:build unix && !solaris && !illumos && !aix

package flock

import (
	"errors"
	"os"
	"syscall"
)

// Try locks f until it is closed, or returns [ErrLocked]. The lock is advisory. It ends with
// the process.
func Try(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
