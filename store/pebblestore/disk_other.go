//go:build !unix

package pebblestore

import "os"

// isUnlinked reports false where a file that is open cannot be deleted.
func isUnlinked(os.FileInfo) bool { return false }
