package pebblestore

import (
	"fmt"
	"syscall"
	"testing"
)

// smallDisk makes a directory a disk of so many bytes, in memory, until the test ends.
// It takes the rights of an administrator.
func smallDisk(t *testing.T, dir string, size int) error {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		return err
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return nil
}
