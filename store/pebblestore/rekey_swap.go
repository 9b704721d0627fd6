package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
)

// Suffixes of directories next to a store, during a call of [Rekey] and afterwards.
const (
	suffixMoves    = ".rekeying-moves" // database of the moves
	suffixBuilding = ".rekeying"       // the new store, incomplete
	suffixComplete = ".rekeyed"        // the new store, complete but not yet in place
	suffixOrder    = ".rekeying-order" // database of the changes sorted by time
	suffixRules    = ".rules-%d"       // the old store; the number is that of its rules
)

// defaults sets a file system that makes private files, and a default clock. It also cleans the
// path, so that suffixes can be appended.
func (o *Options) defaults() {
	o.FS = keptPrivate(o.FS)
	o.Dir = o.FS.PathJoin(o.Dir)
	if o.Now == nil {
		o.Now = time.Now
	}
}

func (r *rekeyer) lockStore() error {
	if err := peek(r.o.Dir, r.o.FS); err != nil {
		return err
	}
	_, err := r.lock.take(r.o.FS, r.o.FS.PathJoin(r.o.Dir, lockFile))
	return err
}

// swap moves the old store away, and the new store into its place. The old store must be locked.
// swap returns the new path of the old store.
func swap(o Options, suffix string) (string, error) {
	tighten(o) // makes the old store private, because Rekey keeps it
	kept, err := free(o.FS, o.Dir+suffix)
	if err != nil {
		return "", err
	}
	for _, step := range [][2]string{
		{o.Dir + suffixBuilding, o.Dir + suffixComplete},
		{o.Dir, kept},
		{o.Dir + suffixComplete, o.Dir},
	} {
		if err := move(o.FS, step[0], step[1]); err != nil {
			return "", err
		}
	}
	return kept, nil
}

// settle completes a call of swap that was interrupted after the old store had been moved away. It
// moves the new store into place. If the store is to be opened read-only, settle does nothing.
func settle(o Options) error {
	if o.ReadOnly {
		return nil
	}
	there, err := isThere(o.FS, o.Dir)
	if err != nil || there {
		return err
	}
	if complete, err := isThere(o.FS, o.Dir+suffixComplete); err != nil || !complete {
		return err
	}
	return move(o.FS, o.Dir+suffixComplete, o.Dir)
}

func move(files vfs.FS, from, to string) error { return durable.Move(disk{files}, from, to) }

func isThere(disk vfs.FS, path string) (bool, error) {
	_, err := disk.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// free returns the path if it does not exist. Otherwise it appends the first number that gives a
// path that does not exist.
func free(disk vfs.FS, path string) (string, error) {
	for n, try := 2, path; ; n++ {
		there, err := isThere(disk, try)
		if err != nil || !there {
			return try, err
		}
		try = fmt.Sprintf("%s.%d", path, n)
	}
}
