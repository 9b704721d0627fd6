//go:build unix

package durable

import (
	"io/fs"
	"os"
	"syscall"
)

func owner(info fs.FileInfo) (user, group int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}

func isOurs(info fs.FileInfo) bool {
	user, _, ok := owner(info)
	return ok && user == os.Geteuid()
}
