package store

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// A Staleness is a context that records how old the data is that was read with it. [WithStaleness]
// returns one. A Staleness is safe for concurrent use.
type Staleness struct {
	context.Context
	Dependencies *Dependencies // records what the answer depends on; may be nil; must not change after the first use

	since atomic.Int64 // in Unix nanoseconds; 0 if no stale data was read
}

type stalenessKey struct{}

// Value implements [context.Context].
func (s *Staleness) Value(key any) any {
	if key == (stalenessKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// Since returns the time up to which all data read with s was known to be current. If all data was
// current when it was read, or if s is nil, Since returns the zero time.
func (s *Staleness) Since() time.Time {
	if s == nil {
		return time.Time{}
	}
	if ns := s.since.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// Age returns how old, at the time now, the data read with s is. If all data was current when it
// was read, Age returns 0.
func (s *Staleness) Age(now time.Time) time.Duration {
	if since := s.Since(); !since.IsZero() {
		return max(now.Sub(since), time.Nanosecond)
	}
	return 0
}

// Reset prepares s for another request. The previous request must have ended.
func (s *Staleness) Reset() { s.since.Store(0) }

// WithStaleness returns a context for calls that accept stale data. The context records whether
// they got stale data. A store returns stale data only to such calls, and only while it cannot get
// current data. At that time, all other calls fail with an [*AwayError]. If ctx already has a
// Staleness, the old Staleness does not record what is read with the new context.
func WithStaleness(ctx context.Context) *Staleness { return &Staleness{Context: ctx} }

// StalenessOf returns the Staleness of ctx, or nil if ctx does not accept stale data.
func StalenessOf(ctx context.Context) *Staleness {
	s, _ := ctx.Value(stalenessKey{}).(*Staleness)
	return s
}

// dependencies returns the field Dependencies, or nil if s is nil.
func (s *Staleness) dependencies() *Dependencies {
	if s == nil {
		return nil
	}
	return s.Dependencies
}

// Note records a read of stale data, which was last known to be current at the time current. If s
// is nil or current is zero, Note does nothing.
func (s *Staleness) Note(current time.Time) {
	if s == nil || current.IsZero() {
		return
	}
	ns := max(current.UnixNano(), math.MinInt64+1)
	for {
		old := s.since.Load()
		if old != 0 && old <= ns || s.since.CompareAndSwap(old, ns) {
			return
		}
	}
}
