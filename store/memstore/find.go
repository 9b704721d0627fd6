package memstore

import (
	"context"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// places is an index of locations. Places are never removed, so the index contains every location
// that a record has had since the index was built. A reader must check whether the record still has
// the location.
type places struct {
	made   bool
	sorted []store.Place // sorted places; replaced by a new slice, never changed
	fresh  []store.Place // places that are not in sorted yet, in any order
}

// add adds the new locations of a record. It does nothing if the index has not been built.
func (p *places) add(step store.Step) {
	if !p.made || step.Next.Record == nil {
		return
	}
	for _, url := range step.Next.AppendIndexed(nil) {
		if !has(step.Last, url) {
			p.fresh = append(p.fresh, store.Place{URL: url, Name: step.Next.Record.Name})
		}
	}
}

func has(c *store.Change, url string) bool { return slices.Contains(c.AppendIndexed(nil), url) }

// all returns the sorted index. The first call builds the index from the names.
func (p *places) all(names *table) []store.Place {
	if !p.made {
		p.made = true
		for _, versions := range names.versions {
			last := versions[len(versions)-1].change
			for _, url := range last.AppendIndexed(nil) {
				p.fresh = append(p.fresh, store.Place{URL: url, Name: last.Record.Name})
			}
		}
	}
	if len(p.fresh) > 0 {
		all := append(slices.Clone(p.sorted), p.fresh...)
		slices.SortFunc(all, store.Place.Compare)
		p.sorted, p.fresh = slices.Compact(all), nil
	}
	return p.sorted
}

// Find implements [store.Finder].
func (s *Store) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	return reading.Seq(func(yield func(store.Place, error) bool) error {
		all, moment, err := s.beginFind(ctx)
		first := sort.Search(len(all), func(i int) bool {
			return all[i].URL >= prefix && (after == (store.Place{}) || all[i].Compare(after) > 0)
		})
		for _, p := range all[first:] {
			if err = ctx.Err(); err != nil || !strings.HasPrefix(p.URL, prefix) {
				break
			}
			if has(s.lookup(store.KindName, p.Name.Key(), moment, time.Time{}), p.URL) && !yield(p, nil) {
				return nil
			}
		}
		return err
	})
}

func (s *Store) beginFind(ctx context.Context) ([]store.Place, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, 0, err
	}
	return s.places.all(s.tables[store.KindName]), s.moment, nil
}
