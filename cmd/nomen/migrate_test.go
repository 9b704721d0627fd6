package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// From a directory into a database and back: the history is the same, and the
// commands that look at it, or change it, work there as here.
func TestMigrateToDatabase(t *testing.T) {
	db, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Stop(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	first, last := "pebble:"+filepath.Join(dir, "first"), "pebble:"+filepath.Join(dir, "last")
	command := func(want int, args ...string) string {
		t.Helper()
		var out, log strings.Builder
		args = append([]string{"--data", dir}, args...)
		if status := run(t.Context(), args, streams{strings.NewReader(""), &out, &log}); status != want {
			t.Fatalf("%q: status %d, want %d: %s%s", args[2:], status, want, out.String(), log.String())
		}
		return out.String()
	}
	const name = "urn:dns:example.org:a"
	command(exitYes, "authority", "put", "--store", first, "urn:dns:example.org", "--owner", "a", "--owner", "b")
	command(exitYes, "put", "--store", first, name, "https://old.example/a")
	command(exitYes, "put", "--store", first, name, "https://old.example/b", "--replace", "--why", "moved")
	command(exitYes, "redact", "--store", first, name, "--revision", "1", "--reason", "a court", "--yes")
	command(exitYes, "put", "--store", first, "urn:dns:example.org:b", "--status", "reserved")
	want := command(exitYes, "verify", "--json", "--store", first)
	history := command(exitYes, "history", "--json", "--store", first, name)

	command(exitYes, "migrate", "--from", first, "--to", db.URL())
	if got := command(exitYes, "verify", "--json", "--store", db.URL()); got != want {
		t.Errorf("in the database %s, was %s", got, want)
	}
	if got := command(exitYes, "history", "--json", "--store", db.URL(), name); got != history {
		t.Errorf("in the database the history is\n%s, was\n%s", got, history)
	}
	command(exitYes, "migrate", "--from", db.URL(), "--to", last)
	command(exitYes, "migrate", "--from", db.URL(), "--to", last) // once more
	if got := command(exitYes, "verify", "--json", "--store", last); got != want {
		t.Errorf("back again %s, was %s", got, want)
	}

	if got := command(exitYes, "relocate", "--store", db.URL(), "https://old.example/", "https://new.example/"); !strings.Contains(got, "1 locations of 1 names changed") {
		t.Errorf("relocate: %s", got)
	}
	if got := command(exitYes, "find", "--store", db.URL(), "--location", "https://new.example/"); got != "https://new.example/b\t"+name+"\n" {
		t.Errorf("find: %s", got)
	}
	command(exitYes, "redact", "--store", db.URL(), name, "--revision", "2", "--reason", "another court", "--yes")
	head := strings.TrimSuffix(strings.TrimPrefix(want, `{"head":"`), "\",\"faults\":0}\n")
	if got := command(exitYes, "verify", "--store", db.URL(), "--head", head); !strings.Contains(got, "changes, no faults") {
		t.Errorf("verify: %s", got)
	}
	if got := command(exitYes, "history", "--store", db.URL(), name); !strings.Contains(got, "another court") || strings.Contains(got, "operator  moved") {
		t.Errorf("history: %s", got)
	}
	command(exitFailure, "backup", "--store", db.URL(), filepath.Join(dir, "backup"))
}
