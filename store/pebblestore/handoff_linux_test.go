package pebblestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// With one processor, another goroutine ends the system call for which this one waits.
func TestOthersRunDuringCall(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	for range 100 {
		go syscall.Write(pipe[1], []byte{'x'})
		var in [1]byte
		err := waitFor(syscall.SYS_READ, uintptr(pipe[0]), uintptr(unsafe.Pointer(&in)), 1)
		if err != nil || in[0] != 'x' {
			t.Fatalf("read %q: %v", in, err)
		}
	}
}

// A file is synced and removed as the file system of Pebble does it.
func TestWaitingFile(t *testing.T) {
	files, dir := private{vfs.Default}, t.TempDir()
	path := filepath.Join(dir, "file")
	f, err := files.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.(waitingFile); !ok {
		t.Errorf("got %T", f)
	}
	if _, err := f.Write([]byte("text")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(f.Sync(), f.SyncData(), f.Close()); err != nil {
		t.Error(err)
	}
	for _, sync := range []func() error{f.Sync, f.SyncData} {
		if err := sync(); !errors.Is(err, syscall.EBADF) {
			t.Errorf("sync of a closed file: got %v, want %v", err, syscall.EBADF)
		}
	}
	again, err := files.ReuseForWrite(path, path+"2", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Sync(), again.Close()); err != nil {
		t.Error(err)
	}
	d, err := files.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path string
		want       error
	}{
		{"a file", path + "2", nil},
		{"a directory", path, nil},
		{"a path without a file", path, fs.ErrNotExist},
		{"a path with a NUL", "a\x00b", syscall.EINVAL},
	} {
		if err := files.Remove(tt.path); !errors.Is(err, tt.want) {
			t.Errorf("remove %s: got %v, want %v", tt.name, err, tt.want)
		}
		if _, err := os.Lstat(tt.path); err == nil {
			t.Errorf("%s still exists", tt.name)
		}
	}
}
