package store

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// A Staleness is a context that records how old the data read with it is. Make one with
// [WithStaleness]. A Staleness is safe for concurrent use.
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

// Since returns the time at which all data read with s was last known to be current. The time
// is zero if all data was current when it was read, or if s is nil.
func (s *Staleness) Since() time.Time {
	if s == nil {
		return time.Time{}
	}
	if ns := s.since.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// Age returns the age at now of what was read; 0 if it was current when it was read.
func (s *Staleness) Age(now time.Time) time.Duration {
	if since := s.Since(); !since.IsZero() {
		return max(now.Sub(since), time.Nanosecond)
	}
	return 0
}

// Reset prepares s for another request. The previous one must have ended.
func (s *Staleness) Reset() { s.since.Store(0) }

// WithStaleness returns a context that accepts stale answers and records whether there were
// any. A store returns stale data only to calls with such a context, and only while it cannot
// get current data; other calls fail with an [*AwayError]. If ctx already has a Staleness,
// that one does not learn of stale data read with the new one.
func WithStaleness(ctx context.Context) *Staleness { return &Staleness{Context: ctx} }

// StalenessOf returns the staleness of ctx, nil if ctx does not accept stale answers.
func StalenessOf(ctx context.Context) *Staleness {
	s, _ := ctx.Value(stalenessKey{}).(*Staleness)
	return s
}

// Note records that stale data was read, which was last known to be current at the time since.
// It does nothing if s is nil or since is zero.
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
