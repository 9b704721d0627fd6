package store

import (
	"context"
	"fmt"
	"time"
)

// MaxSkew is how far the time of the last change of a subject may lie ahead of the clock. Times in
// a history never decrease, so a new change gets at least the time of the last change. If the last
// change is more than MaxSkew ahead, the clock is or was wrong, and the store rejects the new
// change. The field AnyTime of a [Change] permits such a change.
const MaxSkew = 24 * time.Hour

// ClockTolerance is how much the clocks of two machines may differ if both are set correctly.
const ClockTolerance = 5 * time.Minute

// ahead returns an explanation if the time of the change older is more than [MaxSkew] after the
// time of the next change, newer. Otherwise it returns "". Changes of tokens are exempt, because a
// wrong clock must not prevent the revocation of a token.
func ahead(older, newer *Change) string {
	if older == nil || newer.Token != nil || newer.AnyTime || older.Time.Sub(newer.Time) <= MaxSkew {
		return ""
	}
	return fmt.Sprintf("was last changed at %s, more than a day after the clock (%s): if the clock is wrong, set it; if it is right, docs/howto/repair-wrong-times.md describes the repair",
		older.Time.Format(time.RFC3339), newer.Time.Format(time.RFC3339))
}

// A Clocked store has a clock that all its nodes share.
type Clocked interface {
	// Clock returns the time of the shared clock, or the zero time.
	Clock(ctx context.Context) (time.Time, error)
}

// ClockOf returns the time of the shared clock of r, or the zero time if r has none.
func ClockOf(ctx context.Context, r Reader) (time.Time, error) {
	if c, ok := r.(Clocked); ok {
		return c.Clock(ctx)
	}
	return time.Time{}, nil
}

// A FutureCheck finds changes whose time is later than the current time, for a [Verifier].
type FutureCheck struct {
	Now time.Time // the current time; if zero, nothing is checked

	changes     uint64
	first, last uint64 // sequence numbers of the first and the last change that is later than Now
	latest      time.Time
	subject     Subject // subject of the change first
}

// Add checks the change number seq of the log, which was made at the time t. The changes must be
// added in the order of the log.
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

// Report calls fault once if any of the added changes has a time in the future.
func (f *FutureCheck) Report(fault func(Fault)) {
	if f.changes == 0 {
		return
	}
	fault(Fault{Subject: f.subject, Seq: f.first, Problem: fmt.Sprintf(
		"dated in the future: %d changes from this one to change %d, the latest %s, are after the clock (%s): see docs/howto/repair-wrong-times.md",
		f.changes, f.last, f.latest.Format(time.RFC3339), f.Now.UTC().Format(time.RFC3339))})
}
