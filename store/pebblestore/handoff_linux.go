package pebblestore

import (
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A waitingFile is a file of the operating system. During a sync of the file, Go's scheduler can
// immediately use the processor for other goroutines.
//
// Normally a thread in a system call keeps its P (the scheduler's processor) until the scheduler's
// monitor thread takes the P away. On a busy server, the monitor sleeps up to 10 ms, and it must
// see the call twice. With GOMAXPROCS=1, no request is answered until then.
type waitingFile struct{ vfs.File }

// waiting returns f as a waitingFile.
func waiting(f vfs.File) vfs.File { return waitingFile{f} }

// Sync implements [vfs.File].
func (f waitingFile) Sync() error { return f.sync("fsync", syscall.SYS_FSYNC) }

// SyncData implements [vfs.File].
func (f waitingFile) SyncData() error { return f.sync("fdatasync", syscall.SYS_FDATASYNC) }

func (f waitingFile) sync(name string, number uintptr) error {
	fd := f.File.Fd()
	if fd == vfs.InvalidFd {
		return os.NewSyscallError(name, syscall.EBADF)
	}
	err := waitFor(number, fd, 0, 0)
	runtime.KeepAlive(f.File)
	return os.NewSyscallError(name, err)
}

// removeFile removes a file. Go's scheduler can use the processor for other goroutines meanwhile.
// For the path of a directory, removeFile returns an error.
func removeFile(path string) error {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	const atWorkingDirectory = -100 // AT_FDCWD
	dir := atWorkingDirectory
	if err = waitFor(syscall.SYS_UNLINKAT, uintptr(dir), uintptr(unsafe.Pointer(p)), 0); err != nil {
		err = &fs.PathError{Op: "remove", Path: path, Err: err}
	}
	runtime.KeepAlive(p)
	return err
}

// waitFor makes a system call, and repeats the call if a signal interrupts it.
func waitFor(number, a, b, c uintptr) error {
	for {
		switch errno := blockingSyscall(number, a, b, c); errno {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return errno
		}
	}
}

// blockingSyscall is like syscall.Syscall, but releases the P before the call. It is for calls that
// take long.
//
//go:nosplit
func blockingSyscall(number, a, b, c uintptr) syscall.Errno {
	enterSyscallBlock()
	_, _, errno := syscall.RawSyscall(number, a, b, c)
	exitSyscall()
	return errno
}

//go:linkname enterSyscallBlock runtime.entersyscallblock
func enterSyscallBlock()

//go:linkname exitSyscall runtime.exitsyscall
func exitSyscall()
