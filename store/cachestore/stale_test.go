package cachestore

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A sick backing is a store that can be unavailable, or hang.
type sick struct {
	*memstore.Store
	away, hangs atomic.Bool
	known       atomic.Bool  // the condition of the store says that it is unavailable
	asked       atomic.Int64 // number of calls, except those of the feed
}

func (b *sick) Condition() store.Condition {
	return store.Condition{NoReads: b.known.Load(), NoWrites: b.known.Load()}
}

var errAway = &store.AwayError{Cause: "the database cannot be reached", After: time.Second}

// fails returns the current error of the store, after it has hung.
func (b *sick) fails(ctx context.Context) error {
	if b.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if b.away.Load() {
		return errAway
	}
	return nil
}

func (b *sick) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	b.asked.Add(1)
	if err := b.fails(ctx); err != nil {
		return nil, err
	}
	return b.Store.Get(ctx, n, at)
}

func (b *sick) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	b.asked.Add(1)
	if err := b.fails(ctx); err != nil {
		return nil, err
	}
	return b.Store.Authority(ctx, p, at)
}

func (b *sick) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	if err := b.fails(ctx); err != nil {
		return func(yield func(*store.Authority, error) bool) { yield(nil, err) }
	}
	return b.Store.Authorities(ctx, at)
}

func (b *sick) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	b.asked.Add(1)
	if err := b.fails(ctx); err != nil {
		return func(yield func(store.Place, error) bool) { yield(store.Place{}, err) }
	}
	return b.Store.Find(ctx, prefix, after)
}

func (b *sick) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	if err := b.fails(ctx); err != nil {
		return func(yield func(*store.Record, error) bool) { yield(nil, err) }
	}
	return b.Store.List(ctx, scan)
}

func (b *sick) Head(ctx context.Context) (store.Head, error) {
	if err := b.fails(ctx); err != nil {
		return store.Head{}, err
	}
	return b.Store.Head(ctx)
}

func (b *sick) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	if err := b.fails(ctx); err != nil {
		return func(yield func(*store.Entry, error) bool) { yield(nil, err) }
	}
	return b.Store.Changes(ctx, after)
}

func (b *sick) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if err := b.fails(ctx); err != nil {
		return nil, err
	}
	return b.Store.Apply(ctx, changes)
}

var (
	absent = name.FromKey("urn:x-a:absent")
	alias  = name.MustParse("urn:x-b:alias")
	prefix = name.PrefixFromKey("urn:x-a")
	day    = 24 * time.Hour
)

func authority(description string) store.Change {
	return store.Change{
		Authority: &store.Authority{Prefix: prefix, Description: description},
		Expected:  store.AnyRevision, Time: time.Unix(1_800_000_000, 0),
	}
}

