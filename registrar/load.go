package registrar

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Load makes many changes of one actor, with one reason, in batches. Check validates the requests
// of a batch as far as this is possible without reading records. It may be called concurrently, and
// in advance for later batches. Write makes the changes of one batch. [Registrar.Apply] is a Load
// with a single batch.
//
// To save time, a Load assumes that all names of its first batch are new, and does not read their
// records. It assumes the same of each batch after a batch with only new names. If the assumption
// is wrong, the store reports a conflict. The Load then reads the existing records and plans the
// batch again.
//
// A request that expects a revision is rejected if an earlier request of the same Load, perhaps in
// an earlier batch, has given the name another revision. There are two exceptions: a request that
// would change nothing succeeds, and in a Load with a single batch, all requests for a name may
// expect the revision that the name had before the batch.
type Load struct {
	reg   *Registrar
	actor Actor
	why   string
	id    string // batch ID of all changes; "" for no batch ID

	scratch Scratch // records after the batches that were previewed; nil without Remember

	single bool // the Load has a single batch, in which all requests for a name may expect the revision before the batch

	new bool // all names of the last batch were new

	// wide is the number of batches whose records are still to be read one by one, because the last
	// listing had too many other names.
	wide int
}

// NewLoad returns a Load for the actor a. It returns a [*RefusalError] if the reason or a.Who is
// invalid.
func (r *Registrar) NewLoad(a Actor, why string) (*Load, error) {
	if f := checkText(why, true); f.bad() {
		return nil, refuse("", "why", f)
	}
	if f := checkText(a.Who, false); f.bad() {
		return nil, refuse("", "who", f)
	}
	return &Load{reg: r, actor: a, why: why, new: true}, nil
}

// Begin gives all further changes of the Load a common batch ID, and returns the ID. The changes
// can later be undone by this ID.
func (l *Load) Begin(ctx context.Context) (string, error) {
	var err error
	l.id, err = l.reg.newBatch(ctx)
	return l.id, err
}

// begin calls Begin and passes the ID to notify, which may be nil. It does nothing in a dry run.
func (l *Load) begin(ctx context.Context, dry bool, notify func(id string)) error {
	if dry {
		return nil
	}
	id, err := l.Begin(ctx)
	if err == nil && notify != nil {
		notify(id)
	}
	return err
}

// A Scratch stores the records that result from previews.
type Scratch interface {
	// Record returns the record of the name n that was last passed to Keep, or nil.
	Record(n name.Name) (*store.Record, error)

	// Keep stores records, replacing earlier records with the same names.
	Keep(records []*store.Record) error
}

// Remember makes each preview start from the results of earlier previews, which are stored in s.
// Without Remember, each preview starts from the records in the store.
func (l *Load) Remember(s Scratch) { l.scratch = s }

// A Batch is a list of requests of one Load that [Load.Check] has validated.
type Batch struct {
	reqs      []Request
	checks    []check
	set       *store.AuthoritySet
	ascending bool // each valid name is greater than the valid name before it

	there []*store.Record // records that were read in advance, or nil; ignored after a conflict
}

// A check is the result of checking a request without its record.
type check struct {
	name      name.Name
	authority *store.Authority // authority of the name, or nil
	err       error            // reason to reject the request
	doubts    []Warning        // about identifiers and dates; has no spare capacity, so that append copies it

	fresh    store.Record // the record that the request creates if the name is new; its time is not set
	freshErr error        // reason not to create a name
}

// Check validates requests as far as this is possible without reading their records. The caller
// must not modify the requests while it uses the batch. Check returns an error only if the store
// fails. Rejected requests are reported in the outcomes of Write. Check is safe for concurrent use.
func (l *Load) Check(ctx context.Context, reqs []Request) (*Batch, error) {
	set, err := l.reg.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	b := &Batch{reqs: reqs, checks: make([]check, len(reqs)), set: set, ascending: true}
	last := ""
	turn := pacer.Begin(ctx)
	for i := range reqs {
		turn.Rest(ctx.Done())
		c := &b.checks[i]
		l.check(i, c, &reqs[i], set)
		if c.err == nil {
			b.ascending = b.ascending && last < c.name.Key()
			last = c.name.Key()
		}
	}
	return b, nil
}

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
	found := doubts(c.name, req)
	c.doubts = warningsOf(found)
	if !req.mayCreate() {
		return
	}
	fill(&c.fresh, c.name, nil, req)
	c.freshErr = cmp.Or(checkReason(&c.fresh), checkDigit(c.name, c.authority), req.refuseDoubts(found))
	if c.freshErr == nil {
		c.freshErr = store.Check(i, &store.Change{Record: &c.fresh, Time: time.UnixMilli(1), Who: l.actor.Who, Why: l.why, Batch: l.id})
	}
}

func (l *Load) permit(n name.Name, authority *store.Authority) error {
	switch {
	case !l.actor.MayName(n, Editor):
		return l.actor.Denied(Editor, n, n.Key())
	case authority == nil && !l.actor.MayName(n, Administrator):
		err := l.actor.Denied(Administrator, n, n.Key())
		err.Why = "no authority here covers it"
		return err
	}
	return nil
}

// Write makes the changes of a batch, like [Registrar.Apply]. It must not be called concurrently.
func (l *Load) Write(ctx context.Context, b *Batch) ([]Outcome, error) {
	ctx = store.Fresh(ctx)
	b, err := l.current(ctx, b)
	if err != nil {
		return nil, err
	}
	final := make(map[int]error) // errors of requests that are not tried again
	blind := l.new && b.creates()
	for attempts := 1; ; attempts++ {
		begun := time.Now()
		p, err := l.plan(ctx, b, final, blind)
		if err != nil {
			return nil, err
		}
		if current, err := p.confirm(begun); err != nil {
			return nil, err
		} else if !current && attempts < maxAttempts {
			b.there = nil
			continue
		}
		at, err := p.commit()
		switch {
		case err == nil:
			l.new = len(p.changes) == len(b.reqs) && p.created == len(b.reqs)
			l.reg.log.DebugContext(ctx, "records changed", "who", l.actor.Who, "requests", len(b.reqs), "changes", len(p.changes), "attempts", attempts)
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

// Preview returns what Write would return, without changing anything. It takes earlier previews
// into account only after [Load.Remember].
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

// current returns b, or the result of checking its requests again if authorities have changed since
// the last check.
func (l *Load) current(ctx context.Context, b *Batch) (*Batch, error) {
	set, err := l.reg.authorities.Set(ctx, time.Time{})
	if err != nil || set == b.set {
		return b, err
	}
	again, err := l.Check(ctx, b.reqs)
	if err == nil {
		again.there = b.there
	}
	return again, err
}

// creates reports whether every valid request of the batch can create its name.
func (b *Batch) creates() bool {
	for i := range b.reqs {
		if b.checks[i].freshErr != nil || !b.reqs[i].mayCreate() || b.reqs[i].Remove != nil {
			return false
		}
	}
	return true
}

func (q *Request) mayCreate() bool {
	return q.Expected == 0 || q.Expected == store.AnyRevision || q.OrCreate
}
