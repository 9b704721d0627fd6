package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// loading checks that a store that has loaded the log of another store equals the other store,
// except for tokens.
func loading(s *suite) {
	n := s.source()
	want := s.contents()
	delete(want, "token")
	o := newSuite(s.T, s.open)
	o.kept = n
	for _, what := range []string{"what was loaded", "loaded again"} {
		if err := store.Load(s.Context(), o.Store, store.Changes(s.Context(), s.Store, 0)); err != nil {
			s.Fatalf("Load: %v", err)
		}
		got := o.contents()
		delete(got, "token")
		s.equal(what, got, want)
	}

	// Further changes have the same effect on both stores.
	more := []store.Change{put("urn:x-a:b", "u:9", 9), expecting(0, put("urn:x-a:c", "u:9", 9)), put("urn:x-a:new", "u:9", 9)}
	more[0].Redacts = []uint64{2}
	s.equal("results", o.apply(more...), s.apply(more...))
	s.sealed()
	o.sealed()
	s.equal("changes", changesOf(o.entries(uint64(n))), changesOf(s.entries(uint64(n))))
	o.verifies()
	s.loadRefuses(o)
}

// source makes changes of all kinds, including redactions, and returns the size of the
// log.
func (s *suite) source() int {
	s.Helper()
	s.story()
	s.fill(trickyKeys())
	redacting := put("urn:x-a:b", "https://example.org/5", 5)
	redacting.Redacts = []uint64{1}
	a := store.Change{Authority: RichAuthority(), Expected: 2, Time: minute(5), Redacts: []uint64{1, 2}}
	s.apply(reserve("urn:x-a:c", 1), redacting, a, remove("urn:x-a:c", 5), reserve("urn:x-a:d", 5))
	for i := range 260 {
		s.apply(put(fmt.Sprint("urn:x-b:", i%9), fmt.Sprint("u:", i), i%3))
	}
	if has[store.Users](s.Store) {
		s.apply(store.Change{User: RichUser(), Time: minute(1)}, userChange("u-a", "Ali", 1, "1"), userChange("u-a", "Ali", 2, "2"))
		redacting := userChange("u-a", "Bea", 3)
		redacting.Redacts = []uint64{1, 2}
		s.apply(redacting, userChange("u-b", "Bea", 3, "1"))
	}
	s.sealed()
	return s.kept
}

func (s *suite) loadRefuses(o *suite) {
	s.Helper()
	before, n := o.sealed(), uint64(o.kept)
	all, third := s.entries(0), newSuite(s.T, s.open)
	third.apply(put("urn:x-c:d", "u:1", 0))
	third.sealed()
	for _, c := range []struct {
		what    string
		into    *suite
		entries []*store.Entry
		seq     uint64 // number of the entry that is rejected
	}{
		{"into a store with other changes", o, all, n - 2}, // both stores had further changes, with different salts
		{"of less than is there", o, all[:n-5], n - 4},
		{"into a store that is not empty", third, all, 1},
	} {
		err := store.Load(s.Context(), c.into.Store, yielding(c.entries, nil))
		if got := (*store.EntryError)(nil); !errors.As(err, &got) || got.Seq != c.seq {
			s.Errorf("Load %s: %v, want an EntryError of change %d", c.what, err, c.seq)
		}
	}
	s.equal("head after Load was refused", o.sealed(), before)
	if err := store.Load(s.Context(), newSuite(s.T, s.open).Store, yielding(nil, nil)); err != nil {
		s.Errorf("Load of nothing: %v", err)
	}
}

// yielding yields entries, and then err unless it is nil.
func yielding(entries []*store.Entry, err error) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// loadResumed checks that entries loaded before an error stay in the store, and that a second Load
// continues after them. The error must name the first entry that is out of order.
func loadResumed(s *suite) {
	n := s.source()
	good := s.entries(0)
	o := newSuite(s.T, s.open)
	o.kept = n
	broken := errors.New("broken")
	for _, stop := range []int{0, 1, 7, 8, 256, 257, 300} {
		if err := store.Load(s.Context(), o.Store, yielding(good[:stop], broken)); !errors.Is(err, broken) {
			s.Fatalf("Load of what breaks off: %v", err)
		}
		o.loaded(fmt.Sprintf("after %d entries", stop), good, stop)
	}
	for what, spoil := range badEntries() {
		const at = 305 // of 313 changes; the entries before it are good
		bad := slices.Clone(good)
		bad[at] = clone(good[at])
		spoil(bad[at])
		err := store.Load(s.Context(), o.Store, yielding(bad, nil))
		if got := (*store.EntryError)(nil); !errors.As(err, &got) || got.Reason == "" {
			s.Errorf("%s: Load: %v, want an EntryError", what, err)
		}
		o.loaded(what, good, at)
	}
	if err := store.Load(s.ended(), o.Store, yielding(good, nil)); !errors.Is(err, context.Canceled) {
		s.Errorf("Load with a cancelled context: %v", err)
	}
	if err := store.Load(s.Context(), o.Store, yielding(good, nil)); err != nil {
		s.Fatalf("Load: %v", err)
	}
	s.equal("head", o.sealed(), headOf(good))
	s.equal("entries", o.entries(0), good)
	o.verifies()
}

