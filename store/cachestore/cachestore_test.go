package cachestore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/storetest"
)

var errGone = errors.New("the feed is gone")

// A backing is a store that counts calls.
type backing struct {
	*memstore.Store
	gets   atomic.Int64
	slow   chan struct{} // if not nil, Get waits for it
	stale  atomic.Pointer[store.Record]
	noFeed atomic.Bool
}

func (b *backing) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	b.gets.Add(1)
	if b.slow != nil {
		select {
		case <-b.slow:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if r := b.stale.Load(); r != nil {
		return r.Clone(), nil
	}
	return b.Store.Get(ctx, n, at)
}

func (b *backing) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	if b.noFeed.Load() {
		return func(yield func(*store.Entry, error) bool) { yield(nil, errGone) }
	}
	return b.Store.Changes(ctx, after)
}

var key = name.FromKey("urn:x-a:b")

func put(n int) store.Change {
	return store.Change{
		Record:   &store.Record{Name: key, Status: nomen.Active, Locations: []nomen.Location{{URL: fmt.Sprint("u:", n)}}},
		Expected: store.AnyRevision, Time: time.Unix(1_800_000_000, 0),
	}
}

func apply(t *testing.T, s store.Store, changes ...store.Change) {
	t.Helper()
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}

// newStore returns a cache in front of a store with revision 1 of key.
func newStore(t *testing.T, o Options) (*Store, *backing) {
	t.Helper()
	b := &backing{Store: memstore.New()}
	apply(t, b, put(1))
	s, err := New(t.Context(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, b
}

// want checks the revision of the answer of s, which is 0 if there is no answer, and how often s
// has called the underlying store.
func want(t *testing.T, s *Store, b *backing, revision uint64, gets int64) {
	t.Helper()
	r, err := s.Get(t.Context(), key, time.Time{})
	got := uint64(0)
	if err == nil {
		got = r.Revision
		r.Locations[0].URL = "spoilt" // it belongs to the caller
	} else if !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if got != revision || b.gets.Load() != gets {
		t.Errorf("revision %d after asking %d times, want %d after %d", got, b.gets.Load(), revision, gets)
	}
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s, err := New(t.Context(), memstore.New(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestSameAsMemory(t *testing.T) {
	storetest.Same(t,
		func(*testing.T) store.Store { return memstore.New() },
		func(t *testing.T) store.Store {
			s, err := New(t.Context(), memstore.New(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	)
}

// TestCoherence checks that the changes of a node itself are visible at once, and that the changes
// of other nodes are visible when the feed has been read.
func TestCoherence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(t, Options{})
		want(t, s, b, 1, 1)
		want(t, s, b, 1, 1)
		apply(t, s, put(2))
		want(t, s, b, 2, 2)
		want(t, s, b, 2, 2)
		apply(t, s, put(2)) // changes nothing
		want(t, s, b, 2, 2)
		apply(t, b, put(3)) // another node
		want(t, s, b, 2, 2)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		want(t, s, b, 3, 3)
		want(t, s, b, 3, 3)
		if r, err := s.Get(t.Context(), key, time.Unix(1, 0)); err == nil {
			t.Errorf("as of a time before it was: %+v", r)
		}
		want(t, s, b, 3, 4) // read from the store
	})
}

// TestFeedLost checks that the cache is bypassed when the feed cannot be read for longer than
// Within, and that it is coherent when the feed is back.
func TestFeedLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(t, Options{})
		want(t, s, b, 1, 1)
		b.noFeed.Store(true)
		time.Sleep(1900 * time.Millisecond)
		apply(t, b, put(2))
		want(t, s, b, 1, 1)
		time.Sleep(200 * time.Millisecond)
		want(t, s, b, 2, 2)
		want(t, s, b, 2, 3) // each call reads from the store
		apply(t, b, put(3))
		b.noFeed.Store(false)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		want(t, s, b, 3, 4)
		want(t, s, b, 3, 4)
	})
}

// TestAbsent checks that the absence of a name is cached for a short time, and not after the
// name was created.
func TestAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backing{Store: memstore.New()}
		s, err := New(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		want(t, s, b, 0, 1)
		want(t, s, b, 0, 1)
		time.Sleep(1100 * time.Millisecond)
		want(t, s, b, 0, 2)
		apply(t, b, put(1))
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		want(t, s, b, 1, 3)
	})
}

