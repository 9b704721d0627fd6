package store

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// A Staleness collects how far behind the store the answers of its context may be.
// [WithStaleness] makes one. It is safe for concurrent use.
type Staleness struct {
	context.Context
	since atomic.Int64 // Unix nanoseconds; 0 if nothing stale was read
}

type stalenessKey struct{}

// Value implements [context.Context].
func (s *Staleness) Value(key any) any {
	if key == (stalenessKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// Since returns the time at which everything that was read was last known to be
// current; zero if it was current when it was read, or s is nil.
func (s *Staleness) Since() time.Time {
	if s == nil {
		return time.Time{}
	}
	if ns := s.since.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// Age returns how old what was read is at a time; 0 if it was current when it was
// read.
func (s *Staleness) Age(now time.Time) time.Duration {
	if since := s.Since(); !since.IsZero() {
		return max(now.Sub(since), time.Nanosecond)
	}
	return 0
}

// Reset makes s that of another request, when nobody uses it for the last one any more.
func (s *Staleness) Reset() { s.since.Store(0) }

// WithStaleness returns a context whose reader is content with stale answers, and
// learns whether it got any. A store returns them only to such a context, and only
// while it cannot do better: everybody else gets an [*AwayError]. A context derived
// from another with staleness has its own, and tells the other nothing.
func WithStaleness(ctx context.Context) *Staleness { return &Staleness{Context: ctx} }

// StalenessOf returns the staleness of ctx, nil if its reader is not content with
// stale answers.
func StalenessOf(ctx context.Context) *Staleness {
	s, _ := ctx.Value(stalenessKey{}).(*Staleness)
	return s
}

// Note tells s that something was read that was last known to be current at a time.
// A nil s is told nothing, and so is every s by the zero time.
func (s *Staleness) Note(since time.Time) {
	if s == nil || since.IsZero() {
		return
	}
	ns := max(since.UnixNano(), math.MinInt64+1)
	for {
		old := s.since.Load()
		if old != 0 && old <= ns || s.since.CompareAndSwap(old, ns) {
			return
		}
	}
}
