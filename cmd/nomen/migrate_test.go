package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A database is a server of PostgreSQL with commands that use it.
type database struct {
	*testing.T
	*pgtest.Server
	dir string
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	db := startDatabase(t, pgtest.Options{})
	return &database{t, db, t.TempDir()}
}

// command runs a command that ends with a status, and returns what it prints: on
// standard output, and both streams.
func (d *database) command(want int, args ...string) (out, all string) {
	d.Helper()
	var stdout, stderr strings.Builder
	args = append([]string{"--data", d.dir}, args...)
	if status := run(d.Context(), args, streams{strings.NewReader(""), &stdout, &stderr}); status != want {
		d.Fatalf("%q: status %d, want %d: %s%s", args[2:], status, want, stdout.String(), stderr.String())
	}
	return stdout.String(), stdout.String() + stderr.String()
}

// done is the output of a command that succeeds.
func (d *database) done(args ...string) string {
	d.Helper()
	out, _ := d.command(exitYes, args...)
	return out
}

// connect returns a connection to the database, without the store.
func (d *database) connect(url string) *pgx.Conn {
	d.Helper()
	c, err := pgx.Connect(d.Context(), url)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = c.Close(d.Context()) })
	return c
}

// execute executes SQL statements.
func (d *database) execute(c *pgx.Conn, sql string) {
	d.Helper()
	if _, err := c.Exec(d.Context(), sql); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
}

// schema makes an empty schema and returns the connection string of a store there.
func (d *database) schema(name string) string {
	d.Helper()
	d.execute(d.connect(d.URL()), "create schema "+name)
	return d.URL() + "&search_path=" + name
}

// After a migration from a directory into a database and back, the history is the same. Commands
// that read or change the history work on the database as on the directory.
func TestMigrateToDatabase(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	dir := db.dir
	first, last := "pebble:"+filepath.Join(dir, "first"), "pebble:"+filepath.Join(dir, "last")
	const name = "urn:dns:example.org:a"
	db.done("authority", "put", "--store", first, "urn:dns:example.org", "--owner", "a", "--owner", "b")
	db.done("put", "--store", first, name, "https://old.example/a")
	db.done("put", "--store", first, name, "https://old.example/b", "--replace", "--why", "moved")
	db.done("redact", "--store", first, name, "--revision", "1", "--reason", "a court", "--yes")
	db.done("put", "--store", first, "urn:dns:example.org:b", "--status", "reserved")
	db.done("token", "make", "--store", first, "--who", "Anna Archer", "--role", "editor")
	want := db.done("verify", "--json", "--store", first)
	history := db.done("history", "--json", "--store", first, name)

	db.done("migrate", "--from", first, "--to", db.URL())
	if got := db.done("verify", "--json", "--store", db.URL()); got != want {
		t.Errorf("in the database %s, was %s", got, want)
	}
	if got := db.done("history", "--json", "--store", db.URL(), name); got != history {
		t.Errorf("in the database the history is\n%s, was\n%s", got, history)
	}
	db.done("migrate", "--from", db.URL(), "--to", last)
	db.done("migrate", "--from", db.URL(), "--to", last) // a second run changes nothing
	if got := db.done("verify", "--json", "--store", last); got != want {
		t.Errorf("back again %s, was %s", got, want)
	}

	if got := db.done("relocate", "--store", db.URL(), "https://old.example/", "https://new.example/"); !strings.Contains(got, "1 location of 1 name changed") {
		t.Errorf("relocate: %s", got)
	}
	if got := db.done("find", "--store", db.URL(), "--location", "https://new.example/"); got != "https://new.example/b\t"+name+"\n" {
		t.Errorf("find: %s", got)
	}
	db.done("redact", "--store", db.URL(), name, "--revision", "2", "--reason", "another court", "--yes")
	var was verifiedLine
	if err := json.Unmarshal([]byte(want), &was); err != nil {
		t.Fatal(err)
	}
	if got := db.done("verify", "--store", db.URL(), "--head", was.Head); !strings.Contains(got, "changes, no faults") {
		t.Errorf("verify: %s", got)
	}
	if got := db.done("history", "--store", db.URL(), name); !strings.Contains(got, "another court") || strings.Contains(got, "operator  moved") {
		t.Errorf("history: %s", got)
	}
	db.command(exitFailure, "backup", "--store", db.URL(), filepath.Join(dir, "backup"))
}

// A migration copies every acknowledged change, even if the node that made the change was killed
// before the change got its number in the log.
func TestMigrateUnsealed(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	from, to := db.schema("a"), "pebble:"+filepath.Join(db.dir, "store")
	const name = "urn:dns:example.org:a"
	db.done("put", "--store", from, name, "https://old.example/a")
	c := db.connect(from)
	db.execute(c, "begin; select id from nomen_head for update") // no change can get a number in the log
	db.done("put", "--store", from, name, "https://new.example/a", "--replace")
	db.done("authority", "put", "--store", from, "urn:dns:example.org", "--owner", "a", "--owner", "b")
	db.execute(c, "rollback")
	if got := db.done("verify", "--store", from); !strings.Contains(got, "3 changes, no faults") {
		t.Errorf("verify: %s", got)
	}
	db.execute(c, "begin; select id from nomen_head for update")
	db.done("put", "--store", from, name, "https://newest.example/a", "--replace")
	db.execute(c, "rollback")
	want := db.done("history", "--json", "--store", from, name)
	if got := db.done("migrate", "--from", from, "--to", to); !strings.HasPrefix(got, "4 changes of 1 record ") {
		t.Errorf("migrate: %s", got)
	}
	if got := db.done("history", "--json", "--store", to, name); got != want || strings.Count(got, "\n") != 3 {
		t.Errorf("the history of the copy:\n%s, was\n%s", got, want)
	}
	db.done("authority", "get", "--store", to, "urn:dns:example.org")
}

