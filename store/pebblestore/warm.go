package pebblestore

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Warming reads so many names, then rests for so long, and longer while more blocks
// than that are asked for meanwhile: who asks has the machine for himself, and reads
// what he needs.
const (
	warmStep  = 4096
	warmRest  = 5 * time.Millisecond
	warmQuiet = 20
)

// warmShare is how much of the cache warming fills, in parts of warmParts: the rest
// is for what is asked for.
const warmShare, warmParts = 3, 4

// warm reads the names that there are into the cache, in the order of their keys,
// until it has all of them, the cache has had its share, or ctx ends.
func (e *engine) warm(cache int64) {
	o := pebble.IterOptions{LowerBound: []byte{spaceName}, UpperBound: []byte{spaceName + 1}}
	for e.rest(e.ctx) && e.cache.Metrics().Size < cache/warmParts*warmShare {
		next, err := e.warmFrom(&o)
		if next == nil || err != nil {
			return // a damaged block is told of by who wants it
		}
		o.LowerBound = next
	}
}

// rest waits until little is asked of the store, and reports whether ctx lasts.
func (e *engine) rest(ctx context.Context) bool {
	before, _ := e.blocks()
	for wait(ctx, warmRest) {
		now, _ := e.blocks()
		if now-before <= warmQuiet {
			return true
		}
		before = now
	}
	return false
}

// warmFrom reads the first names within bounds, and returns the key that follows
// them, nil if none does.
func (e *engine) warmFrom(o *pebble.IterOptions) (next []byte, err error) {
	it, err := e.db.NewIter(o)
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
