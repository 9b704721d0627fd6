package pebblestore

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
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

func TestSameAsMemory(t *testing.T) {
	storetest.Same(
		t,
		func(*testing.T) store.Store { return memstore.New() },
		func(t *testing.T) store.Store { return openMem(t, vfs.NewMem()) },
	)
}

func TestReopen(t *testing.T) {
	t.Run("Close", func(t *testing.T) {
		storetest.Reopen(t, func(t *testing.T) (store.Store, func(*testing.T, store.Store) store.Store) {
			fs := vfs.NewMem()
			return openMem(t, fs), func(t *testing.T, s store.Store) store.Store {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				return openMem(t, fs)
			}
		})
	})
	t.Run("Crash", func(t *testing.T) {
		storetest.Reopen(t, func(t *testing.T) (store.Store, func(*testing.T, store.Store) store.Store) {
			fs := vfs.NewCrashableMem()
			return openMem(t, fs), func(t *testing.T, s store.Store) store.Store {
				fs = fs.CrashClone(vfs.CrashCloneCfg{})
				return openMem(t, fs)
			}
		})
	})
}
