package cachestore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// answer reads the record of key, and returns when an answer with it is valid. If such an answer must
// not be cached, ok is false.
func answer(t *testing.T, s *Store) (v store.Validity, ok bool) {
	t.Helper()
	ctx := store.WithStaleness(t.Context())
	ctx.Dependencies = new(store.Dependencies)
	ctx.Dependencies.Begin(s.Invalidations())
	if _, err := s.Get(ctx, key, time.Time{}); err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	ctx.Dependencies.Vouch(nil)
	return ctx.Dependencies.Validity(nil)
}

// holds reads an answer now, and returns a function that checks whether this answer is still valid.
func holds(t *testing.T, s *Store) func(what string, want bool) {
	t.Helper()
	v, ok := answer(t, s)
	if !ok {
		t.Error("an answer must not be cached")
	}
	return func(what string, want bool) {
		t.Helper()
		synctest.Wait()
		if got := v.Holds(s.Invalidations()); got != want {
			t.Errorf("%s: an answer is valid: %v, want %v", what, got, want)
		}
	}
}

// TestAnswersOfOtherNodes checks that answers are valid as long as cached records.
func TestAnswersOfOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(t, Options{})
		valid := holds(t, s)
		time.Sleep(time.Minute)
		valid("without a change", true)
		apply(t, b, put(2))
		time.Sleep(501 * time.Millisecond)
		valid("after another node's change", false)

		valid = holds(t, s)
		b.noFeed.Store(true)
		time.Sleep(1400 * time.Millisecond)
		valid("soon after the feed was lost", true)
		time.Sleep(700 * time.Millisecond)
		valid("when the feed was lost", false)
		if _, ok := answer(t, s); ok {
			t.Error("without the feed, an answer may be cached")
		}
		b.noFeed.Store(false)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		holds(t, s)("when the feed is back", true)
	})
}

// TestAnswersOfAbsence checks that an answer without a record is valid as long as the absence is
// cached.
func TestAnswersOfAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backing{Store: memstore.New()}
		s, err := New(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		valid := holds(t, s)
		time.Sleep(900 * time.Millisecond)
		valid("soon", true)
		time.Sleep(200 * time.Millisecond)
		valid("later", false)
	})
}

// TestAnswersOfLateReplica checks that an answer older than a known change must not be cached, and
// that after a failover no answer from before it is valid.
func TestAnswersOfLateReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(t, Options{})
		old, err := b.Store.Get(t.Context(), key, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		b.stale.Store(old)
		apply(t, b, put(2))
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if _, ok := answer(t, s); ok {
			t.Error("an answer of a late replica may be cached")
		}
		b.stale.Store(nil)
		holds(t, s)("of another replica", true)
		ctx := store.WithStaleness(t.Context())
		ctx.Dependencies = new(store.Dependencies)
		ctx.Dependencies.Begin(s.Invalidations())
		for range s.History(ctx, key) { // may always come from a late replica
		}
		ctx.Dependencies.Vouch(nil)
		if _, ok := ctx.Dependencies.Validity(nil); ok {
			t.Error("an answer with a history may be cached")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		primary, b, s := clustered(t)
		defer s.Close()
		replica := replicaOf(t, primary, 1)
		apply(t, primary, put(2))
		time.Sleep(20 * time.Second)
		synctest.Wait()
		valid := holds(t, s)
		apply(t, replica, put(7))
		b.now.Store(replica)
		time.Sleep(500 * time.Millisecond)
		valid("after a failover", false)
		time.Sleep(time.Minute)
		holds(t, s)("later", true)
		s.pause(time.Now().Add(time.Minute))
		if _, ok := answer(t, s); ok {
			t.Error("an answer may be cached while records must not be")
		}
	})
}

// A doubtful store writes changes, but Apply returns an error as if this were unknown.
type doubtful struct{ *memstore.Store }

func (d doubtful) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	_, err := d.Store.Apply(ctx, changes)
	return nil, errors.Join(err, errors.New("the connection was lost"))
}

// TestAnswersInDoubt checks that a change invalidates answers even if it is unknown whether the
// change was made.
func TestAnswersInDoubt(t *testing.T) {
	b := memstore.New()
	apply(t, b, put(1))
	s, err := New(t.Context(), doubtful{b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v, ok := answer(t, s)
	if _, err := s.Apply(t.Context(), []store.Change{put(2)}); err == nil {
		t.Fatal("no error")
	}
	if !ok || v.Holds(s.Invalidations()) {
		t.Errorf("an answer may be cached: %v; it is still valid", ok)
	}
}

// TestAnswersBeforeFeed checks that nothing is cached before the feed has been read.
func TestAnswersBeforeFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b backing
		b.Store = memstore.New()
		apply(t, b.Store, put(1))
		away := &headless{backing: &b}
		s, err := New(t.Context(), away, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, ok := answer(t, s); ok {
			t.Error("an answer may be cached before the feed was read")
		}
	})
}

// A headless store cannot return the head of its log.
type headless struct{ *backing }

func (*headless) Head(context.Context) (store.Head, error) {
	return store.Head{}, &store.AwayError{Cause: "the database is away"}
}
