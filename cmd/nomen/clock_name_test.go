package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A clockDoor is a command that changes the name or authority key, whose last change is dated far
// in the future. The command perhaps also changes the name good.
type clockDoor struct {
	key  string
	args []string
	good string // "" for none
}

// clockDoors returns the commands. It writes the file for one of them into a directory.
func clockDoors(t *testing.T, dir string) []clockDoor {
	t.Helper()
	file := filepath.Join(dir, "merge.jsonl")
	line := `{"name":"urn:x-a:%s","locations":[{"url":"https://h.example/more"}]}` + "\n"
	if err := os.WriteFile(file, fmt.Appendf(nil, line+line, "merged", "good"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []clockDoor{
		{"urn:x-a:put", []string{"put", "--replace", "urn:x-a:put", "https://h.example/new"}, ""},
		{"urn:x-a:retired", []string{"retire", "urn:x-a:retired", "--reason", "x"}, ""},
		{"urn:x-a:reserved", []string{"delete", "urn:x-a:reserved", "--yes"}, ""},
		{"urn:x-a:redacted", []string{"redact", "urn:x-a:redacted", "--revision", "1", "--reason", "law", "--yes"}, ""},
		{"urn:x-a:merged", []string{"import", "--on-conflict", "merge", file}, "urn:x-a:good"},
		{"urn:x-a:moved", []string{"relocate", "https://old.example/", "https://new.example/"}, "urn:x-a:movedtoo"},
		{"urn:x-a:undone", []string{"undo", "--import", undoneBatch}, "urn:x-a:undonetoo"},
		{"urn:x-b", []string{"authority", "put", "urn:x-b", "--owner", "a", "--owner", "b"}, ""},
	}
}

// undoneBatch is the ID of the changes that a clockDoor undoes.
const undoneBatch = "0-undone"

// fillClock changes the keys of the commands twice, the second time far in the future. It changes
// the good names twice with a correct time. The last change of the store has a correct time too.
func fillClock(t *testing.T, s store.Store, doors []clockDoor) {
	t.Helper()
	now := time.Now().Add(-time.Hour)
	far := now.AddDate(64, 0, 0)
	change := func(at time.Time, batch, key, url string) {
		t.Helper()
		c := store.Change{Time: at, AnyTime: true, Batch: batch, Expected: store.AnyRevision}
		p, err := name.ParsePrefix(key)
		switch {
		case key == "urn:x-b":
			c.Authority = &store.Authority{Prefix: p, Owners: []string{"a", at.String()}}
		case url == "":
			c.Record = &store.Record{Name: name.MustParse(key), Status: nomen.Reserved, Metadata: nomen.Metadata{"title": {at.String()}}}
		default:
			c.Record = &store.Record{Name: name.MustParse(key), Status: nomen.Active, Locations: []nomen.Location{{URL: url}}}
		}
		if results, aerr := s.Apply(t.Context(), []store.Change{c}); err != nil || aerr != nil || !results[0].Changed {
			t.Fatal(key, results, err, aerr)
		}
	}
	for i, at := range []time.Time{now, far} {
		for _, door := range doors {
			batch, url := "", "https://old.example/"+fmt.Sprint(i)
			if i > 0 && door.args[0] == "undo" {
				batch = undoneBatch
			}
			if door.args[0] != "relocate" {
				url = "https://h.example/" + fmt.Sprint(i)
			}
			if door.args[0] == "delete" {
				url = ""
			}
			change(at, batch, door.key, url)
			if door.good != "" {
				change(now, batch, door.good, url)
			}
		}
	}
	change(now, "", "urn:x-a:last", "https://h.example/")
}

// TestClockOfOneName checks that a name or authority cannot be changed if its last change is dated
// far in the future, even if the last change of the store has a correct time. Each command says
// why, and still reports the names that it has changed. With --clock-ok the change is accepted, and
// gets the time of the last change.
func TestClockOfOneName(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{})
	doors := clockDoors(t, t.TempDir())
	fill := func(t *testing.T, s store.Store) { fillClock(t, s, doors) }
	everyClock(t, db, fill, func(t *testing.T, c clockCase) {
		for _, door := range doors {
			status, said := c.run(t, door.args...)
			if (status == exitYes) != c.ok {
				t.Errorf("%q: status %d: %s", door.args, status, said)
			} else if !c.ok && (!strings.Contains(said, door.key) || !strings.Contains(said, "more than a day after the clock") || !strings.Contains(said, "--clock-ok")) {
				t.Errorf("%q does not say why, or how to go on: %s", door.args, said)
			}
			if door.good == "" {
				continue
			}
			if c.served && !c.ok {
				_, all := c.run(t, "jobs", "list")
				id, _, _ := strings.Cut(all, " ")
				if _, said := c.run(t, "jobs", "show", id); !strings.Contains(said, door.key+": was last changed") || strings.Count(said, "--clock-ok") != 1 {
					t.Errorf("%q: the job %s: %s", door.args, id, said)
				}
			}
			if status, said := c.run(t, "get", "--json", door.good); status != exitYes || !strings.Contains(said, `"revision":3`) {
				t.Errorf("%q: %s was not changed: %s", door.args, door.good, said)
			}
		}
	})
}