// loaded checks that the log of the store consists of at most the given number of the good entries.
func (s *suite) loaded(what string, good []*store.Entry, most int) {
	s.Helper()
	if h, err := store.HeadOf(s.Context(), s.Store); err != nil || h.Size > uint64(most) || h != headOf(good[:h.Size]) {
		s.Errorf("%s: the head is %v, %v", what, h, err)
	}
}

func clone(e *store.Entry) *store.Entry {
	c := *e
	c.Change = e.Change.Clone()
	return &c
}

// badEntries returns functions that modify an entry so that it cannot follow the previous entries.
// If a function modifies the content, it also corrects the digest, so that the entry has only one
// fault.
func badEntries() map[string]func(e *store.Entry) {
	resealed := func(change func(c *store.Change)) func(e *store.Entry) {
		return func(e *store.Entry) {
			change(e.Change)
			if e.Change.Record != nil {
				e.Change.Record.Revision, e.Change.Record.Modified = e.Change.Revision(), e.Change.Time
			}
			e.Digest = codec.Digest(e.Salt, codec.Append(nil, e.Change))
		}
	}
	return map[string]func(e *store.Entry){
		"no change":            func(e *store.Entry) { e.Change = nil },
		"an empty change":      func(e *store.Entry) { e.Change = &store.Change{Time: minute(0)} },
		"a place missing":      func(e *store.Entry) { e.Seq++ },
		"a place twice":        func(e *store.Entry) { e.Seq-- },
		"content altered":      func(e *store.Entry) { e.Change.Record.Locations[0].URL += "x" },
		"who altered":          func(e *store.Entry) { e.Change.Who = "another" },
		"split altered":        func(e *store.Entry) { e.Change.Who, e.Change.Split = "another", true },
		"split, not private":   resealed(func(c *store.Change) { c.Who, c.Why, c.Split = "", "", true }),
		"salt altered":         func(e *store.Entry) { e.Salt[3]++ },
		"digest altered":       func(e *store.Entry) { e.Digest[3]++ },
		"revision of the past": resealed(func(c *store.Change) { c.Expected-- }),
		"revision to come":     resealed(func(c *store.Change) { c.Expected++ }),
		"time of the past":     resealed(func(c *store.Change) { c.Time = minute(-9) }),
		"redacts itself":       resealed(func(c *store.Change) { c.Redacts = []uint64{c.Revision()} }),
		"redacts revision 0":   resealed(func(c *store.Change) { c.Redacts = []uint64{0} }),
		"forgotten":            resealed(func(c *store.Change) { c.Delete, c.Record = c.Record.Name, nil }),
		"reserved again":       resealed(func(c *store.Change) { c.Record.Status = "reserved" }),
		"another name":         resealed(func(c *store.Change) { c.Record.Name = name.FromKey("urn:x-q:r") }),
		"a token": resealed(func(c *store.Change) {
			c.Token, c.Record, c.Expected = &store.Token{ID: "t"}, nil, 0
		}),
		"half redacted": func(e *store.Entry) { e.Change.Redacted = true },
		"redacted with its content": func(e *store.Entry) {
			e.Change.Redacted, e.Change.Record.Redacted = true, true
		},
	}
}

// Backup checks the backups of a store. The function restore must open the backup in the directory
// dir as a store.
func Backup(t *testing.T, open Open, restore func(t *testing.T, dir string) store.Store) {
	s := newSuite(t, open)
	dir := t.TempDir() + "/backup"
	s.source()
	for round := range 3 {
		want := s.contents()
		if err := store.Backup(t.Context(), s.Store, dir, nil); err != nil {
			t.Fatalf("Backup: %v", err)
		}
		copied := &suite{T: t, Store: restore(t, dir), open: open, kept: s.kept}
		s.equal("the copy", copied.contents(), want)
		if err := copied.Close(); err != nil {
			t.Errorf("Close of the copy: %v", err)
		}
		s.apply(put("urn:x-a:b", fmt.Sprint("u:", round), 9), put(fmt.Sprint("urn:x-a:new", round), "u:1", 9))
	}
	s.backupWhileWriting(t.TempDir()+"/backup", restore)
	if err := store.Backup(t.Context(), newSuite(t, open).Store, dir, nil); err == nil {
		t.Error("Backup into the directory of another store was not refused")
	}
}

// backupWhileWriting checks that a backup contains the state of the store at one moment, and all
// changes that were acknowledged before Backup was called.
func (s *suite) backupWhileWriting(dir string, restore func(t *testing.T, dir string) store.Store) {
	s.Helper()
	head, i := s.sealed(), 0
	during(func() {
		if err := store.Backup(s.Context(), s.Store, dir, nil); err != nil {
			s.Errorf("Backup: %v", err)
		}
	}, func() {
		s.apply(put(fmt.Sprint("urn:x-w:", i%7), fmt.Sprint("u:", i), 9), put("urn:x-w:a", fmt.Sprint("u:", i), 9))
		i++
	})
	copied := &suite{T: s.T, Store: restore(s.T, dir), open: s.open}
	defer copied.Close()
	got, err := store.HeadOf(s.Context(), copied.Store)
	if err != nil || got.Size < head.Size {
		s.Errorf("head of the copy: %v, %v, the store had %v before", got, err, head)
	}
	s.sealed()
	if want := headOf(s.entries(0)[:got.Size]); got != want {
		s.Errorf("head of the copy: %v, the store had %v", got, want)
	}
	copied.verifies()
}
