package pgstore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
)

// TestVaultOfNodes checks that nodes that start at the same time create the tables once and share
// the secrets, and that only one of them has a lease, by the clock of the database.
func TestVaultOfNodes(t *testing.T) {
	url := newURL(t, shared)
	nodes := make([]*Store, 4)
	for i := range nodes {
		nodes[i] = open(t, url)
	}
	if _, err := nodes[0].Secret(t.Context(), "k"); err != store.ErrNotFound {
		t.Errorf("before the tables exist: %v, want ErrNotFound", err)
	}
	var wg sync.WaitGroup
	var holders atomic.Int32
	for i, s := range nodes {
		wg.Go(func() {
			ok, err := s.Lease(t.Context(), "k", fmt.Sprint("node", i), time.Hour)
			if err != nil {
				t.Error(err)
			}
			if ok {
				holders.Add(1)
				if err := s.PutSecret(t.Context(), "k", []byte("shared")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := holders.Load(); n != 1 {
		t.Fatalf("%d nodes have the lease, want 1", n)
	}
	for i, s := range nodes {
		if got, err := s.Secret(t.Context(), "k"); err != nil || string(got) != "shared" {
			t.Errorf("node %d: %q, %v", i, got, err)
		}
	}
	execute(t, url, "update nomen_lease set until = clock_timestamp()") // as if the holder had died an hour ago
	if ok, err := nodes[0].Lease(t.Context(), "k", "another", time.Hour); err != nil || !ok {
		t.Errorf("an expired lease: %v, %v", ok, err)
	}
	reader, err := Open(t.Context(), Options{URL: url, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got, err := reader.Secret(t.Context(), "k"); err != nil || string(got) != "shared" {
		t.Errorf("opened read-only: %q, %v", got, err)
	}
	if err := reader.PutSecret(t.Context(), "k", nil); err != store.ErrReadOnly {
		t.Errorf("a write to a store opened read-only: %v, want ErrReadOnly", err)
	}
}
