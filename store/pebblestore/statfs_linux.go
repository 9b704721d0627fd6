package pebblestore

import "syscall"

type fileSystem struct {
	readOnly   bool
	inodes     uint64 // total number; 0 if not limited
	freeInodes uint64
}

func statfs(dir string) (fileSystem, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return fileSystem{}, err
	}
	const readOnly = 1 // the flag ST_RDONLY
	return fileSystem{s.Flags&readOnly != 0, s.Files, s.Ffree}, nil
}
