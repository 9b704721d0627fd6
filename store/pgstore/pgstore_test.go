package pgstore

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
	"github.com/nomen-project/nomen/store/storetest"
)

// shared is the server of the tests that do not damage it.
var shared *pgtest.Server

func TestMain(m *testing.M) {
	if os.Getenv(killURL) != "" { // a child process, which uses an existing server
		os.Exit(m.Run())
	}
	var err error
	if shared, err = pgtest.Start(pgtest.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := shared.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var schemas atomic.Int64

// newURL creates an empty schema on a server and returns its connection string.
func newURL(t testing.TB, s *pgtest.Server) string {
	t.Helper()
	schema := fmt.Sprint("test", schemas.Add(1))
	execute(t, s.URL(), "create schema "+schema)
	return s.URL() + "&search_path=" + schema
}

// execute executes SQL statements directly, bypassing the store.
func execute(t testing.TB, url string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for _, sql := range statements {
		if _, err := c.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

func open(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func openNew(t *testing.T) store.Store { return open(t, newURL(t, shared)) }

func TestStore(t *testing.T) { storetest.Run(t, openNew) }

// TestSameAsMemory makes fewer runs than rapid's default, because each creates a new store.
func TestSameAsMemory(t *testing.T) {
	const runs = "rapid.checks"
	before := flag.Lookup(runs).Value.String()
	if err := flag.Set(runs, "30"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(runs, before) })
	storetest.Same(t, func(*testing.T) store.Store { return memstore.New() }, openNew)
}

func TestReopen(t *testing.T) {
	storetest.Reopen(t, func(t *testing.T) (store.Store, func(*testing.T, store.Store) store.Store) {
		url := newURL(t, shared)
		return open(t, url), func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, url)
		}
	})
}
