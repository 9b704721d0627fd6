package admin

import (
	"fmt"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// An openStore returns an empty store.
type openStore func(t *testing.T) store.Store

// inMemory returns a store in memory.
func inMemory(*testing.T) store.Store {
	return memstore.New()
}

// onStores runs a test on each kind of store.
func onStores(t *testing.T, test func(t *testing.T, open openStore)) {
	t.Run("memstore", func(t *testing.T) {
		test(t, inMemory)
	})
	t.Run("pebblestore", func(t *testing.T) {
		test(t, func(t *testing.T) store.Store {
			s, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), CacheSize: 8 << 20})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		})
	})
	if testing.Short() {
		return
	}
	t.Run("pgstore", func(t *testing.T) {
		server, err := pgtest.Start(pgtest.Options{})
		if err != nil {
			testrun.Missing(t, fmt.Sprintf("PostgreSQL (%v)", err))
		}
		t.Cleanup(func() { _ = server.Stop() })
		databases := 0
		test(t, func(t *testing.T) store.Store {
			databases++
			url, err := server.Create(fmt.Sprintf("test%d", databases))
			if err != nil {
				t.Fatal(err)
			}
			return openDatabase(t, url)
		})
	})
}

// openDatabase opens a database as a server does.
func openDatabase(t *testing.T, url string) store.Store {
	t.Helper()
	p, err := pgstore.Open(t.Context(), pgstore.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	s, err := cachestore.New(t.Context(), p, cachestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
