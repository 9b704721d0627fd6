package pebblestore

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Warming reads this many names, then rests so many times as long as that took: who
// asks meanwhile has the machine for the most part.
const (
	warmStep = 4096
	warmRest = 2
)

// warmShare is how much of the cache warming fills, in parts of warmParts: the rest
// is for what is asked for.
const warmShare, warmParts = 3, 4

// warm reads the names that there are into the cache, in the order of their keys,
// until it has all of them, the cache has had its share, or the store is closed.
func (s *Store) warm(cache int64) {
	o := pebble.IterOptions{LowerBound: []byte{spaceName}, UpperBound: []byte{spaceName + 1}}
	for s.db.Metrics().BlockCache.Size < cache/warmParts*warmShare {
		began := time.Now()
		next, err := s.warmFrom(&o)
		if next == nil || err != nil {
			return // a damaged block is told of by who wants it
		}
		o.LowerBound = next
		select {
		case <-s.closing:
			return
		case <-time.After(warmRest * time.Since(began)):
		}
	}
}

// warmFrom reads the first names within bounds, and returns the key that follows
// them, nil if none does.
func (s *Store) warmFrom(o *pebble.IterOptions) (next []byte, err error) {
	it, err := s.db.NewIter(o)
	if err != nil {
		return nil, err
	}
	ok := it.First()
	for n := 1; ok && n < warmStep; n++ {
		ok = it.Next()
	}
	if ok {
		next = append(next, it.Key()...)
	}
	return next, it.Close()
}