// TestStaleReplica checks that an answer older than a known change is not cached.
func TestStaleReplica(t *testing.T) {
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
		want(t, s, b, 1, 1)
		want(t, s, b, 1, 2)
		b.stale.Store(nil)
		want(t, s, b, 2, 3)
		want(t, s, b, 2, 3)
	})
}

// A cluster is a store that can be replaced by another.
type cluster struct {
	*memstore.Store
	now atomic.Pointer[memstore.Store]
}

func (c *cluster) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	return c.now.Load().Get(ctx, n, at)
}

func (c *cluster) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return c.now.Load().Changes(ctx, after)
}

func (c *cluster) Head(ctx context.Context) (store.Head, error) { return c.now.Load().Head(ctx) }

// clustered returns a cache in front of a cluster, whose primary has one change and is in use.
func clustered(t *testing.T) (*memstore.Store, *cluster, *Store) {
	t.Helper()
	primary := memstore.New()
	apply(t, primary, put(1))
	b := &cluster{Store: primary}
	b.now.Store(primary)
	s, err := New(t.Context(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return primary, b, s
}

// replicaOf returns a store with the first changes of another.
func replicaOf(t *testing.T, s *memstore.Store, changes int) *memstore.Store {
	t.Helper()
	r := memstore.New()
	err := r.Load(t.Context(), func(yield func(*store.Entry, error) bool) {
		for e, err := range s.Changes(t.Context(), 0) {
			if e.Seq > uint64(changes) || !yield(e, err) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLostChanges checks that, after a failover to a replica without some changes, cached data with
// these changes is dropped. It is dropped at once if the replica has other changes with the same
// numbers. Otherwise it is dropped when no replica can lag that far behind.
func TestLostChanges(t *testing.T) {
	for _, c := range []struct {
		what      string
		meanwhile []store.Change // changes made on the replica before it replaces the primary
		wait      time.Duration
		want      string
	}{
		{"others", []store.Change{put(7)}, 500 * time.Millisecond, "u:7"},
		{"others, more", []store.Change{put(7), put(8)}, 500 * time.Millisecond, "u:8"},
		{"none", nil, 16 * time.Second, "u:1"},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				primary, b, s := clustered(t)
				defer s.Close()
				replica := replicaOf(t, primary, 1)
				apply(t, primary, put(2))
				time.Sleep(20 * time.Second)
				check := func(want string) {
					t.Helper()
					if r, err := s.Get(t.Context(), key, time.Time{}); err != nil || r.Locations[0].URL != want {
						t.Errorf("%+v, %v, want %s", r, err, want)
					}
				}
				check("u:2")
				for _, change := range c.meanwhile {
					apply(t, replica, change)
				}
				b.now.Store(replica)
				time.Sleep(c.wait)
				synctest.Wait()
				check(c.want)
				time.Sleep(time.Second)
				synctest.Wait()
				check(c.want)
				apply(t, replica, put(9))
				time.Sleep(500 * time.Millisecond)
				synctest.Wait()
				check("u:9")
			})
		})
	}
}

// TestLateReplica checks that data read from a late replica is dropped when the other servers are
// available again.
func TestLateReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		primary, b, s := clustered(t)
		defer s.Close()
		late := replicaOf(t, primary, 1)
		apply(t, primary, put(2))
		time.Sleep(30 * time.Second)
		for _, c := range []struct {
			asked *memstore.Store
			want  string
		}{{late, "u:1"}, {primary, "u:2"}} {
			b.now.Store(c.asked)
			time.Sleep(time.Second)
			synctest.Wait()
			if r, err := s.Get(t.Context(), key, time.Time{}); err != nil || r.Locations[0].URL != c.want {
				t.Errorf("%+v, %v, want %s", r, err, c.want)
			}
		}
	})
}

