package store

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// A Staleness is a context for a caller that accepts stale data. It records the age of the data
// that was read. A Staleness is made by [WithStaleness] and is safe for concurrent use.
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

// Since returns the latest time at which all data read with s is known to have been current. If no
// stale data was read, or if s is nil, Since returns the zero time.
func (s *Staleness) Since() time.Time {
	if s == nil {
		return time.Time{}
	}
	if ns := s.since.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// Age returns the age, at the time now, of the oldest data that was read with s. It returns 0 if no
// stale data was read.
func (s *Staleness) Age(now time.Time) time.Duration {
	if since := s.Since(); !since.IsZero() {
		return max(now.Sub(since), time.Nanosecond)
	}
	return 0
}

// Reset prepares s for another request after the previous one has ended.
func (s *Staleness) Reset() { s.since.Store(0) }

// WithStaleness returns a context for calls that accept stale data. A store returns stale data only
// to such calls, and only while it cannot get current data. Other calls then fail with an
// [*AwayError]. The returned context records whether stale data was read. If ctx is itself a
// Staleness, it does not record these reads.
func WithStaleness(ctx context.Context) *Staleness { return &Staleness{Context: ctx} }

// StalenessOf returns the Staleness of ctx, or nil if ctx does not accept stale data.
func StalenessOf(ctx context.Context) *Staleness {
	s, _ := ctx.Value(stalenessKey{}).(*Staleness)
	return s
}

func (s *Staleness) dependencies() *Dependencies {
	if s == nil {
		return nil
	}
	return s.Dependencies
}

// Note records a read of stale data. The parameter current is the last time at which the data is
// known to have been current. If s is nil or current is zero, Note does nothing.
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
