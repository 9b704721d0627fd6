//go:build unix

package openfiles

import (
	"syscall"
	"testing"
)

// TestLimit checks that Limit returns the current limit of the process.
func TestLimit(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) })
	lower := before
	lower.Cur = 77
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	if got := Limit(); got != 77 {
		t.Errorf("got %d, want 77", got)
	}
}