// TestOneFlight checks that concurrent reads of one name share one call, and that cancelling
// one of them does not affect the others.
func TestOneFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(t, Options{})
		b.slow = make(chan struct{})
		first, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Get(first, key, time.Time{}); !errors.Is(err, context.Canceled) {
				t.Errorf("who went away: %v", err)
			}
		})
		synctest.Wait()
		for range 50 {
			wg.Go(func() {
				if r, err := s.Get(t.Context(), key, time.Time{}); err != nil || r.Revision != 1 {
					t.Errorf("%v, %v", r, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(b.slow)
		wg.Wait()
		if n := b.gets.Load(); n != 2 {
			t.Errorf("the store was asked %d times, want 2", n)
		}
	})
}

// TestCrowded checks that nothing is cached for a while after more changes than can be tracked.
func TestCrowded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(t, Options{})
		want(t, s, b, 1, 1)
		for i := range maxTracked + 1 {
			s.changed(store.Subject{Kind: store.KindName, Key: fmt.Sprint(i)}, minimum{revision: 1})
		}
		want(t, s, b, 1, 2)
		want(t, s, b, 1, 3)
		time.Sleep(16 * time.Second)
		synctest.Wait()
		want(t, s, b, 1, 4)
		want(t, s, b, 1, 4)
	})
}

// TestBounded checks that the size of the cache is about Options.Bytes.
func TestBounded(t *testing.T) {
	s, b := newStore(t, Options{Bytes: 64 << 10})
	for i := range 2000 {
		c := put(i)
		c.Record.Name = name.FromKey(fmt.Sprint("urn:x-a:", i))
		apply(t, b, c)
		if _, err := s.Get(t.Context(), c.Record.Name, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	s.cache.CleanUp()
	if n := s.cache.WeightedSize(); n > 64<<10 || n == 0 {
		t.Errorf("%d bytes are kept", n)
	}
}

// TestWeightOfRules checks that the weight of an authority includes its rules.
func TestWeightOfRules(t *testing.T) {
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:x-a")}
	subject := store.Subject{Kind: store.KindAuthority, Key: "urn:x-a"}
	small := weight(subject, value{authority: a})
	for range 200 {
		a.Rules = append(a.Rules, rule.Rule{Match: "{id:d}", Locations: []nomen.Location{{URL: "https://example.org/{id}"}}})
	}
	if large := weight(subject, value{authority: a}); large < small+200*uint32(len("https://example.org/{id}")) {
		t.Errorf("weight %d, of one without rules %d", large, small)
	}
}

// TestWritersAndReaders checks that a reader never gets an answer older than what it has written
// itself.
func TestWritersAndReaders(t *testing.T) {
	s, _ := newStore(t, Options{Every: time.Millisecond})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			n := name.FromKey(fmt.Sprint("urn:x-w:", w))
			for i := range 200 {
				c := put(i)
				c.Record.Name = n
				apply(t, s, c)
				if r, err := s.Get(t.Context(), n, time.Time{}); err != nil || r.Revision != uint64(i+1) {
					t.Errorf("after revision %d: %+v, %v", i+1, r, err)
				}
				_, _ = s.Get(t.Context(), key, time.Time{})
			}
		})
	}
	wg.Wait()
}

func BenchmarkGet(b *testing.B) {
	m := memstore.New()
	s, err := New(b.Context(), m, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Apply(b.Context(), []store.Change{put(1)}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Get(b.Context(), key, time.Time{}); err != nil {
				b.Error(err)
			}
		}
	})
}
