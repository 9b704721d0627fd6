package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// TestClockAtEveryDoor checks what commands do after a change that is dated far in the future, in
// both stores, with and without a server. Every command that changes names or authorities is
// rejected, and says what to do. Tokens can still be made and revoked. With --clock-ok on the
// process that makes the change, the change is accepted.
func TestClockAtEveryDoor(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{})
	file := filepath.Join(t.TempDir(), "import.jsonl")
	if err := os.WriteFile(file, []byte(`{"name":"urn:x-a:import","locations":[{"url":"https://h.example/import"}]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	doors := []struct {
		args  []string
		token bool // the command changes a token, so it is not rejected
	}{
		{args: []string{"put", "urn:x-a:put", "https://h.example/put"}},
		{args: []string{"put", "--replace", "urn:x-a:replaced", "https://h.example/new"}},
		{args: []string{"retire", "urn:x-a:retired", "--reason", "x"}},
		{args: []string{"delete", "urn:x-a:reserved", "--yes"}},
		{args: []string{"undo", "--change", "2"}},
		{args: []string{"import", file}},
		{args: []string{"import", "--on-conflict", "merge", file}},
		{args: []string{"relocate", "https://old.example/", "https://new.example/"}},
		{args: []string{"redact", "urn:x-a:redacted", "--revision", "1", "--reason", "law", "--yes"}},
		{args: []string{"mint", "--template", "m{seq:3}", "urn:x-a"}},
		{args: []string{"authority", "put", "urn:x-b", "--owner", "a", "--owner", "b"}},
		{args: []string{"user", "add", "--name", "x"}},
		{args: []string{"token", "make", "--who", "x"}, token: true},
	}
	// fill makes the names that the commands change, if first is set, and then dates a change far
	// in the future.
	fill := func(t *testing.T, s store.Store, first bool) {
		t.Helper()
		now := time.Now().Add(-time.Hour)
		reg := registrar.New(s, registrar.Options{Now: func() time.Time { return now }, AnyTime: true})
		put := func(name, url string, status nomen.Status) {
			t.Helper()
			r := &store.Record{Spelling: "urn:x-a:" + name, Status: status}
			if url != "" {
				r.Locations = []nomen.Location{{URL: url}}
			}
			if _, err := reg.Put(t.Context(), registrar.Operator(), registrar.Request{Record: r, Expected: store.AnyRevision, OrCreate: true}, ""); err != nil {
				t.Fatal(name, err)
			}
		}
		if first {
			put("first", "https://h.example/", nomen.Active)
			put("undone", "https://h.example/", nomen.Active)
			put("replaced", "https://h.example/", nomen.Active)
			put("retired", "https://h.example/", nomen.Active)
			put("reserved", "", nomen.Reserved)
			put("relocated", "https://old.example/1", nomen.Active)
			put("redacted", "https://h.example/secret", nomen.Active)
			put("redacted", "https://h.example/", nomen.Active)
		}
		now = time.Now().AddDate(64, 0, 0)
		put("far", fmt.Sprint("https://h.example/", now.UnixNano()), nomen.Active)
	}
	first := func(t *testing.T, s store.Store) { fill(t, s, true) }
	later := func(t *testing.T, s store.Store) { fill(t, s, false) }
	everyClock(t, db, first, func(t *testing.T, c clockCase) {
		for i, door := range doors {
			if c.ok && !c.served && i > 0 {
				c.fill(t, later) // the accepted change has a correct time
			}
			status, said := c.run(t, door.args...)
			if want := c.ok || door.token; (status == exitYes) != want {
				t.Errorf("%q: status %d: %s", door.args, status, said)
			} else if !want && !strings.Contains(said, "--clock-ok") {
				t.Errorf("%q does not say how to go on: %s", door.args, said)
			}
		}
	})
}

// A clockCase is a store for commands: with or without --clock-ok, and with or without a
// server.
type clockCase struct {
	ok, served bool
	options    []string // of each command
	open       func() (store.Store, error)
}

// everyClock runs a test on each kind of store in every case. The function fill fills the store
// first.
func everyClock(t *testing.T, db *pgtest.Server, fill func(*testing.T, store.Store), test func(*testing.T, clockCase)) {
	for _, kind := range clockStores(db) {
		for _, ok := range []bool{false, true} {
			for _, served := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s ok=%t served=%t", kind.name, ok, served), func(t *testing.T) {
					url, open := kind.make(t)
					data := t.TempDir()
					c := clockCase{ok: ok, served: served, options: []string{"--data", data}, open: open}
					c.fill(t, fill)
					var options []string
					if ok {
						options = append(options, "--clock-ok")
					}
					if !served || kind.name == "pebble" {
						c.options = append(c.options, "--store", url)
					}
					if served {
						start(t, data, append([]string{"--store", url, "--no-access-log"}, options...)...)
					} else {
						c.options = append(c.options, options...)
					}
					test(t, c)
				})
			}
		}
	}
}

// fill opens the store, which no server may have open, and fills it.
func (c *clockCase) fill(t *testing.T, fill func(*testing.T, store.Store)) {
	t.Helper()
	s, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// run runs a command, and returns its exit status and all that it printed.
func (c *clockCase) run(t *testing.T, args ...string) (status int, said string) {
	var out, log strings.Builder
	status = run(t.Context(), append(slices.Clone(c.options), args...), streams{strings.NewReader(""), &out, &log})
	return status, out.String() + log.String()
}

// A clockStore makes a new store of a kind, and returns it as --store names it, with a
// function that opens it.
type clockStore struct {
	name string
	make func(t *testing.T) (url string, open func() (store.Store, error))
}

func clockStores(db *pgtest.Server) []clockStore {
	databases := 0
	return []clockStore{
		{"pebble", func(t *testing.T) (string, func() (store.Store, error)) {
			dir := filepath.Join(t.TempDir(), "store")
			return "pebble:" + dir, func() (store.Store, error) { return pebblestore.Open(pebblestore.Options{Dir: dir}) }
		}},
		{"database", func(t *testing.T) (string, func() (store.Store, error)) {
			databases++
			url, err := db.Create(fmt.Sprint("clock", databases))
			if err != nil {
				t.Fatal(err)
			}
			return url, func() (store.Store, error) { return pgstore.Open(t.Context(), pgstore.Options{URL: url}) }
		}},
	}
}
