//go:build faults

package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A disk is a small file system of its own, in a file that is mounted over loop.
type disk struct {
	t     *testing.T
	image string
	dir   string // where it is mounted
}

// newDisk makes an ext4 file system with the given size in MiB and number of inodes; 0 means the
// default. It is unmounted when the test ends.
func newDisk(t *testing.T, mib, inodes int) *disk {
	t.Helper()
	return newDiskIn(t, nil, mib, inodes)
}

// newDiskIn makes a disk whose image is on another one, with options of mkfs.ext4.
func newDiskIn(t *testing.T, pool *disk, mib, inodes int, options ...string) *disk {
	t.Helper()
	base := t.TempDir()
	d := &disk{t: t, image: filepath.Join(base, "image"), dir: filepath.Join(base, "disk")}
	if pool != nil {
		d.image = filepath.Join(pool.dir, "image")
	}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-q", "-F", "-m", "0"}, options...) // reserve no space for root
	if inodes > 0 {
		args = append(args, "-N", fmt.Sprint(inodes))
	}
	do(t, "truncate", "-s", fmt.Sprintf("%dM", mib), d.image)
	do(t, "mkfs.ext4", append(args, d.image)...)
	d.mount()
	t.Cleanup(d.cleanup)
	return d
}

// newTmpfs makes a file system in memory with the given size in MiB.
func newTmpfs(t *testing.T, mib, inodes int) *disk {
	t.Helper()
	d := &disk{t: t, dir: t.TempDir()}
	do(t, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,nr_inodes=%d", mib, inodes), "tmpfs", d.dir)
	t.Cleanup(d.cleanup)
	return d
}

func (d *disk) cleanup() {
	if err := d.unmount(); err != nil {
		do(d.t, "umount", "-l", d.dir)
		d.t.Errorf("in use at the end of the test: %v", err)
	}
}

// check repairs the file system, which must not be mounted.
func (d *disk) check() {
	d.t.Helper()
	if out, err := exec.Command("e2fsck", "-f", "-y", d.image).CombinedOutput(); err != nil {
		if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() > 1 { // 1: errors were corrected
			d.t.Fatalf("e2fsck: %v: %s", err, out)
		}
	}
}

// fillInodes creates empty files until there is no inode left. It returns a function that removes
// them.
func (d *disk) fillInodes() (empty func()) {
	d.t.Helper()
	dir := filepath.Join(d.dir, "files")
	if err := os.Mkdir(dir, 0o755); err != nil {
		d.t.Fatal(err)
	}
	for n := 0; ; n++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o600); errors.Is(err, syscall.ENOSPC) {
			break
		} else if err != nil {
			d.t.Fatal(err)
		}
	}
	return func() {
		d.t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			d.t.Fatal(err)
		}
	}
}

// mount mounts the file system with options.
func (d *disk) mount(options ...string) {
	d.t.Helper()
	do(d.t, "mount", "-o", strings.Join(append(options, "loop"), ","), d.image, d.dir)
}

// remount changes the options of the mounted file system.
func (d *disk) remount(options ...string) {
	d.t.Helper()
	do(d.t, "mount", "-o", strings.Join(append([]string{"remount"}, options...), ","), d.dir)
}

// unmount unmounts the file system. It waits for a short time until processes have ended.
func (d *disk) unmount() error {
	var out []byte
	var err error
	for range 50 {
		if out, err = exec.Command("umount", d.dir).CombinedOutput(); err == nil || strings.Contains(string(out), "not mounted") {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%w: %s", err, out)
}

// fill fills the disk except for the given number of free bytes. It returns a function that frees
// the space again.
func (d *disk) fill(free int64) (empty func()) {
	d.t.Helper()
	file := filepath.Join(d.dir, "filler")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for d.free() > free {
		if _, err := f.Write(block); err != nil {
			break
		}
	}
	return func() {
		d.t.Helper()
		if err := os.Remove(file); err != nil {
			d.t.Fatal(err)
		}
		syscall.Sync()
	}
}

func (d *disk) free() int64 {
	d.t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		d.t.Fatal(err)
	}
	return int64(s.Bavail) * s.Bsize
}

// do runs a command that must succeed.
func do(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}
