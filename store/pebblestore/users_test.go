package pebblestore

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

func userChange(u *store.User) store.Change {
	return store.Change{User: u, Expected: store.AnyRevision, Time: base}
}

func applyUsers(t *testing.T, s *Store, all ...*store.User) {
	t.Helper()
	for _, u := range all {
		if _, err := s.Apply(t.Context(), []store.Change{userChange(u)}); err != nil {
			t.Fatal(err)
		}
	}
}

// formatIn returns the version of the format that a store has written.
func formatIn(t *testing.T, s *Store) uint64 {
	t.Helper()
	format, _, err := number(s.engine.Load().db, metaFormat)
	if err != nil {
		t.Fatal(err)
	}
	return format
}

// TestFormatOfUsers checks that a store gets the version that earlier programs reject with its
// first user, and not before; by Apply and by Load.
func TestFormatOfUsers(t *testing.T) {
	disk := vfs.NewMem()
	s := openMem(t, disk)
	write(t, s, 1, 2)
	if got := formatIn(t, s); got != 3 { // the version that the previous program can read
		t.Errorf("version %d of a store without users, want 3", got)
	}
	applyUsers(t, s, storetest.RichUser())
	if got := formatIn(t, s); got != 4 {
		t.Errorf("version %d of a store with users, want 4", got)
	}
	loaded, err := Open(Options{Dir: "loaded", FS: disk, CacheSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if err := loaded.Load(t.Context(), s.Changes(t.Context(), 0)); err != nil || formatIn(t, loaded) != 4 {
		t.Errorf("version %d of a loaded store, %v, want 4", formatIn(t, loaded), err)
	}
	again, err := reopen(t, s, disk)
	if err != nil {
		t.Fatal(err)
	}
	write(t, again, 3)
	if got := formatIn(t, again); got != 4 {
		t.Errorf("version %d after a later change, want 4", got)
	}
}

// TestUsersRestored checks that a backup has users and names their format.
func TestUsersRestored(t *testing.T) {
	disk := vfs.NewMem()
	s := openMem(t, disk)
	write(t, s, 1)
	applyUsers(t, s, storetest.RichUser())
	if err := s.Backup(t.Context(), "backup", nil); err != nil {
		t.Fatal(err)
	}
	if m, err := readManifest(disk, "backup"); err != nil || m.Format != 4 {
		t.Errorf("manifest %+v, %v, want the format 4", m, err)
	}
	if _, err := Restore(context.Background(), RestoreOptions{From: "backup", To: "restored", FS: disk}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(Options{Dir: "restored", FS: disk, CacheSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, subject := range storetest.RichUser().Subjects {
		if u, err := r.UserOf(t.Context(), subject); err != nil || u.Name != storetest.RichUser().Name {
			t.Errorf("user of %q: %+v, %v", subject, u, err)
		}
	}
}

// TestRightsRestored checks that a backup has the rights of tokens with their history, also a redacted
// one, and that the restored store has the same head and no faults.
func TestRightsRestored(t *testing.T) {
	disk := vfs.NewMem()
	s := openMem(t, disk)
	write(t, s, 1)
	token := &store.Token{ID: "k7", Hash: [32]byte{1}, Role: "editor", Prefixes: []string{"urn:x-a"}, Who: "Ada"}
	for i, c := range []store.Change{{}, {}, {Redacts: []uint64{1}}} {
		token.Role = []string{"reader", "editor", "owner"}[i]
		c.Rights, c.Expected, c.Time, c.Why = token.Rights(), store.AnyRevision, base, "test"
		if _, err := s.Apply(t.Context(), []store.Change{{Token: token.Clone(), Time: base}, c}); err != nil {
			t.Fatal(err)
		}
	}
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), "backup", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(context.Background(), RestoreOptions{From: "backup", To: "restored", FS: disk}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(Options{Dir: "restored", FS: disk, CacheSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := r.Verify(t.Context(), func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil); err != nil || got != head {
		t.Errorf("head %v, %v, want %v", got, err, head)
	}
	var got []string
	for c, err := range r.TokenRightsHistory(t.Context(), "k7") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(c.Rights.Revision, c.Rights.Role, c.Redacted))
	}
	if want := []string{"3ownerfalse", "2editorfalse", "1true"}; !slices.Equal(got, want) {
		t.Errorf("history %q, want %q", got, want)
	}
}

// TestRekeyUsers checks that the prefixes of users are rewritten like those of tokens, that their
// history stays, and that the new store has the format of the old one.
func TestRekeyUsers(t *testing.T) {
	disk := vfs.NewMem()
	grants := func(prefixes ...string) []store.UserGrant {
		return []store.UserGrant{{Role: "owner", Prefixes: prefixes}, {Role: "reader"}}
	}
	old(
		t, disk,
		store.Change{Record: active("urn:issn:12341231")},
		store.Change{User: &store.User{ID: "u-a", Name: "Ali", Subjects: []string{"1"}, Grants: grants("urn:IETF:rfc")}},
		store.Change{User: &store.User{ID: "u-a", Subjects: []string{"2"}, Grants: grants("urn:isbn:978", "urn:IETF:rfc:")}, Redacts: []uint64{1}},
		store.Change{User: &store.User{ID: "u-b", Grants: grants("urn:isbn:978", "urn:uuid:f81d4fae")}},
		store.Change{User: &store.User{ID: "u-b", Disabled: true, Grants: grants("urn:isbn:978", "urn:uuid:f81d4fae")}},
	)
	var told []Move
	o := options(disk)
	o.Move = func(m Move) { told = append(told, m) }
	res, err := Rekey(t.Context(), o)
	if err != nil || res.Blocked != 0 {
		t.Fatalf("Rekey: %+v, %v", res, err)
	}
	mentioned := func(m Move) bool { return m.Kind == store.KindUser && m.Token == "u-a" && m.New == "urn:ietf:rfc:" }
	if !slices.ContainsFunc(told, mentioned) {
		t.Errorf("moves %+v do not have the prefix of a user", told)
	}
	s := openMem(t, disk)
	if got := formatIn(t, s); got != 4 {
		t.Errorf("version %d, want 4", got)
	}
	for id, want := range map[string][]string{"u-a": {"urn:ietf:rfc:"}, "u-b": {"urn:isbn:978", "urn:uuid:f81d4fae"}} {
		u, err := s.User(t.Context(), id, noTime)
		if err != nil || !slices.Equal(u.Grants[0].Prefixes, want) || u.Grants[1].Prefixes != nil || u.Revision != 2 {
			t.Errorf("%s: %+v, %v, want the prefixes %q", id, u, err, want)
		}
		n := 0
		for c, err := range s.UserHistory(t.Context(), id) {
			if n++; err != nil || n == 2 && (c.Redacted != (id == "u-a") || c.User.Disabled) {
				t.Errorf("history of %s: %+v, %v", id, c, err)
			}
		}
		if n != 2 {
			t.Errorf("%d revisions of %s, want 2", n, id)
		}
	}
	if u, err := s.UserOf(t.Context(), "2"); err != nil || u.ID != "u-a" {
		t.Errorf("user of a subject: %+v, %v", u, err)
	}
}

// TestRekeyRights checks that the rights of tokens get the new prefixes of their tokens, so that
// Verify finds no difference, and that a redaction stays.
func TestRekeyRights(t *testing.T) {
	disk := vfs.NewMem()
	token := &store.Token{ID: "t", Role: "editor", Prefixes: []string{"urn:IETF:rfc", "urn:isbn:978"}}
	old(
		t, disk,
		store.Change{Record: active("urn:issn:12341231")},
		store.Change{Rights: &store.TokenRights{ID: "t", Role: "owner", Who: "Ali", Prefixes: token.Prefixes}},
		store.Change{Rights: token.Rights(), Redacts: []uint64{1}},
		store.Change{Token: token},
	)
	if res, err := Rekey(t.Context(), options(disk)); err != nil || res.Blocked != 0 {
		t.Fatalf("Rekey: %+v, %v", res, err)
	}
	s := openMem(t, disk)
	if got := formatIn(t, s); got != 6 {
		t.Errorf("version %d, want 6", got)
	}
	r, err := s.TokenRights(t.Context(), "t", noTime)
	if err != nil || !slices.Equal(r.Prefixes, []string{"urn:ietf:rfc"}) || r.Revision != 2 {
		t.Errorf("rights %+v, %v, want the prefix urn:ietf:rfc", r, err)
	}
	n := 0
	for c, err := range s.TokenRightsHistory(t.Context(), "t") {
		if n++; err != nil || c.Redacted != (n == 2) {
			t.Errorf("history: %+v, %v", c, err)
		}
	}
	if n != 2 {
		t.Errorf("%d revisions, want 2", n)
	}
	if _, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil); err != nil {
		t.Error(err)
	}
}

// TestDamagedUsers checks that Verify finds changes to users that bypassed the store.
func TestDamagedUsers(t *testing.T) {
	subject := store.Subject{Kind: store.KindUser, Key: "u-a"}
	for what, do := range map[string]func(b *pebble.Batch) error{
		"another subject": func(b *pebble.Batch) error {
			return b.Set(appendPlace(nil, store.Place{URL: store.SubjectURL("evil"), Name: name.FromKey("u-a")}), nil, nil)
		},
		"lost subject": func(b *pebble.Batch) error {
			return b.Delete(appendPlace(nil, store.Place{URL: store.SubjectURL("1"), Name: name.FromKey("u-a")}), nil)
		},
		"lost user":    func(b *pebble.Batch) error { return b.Delete(appendKey(nil, subject), nil) },
		"lost history": func(b *pebble.Batch) error { return b.DeleteRange([]byte("hp"), []byte("hq"), nil) },
	} {
		s := openMem(t, vfs.NewMem())
		applyUsers(t, s, &store.User{ID: "u-a", Name: "Ali"}, &store.User{ID: "u-a", Name: "Ali", Subjects: []string{"1"}})
		b := s.engine.Load().db.NewBatch()
		if err := do(b); err != nil {
			t.Fatal(err)
		}
		if err := s.engine.Load().db.Apply(b, pebble.Sync); err != nil {
			t.Fatal(err)
		}
		found := false
		if _, err := s.Verify(t.Context(), func(f store.Fault) { found = found || f.Subject == subject }, nil); err != nil || !found {
			t.Errorf("%s: Verify did not report the user, %v", what, err)
		}
	}
}

// BenchmarkUserOf shows that finding a user by a subject does not depend on how many there are.
func BenchmarkUserOf(b *testing.B) {
	s, err := Open(Options{Dir: "store", FS: vfs.NewMem(), CacheSize: 8 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var changes []store.Change
	for i := range 20_000 {
		changes = append(changes, userChange(&store.User{ID: fmt.Sprint("u-", i), Subjects: []string{fmt.Sprint("header ", i)}}))
	}
	if _, err := s.Apply(b.Context(), changes); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := s.UserOf(b.Context(), fmt.Sprint("header ", i%20_000)); err != nil {
			b.Fatal(err)
		}
	}
}
