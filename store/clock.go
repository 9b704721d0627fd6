package store

import (
	"context"
	"fmt"
	"time"
)

// MaxSkew is the maximum by which the last change of a subject may be later than the clock
// when a new change is made. If the difference is at most MaxSkew, the new change gets the
// time of the last one, because times never decrease. If it is greater, the clock is or was
// wrong, and the change is rejected unless it has AnyTime.
const MaxSkew = 24 * time.Hour

// ClockTolerance is the maximum difference between the clocks of correctly set machines.
const ClockTolerance = 5 * time.Minute

// ahead returns an explanation if the time of last, the last change of a subject, is more
// than [MaxSkew] later than the time of next. Otherwise it returns "". Tokens are exempt: a
// wrong clock must not prevent revoking one.
func ahead(last, next *Change) string {
	if last == nil || next.Token != nil || next.AnyTime || last.Time.Sub(next.Time) <= MaxSkew {
		return ""
	}
	return fmt.Sprintf("was last changed at %s, more than a day after the clock (%s): if the clock is wrong, set it; if it is right, docs/howto/repair-wrong-times.md describes the repair",
		last.Time.Format(time.RFC3339), next.Time.Format(time.RFC3339))
}

// A Clocked store has a clock that its nodes share.
type Clocked interface {
	// Clock returns the time of that clock, or zero if the store has none.
	Clock(ctx context.Context) (time.Time, error)
}

// ClockOf returns the time of the clock of r, zero if it has none.
func ClockOf(ctx context.Context, r Reader) (time.Time, error) {
	if c, ok := r.(Clocked); ok {
		return c.Clock(ctx)
	}
	return time.Time{}, nil
}

// A FutureCheck finds changes whose time is later than a clock, for [Verifier]s.
type FutureCheck struct {
	Now time.Time // the clock's time; if zero, Add does nothing

	changes     uint64
	first, last uint64 // sequence numbers in the log
	latest      time.Time
	subject     Subject // subject of the first
}

// Add checks the time of a change. Call it in the order of the log.
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

// Report calls fault once if there were any such changes.
func (f *FutureCheck) Report(fault func(Fault)) {
	if f.changes == 0 {
		return
	}
	fault(Fault{Subject: f.subject, Seq: f.first, Problem: fmt.Sprintf(
		"dated in the future: %d changes from this one to change %d, the latest %s, are after the clock (%s): see docs/howto/repair-wrong-times.md",
		f.changes, f.last, f.latest.Format(time.RFC3339), f.Now.UTC().Format(time.RFC3339))})
}
