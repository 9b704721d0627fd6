// Package flock prevents two processes from writing the same file. The lock of a store is dirLock
// in store/pebblestore.
package flock

import "errors"

// ErrLocked means that another process has the lock, or this process through another open file.
var ErrLocked = errors.New("locked by another process")
