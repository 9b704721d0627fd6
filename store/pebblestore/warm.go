package pebblestore

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Limits for reading names into the cache. After warmStep names, the store waits for warmRest, or
// longer if clients request more than warmQuiet blocks meanwhile. Requests of clients are more
// important, and also fill the cache.
const (
	warmStep  = 4096
	warmRest  = 5 * time.Millisecond
	warmQuiet = 20
)

const warmShare, warmParts = 3, 4

// warm reads names into the cache, in the order of their keys. It ends when it has read all names,
// when a share of the cache is full, or when the engine is closed.
func (e *engine) warm(cache int64) {
	o := pebble.IterOptions{LowerBound: []byte{spaceName}, UpperBound: []byte{spaceName + 1}}
	for e.rest(e.ctx) && e.cache.Metrics().Size < cache/warmParts*warmShare {
		next, err := e.warmFrom(&o)
		if next == nil || err != nil {
			return // reading a damaged block later returns the error
		}
		o.LowerBound = next
	}
}

// rest waits until clients request few blocks. It returns false if ctx ends first.
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

// warmFrom reads the first warmStep names within the bounds of o. It returns the key that follows
// them, or nil at the end.
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