// newSick returns a cache in front of a store with a name, its alias and an authority, after
// all of these and the absence of another name were read.
func newSick(t *testing.T, o Options) (*Store, *sick) {
	t.Helper()
	b := &sick{Store: memstore.New()}
	c := put(1)
	c.Record.SameAs = []string{alias.Key()}
	apply(t, b, c, authority("first"))
	s, err := New(t.Context(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	warm(t, s, t.Context(), nil)
	time.Sleep(time.Second) // until the feed has been read
	synctest.Wait()
	return s, b
}

// warm reads what newSick has cached. If want is nil, the answers must be right; otherwise every
// read must return the error want.
func warm(t *testing.T, s *Store, ctx context.Context, want error) {
	t.Helper()
	r, err := s.Get(ctx, key, time.Time{})
	if !errors.Is(err, want) || err == nil && r.Locations[0].URL != "u:1" {
		t.Errorf("Get: %+v, %v; want %v", r, err, want)
	}
	wantAbsent := want
	if want == nil {
		wantAbsent = store.ErrNotFound
	}
	if r, err := s.Get(ctx, absent, time.Time{}); !errors.Is(err, wantAbsent) {
		t.Errorf("Get of what is not there: %+v, %v; want %v", r, err, wantAbsent)
	}
	for _, tt := range []struct {
		alias name.Name
		want  []name.Name
	}{{alias, []name.Name{key}}, {absent, nil}} {
		names, err := store.Aliased(ctx, s, tt.alias)
		if !errors.Is(err, want) || err == nil && !slices.Equal(names, tt.want) {
			t.Errorf("Aliased(%s): %v, %v; want %v, %v", tt.alias, names, err, tt.want, want)
		}
	}
	a, err := s.Authority(ctx, prefix, time.Time{})
	if !errors.Is(err, want) || err == nil && a.Description != "first" {
		t.Errorf("Authority: %+v, %v; want %v", a, err, want)
	}
	all, err := listed(s.Authorities(ctx, time.Time{}))
	if !errors.Is(err, want) || err == nil && (len(all) != 1 || all[0].Description != "first") {
		t.Errorf("Authorities: %+v, %v; want %v", all, err, want)
	}
}

// While the store is unavailable, the cache returns cached data, marked as stale, to callers that
// accept stale data. It does so for the time StaleIfError.
func TestStaleWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newSick(t, Options{StaleIfError: day})
		current := store.WithStaleness(t.Context())
		warm(t, s, current, nil)
		if since := current.Since(); !since.IsZero() {
			t.Errorf("what is current is called stale since %v", since)
		}
		began := time.Now()
		b.away.Store(true)
		for _, wait := range []time.Duration{time.Second, 5 * time.Second, time.Hour, 22 * time.Hour} {
			time.Sleep(wait)
			synctest.Wait()
			stale := store.WithStaleness(t.Context())
			warm(t, s, stale, nil)
			if since := stale.Since(); since.After(began) || began.Sub(since) > time.Second {
				t.Errorf("after %v: stale since %v, want the last look at the feed, at most a second before %v", time.Since(began), since, began)
			}
			if wait > time.Second {
				warm(t, s, t.Context(), errAway) // without accepting stale answers
			}
			for what, err := range map[string]error{
				"a name that is not cached":  second(s.Get(stale, name.FromKey("urn:x-a:cold"), time.Time{})),
				"a name as of a time":        second(s.Get(stale, key, began)),
				"an authority as of a time":  second(s.Authority(stale, prefix, began)),
				"authorities as of a time":   second(listed(s.Authorities(stale, began))),
				"an alias that is not known": second(store.Aliased(stale, s, name.FromKey("urn:x-a:cold"))),
				"a change":                   second(s.Apply(stale, []store.Change{put(2)})),
			} {
				if !errors.Is(err, errAway) {
					t.Errorf("%s: %v, want that the store is unavailable", what, err)
				}
			}
		}
		time.Sleep(2 * time.Hour)
		warm(t, s, store.WithStaleness(t.Context()), errAway)

		b.away.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		current = store.WithStaleness(t.Context())
		warm(t, s, current, nil)
		if since := current.Since(); !since.IsZero() {
			t.Errorf("when the store is back: stale since %v", since)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// Without StaleIfError, stale data is never returned.
func TestNeverStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newSick(t, Options{})
		b.away.Store(true)
		time.Sleep(3 * time.Second)
		warm(t, s, store.WithStaleness(t.Context()), errAway)
	})
}

// A stale answer includes every change that this node knows of, has made, or has perhaps made,
// whatever was cached before.
func TestStaleAndChanged(t *testing.T) {
	changed := put(2)
	redacted := put(2)
	redacted.Record.Status, redacted.Record.Locations = nomen.Retired, nil
	other := put(1)
	other.Record.Name = name.FromKey("urn:x-a:other")
	other.Record.SameAs = []string{absent.Key()}
	for what, tt := range map[string]struct {
		change store.Change
		read   func(context.Context, *Store) error
	}{
		"a record":         {changed, func(ctx context.Context, s *Store) error { return second(s.Get(ctx, key, time.Time{})) }},
		"a retired record": {redacted, func(ctx context.Context, s *Store) error { return second(s.Get(ctx, key, time.Time{})) }},
		"a new alias":      {other, func(ctx context.Context, s *Store) error { return second(store.Aliased(ctx, s, absent)) }},
		"an authority":     {authority("second"), func(ctx context.Context, s *Store) error { return second(s.Authority(ctx, prefix, time.Time{})) }},
		"a list of authorities": {authority("second"), func(ctx context.Context, s *Store) error {
			all, err := listed(s.Authorities(ctx, time.Time{}))
			if err == nil && all[0].Description == "second" { // read with the feed
				return errAway
			}
			return err
		}},
	} {
		for _, by := range []string{"this node", "another node"} {
			t.Run(what+" by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, b := newSick(t, Options{StaleIfError: day})
					if by == "this node" {
						apply(t, s, tt.change)
					} else {
						apply(t, b, tt.change)
						time.Sleep(500 * time.Millisecond) // until the change is in the feed
						synctest.Wait()
					}
					b.away.Store(true)
					for range 3 {
						if err := tt.read(store.WithStaleness(t.Context()), s); !errors.Is(err, errAway) {
							t.Errorf("%v, want that the store is unavailable", err)
						}
						time.Sleep(20 * time.Second)
					}
				})
			})
		}
	}
}

