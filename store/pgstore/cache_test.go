package pgstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
)

// TestCacheOfManyNodes checks that a node with a cache sees the changes of another within
// the time that package cachestore guarantees.
func TestCacheOfManyNodes(t *testing.T) {
	url := newURL(t, shared)
	var nodes [2]*cachestore.Store
	for i := range nodes {
		s, err := Open(t.Context(), Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if nodes[i], err = cachestore.New(t.Context(), s, cachestore.Options{}); err != nil {
			t.Fatal(err)
		}
		defer nodes[i].Close()
	}
	const promised = 10 * time.Second // sealing plus cachestore.Options.Within: 3 seconds on an idle machine
	key := name.FromKey("urn:x-a:b")
	for revision := range uint64(5) {
		if _, err := nodes[0].Apply(t.Context(), []store.Change{put(key.Key(), fmt.Sprint("u:", revision), revision)}); err != nil {
			t.Fatal(err)
		}
		written := time.Now()
		if r, err := nodes[0].Get(t.Context(), key, time.Time{}); err != nil || r.Revision != revision+1 {
			t.Errorf("where it was written: %+v, %v", r, err)
		}
		for {
			r, err := nodes[1].Get(t.Context(), key, time.Time{})
			if err == nil && r.Revision == revision+1 {
				break
			}
			if time.Since(written) > promised {
				t.Fatalf("elsewhere, after %v: %+v, %v", promised, r, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}
