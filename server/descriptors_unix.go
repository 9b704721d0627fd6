//go:build unix

package server

import (
	"math"
	"syscall"
)

// maxFiles returns how many files and connections this process may open.
func maxFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxUint64
	}
	return uint64(limit.Cur)
}
