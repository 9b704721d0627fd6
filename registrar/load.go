package registrar

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Load is one actor's changes in many batches, one after the other, for one
// reason. All checks of [Registrar.Apply] are made; those that need no record
// can be made of several batches at once and ahead of their turn.
//
// As long as all names of a batch were new, those of the next are taken to be,
// without a look: the store refuses what is not so, and the batch is planned
// again on top of what is there.
//
// A request that expects a revision is refused when an earlier one of the same Load
// has changed the name since, whichever batches they are in.
type Load struct {
	*Registrar
	actor Actor
	why   string
	id    string // that all changes have in common; "" for none

	scratch Scratch // what names came to in the batches that were previewed; nil if they do not matter

	single bool // there is one batch, in which requests of one name may have been made from the same revision

	new  bool // the names of the last batch were
	wide int  // how many batches are read by single names before a listing is tried again
}

// NewLoad returns a Load. The error is a [*RefusalError] if why cannot be kept.
func (r *Registrar) NewLoad(a Actor, why string) (*Load, error) {
	if f := checkText(why, true); f.bad() {
		return nil, refuse("", "why", f)
	}
	if f := checkText(a.Who, false); f.bad() {
		return nil, refuse("", "who", f)
	}
	return &Load{Registrar: r, actor: a, why: why, new: true}, nil
}

// Begin gives the changes that are made from now on an ID that they have in common, by
// which they can be undone, and returns it.
func (l *Load) Begin(ctx context.Context) (string, error) {
	var err error
	l.id, err = l.newBatch(ctx)
	return l.id, err
}

// A Scratch keeps what names would come to.
type Scratch interface {
	// Record returns the record of n that was kept last, nil if there is none.
	Record(n name.Name) (*store.Record, error)

	// Keep keeps records in place of those of the same names.
	Keep(records []*store.Record) error
}

// Remember makes the batches that are previewed from now on build on each other, as
// those that are applied do.
func (l *Load) Remember(s Scratch) { l.scratch = s }

// A Batch is requests that were checked in so far as that needs no record. It
// belongs to one Load.
type Batch struct {
	reqs      []Request
	checks    []check
	set       *store.AuthoritySet
	ascending bool // every good name is greater than the one before

	there []*store.Record // that were read ahead for the requests, nil if none were; not believed again after a conflict
}

// A check is what is known of a request before the store is asked.
type check struct {
	name      name.Name
	authority *store.Authority // that decides about the name; nil if there is none
	err       error            // why nothing comes of it
	doubts    []Warning        // of its identifiers and dates; has no room to append

	fresh    store.Record // what it makes of a name that is new, but for the time
	freshErr error        // why a new name cannot be so
}

// Check checks requests, which must not be changed as long as the batch is used.
// It is safe for concurrent use. The error is a failure of the store; what is
// refused is told by Apply.
func (l *Load) Check(ctx context.Context, reqs []Request) (*Batch, error) {
	set, err := l.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	b := &Batch{reqs: reqs, checks: make([]check, len(reqs)), set: set, ascending: true}
	last := ""
	for i := range reqs {
		c := &b.checks[i]
		l.check(i, c, &reqs[i], set)
		if c.err == nil {
			b.ascending = b.ascending && last < c.name.Key()
			last = c.name.Key()
		}
	}
	return b, nil
}

// check checks request i.
func (l *Load) check(i int, c *check, req *Request, set *store.AuthoritySet) {
	if c.name, c.authority, c.err = identify(req.Record, set); c.err != nil {
		return
	}
	if c.err = l.permit(c.name, c.authority); c.err != nil {
		return
	}
	if c.err = checkRecord(c.name, req.Record, req.meant()); c.err != nil {
		return
	}
	c.doubts = doubts(c.name, req)
	if !req.mayCreate() {
		return
	}
	fill(&c.fresh, c.name, nil, req)
	c.freshErr = cmp.Or(checkReason(&c.fresh), checkDigit(c.name, c.authority), req.refuseDoubts(c.doubts))
	if c.freshErr == nil {
		c.freshErr = store.Check(i, &store.Change{Record: &c.fresh, Time: time.UnixMilli(1), Who: l.actor.Who, Why: l.why, Batch: l.id})
	}
}

// permit refuses what the actor may not change.
func (l *Load) permit(n name.Name, authority *store.Authority) error {
	switch {
	case !l.actor.mayName(n, Editor):
		return &DeniedError{Who: l.actor.Who, Role: l.actor.Role, Need: Editor, Name: n.Key()}
	case authority == nil && l.actor.Role < Administrator:
		return &DeniedError{Who: l.actor.Who, Role: l.actor.Role, Need: Administrator, Name: n.Key(), Why: "no authority here covers it"}
	}
	return nil
}

// Apply makes the changes of a batch: see [Registrar.Apply]. Batches are applied
// one after the other.
func (l *Load) Apply(ctx context.Context, b *Batch) ([]Outcome, error) {
	ctx = store.Fresh(ctx)
	b, err := l.current(ctx, b)
	if err != nil {
		return nil, err
	}
	final := make(map[int]error) // of requests that are not tried again
	blind := l.new && b.creates()
	for attempts := 1; ; attempts++ {
		p, err := l.plan(ctx, b, final, blind)
		if err != nil {
			return nil, err
		}
		at, err := p.commit()
		switch {
		case err == nil:
			l.new = len(p.changes) == len(b.reqs) && p.created == len(b.reqs)
			l.log.DebugContext(ctx, "records changed", "who", l.actor.Who, "requests", len(b.reqs), "changes", len(p.changes), "attempts", attempts)
			return p.outs, nil
		case at < 0:
			return nil, err
		}
		b.there = nil
		if errors.As(err, new(*store.ConflictError)) && (blind || attempts < maxAttempts) {
			blind = false
			continue
		}
		final[p.position[at]] = err
	}
}

// Preview returns what Apply would, and changes nothing. What earlier batches
// would have led to matters only after [Load.Remember].
func (l *Load) Preview(ctx context.Context, b *Batch) ([]Outcome, error) {
	ctx = store.Fresh(ctx)
	b, err := l.current(ctx, b)
	if err != nil {
		return nil, err
	}
	p, err := l.plan(ctx, b, nil, false)
	if err != nil {
		return nil, err
	}
	if l.scratch == nil {
		return p.outs, nil
	}
	records := make([]*store.Record, len(p.changes))
	for i := range p.changes {
		records[i] = p.changes[i].Record
	}
	return p.outs, l.scratch.Keep(records)
}

// current returns b, checked anew if the authorities have changed since.
func (l *Load) current(ctx context.Context, b *Batch) (*Batch, error) {
	set, err := l.authorities.Set(ctx, time.Time{})
	if err != nil || set == b.set {
		return b, err
	}
	again, err := l.Check(ctx, b.reqs)
	if err == nil {
		again.there = b.there
	}
	return again, err
}

// creates reports whether every good request can be meant for a new name.
func (b *Batch) creates() bool {
	for i := range b.reqs {
		if b.checks[i].freshErr != nil || !b.reqs[i].mayCreate() || b.reqs[i].Remove != nil {
			return false
		}
	}
	return true
}

// mayCreate reports whether a request can be meant for a new name.
func (q *Request) mayCreate() bool {
	return q.Expected == 0 || q.Expected == store.AnyRevision || q.OrCreate
}
