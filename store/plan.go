package store

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nomen-project/nomen"
)

// A Step is one change to be written: Next takes the place of Last, which was
// the last change of the subject, nil if there was none. Of the revisions that
// Next.Redacts names, Last and those of steps before among them, the store keeps
// what [Change.Redact] leaves and the digest; it may have done so long ago.
type Step struct {
	Subject    Subject
	Last, Next *Change
}

// Plan works out what a batch that [CheckBatch] has passed leads to: the steps
// to be written, in order, and the results. It asks last for the last change of
// a subject that the store has kept, nil if there is none; changes of the batch
// itself are taken into account. The steps share nothing with the changes.
func Plan(changes []Change, last func(Subject) (*Change, error)) ([]Step, []Result, error) {
	steps := make([]Step, 0, len(changes))
	results := make([]Result, len(changes))
	planned := map[Subject]*Change{}
	for i := range changes {
		c := &changes[i]
		subject := c.Subject()
		current, ok := planned[subject]
		if !ok {
			var err error
			if current, err = last(subject); err != nil {
				return nil, nil, err
			}
		}
		next, result, err := Next(i, current, c)
		if err != nil {
			return nil, nil, err
		}
		results[i] = result
		if next != nil {
			planned[subject] = next
			steps = append(steps, Step{subject, current, next})
		}
	}
	return steps, results, nil
}

// Next returns what c, number i of its batch, leads to when last is the last
// change of the same subject, nil if there was none: the change to be kept, or
// nil if everything is so already. It is the state machine of names:
//
//	none, deleted -> reserved, active, retired
//	reserved      -> reserved, active, retired, deleted
//	active        -> active, retired
//	retired       -> retired, active
//
// The error is a [*ConflictError] or a [*StateError].
func Next(i int, last, c *Change) (*Change, Result, error) {
	if err := expect(i, last, c); err != nil {
		return nil, Result{}, err
	}
	next := c.Clone()
	if err := allow(i, last, next); err != nil {
		return nil, Result{}, err
	}
	if same(last, next) {
		return nil, Result{Revision: last.Revision()}, nil
	}
	next.follow(last)
	if rule := overreach(next); rule != "" {
		return nil, Result{}, &StateError{Index: i, Key: next.Subject().Key, Rule: rule}
	}
	return next, Result{Revision: next.Revision(), Changed: true}, nil
}

// exists reports whether something is there after c.
func (c *Change) exists() bool { return c != nil && c.Delete.IsZero() }

// Revision returns the revision that c, a change that a store has kept, has led
// to; 0 for a token and for nil.
func (c *Change) Revision() uint64 {
	if c == nil || c.Token != nil {
		return 0
	}
	return c.Expected + 1
}

// expect refuses a change that expected another revision than that of last.
func expect(i int, last, c *Change) error {
	current := uint64(0)
	if last.exists() {
		current = last.Revision()
	}
	if c.Token != nil || c.Expected == AnyRevision || c.Expected == current {
		return nil
	}
	return &ConflictError{Index: i, Key: c.Subject().Key, Expected: c.Expected, Current: current}
}

// allow refuses a change that would make a name forgotten (Y95-22, Y95-25).
func allow(i int, last, next *Change) error {
	if rule := brokenRule(last, next); rule != "" {
		return &StateError{Index: i, Key: next.Subject().Key, Rule: rule}
	}
	return nil
}

func brokenRule(last, next *Change) string {
	var was nomen.Status
	if last.exists() && last.Record != nil {
		was = last.Record.Status
	}
	public := was == nomen.Active || was == nomen.Retired
	switch {
	case public && !next.Delete.IsZero():
		return "is " + string(was) + ": only a reserved name can be deleted; retire it instead"
	case next.Record == nil:
		return ""
	case public && next.Record.Status == nomen.Reserved:
		return "is " + string(was) + " and can never be reserved again"
	case !known(next.Record.Status):
		return "unknown status " + strconv.Quote(shorten(string(next.Record.Status)))
	}
	return ""
}

func known(s nomen.Status) bool {
	return s == nomen.Reserved || s == nomen.Active || s == nomen.Retired
}

// overreach says which revision next would redact that is its own or one to come,
// "" if none.
func overreach(next *Change) string {
	for _, r := range next.Redacts {
		if r >= next.Revision() {
			return fmt.Sprintf("revision %d cannot be redacted: only those before %d, which this change makes", r, next.Revision())
		}
	}
	return ""
}

// same reports whether last has left what next wants.
func same(last, next *Change) bool {
	switch {
	case len(next.Redacts) > 0:
		return false
	case !last.exists():
		return !next.Delete.IsZero()
	case next.Record != nil:
		return next.Record.SameContent(last.Record)
	case next.Authority != nil:
		return next.Authority.SameContent(last.Authority)
	case next.Token != nil:
		return next.Token.SameContent(last.Token)
	}
	return false
}

// follow numbers and dates c, a copy in normal form, as the change after last.
func (c *Change) follow(last *Change) {
	c.Expected = last.Revision()
	if last != nil && c.Time.Before(last.Time) {
		c.Time = last.Time
	}
	switch {
	case c.Record != nil:
		c.Record.Modified, c.Record.Revision = c.Time, c.Revision()
	case c.Authority != nil:
		c.Authority.Modified, c.Authority.Revision = c.Time, c.Revision()
	}
}

// KnownAt reports whether c, a change that a store has kept, belongs to an answer
// as of the time at; zero for now.
func (c *Change) KnownAt(at time.Time) bool { return at.IsZero() || !c.Time.After(at) }
