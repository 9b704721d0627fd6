package cachestore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Each read counts as one hit or one miss, including reads of names that do not exist.
func TestUsage(t *testing.T) {
	s, _ := newStore(t, Options{Bytes: 20_000, Absent: time.Hour})
	absent := name.FromKey("urn:x-a:absent")
	for range 3 {
		if _, err := s.Get(t.Context(), key, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), absent, time.Time{}); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	u := store.UsageOf(s)
	if len(u.Caches) != 1 || u.Caches[0].Name != "records" {
		t.Fatalf("usage: %+v", u)
	}
	if c := u.Caches[0]; c.Hits != 4 || c.Misses != 2 || c.Evictions != 0 || !c.CountsEvictions || c.Capacity != 20_000 {
		t.Errorf("cache: %+v", c)
	}
	for i := range 1000 {
		_, _ = s.Get(t.Context(), name.FromKey(fmt.Sprintf("urn:x-a:%d", i)), time.Time{})
	}
	for end := time.Now().Add(time.Minute); store.UsageOf(s).Caches[0].Evictions == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if c := store.UsageOf(s).Caches[0]; c.Evictions == 0 || c.Misses != 1002 || c.Bytes == 0 {
		t.Errorf("a full cache: %+v", c)
	}
}
