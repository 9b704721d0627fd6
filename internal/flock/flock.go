// Package flock prevents two processes from writing one file. The lock of a store is elsewhere:
// see dirLock in store/pebblestore.
package flock

import "errors"

// ErrLocked is returned by [Try] if another process, or another open file of this one, holds
// the lock.
var ErrLocked = errors.New("locked by another process")
