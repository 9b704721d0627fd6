// Package flock prevents two processes from writing one file. The lock of a store is not here; it
// is dirLock in store/pebblestore.
package flock

import "errors"

// ErrLocked is returned by [Try] if another process holds the lock, or if this process holds it
// through another open file.
var ErrLocked = errors.New("locked by another process")
