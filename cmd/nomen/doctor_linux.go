package main

import (
	"io/fs"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
)

// unsynchronised is STA_UNSYNC in the status of adjtimex(2).
const unsynchronised = 0x40

// clockSynchronised reports whether the clock is synchronised with a time server. The result known
// is false if the system does not provide this information.
func clockSynchronised() (synchronised, known bool) {
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil {
		return false, false
	}
	return t.Status&unsynchronised == 0, true
}

// readAs tries to open a file with the rights of the owner of another file, and returns the error.
// It returns nil if the owner is root, or if this process does not run as root and cannot change
// its rights.
func readAs(owner fs.FileInfo, path string) error {
	s, ok := owner.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || s.Uid == 0 {
		return nil
	}
	groups := []int{int(s.Gid)}
	if u, err := user.LookupId(strconv.Itoa(int(s.Uid))); err == nil {
		ids, _ := u.GroupIds()
		for _, id := range ids {
			if n, err := strconv.Atoi(id); err == nil {
				groups = append(groups, n)
			}
		}
	}
	return openAs(int(s.Uid), groups, path)
}

// openAs tries to open a file with the rights of a user and a group, for each of the groups in
// turn. It returns nil as soon as an attempt succeeds.
func openAs(uid int, groups []int, path string) (err error) {
	for _, group := range groups {
		asUser(uid, group, func() {
			var f *os.File
			if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
				f.Close()
			}
		})
		if err == nil {
			break
		}
	}
	return err
}

// asUser calls f in a thread that has the file access rights of a user and a group, if the process
// is permitted to change its rights. The function f must not start goroutines, because these would
// run in threads with different rights.
func asUser(uid, gid int, f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // without unlocking: the thread ends with this goroutine
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0)
		_ = syscall.Setfsgid(gid)
		_ = syscall.Setfsuid(uid)
		f()
	}()
	<-ended
}
