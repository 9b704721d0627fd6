package pebblestore

import (
	"errors"
	"io"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A lockless lets a store be read on a file system that takes no writes, where a lock
// can be neither made nor needed: a backup on a medium that is kept.
type lockless struct{ vfs.FS }

// Lock implements [vfs.FS].
func (l lockless) Lock(name string) (io.Closer, error) {
	lock, err := l.FS.Lock(name)
	if errors.Is(err, syscall.EROFS) {
		return io.NopCloser(nil), nil
	}
	return lock, err
}

// Unwrap implements [vfs.FS].
func (l lockless) Unwrap() vfs.FS { return l.FS }
