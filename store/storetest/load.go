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

// loading: a store that was loaded with the changes of another is the other,
// tokens apart.
func loading(s *suite) {
	if _, ok := s.Store.(store.Loader); !ok {
		return
	}
	n := s.source()
	want := s.contents()
	delete(want, "token")
	head := s.sealed(n)
	other := s.another()
	if err := store.Load(s.Context(), other, store.Changes(s.Context(), s.Store, 0)); err != nil {
		s.Fatalf("Load: %v", err)
	}
	o := &suite{T: s.T, Store: other, open: s.open, kept: n}
	got := o.contents()
	delete(got, "token")
	s.equal("head", o.sealed(n), head)
	s.equal("what was loaded", got, want)
	s.equal("entries", o.entries(0), s.entries(0))
	s.equal("locations", o.places("", store.Place{}), s.places("", store.Place{}))
	o.verifies()
	if err := store.Load(s.Context(), other, store.Changes(s.Context(), s.Store, 0)); err != nil {
		s.Errorf("Load of what is there already: %v", err)
	}
	s.equal("head", o.sealed(n), head)

	// Both go on alike.
	more := []store.Change{put("urn:x-a:b", "u:9", 9), expecting(0, put("urn:x-a:c", "u:9", 9)), put("urn:x-a:new", "u:9", 9)}
	more[0].Redacts = []uint64{2}
	s.equal("results", o.apply(more...), s.apply(more...))
	s.equal("changes", changesOf(o.after(n+3, n)), changesOf(s.after(n+3, n)))
	o.verifies()
	s.loadRefuses(other, n+3)
}

// source makes changes of all kinds, redactions among them, and returns how many
// the log has.
func (s *suite) source() int {
	s.Helper()
	n, _ := s.story()
	s.fill(trickyKeys())
	redacting := put("urn:x-a:b", "https://example.org/5", 5)
	redacting.Redacts = []uint64{1}
	a := store.Change{Authority: RichAuthority(), Expected: 2, Time: minute(5), Redacts: []uint64{1, 2}}
	s.apply(reserve("urn:x-a:c", 1), redacting, a, remove("urn:x-a:c", 5), reserve("urn:x-a:d", 5))
	for i := range 260 {
		s.apply(put(fmt.Sprint("urn:x-b:", i%9), fmt.Sprint("u:", i), i%3))
	}
	return n + len(trickyKeys()) + 5 + 260
}

// after waits until n changes are sealed and returns those after a place.
func (s *suite) after(n, seq int) []*store.Entry {
	s.Helper()
	s.sealed(n)
	return s.entries(uint64(seq))
}

// another opens a second store.
func (s *suite) another() store.Store {
	other := s.open(s.T)
	s.Cleanup(func() { _ = other.Close() })
	return other
}

// loadRefuses: a store that has other changes takes none.
func (s *suite) loadRefuses(other store.Store, n int) {
	s.Helper()
	before, err := awaitSealed(s.Context(), other, uint64(n))
	if err != nil {
		s.Fatal(err)
	}
	var got *store.EntryError
	err = store.Load(s.Context(), other, store.Changes(s.Context(), s.Store, 0))
	if !errors.As(err, &got) || got.Seq != uint64(n)-2 { // both went on, each with its own salts
		s.Errorf("Load into a store with other changes: %v, want an EntryError of change %d", err, n-2)
	}
	fewer := slices.Values(s.entries(0)[:n-5])
	err = store.Load(s.Context(), other, sound(fewer))
	if !errors.As(err, &got) || got.Seq != uint64(n)-4 {
		s.Errorf("Load of less than is there: %v, want an EntryError of change %d", err, n-4)
	}
	if after, err := store.HeadOf(s.Context(), other); err != nil || after != before {
		s.Errorf("Load that was refused changed the head from %v to %v, %v", before, after, err)
	}
	third := s.another()
	if _, err := third.Apply(s.Context(), []store.Change{put("urn:x-c:d", "u:1", 0)}); err != nil {
		s.Fatal(err)
	}
	if _, err := awaitSealed(s.Context(), third, 1); err != nil {
		s.Fatal(err)
	}
	err = store.Load(s.Context(), third, store.Changes(s.Context(), s.Store, 0))
	if !errors.As(err, &got) || got.Seq != 1 {
		s.Errorf("Load into a store that is not empty: %v, want an EntryError of change 1", err)
	}
	if err := store.Load(s.Context(), s.another(), sound(slices.Values([]*store.Entry(nil)))); err != nil {
		s.Errorf("Load of nothing: %v", err)
	}
}

