package store

import (
	"context"
	"fmt"
	"time"
)

// MaxSkew limits how far the last change of a subject can be ahead of the clock. Times never
// decrease, so up to this difference a new change gets the time of the last change. If the
// difference is greater, the clock is or was wrong. A new change is then rejected, unless it has
// AnyTime.
const MaxSkew = 24 * time.Hour

// ClockTolerance is how much the clocks of two machines may differ if both are set correctly.
const ClockTolerance = 5 * time.Minute

// ahead compares two successive changes of one subject. If the time of the older change is more
// than [MaxSkew] after that of the newer one, it returns an explanation. Otherwise it returns "".
// For a token it always returns "", because a wrong clock must not prevent revoking a token.
func ahead(older, newer *Change) string {
	if older == nil || newer.Token != nil || newer.AnyTime || older.Time.Sub(newer.Time) <= MaxSkew {
		return ""
	}
	return fmt.Sprintf("was last changed at %s, more than a day after the clock (%s): if the clock is wrong, set it; if it is right, docs/howto/repair-wrong-times.md describes the repair",
		older.Time.Format(time.RFC3339), newer.Time.Format(time.RFC3339))
}

// A Clocked store has a clock that all its nodes share.
type Clocked interface {
	// Clock returns the time of the shared clock. If the store has none, it returns the zero time.
	Clock(ctx context.Context) (time.Time, error)
}

// ClockOf returns the time of the shared clock of r. If r has none, it returns the zero time.
func ClockOf(ctx context.Context, r Reader) (time.Time, error) {
	if c, ok := r.(Clocked); ok {
		return c.Clock(ctx)
	}
	return time.Time{}, nil
}

// A FutureCheck is used by [Verifier]s. It finds changes whose time is later than a clock.
type FutureCheck struct {
	Now time.Time // time of the clock; if it is zero, Add does nothing

	changes     uint64
	first, last uint64 // sequence numbers of the first and the last change that is later than Now
	latest      time.Time
	subject     Subject // subject of the change first
}

// Add checks the time t of the change with the number seq. It must be called in the order of the
// log.
func (f *FutureCheck) Add(s Subject, seq uint64, t time.Time) {
	if f.Now.IsZero() || t.Sub(f.Now) <= ClockTolerance {
		return
	}
	if f.changes++; f.changes == 1 {
		f.first, f.subject = seq, s
	}
	f.last = seq
	if t.After(f.latest) {
		f.latest = t
	}
}

// Report calls fault once if Add has found changes later than the clock.
func (f *FutureCheck) Report(fault func(Fault)) {
	if f.changes == 0 {
		return
	}
	fault(Fault{Subject: f.subject, Seq: f.first, Problem: fmt.Sprintf(
		"dated in the future: %d changes from this one to change %d, the latest %s, are after the clock (%s): see docs/howto/repair-wrong-times.md",
		f.changes, f.last, f.latest.Format(time.RFC3339), f.Now.UTC().Format(time.RFC3339))})
}
