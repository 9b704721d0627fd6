package pgstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// ladder returns a schema of n migrations, each of which adds a row.
func ladder(t *testing.T, n int) schema {
	t.Helper()
	dir := fstest.MapFS{"0002.sql": {Data: []byte("create table rung (n integer primary key, key text {collate}); insert into rung values (1, 'b')")}}
	for i := 2; i <= n; i++ {
		dir[fmt.Sprintf("%04d.sql", i+1)] = &fstest.MapFile{Data: []byte(fmt.Sprintf("insert into rung values (%d, 'A')", i))}
	}
	s, err := readSchema(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func TestMigrate(t *testing.T) {
	c := connect(t, newURL(t, shared))
	for _, to := range []int{1, 1, 3, 6} { // from nothing and from earlier versions
		s := ladder(t, to)
		if err := s.migrate(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		var rungs int
		if err := c.QueryRow(t.Context(), "select count(*) from rung").Scan(&rungs); err != nil || rungs != to {
			t.Errorf("after %d migrations: %d, %v", to, rungs, err)
		}
		if err := s.check(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	var first string
	if err := c.QueryRow(t.Context(), "select min(key) from rung").Scan(&first); err != nil || first != "A" {
		t.Errorf("the first key is %q, %v: the order is not that of bytes", first, err)
	}
	var got *store.VersionError
	if err := ladder(t, 3).migrate(t.Context(), c); !errors.As(err, &got) || *got != (store.VersionError{What: formatName, Found: splitVersion + 1, Known: splitVersion, How: store.ConvertOnWrite}) {
		t.Errorf("a newer schema: %v", err)
	}
	if _, err := c.Exec(t.Context(), "update nomen_meta set rules = rules + 1"); err != nil {
		t.Fatal(err)
	}
	want := store.VersionError{What: "rules of names", Found: name.RulesVersion + 1, Known: name.RulesVersion, How: store.ConvertByCopy}
	for _, n := range []int{3, 4, 5} {
		if err := ladder(t, n).migrate(t.Context(), c); !errors.As(err, &got) || *got != want {
			t.Errorf("other rules: %v", err)
		}
	}
}

// TestMigrateFails checks that a failed migration leaves the previous version.
func TestMigrateFails(t *testing.T) {
	c := connect(t, newURL(t, shared))
	bad := append(ladder(t, 2), "insert into rung values (3, 'x'); insert into nothing values (1)")
	for range 2 {
		if err := bad.migrate(t.Context(), c); state(err) != undefinedTable {
			t.Errorf("error %v, want that of the statement", err)
		}
		if err := ladder(t, 2).check(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	if err := ladder(t, 3).migrate(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// TestMigrateAtOnce checks that nodes that start together run each migration once.
func TestMigrateAtOnce(t *testing.T) {
	url := newURL(t, shared)
	s := ladder(t, 5)
	var wg sync.WaitGroup
	for range 8 {
		c := connect(t, url)
		wg.Go(func() {
			if err := s.migrate(context.Background(), c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var rungs int
	if err := connect(t, url).QueryRow(t.Context(), "select count(*) from rung").Scan(&rungs); err != nil || rungs != 5 {
		t.Errorf("%d, %v, want 5", rungs, err)
	}
}

func TestReadSchema(t *testing.T) {
	for _, names := range [][]string{{"0001.sql"}, {"0002.sql", "0004.sql"}, {"2.sql"}} {
		dir := fstest.MapFS{}
		for _, n := range names {
			dir[n] = &fstest.MapFile{}
		}
		if s, err := readSchema(dir); err == nil {
			t.Errorf("%q: %v, want an error", names, s)
		}
	}
}

func TestOpenRefusesOtherVersions(t *testing.T) {
	url := newURL(t, shared)
	if err := open(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	known := uint64(splitVersion)
	for _, tt := range []struct {
		sql  string
		want store.VersionError
	}{
		{"update nomen_meta set format = 7", store.VersionError{What: formatName, Found: known + 1, Known: known, How: store.ConvertOnWrite}},
		{"update nomen_meta set format = 1", store.VersionError{What: formatName, Found: 1, Known: known, How: store.ConvertNever}},
		{"update nomen_meta set rules = 0", store.VersionError{What: "rules of names", Found: 0, Known: name.RulesVersion, How: store.ConvertByCopy}},
	} {
		execute(t, url, tt.sql)
		for _, readOnly := range []bool{false, true} {
			_, err := Open(t.Context(), Options{URL: url, ReadOnly: readOnly})
			var got *store.VersionError
			if !errors.As(err, &got) || *got != tt.want {
				t.Errorf("%s: error %v, want %v", tt.sql, err, &tt.want)
			}
		}
	}
}

func TestReadOnly(t *testing.T) {
	url := newURL(t, shared)
	if _, err := Open(t.Context(), Options{URL: url, ReadOnly: true}); err == nil {
		t.Error("a store that is not there was opened for reading")
	}
	if _, err := open(t, url).Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{URL: url, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n, _, err := s.Count(t.Context()); err != nil || n != 1 {
		t.Errorf("Count: %d, %v", n, err)
	}
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:c", "u:1", 0)}); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Apply: %v, want store.ErrReadOnly", err)
	}
}

// TestOldSchemas checks that a store of every earlier version can be opened, verified and
// written.
func TestOldSchemas(t *testing.T) {
	for version, file := range []string{2: "testdata/schema.v2.sql"} {
		if file == "" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schema := fmt.Sprint("nomen_v", version)
		execute(t, shared.URL(), "drop schema if exists "+schema+" cascade", string(text))
		execute(t, shared.URL(), fmt.Sprintf("update %s.nomen_meta set rules = %d", schema, name.RulesVersion))
		s := open(t, shared.URL()+"&search_path="+schema)
		checkOld(t, s)
		if _, err := s.Apply(t.Context(), []store.Change{put("urn:example:new", "u:1", 0)}); err != nil {
			t.Fatal(err)
		}
		sealed(t, s, 306)
		verified(t, s)
	}
}

// checkOld checks the content of the fixtures: two revisions of storetest.Rich, the first of
// which the second redacts, an authority, a token, a reserved name that was deleted, and 300
// changes of five names.
func checkOld(t *testing.T, s *Store) {
	t.Helper()
	sealed(t, s, 305)
	verified(t, s)
	if n, _, err := s.Count(t.Context()); err != nil || n != 6 {
		t.Errorf("Count: %d, %v, want 6", n, err)
	}
	rich := storetest.Rich().Name
	if r, err := s.Get(t.Context(), rich, time.Time{}); err != nil || r.Revision != 2 || r.Locations[0].URL != "https://example.org/moved" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := s.Get(t.Context(), rich, time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC)); err != nil || !r.Redacted {
		t.Errorf("what was redacted: %+v, %v", r, err)
	}
	if a, err := s.Authority(t.Context(), storetest.RichAuthority().Prefix, time.Time{}); err != nil || a.Revision != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if tok, err := s.Token(t.Context(), "t"); err != nil || tok.Role != "editor" {
		t.Errorf("%+v, %v", tok, err)
	}
	if r, err := s.Get(t.Context(), storetest.Typical(4).Name, time.Time{}); err != nil || r.Revision != 60 || r.Reason != "299" {
		t.Errorf("%+v, %v", r, err)
	}
	for p, err := range s.Find(t.Context(), "https://example.org/", store.Place{}) {
		if err != nil || p.Name != rich {
			t.Errorf("%v, %v", p, err)
		}
	}
}

// verified checks that Verify finds no faults.
func verified(t *testing.T, s *Store) {
	t.Helper()
	h, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := s.Head(t.Context()); err != nil || h != want {
		t.Errorf("Verify comes to %v, the head is %v, %v", h, want, err)
	}
}

// TestVersionOfUsers checks that a store gets the versions that earlier programs reject with its
// first user, its first typed value, the first rights of a token and its first split digest, and not
// before; by Apply and by Load.
func TestVersionOfUsers(t *testing.T) {
	version := func(url string) (format int) {
		t.Helper()
		if err := connect(t, url).QueryRow(t.Context(), "select format from nomen_meta").Scan(&format); err != nil {
			t.Fatal(err)
		}
		return format
	}
	url := newURL(t, shared)
	s := open(t, url)
	user := store.Change{User: storetest.RichUser(), Time: time.Unix(1_800_000_000, 0)}
	valued := store.Change{Record: storetest.Rich(), Time: user.Time}
	for _, c := range []struct {
		change store.Change
		want   int // version that the previous program reads, and later a version that it rejects
	}{
		{put("urn:x-a:b", "u:1", 0), 2},
		{user, 3},
		{put("urn:x-a:c", "u:1", 0), 3},
		{valued, 4},
		{store.Change{User: &store.User{ID: "u-later"}, Time: user.Time}, 4},
		{store.Change{Rights: &store.TokenRights{ID: "t"}, Time: user.Time}, 5},
		{put("urn:x-a:d", "u:1", 0), 5},
	} {
		if _, err := s.Apply(t.Context(), []store.Change{c.change}); err != nil {
			t.Fatal(err)
		}
		if got := version(url); got != c.want {
			t.Errorf("version %d after a change of %v, want %d", got, c.change.Subject(), c.want)
		}
	}
	if err := s.SplitDigests(t.Context()); err != nil || version(url) != splitVersion {
		t.Errorf("version %d after SplitDigests, %v, want %d", version(url), err, splitVersion)
	}
	authored := put("urn:x-a:e", "u:1", 0)
	authored.Who = "archive"
	if _, err := s.Apply(t.Context(), []store.Change{authored}); err != nil {
		t.Fatal(err)
	}
	sealed(t, s, 8)
	again := open(t, url) // a later start
	if u, err := again.UserOf(t.Context(), storetest.RichUser().Subjects[0]); err != nil || u.ID != storetest.RichUser().ID {
		t.Errorf("user of a subject: %+v, %v", u, err)
	}
	to := newURL(t, shared)
	loaded := open(t, to)
	if err := loaded.Load(t.Context(), s.Changes(t.Context(), 0)); err != nil || version(to) != splitVersion {
		t.Errorf("version %d of a loaded store, %v, want %d", version(to), err, splitVersion)
	}
	reader, err := Open(t.Context(), Options{URL: to, ReadOnly: true})
	if err != nil {
		t.Fatalf("opened read-only: %v", err)
	}
	defer reader.Close()
	if _, err := reader.User(t.Context(), storetest.RichUser().ID, time.Time{}); err != nil {
		t.Errorf("user of a loaded store: %v", err)
	}
}