// sound yields entries without an error.
func sound(entries iter.Seq[*store.Entry]) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// loadResumed: what was loaded before an error stays, and a second Load goes on;
// what does not follow is named.
func loadResumed(s *suite) {
	if _, ok := s.Store.(store.Loader); !ok {
		return
	}
	n := s.source()
	head := s.sealed(n)
	good := s.entries(0)
	other := s.another()
	broken := errors.New("broken")
	for _, stop := range []int{0, 1, 7, 8, 256, 257, 300} {
		err := store.Load(s.Context(), other, func(yield func(*store.Entry, error) bool) {
			for _, e := range good[:stop] {
				if !yield(clone(e), nil) {
					return
				}
			}
			yield(nil, broken)
		})
		if !errors.Is(err, broken) {
			s.Fatalf("Load of what breaks off: %v", err)
		}
		if h, err := store.HeadOf(s.Context(), other); err != nil || h.Size > uint64(stop) || h != headOf(good[:h.Size]) {
			s.Errorf("after %d entries the head is %v, %v", stop, h, err)
		}
	}
	for what, spoil := range badEntries() {
		const at = 305 // of 313 changes; the entries before it are good
		bad := make([]*store.Entry, len(good))
		for i, e := range good {
			bad[i] = clone(e)
		}
		spoil(bad[at])
		var got *store.EntryError
		if err := store.Load(s.Context(), other, sound(slices.Values(bad))); !errors.As(err, &got) || got.Reason == "" {
			s.Errorf("%s: Load: %v, want an EntryError", what, err)
		}
		if h, err := store.HeadOf(s.Context(), other); err != nil || h.Size > at || h != headOf(good[:h.Size]) {
			s.Errorf("%s: the head is %v, %v", what, h, err)
		}
	}
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if err := store.Load(ctx, other, sound(slices.Values(good))); !errors.Is(err, context.Canceled) {
		s.Errorf("Load with a cancelled context: %v", err)
	}
	if err := store.Load(s.Context(), other, sound(slices.Values(good))); err != nil {
		s.Fatalf("Load: %v", err)
	}
	o := &suite{T: s.T, Store: other, open: s.open}
	s.equal("head", o.sealed(n), head)
	s.equal("entries", o.entries(0), good)
	o.verifies()
}

// clone copies e so that it can be spoilt.
func clone(e *store.Entry) *store.Entry {
	c := *e
	c.Change = e.Change.Clone()
	return &c
}

// badEntries are ways to make an entry one that does not follow those before it.
// Where content is changed the digest is made to agree, so that the order alone
// is wrong.
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

// Backup checks that a store makes copies of itself. The function restore opens a
// copy that was made in a directory.
func Backup(t *testing.T, open Open, restore func(t *testing.T, dir string) store.Store) {
	s := &suite{T: t, Store: open(t), open: open}
	t.Cleanup(func() { _ = s.Close() })
	dir := t.TempDir() + "/backup"
	n := s.source()
	for round := range 3 {
		head, want := s.sealed(n), s.contents()
		s.backup(dir)
		copied := &suite{T: t, Store: restore(t, dir), open: open, kept: n}
		s.equal("head of the copy", copied.sealed(n), head)
		s.equal("the copy", copied.contents(), want)
		copied.verifies()
		if err := copied.Close(); err != nil {
			t.Errorf("Close of the copy: %v", err)
		}
		s.apply(put("urn:x-a:b", fmt.Sprint("u:", round), 9), put(fmt.Sprint("urn:x-a:new", round), "u:1", 9))
		n += 2
	}
	s.sealed(n)
	s.backupWhileWriting(t.TempDir()+"/backup", restore)
	other := s.another()
	if err := store.Backup(t.Context(), other, dir, nil); err == nil {
		t.Error("Backup into the directory of another store was not refused")
	}
}

func (s *suite) backup(dir string) {
	s.Helper()
	if err := store.Backup(s.Context(), s.Store, dir, nil); err != nil {
		s.Fatalf("Backup: %v", err)
	}
}

// backupWhileWriting: a copy is the store as of one moment, not before what was
// acknowledged when Backup was called.
func (s *suite) backupWhileWriting(dir string, restore func(t *testing.T, dir string) store.Store) {
	s.Helper()
	head, err := store.HeadOf(s.Context(), s.Store)
	if err != nil {
		s.Fatal(err)
	}
	done, stop := make(chan error), make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			_, err := s.Apply(s.Context(), []store.Change{put(fmt.Sprint("urn:x-w:", i%7), fmt.Sprint("u:", i), 9), put("urn:x-w:a", fmt.Sprint("u:", i), 9)})
			select {
			case <-stop:
				done <- err
				return
			default:
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	s.backup(dir)
	close(stop)
	if err := <-done; err != nil {
		s.Errorf("Apply during Backup: %v", err)
	}
	copied := &suite{T: s.T, Store: restore(s.T, dir), open: s.open}
	defer copied.Close()
	got, err := store.HeadOf(s.Context(), copied.Store)
	if err != nil || got.Size < head.Size {
		s.Errorf("head of the copy: %v, %v, the store had %v before", got, err, head)
	}
	if _, err := awaitSealed(s.Context(), s.Store, got.Size); err != nil {
		s.Fatal(err)
	}
	if want := headOf(s.entries(0)[:got.Size]); got != want {
		s.Errorf("head of the copy: %v, the store had %v", got, want)
	}
	copied.verifies()
}
