package pgstore

import (
	"errors"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

// TestEntryOfFarAway checks that EntryOf finds entries that are more than nearRows rows away from
// the place where their time belongs: in a long run of changes with the same time, as 'nomen migrate
// --repair-times' makes them, and where a clock was a year ahead.
func TestEntryOfFarAway(t *testing.T) {
	const n = 70_000 // more than nearRows rows
	ahead := map[uint64]bool{11: true, 40_000: true}
	s := open(t, newURL(t, shared))
	var wanted []*store.Entry
	if err := s.Load(t.Context(), func(yield func(*store.Entry, error) bool) {
		for e := range typicalEntries(n) {
			if ahead[e.Seq] {
				e.Change.Time = e.Change.Time.AddDate(1, 0, 0)
				e.Change.Record.Modified = e.Change.Time
				e.Digest = codec.Digest(e.Salt, codec.Append(nil, e.Change))
			}
			if ahead[e.Seq] || e.Seq == 1 || e.Seq == n/2 || e.Seq == n {
				wanted = append(wanted, e)
			}
			if !yield(e, nil) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, e := range wanted {
		got, err := s.EntryOf(t.Context(), e.Change.Subject(), e.Change.Revision())
		if err != nil || got.Seq != e.Seq || got.Digest != e.Digest {
			t.Errorf("entry %d: %+v, %v", e.Seq, got, err)
		}
	}
}

// TestEntryOfUnsealed checks that EntryOf does not find a change that has no number yet, and finds
// it as soon as it has one.
func TestEntryOfUnsealed(t *testing.T) {
	s := open(t, newURL(t, shared))
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:1", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	s.sealer.stop()
	late := put("urn:x-a:1", "u:2", 1)
	late.Time = late.Time.Add(-time.Hour)
	if _, err := s.Apply(t.Context(), []store.Change{late}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.EntryOf(t.Context(), late.Subject(), 2); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before sealing: %+v, %v, want ErrNotFound", got, err)
	}
	s.sealer.sealAll(t.Context())
	if got, err := s.EntryOf(t.Context(), late.Subject(), 2); err != nil || got.Seq != 2 {
		t.Errorf("after sealing: %+v, %v, want entry 2", got, err)
	}
}
