package publish_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
)

// A node is one server of a database. It publishes while it has the lease.
type node struct {
	*publish.Log
	store  *pgstore.Store
	signs  atomic.Int64 // states that it has stored
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// A counted store counts the states of publication that a node has stored.
type counted struct {
	*pgstore.Store
	signs *atomic.Int64
}

// SwapSecret implements [store.Vault].
func (s counted) SwapSecret(ctx context.Context, key string, old, next []byte) (bool, error) {
	ok, err := s.Store.SwapSecret(ctx, key, old, next)
	if ok {
		s.signs.Add(1)
	}
	return ok, err
}

// leaseOfTest is so long that it does not expire during the test, even on a machine that stands still
// for a while.
const leaseOfTest = time.Hour

// startNode starts a node that looks for changes to publish ten times a second.
func startNode(t *testing.T, url, skey, name string) *node {
	t.Helper()
	s, err := pgstore.Open(t.Context(), pgstore.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{store: s}
	o := options(t, s, skey, filepath.Join(t.TempDir(), "log.json"))
	o.Store = counted{s, &n.signs}
	o.Lease = func(ctx context.Context) bool {
		mine, err := s.Lease(ctx, "log", name, leaseOfTest)
		return mine && err == nil
	}
	n.Log = open(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	n.cancel = cancel
	n.ended.Go(func() {
		for ctx.Err() == nil {
			_ = n.Step(ctx)
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() {
		n.stop()
		_ = s.Close()
	})
	return n
}

// stop ends a node without giving up its lease, as a kill does.
func (n *node) stop() {
	n.cancel()
	n.ended.Wait()
}

// shows waits until a node shows a checkpoint of at least a size, and returns it.
func (n *node) shows(t *testing.T, size uint64, v note.Verifier) tlog.Checkpoint {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if text, err := n.Checkpoint(); err == nil {
			signed, err := tlog.Open(text, v)
			if err != nil {
				t.Fatal(err)
			}
			if signed.Size >= size {
				return signed.Checkpoint
			}
		}
		if time.Now().After(end) {
			t.Fatalf("no checkpoint of %d entries: %+v", size, n.Status())
		}
	}
}

// TestNodesOfDatabase checks that of two nodes of a PostgreSQL database only one publishes, that the
// other shows the same checkpoints and goes on after the first was lost, and that all checkpoints
// continue each other. TestPublishByNodes in cmd/nomen does this with processes that are killed.
func TestNodesOfDatabase(t *testing.T) {
	db, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Stop() })
	skey, v := newKey(t, origin, false)
	first := startNode(t, db.URL(), skey, "first")
	seen := []tlog.Checkpoint{first.shows(t, 0, v)}
	second := startNode(t, db.URL(), skey, "second")
	size := uint64(0)
	change := func(nodes ...*node) {
		t.Helper()
		put(t, nodes[len(nodes)-1].store, 5, 5, nomen.Active)
		size += 5
		for _, n := range nodes {
			seen = append(seen, n.shows(t, size, v))
		}
	}
	for range 3 {
		change(first, second)
	}
	if a, b := first.signs.Load(), second.signs.Load(); a < 3 || b > 0 {
		t.Errorf("the first node has published %d checkpoints and the second %d, want all by the first", a, b)
	}
	first.stop()
	before := first.signs.Load()
	put(t, second.store, 5, 5, nomen.Active)
	size += 5
	if err := second.Step(t.Context()); err != nil || second.signs.Load() > 0 {
		t.Errorf("the second node has published before the lease of the first has expired: %v", err)
	}
	if _, err := first.store.Lease(t.Context(), "log", "first", 0); err != nil { // it expires
		t.Fatal(err)
	}
	for range 3 {
		change(second)
	}
	if a, b := first.signs.Load()-before, second.signs.Load(); a > 0 || b < 3 {
		t.Errorf("after the loss of the first node, it has published %d checkpoints and the second %d", a, b)
	}
	again := startNode(t, db.URL(), skey, "first")
	change(second, again)
	if got := again.signs.Load(); got > 0 {
		t.Errorf("the first node has published %d checkpoints, although the second has the lease", got)
	}
	for i, c := range seen[1:] {
		var proof []tlog.Hash
		if older := seen[i].Size; older > 0 && older < c.Size {
			if proof, err = second.store.ProveHead(t.Context(), c.Size, older); err != nil {
				t.Fatal(err)
			}
		}
		if err := tlog.CheckConsistency(proof, seen[i], c); err != nil {
			t.Errorf("the checkpoints of %d and %d entries contradict each other: %v", seen[i].Size, c.Size, err)
		}
	}
}
