package pebblestore

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// openMem opens the store in a directory of fs.
func openMem(t *testing.T, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open(Options{Dir: "store", FS: fs, CacheSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openMem(t, vfs.NewMem()) })
}
