//go:build unix

package pebblestore

import (
	"os"
	"syscall"
)

// isUnlinked reports whether a file that is open has no name any more.
func isUnlinked(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
