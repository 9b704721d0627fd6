//go:build !unix

package pebblestore

import "os"

// isUnlinked returns false, because an open file cannot be deleted on this system.
func isUnlinked(os.FileInfo) bool { return false }