// If a store is known to be unavailable, answers are stale at once, although the feed was read a
// moment ago.
func TestStaleAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newSick(t, Options{StaleIfError: day})
		b.away.Store(true)
		current := store.WithStaleness(t.Context())
		if _, err := s.Get(current, key, time.Time{}); err != nil || !current.Since().IsZero() {
			t.Errorf("before the store is known to be away: %v, stale since %v", err, current.Since())
		}
		b.known.Store(true)
		for _, read := range []func(context.Context) error{
			func(ctx context.Context) error { return second(s.Get(ctx, key, time.Time{})) },
			func(ctx context.Context) error { return second(s.Authority(ctx, prefix, time.Time{})) },
			func(ctx context.Context) error { return second(listed(s.Authorities(ctx, time.Time{}))) },
		} {
			stale := store.WithStaleness(t.Context())
			if err := read(stale); err != nil || stale.Since().IsZero() {
				t.Errorf("when it is known: %v, stale since %v", err, stale.Since())
			}
		}
		warm(t, s, t.Context(), errAway)

		b.away.Store(false)
		b.known.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		current = store.WithStaleness(t.Context())
		warm(t, s, current, nil)
		if !current.Since().IsZero() {
			t.Errorf("when the store is back: stale since %v", current.Since())
		}
	})
}

// If there is a stale answer, a store that hangs counts as unavailable after a moment. Not every
// call then queries the store.
func TestStaleWhileHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newSick(t, Options{StaleIfError: day})
		b.hangs.Store(true)
		time.Sleep(2 * time.Second) // longer than Within
		began := time.Now()
		stale := store.WithStaleness(t.Context())
		warm(t, s, stale, nil)
		if took := time.Since(began); took > patience || stale.Since().IsZero() {
			t.Errorf("answered after %v, stale since %v", took, stale.Since())
		}
		asked := b.asked.Load()
		for range 100 {
			warm(t, s, store.WithStaleness(t.Context()), nil)
		}
		if n := b.asked.Load() - asked; n != 0 {
			t.Errorf("the store that hangs was asked %d times again", n)
		}
	})
}

// When the store is available again, cached data is not read again all at once: the cache returns
// stale answers until the feed has been read.
func TestNoStampede(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newSick(t, Options{StaleIfError: day})
		b.away.Store(true)
		time.Sleep(10*time.Second + 100*time.Millisecond)
		synctest.Wait()
		asked := b.asked.Load()
		b.away.Store(false)
		for range 20 {
			warm(t, s, store.WithStaleness(t.Context()), nil)
			time.Sleep(50 * time.Millisecond)
		}
		if n := b.asked.Load() - asked; n > 3 { // only the absence of the name and its aliases are read, because these entries have expired
			t.Errorf("the store was asked %d times", n)
		}
	})
}

// A cache can be made while its store is unavailable, and works when the store is available.
func TestNewWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &sick{Store: memstore.New()}
		apply(t, b, put(1))
		b.away.Store(true)
		s, err := New(t.Context(), b, Options{StaleIfError: day})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		time.Sleep(10 * time.Second)
		if _, err := s.Get(store.WithStaleness(t.Context()), key, time.Time{}); !errors.Is(err, errAway) {
			t.Errorf("%v, want that the store is unavailable", err)
		}
		b.away.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		for range 3 {
			if r, err := s.Get(t.Context(), key, time.Time{}); err != nil || r.Revision != 1 {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if n := b.asked.Load(); n != 2 { // once while it was unavailable, and once afterwards
			t.Errorf("the store was asked %d times", n)
		}
	})
}
