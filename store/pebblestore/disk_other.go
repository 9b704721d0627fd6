//go:build !unix

package pebblestore

import "os"

// isUnlinked returns false: an open file cannot be deleted on this system.
func isUnlinked(os.FileInfo) bool { return false }
