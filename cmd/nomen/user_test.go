package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// TestHistoryNamesUsers checks that the history and the list of changes show the present name of
// the user who made a change, and the ID alone after the person was erased.
func TestHistoryNamesUsers(t *testing.T) {
	dir := t.TempDir()
	const n = "urn:example:a"
	id := ""
	with := func(f func(r *registrar.Registrar) error) {
		t.Helper()
		s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(dir, "store")})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := f(registrar.New(s, registrar.Options{})); err != nil {
			t.Fatal(err)
		}
	}
	said := func(args ...string) string {
		t.Helper()
		var out, log strings.Builder
		if status := run(t.Context(), append([]string{"--data", dir}, args...), streams{strings.NewReader(""), &out, &log}); status != exitYes {
			t.Fatalf("%q: status %d: %s", args, status, log.String())
		}
		return out.String()
	}
	with(func(r *registrar.Registrar) error {
		out, err := r.PutUser(t.Context(), registrar.Operator(), &store.User{Name: "Zoë Å", Grants: []store.UserGrant{{Role: "administrator"}}}, store.AnyRevision, "")
		if err != nil {
			return err
		}
		id = out.User.ID
		a, err := registrar.Person(out.User)
		if err != nil {
			return err
		}
		_, err = r.Put(t.Context(), a, registrar.Request{Record: &store.Record{Spelling: n}, Expected: store.AnyRevision}, "")
		return err
	})
	check := func(text, name string) {
		t.Helper()
		for _, c := range []struct{ got, want string }{
			{said("history", n), "by " + text},
			{said("changes", "--limit", "3"), "created  " + n + "  by " + text},
			{said("history", "--json", n), `"who":"` + id + `",` + name},
			{said("changes", "--json"), `"who":"` + id + `",` + name},
		} {
			if !strings.Contains(c.got, c.want) {
				t.Errorf("got %q, want %q in it", c.got, c.want)
			}
		}
	}
	check("Zoë Å ("+id+")", `"who_name":"Zoë Å"`)
	said("user", "change", id, "--name", "Zoë Berg")
	check("Zoë Berg ("+id+")", `"who_name":"Zoë Berg"`)
	said("user", "redact", id, "--reason", "asked to", "--yes")
	check(id+"\n", "")
}
