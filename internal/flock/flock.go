// Package flock locks files, to prevent two processes from writing the same file.
package flock

import "errors"

// ErrLocked means that the file is locked, by another process or through another open file of this
// process.
var ErrLocked = errors.New("locked by another process")
