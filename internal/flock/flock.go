// Package flock keeps two processes from writing one file.
package flock

import "errors"

// ErrLocked is returned by [Try] when another process, or another open file of
// this one, has the lock.
var ErrLocked = errors.New("another process writes it")
