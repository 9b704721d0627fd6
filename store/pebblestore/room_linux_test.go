package pebblestore

import (
	"fmt"
	"syscall"
	"testing"
)

// smallDisk mounts a disk in memory with this size in bytes at a directory until the test ends.
// Only an administrator has the permission.
func smallDisk(t *testing.T, dir string, size int) error {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		return err
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return nil
}
