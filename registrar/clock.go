package registrar

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nomen-project/nomen/store"
)

// A clockGuard prevents changes with wrong times. It compares the system clock with the time of the
// last change and, if the store is in a database, with the clock of the database.
type clockGuard struct {
	asking sync.Mutex // held while reading the store; other calls then use the last result

	mu      sync.Mutex
	asked   time.Time   // when the store was last read, by the clock of this machine; zero if never
	latest  time.Time   // time of the last known change
	problem *ClockError // difference from the clock of the database; nil if it is small
	tried   time.Time   // when ClockProblem last started a read
}

// A ClockError reports that the error of the system clock is too large to permit changes.
type ClockError struct {
	Cause  string // the cause without times, which any client may see
	detail string
}

func (e *ClockError) Error() string { return e.detail }

// askAgain is how long a result from the store remains valid. A problem is not cached:
// [Registrar.CheckClock] reads the store again for each change, because the clock may have been
// corrected.
const askAgain = time.Minute

// retryClock is how long [Registrar.ClockProblem] waits before it reads the store again after a
// problem.
const retryClock = time.Second

const clockTimeout = 10 * time.Second

// CheckClock returns a [*ClockError] if the clock is wrong by more than [store.MaxSkew]. The clock
// is wrong if it is earlier than the last change of the store, or if it differs from the clock of
// the database. While the clock is wrong, changes are rejected with a [*store.AwayError], unless
// [Options].AnyTime is set.
func (r *Registrar) CheckClock(ctx context.Context) error {
	g, now := &r.clock, r.now()
	g.mu.Lock()
	due := g.asked.IsZero() || g.problem != nil || now.Sub(g.asked).Abs() >= askAgain
	g.mu.Unlock()
	if due && g.asking.TryLock() {
		g.ask(ctx, r.store, now)
		g.asking.Unlock()
	}
	if e := g.wrong(now); e != nil {
		return e
	}
	return nil
}

// ClockProblem returns the [*ClockError] because of which changes are rejected, or nil. It does not
// block: it returns the last known state and reads the store in the background. A corrected clock
// is therefore noticed even if no client makes changes.
func (r *Registrar) ClockProblem() *ClockError {
	if r.anyTime {
		return nil
	}
	g, now := &r.clock, r.now()
	g.mu.Lock()
	again := askAgain
	if g.problem != nil {
		again = retryClock
	}
	due := g.tried.IsZero() || now.Sub(g.tried).Abs() >= again
	if due = due && g.asking.TryLock(); due {
		g.tried = now
	}
	g.mu.Unlock()
	if due {
		go func() {
			defer g.asking.Unlock()
			ctx, cancel := context.WithTimeout(context.Background(), clockTimeout)
			defer cancel()
			g.ask(ctx, r.store, now)
		}()
	}
	return g.wrong(now)
}

func (g *clockGuard) wrong(now time.Time) *ClockError {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.problem != nil:
		return g.problem
	case g.latest.Sub(now) > store.MaxSkew:
		return &ClockError{
			"the clock is more than a day before the last change",
			fmt.Sprintf("the clock (%s) is more than a day before the last change (%s)", stamp(now), stamp(g.latest)),
		}
	}
	return nil
}

// ask reads the time of the last change and the clock of the database from the store. It ignores
// errors of the store, which the next write would also return.
func (g *clockGuard) ask(ctx context.Context, s store.Store, now time.Time) {
	latest, err := lastChange(ctx, s)
	if err != nil {
		return
	}
	shared, err := store.ClockOf(ctx, s)
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked, g.problem = now, nil
	if latest.After(g.latest) {
		g.latest = latest
	}
	if !shared.IsZero() && now.Sub(shared).Abs() > store.MaxSkew {
		g.problem = &ClockError{
			"the clock of this machine is more than a day from that of the database",
			fmt.Sprintf("the clock of this machine (%s) is more than a day from that of the database (%s)", stamp(now), stamp(shared)),
		}
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// lastChange returns the time of the last change in a store. It returns the zero time if the store
// has no changes, or no [store.Feed].
func lastChange(ctx context.Context, s store.Reader) (time.Time, error) {
	feed, ok := s.(store.Feed)
	if !ok {
		return time.Time{}, nil
	}
	head, err := feed.Head(ctx)
	if err != nil || head.Size == 0 {
		return time.Time{}, err
	}
	for e, err := range feed.Changes(ctx, head.Size-1) {
		if err != nil {
			return time.Time{}, err
		}
		return e.Change.Time, nil
	}
	return time.Time{}, nil
}

// apply writes changes of names and authorities, unless the clock is wrong.
func (r *Registrar) apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if r.anyTime {
		for i := range changes {
			changes[i].AnyTime = true
		}
		return r.store.Apply(ctx, changes)
	}
	if err := r.CheckClock(ctx); err != nil {
		return nil, &store.AwayError{Cause: err.Error() + ": set the clock; if it is right, docs/howto/repair-wrong-times.md describes the repair", Clock: true}
	}
	results, err := r.store.Apply(ctx, changes)
	if err == nil && len(changes) > 0 {
		r.clock.note(changes[len(changes)-1].Time)
	}
	return results, err
}

// note records the time of a change.
func (g *clockGuard) note(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.After(g.latest) {
		g.latest = t
	}
}
