//go:build !unix || solaris || illumos || aix

package flock

import "os"

// Try does nothing, because the system has no such locks.
func Try(*os.File) error { return nil }
