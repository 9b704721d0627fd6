package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
)

// What stands beside a store while it is rekeyed, by what is added to its name.
const (
	suffixMoves    = ".rekeying-moves" // what moves
	suffixBuilding = ".rekeying"       // a new store, not complete
	suffixComplete = ".rekeyed"        // a new store that only has to take its place
	suffixOrder    = ".rekeying-order" // changes by their times
	suffixRules    = ".rules-%d"       // the old store, of these rules
	suffixFormat   = ".format-%d"      // the old store, of the same rules and this format
)

// defaults fills in the file system, which keeps files private, and cleans the path
// so that names can be added to it.
func (o *Options) defaults() {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if vfs.Root(o.FS) == vfs.Default {
		o.FS = private{o.FS}
	}
	o.Dir = o.FS.PathJoin(o.Dir)
	if o.Now == nil {
		o.Now = time.Now
	}
}

// lockStore locks a store that exists.
func (r *rekeyer) lockStore() error {
	if err := peek(r.o.Dir, r.o.FS); err != nil {
		return err
	}
	_, err := r.lock.take(r.o.FS, r.o.FS.PathJoin(r.o.Dir, lockFile))
	return err
}

// swap puts the new store in the place of the old one, which is locked, and
// returns where that is now.
func swap(o Options, suffix string) (string, error) {
	tighten(o) // the old store, which is kept
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

// settle does the last step of a swap that was cut short, when there is no store
// but a new one that has to take the place of one. A store that is opened for
// reading only stays away until then.
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

// move renames a directory, and waits for the disk.
func move(files vfs.FS, from, to string) error { return durable.Move(disk{files}, from, to) }

func isThere(disk vfs.FS, path string) (bool, error) {
	_, err := disk.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// free returns a name that nothing has, path or path with a number.
func free(disk vfs.FS, path string) (string, error) {
	for n, try := 2, path; ; n++ {
		there, err := isThere(disk, try)
		if err != nil || !there {
			return try, err
		}
		try = fmt.Sprintf("%s.%d", path, n)
	}
}
