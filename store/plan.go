package store

import (
	"fmt"
	"slices"
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
	Prior      int // the step of the same batch that has made Last, counted from 1; 0 if none has
}

// Plan works out what a batch that [CheckBatch] has passed leads to: the steps
// to be written, in order, and the results. It asks last for the last change of
// a subject that the store has kept, nil if there is none; changes of the batch
// itself are taken into account. The steps share nothing with the changes.
func Plan(changes []Change, last func(Subject) (*Change, error)) ([]Step, []Result, error) {
	var p Planner
	return p.plan(changes, last, (*Change).Clone)
}

// A Planner is [Plan] for a store that plans one batch after the other, and has
// written the steps before it answers who gave the changes: the steps share lists
// and metadata with the changes, and their memory with those of later batches. The
// zero Planner is ready; it is for one goroutine.
type Planner struct {
	steps   []Step
	changes []Change // of steps; as many as there may be are made at once, so that none moves
	records []Record
	planned map[Subject]int // the last step of a subject, counted from 1
}

// Plan is [Plan] with steps that are good until Reset.
func (p *Planner) Plan(changes []Change, last func(Subject) (*Change, error)) ([]Step, []Result, error) {
	p.changes = slices.Grow(p.changes, len(changes))
	p.records = slices.Grow(p.records, len(changes))
	return p.plan(changes, last, p.borrow)
}

// maxPlanned is for how many changes a Planner keeps memory between batches.
const maxPlanned = 8192

// Reset ends the use of the last steps.
func (p *Planner) Reset() {
	if cap(p.changes) > maxPlanned {
		*p = Planner{}
		return
	}
	clear(p.steps)
	clear(p.changes)
	clear(p.records)
	clear(p.planned)
	p.steps, p.changes, p.records = p.steps[:0], p.changes[:0], p.records[:0]
}

func (p *Planner) plan(changes []Change, last func(Subject) (*Change, error), normal func(*Change) *Change) ([]Step, []Result, error) {
	p.steps = slices.Grow(p.steps, len(changes))
	results := make([]Result, len(changes))
	once := ascending(changes)
	if !once && p.planned == nil {
		p.planned = map[Subject]int{}
	}
	for i := range changes {
		step, err := Step{Subject: changes[i].Subject()}, error(nil)
		if !once {
			step.Prior = p.planned[step.Subject]
		}
		if step.Prior > 0 {
			step.Last = p.steps[step.Prior-1].Next
		} else if step.Last, err = last(step.Subject); err != nil {
			return nil, nil, err
		}
		if step.Next, results[i], err = next(i, step.Last, normal(&changes[i])); err != nil {
			return nil, nil, err
		}
		if step.Next == nil {
			continue
		}
		p.steps = append(p.steps, step)
		if !once {
			p.planned[step.Subject] = len(p.steps)
		}
	}
	return p.steps, results, nil
}

// ascending reports whether the keys of changes ascend, so that no subject comes
// twice.
func ascending(changes []Change) bool {
	for i := 1; i < len(changes); i++ {
		if a, b := changes[i-1].Subject(), changes[i].Subject(); a.Kind > b.Kind || a.Kind == b.Kind && a.Key >= b.Key {
			return false
		}
	}
	return true
}

// borrow returns c in normal form, which shares with c what it can.
func (p *Planner) borrow(c *Change) *Change {
	if c.Record == nil || len(c.Redacts) > 0 {
		return c.Clone()
	}
	p.records = append(p.records, c.Record.normal())
	p.changes = append(p.changes, *c)
	n := &p.changes[len(p.changes)-1]
	n.Record = &p.records[len(p.records)-1]
	n.Time, n.Redacts = wholeMillis(c.Time), nil
	return n
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
// A change whose time is more than [MaxSkew] before that of last is refused too, unless
// it is AnyTime.
//
// It shares lists and metadata with c. The error is a [*ConflictError] or a
// [*StateError].
func Next(i int, last, c *Change) (*Change, Result, error) {
	if c.Record == nil || len(c.Redacts) > 0 {
		return next(i, last, c.Clone())
	}
	n, rec := *c, c.Record.normal()
	n.Record, n.Time = &rec, wholeMillis(c.Time)
	return next(i, last, &n)
}

// next is Next of a change in normal form, which it makes the change to be kept.
func next(i int, last, c *Change) (*Change, Result, error) {
	if err := expect(i, last, c); err != nil {
		return nil, Result{}, err
	}
	if err := allow(i, last, c); err != nil {
		return nil, Result{}, err
	}
	if c.UseOnly {
		used := c.use(last)
		return used, Result{Changed: used != nil}, nil
	}
	if c.Token != nil && last != nil && last.Token.Used.After(c.Token.Used) {
		c.Token.Used = last.Token.Used // noted since the token was read
	}
	if same(last, c) {
		return nil, Result{Revision: last.Revision()}, nil
	}
	if rule := ahead(last, c); rule != "" {
		return nil, Result{}, &StateError{Index: i, Key: c.Subject().Key, Rule: rule}
	}
	c.follow(last)
	if rule := overreach(c); rule != "" {
		return nil, Result{}, &StateError{Index: i, Key: c.Subject().Key, Rule: rule}
	}
	return c, Result{Revision: c.Revision(), Changed: true}, nil
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
	c.Expected, c.AnyTime = last.Revision(), false
	if last != nil && c.Time.Before(last.Time) && (c.Token == nil || last.Time.Sub(c.Time) <= MaxSkew) {
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
