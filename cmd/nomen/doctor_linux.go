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

// clockSynchronised reports whether a time server sets the clock. The result known is false if the
// system does not say.
func clockSynchronised() (synchronised, known bool) {
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil {
		return false, false
	}
	return t.Status&unsynchronised == 0, true
}

// readAs tries to open a file as the owner of another file would, and returns the error. It does
// nothing if the owner is root, or if this process does not run as root and so cannot act for
// another user.
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

// openAs tries to open a file with the rights of a user and of one group after the other. It
// returns nil as soon as an attempt succeeds.
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

// asUser calls f with the rights to files of a user and a group, if this process may take them. The
// function f runs in a thread of its own and must not start goroutines, because a goroutine would
// run in a thread with other rights.
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