// A database with the keys of the previous rules is moved as docs/howto/run-several-servers.md
// says: the old program copies it into a directory, this program converts the directory, and then
// copies it into an empty database.
func TestMigrateOldRules(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	from, to, dir := db.schema("old"), db.schema("new"), filepath.Join(db.dir, "store")
	makeOld(t, from)
	// In place of the old program, this program makes the copy, and the directory and the database
	// are then marked as having the previous rules.
	db.done("migrate", "--from", from, "--to", "pebble:"+dir)
	db.execute(db.connect(from), "update nomen_meta set rules = rules - 1")
	setOldRules(t, dir)

	if _, said := db.command(exitFailure, "get", "--store", from, "urn:fdc:example.com:2026:x"); !strings.Contains(said, "rekey") {
		t.Errorf("get from the database: %s", said)
	}
	if _, said := db.command(exitFailure, "migrate", "--from", from, "--to", to); !strings.Contains(said, "with the program that made the database") {
		t.Errorf("migrate from the database: %s", said)
	}
	if _, said := db.command(exitNo, "rekey", "--store", "pebble:"+dir); !strings.Contains(said, "urn:fdc:EXAMPLE.com:2026:x") {
		t.Errorf("rekey with a collision: %s", said)
	}
	db.done("rekey", "--store", "pebble:"+dir, "--merge")
	moved := db.done("migrate", "--from", "pebble:"+dir, "--to", to)
	if got, want := db.done("verify", "--json", "--store", to), db.done("verify", "--json", "--store", "pebble:"+dir); got != want {
		t.Errorf("verify: %s, of the directory %s", got, want)
	}

	got := db.done("get", "--json", "--store", to, "urn:fdc:Example.COM:2026:x")
	for _, want := range []string{"https://a.example/2", "https://b.example/1", `"urn:fdc:EXAMPLE.com:2026:x"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the united record has no %s: %s", want, got)
		}
	}
	if got := db.done("history", "--store", to, "urn:fdc:example.com:2026:x"); strings.Contains(got, "https://a.example/1") || !strings.Contains(got, "a court") {
		t.Errorf("what was redacted: %s", got)
	}
	if got := db.done("get", "--store", to, "--at", "2026-11-20T10:30:00Z", "urn:fdc:example.com:2026:y"); !strings.Contains(got, "https://a.example/y1") {
		t.Errorf("as of then: %s", got)
	}
	if got := db.done("authority", "list", "--store", to); !strings.Contains(got, "urn:fdc:example.com") {
		t.Errorf("authorities: %s", got)
	}
	if got := db.done("find", "--store", to, "--location", "https://a.example/"); got != "https://a.example/2\turn:fdc:example.com:2026:x\nhttps://a.example/y2\turn:fdc:example.com:2026:y\n" {
		t.Errorf("find: %s", got)
	}
	if !strings.Contains(moved, " 1 token ") {
		t.Errorf("migrate: %s", moved)
	}
	s, err := pgstore.Open(t.Context(), pgstore.Options{URL: to, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Token(t.Context(), "id"); err != nil || got.Prefixes[0] != "urn:fdc:example.com" {
		t.Errorf("the token: %+v, %v", got, err)
	}
	// The old database is unchanged.
	var names int
	if err := db.connect(from).QueryRow(t.Context(), "select count(*) from nomen_present").Scan(&names); err != nil || names != 4 {
		t.Errorf("the old database has %d subjects, %v", names, err)
	}
}

// makeOld writes names that were different by the rules of version 2, with their history.
func makeOld(t *testing.T, url string) {
	t.Helper()
	s, err := pgstore.Open(t.Context(), pgstore.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hour := 9
	apply := func(c store.Change) {
		t.Helper()
		hour++
		c.Expected, c.Time = store.AnyRevision, time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC)
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	put := func(key, location string) store.Change {
		return store.Change{Record: &store.Record{Name: name.FromKey(key), Spelling: key, Status: nomen.Active, Locations: []nomen.Location{{URL: location}}}}
	}
	apply(put("urn:fdc:Example.com:2026:y", "https://a.example/y1"))
	apply(put("urn:fdc:Example.com:2026:y", "https://a.example/y2"))
	apply(put("urn:fdc:Example.com:2026:x", "https://a.example/1"))
	apply(put("urn:fdc:Example.com:2026:x", "https://a.example/2"))
	redaction := put("urn:fdc:Example.com:2026:x", "https://a.example/2")
	redaction.Redacts, redaction.Why = []uint64{1}, "a court"
	apply(redaction)
	apply(put("urn:fdc:EXAMPLE.com:2026:x", "https://b.example/1"))
	apply(store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:fdc:Example.com"), Owners: []string{"a", "b"}}})
	apply(store.Change{Token: &store.Token{ID: "id", Role: "editor", Prefixes: []string{"urn:fdc:Example.com"}}})
}

// setOldRules marks the store in a directory as one with the previous rules.
func setOldRules(t *testing.T, dir string) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatValueSeparation, ErrorIfNotExists: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Set([]byte("mrules"), []byte{name.RulesVersion - 1}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
