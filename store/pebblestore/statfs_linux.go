package pebblestore

import "syscall"

// A fileSystem is what is known of the file system of a directory beside its room.
type fileSystem struct {
	readOnly   bool
	inodes     uint64 // in all; 0 if there is no such limit
	freeInodes uint64
}

// statfs asks about a directory.
func statfs(dir string) (fileSystem, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return fileSystem{}, err
	}
	const readOnly = 1 // ST_RDONLY
	return fileSystem{s.Flags&readOnly != 0, s.Files, s.Ffree}, nil
}
