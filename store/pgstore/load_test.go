package pgstore

import (
	"errors"
	"slices"
	"testing"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

// TestLoadTwiceTheFirst checks that a second first revision of a name is rejected, although
// Load does not look up new names.
func TestLoadTwiceTheFirst(t *testing.T) {
	var good []*store.Entry
	for e := range typicalEntries(600) {
		good = append(good, e)
	}
	twice := *good[10]
	twice.Seq = 601
	twice.Change = twice.Change.Clone()
	twice.Change.Who = "another client"
	twice.Digest = codec.Digest(twice.Salt, codec.Append(nil, twice.Change))
	s := open(t, newURL(t, shared))
	sequence := func(all []*store.Entry) func(func(*store.Entry, error) bool) {
		return func(yield func(*store.Entry, error) bool) {
			for e := range slices.Values(all) {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	if err := s.Load(t.Context(), sequence(good[:300])); err != nil {
		t.Fatal(err)
	}
	var got *store.EntryError
	err := s.Load(t.Context(), sequence(append(slices.Clone(good), &twice)))
	if !errors.As(err, &got) || got.Seq != 601 || got.Key != good[10].Change.Subject().Key {
		t.Errorf("Load: %v, want an EntryError of change 601", err)
	}
	if h, err := s.Head(t.Context()); err != nil || h.Size != 600 {
		t.Errorf("%d changes, %v, want those before", h.Size, err)
	}
	verified(t, s)
}
