package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nomen-project/nomen"
)

// A Step is one change that a store must write. Next is the change. Last is the change of the same
// subject that Next replaces, or nil. The store must replace each revision in Next.Redacts by the
// result of [Change.Redact], and keep its digest. Such a revision can be Last, it can be from an
// earlier step of the batch, and it can already be redacted.
type Step struct {
	Subject    Subject
	Last, Next *Change
	Prior      int // number of the step of the same batch that made Last, from 1; 0 if Last is already stored, or nil
}

// Plan returns the steps of a batch, in the order in which a store must write them, and the result
// of each change. The batch must have passed [CheckBatch]. The function last must return the newest
// stored change of a subject, or nil; it may ignore the changes of the batch, which Plan takes into
// account. The steps share no memory with the changes.
func Plan(changes []Change, last func(Subject) (*Change, error)) ([]Step, []Result, error) {
	var p Planner
	return p.plan(changes, last, (*Change).Clone)
}

// A Planner plans batches and reuses its memory. If the caller does not call [Planner.Reset]
// between two batches, the second batch continues the first batch. Unlike the steps of the function
// [Plan], the steps of a Planner share lists and metadata with the changes. A store must therefore
// write the steps before it returns to the caller that has passed the changes. The zero Planner is
// ready to use. A Planner must not be used concurrently.
type Planner struct {
	steps   []Step
	changes []Change // the changes that the steps point to; allocated at once, so that they never move
	records []Record
	planned map[Subject]int // number of the last step of each subject, from 1
}

// Plan is like the function [Plan], but its steps are valid only until the next call of Reset.
func (p *Planner) Plan(changes []Change, last func(Subject) (*Change, error)) ([]Step, []Result, error) {
	p.changes = slices.Grow(p.changes, len(changes))
	p.records = slices.Grow(p.records, len(changes))
	return p.plan(changes, last, p.borrow)
}

const maxPlanned = 8192

// Reset invalidates the steps of the last batch, and prepares p for the next batch.
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

// ascending reports whether the changes are in strictly ascending order of their keys. In this case
// no subject occurs twice.
func ascending(changes []Change) bool {
	for i := 1; i < len(changes); i++ {
		if a, b := changes[i-1].Subject(), changes[i].Subject(); a.Kind > b.Kind || a.Kind == b.Kind && a.Key >= b.Key {
			return false
		}
	}
	return true
}

// borrow returns c in normal form, and shares memory with c where possible.
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

// Next returns the change that a store must write for c. The parameter last is the last change of
// the same subject, or nil. The parameter i is the index of c in its batch, for the error. If c
// would change nothing, Next returns nil. Next implements the state machine of names:
//
//	none, deleted -> reserved, active, retired
//	reserved      -> reserved, active, retired, deleted
//	active        -> active, retired
//	retired       -> retired, active
//
// Next rejects a change that is more than [MaxSkew] earlier than last, unless c.AnyTime is set.
//
// The result shares lists and metadata with c. The error is a [*ConflictError] or a [*StateError].
func Next(i int, last, c *Change) (*Change, Result, error) {
	if c.Record == nil || len(c.Redacts) > 0 {
		return next(i, last, c.Clone())
	}
	n, rec := *c, c.Record.normal()
	n.Record, n.Time = &rec, wholeMillis(c.Time)
	return next(i, last, &n)
}

// next is [Next] for a change in normal form. It modifies c, which becomes the change to write.
func next(i int, last, c *Change) (*Change, Result, error) {
	c.Split = false
	if err := cmp.Or(expect(i, last, c), allow(i, last, c)); err != nil {
		return nil, Result{}, err
	}
	if c.UseOnly {
		used := c.use(last)
		return used, Result{Changed: used != nil}, nil
	}
	if c.Token != nil && last != nil && last.Token.Used.After(c.Token.Used) {
		c.Token.Used = last.Token.Used // this day may have been recorded after the caller read the token
	}
	if same(last, c) {
		return nil, Result{Revision: last.Revision()}, nil
	}
	if rule := ahead(last, c); rule != "" {
		return nil, Result{}, &StateError{Index: i, Key: c.Subject().Key, Rule: rule, Clock: true}
	}
	c.follow(last)
	if rule := overreach(c); rule != "" {
		return nil, Result{}, &StateError{Index: i, Key: c.Subject().Key, Rule: rule}
	}
	return c, Result{Revision: c.Revision(), Changed: true}, nil
}

func (c *Change) exists() bool { return c != nil && c.Delete.IsZero() }

// Revision returns the number of the revision that the stored change c made. If c is nil or a
// change of a token, Revision returns 0.
func (c *Change) Revision() uint64 {
	if c == nil || c.Token != nil {
		return 0
	}
	return c.Expected + 1
}

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

// allow returns an error if next deletes an active or retired name, or makes such a name reserved
// again (Y95-22, Y95-25).
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

// overreach returns an explanation if next redacts its own or a later revision. Otherwise it
// returns "".
func overreach(next *Change) string {
	for _, r := range next.Redacts {
		if r >= next.Revision() {
			return fmt.Sprintf("revision %d cannot be redacted: it must be before revision %d, which this change makes", r, next.Revision())
		}
	}
	return ""
}

func same(previous, change *Change) bool {
	switch {
	case len(change.Redacts) > 0:
		return false
	case !previous.exists():
		return !change.Delete.IsZero()
	case change.Record != nil:
		return change.Record.SameContent(previous.Record)
	case change.Authority != nil:
		return change.Authority.SameContent(previous.Authority)
	case change.Token != nil:
		return change.Token.SameContent(previous.Token)
	case change.User != nil:
		return change.User.SameContent(previous.User)
	case change.Rights != nil:
		return change.Rights.SameContent(previous.Rights)
	}
	return false
}

// follow sets the revision and the time of c, which must be a copy in normal form. The revision is
// one more than the revision of last. A time before the time of last is replaced by the time of
// last, except for a token if the difference is more than [MaxSkew].
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
	case c.User != nil:
		c.User.Modified, c.User.Revision = c.Time, c.Revision()
	case c.Rights != nil:
		c.Rights.Modified, c.Rights.Revision = c.Time, c.Revision()
	}
}

// KnownAt reports whether the stored change c had been made by the given time. The zero time means
// now.
func (c *Change) KnownAt(at time.Time) bool { return at.IsZero() || !c.Time.After(at) }
