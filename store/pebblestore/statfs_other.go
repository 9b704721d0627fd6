//go:build !linux

package pebblestore

// A fileSystem is what is known of the file system of a directory beside its room.
type fileSystem struct {
	readOnly   bool
	inodes     uint64
	freeInodes uint64
}

// statfs knows nothing: a write will tell.
func statfs(string) (fileSystem, error) { return fileSystem{}, nil }
