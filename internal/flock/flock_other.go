//go:build !unix || solaris || illumos || aix

package flock

import "os"

// Try does nothing, because this system has no such locks.
func Try(*os.File) error { return nil }
