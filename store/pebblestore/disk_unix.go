//go:build unix

package pebblestore

import (
	"os"
	"syscall"
)

func isUnlinked(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
