package main

import "syscall"

// unsynchronised is the bit STA_UNSYNC of the status of the kernel's clock.
const unsynchronised = 0x40

// clockSynchronised reports whether a time server sets the clock, as far as the system knows.
func clockSynchronised() (synchronised, known bool) {
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil {
		return false, false
	}
	return t.Status&unsynchronised == 0, true
}

// maxFiles returns how many files this process may open.
func maxFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}
