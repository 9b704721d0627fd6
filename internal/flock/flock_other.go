//go:build !unix || solaris || illumos || aix

package flock

import "os"

// Try does nothing where there are no such locks.
func Try(*os.File) error { return nil }
