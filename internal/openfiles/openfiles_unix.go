//go:build unix

package openfiles

import "syscall"

// Limit returns how many files and connections this process may open.
func Limit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return Unlimited
	}
	return uint64(limit.Cur)
}
