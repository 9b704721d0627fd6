package systemd

import (
	"syscall"
	"unsafe"
)

// monotonic returns the time of CLOCK_MONOTONIC in microseconds, or 0.
func monotonic() int64 {
	const clockMonotonic = 1
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0
	}
	return t.Nano() / 1000
}
