package registrar

import (
	"context"
	"errors"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// maxAttempts is how often a request that expects no particular revision is
// tried again when others change the same name at the same time.
const maxAttempts = 100

// A batch turns requests into changes, each on top of what the store has and of
// what those before it lead to.
type batch struct {
	*Registrar
	ctx   context.Context // of the one call that the batch lives in
	actor Actor
	why   string
	set   *store.AuthoritySet
	now   time.Time

	known    map[name.Name]*state
	changes  []store.Change
	position []int // in the requests, of each change
}

// A state is what a name has come to in a batch.
type state struct {
	record  *store.Record // nil if there is none
	pending bool          // the batch holds a change of it already
	built   bool          // an earlier request of this batch was right about it
	based   uint64        // the revision that this request expected
}

// last returns the change that has led to s, as far as store.Next looks at it.
func (s *state) last() *store.Change {
	if s.record == nil {
		return nil
	}
	return &store.Change{Record: s.record, Expected: s.record.Revision - 1, Time: s.record.Modified}
}

// revision returns the current one, 0 if there is none.
func (s *state) revision() uint64 {
	if s.record == nil {
		return 0
	}
	return s.record.Revision
}

// Apply does what Put does for many requests in their order. Those that are
// refused are left out, and the others go in as one batch; the outcomes are in
// the order of the requests. Requests of one name build on each other. The
// error is a failure of the store, then nothing went in.
func (r *Registrar) Apply(ctx context.Context, a Actor, reqs []Request, why string) ([]Outcome, error) {
	if f := checkText(why, true); f.bad() {
		return nil, refuse("", "why", f)
	}
	final := make([]error, len(reqs)) // of requests that are not tried again
	for attempts := 1; ; attempts++ {
		b, outs, err := r.plan(ctx, a, reqs, final, why)
		if err != nil {
			return nil, err
		}
		at, err := b.commit(outs)
		switch {
		case err == nil:
			r.log.DebugContext(ctx, "records changed", "who", a.Who, "requests", len(reqs), "changes", len(b.changes), "attempts", attempts)
			return outs, nil
		case at < 0:
			return nil, err
		}
		if _, busy := errors.AsType[*store.ConflictError](err); !busy || attempts >= maxAttempts {
			final[b.position[at]] = err
		}
	}
}

// Preview returns what Apply would, and changes nothing.
func (r *Registrar) Preview(ctx context.Context, a Actor, reqs []Request) ([]Outcome, error) {
	_, outs, err := r.plan(ctx, a, reqs, make([]error, len(reqs)), "")
	return outs, err
}

// plan works out what the requests lead to now, leaving out those that have a
// final error.
func (r *Registrar) plan(ctx context.Context, a Actor, reqs []Request, final []error, why string) (*batch, []Outcome, error) {
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, nil, err
	}
	b := &batch{
		Registrar: r, ctx: ctx, actor: a, why: why, set: set, now: r.now(),
		known: make(map[name.Name]*state, len(reqs)), changes: make([]store.Change, 0, len(reqs)),
	}
	outs := make([]Outcome, len(reqs))
	for i := range reqs {
		if final[i] != nil {
			outs[i].Err = final[i]
			continue
		}
		if err := b.request(i, &reqs[i], &outs[i]); err != nil {
			return nil, nil, err
		}
	}
	return b, outs, nil
}

// request plans request i. The error is a failure of the store; a refusal is in
// the outcome.
func (b *batch) request(i int, req *Request, out *Outcome) error {
	n, authority, err := identify(req.Record, b.set)
	out.Name = n
	if err == nil {
		err = b.permit(n, authority)
	}
	if err == nil {
		err = b.checkRecord(n, req.Record, req.meant())
	}
	if err != nil {
		out.Err = err
		return nil
	}
	s, err := b.state(n)
	if err != nil {
		return err
	}
	out.Err = b.change(i, n, s, req, out)
	if out.Err == nil && authority == nil {
		out.Warnings = append(out.Warnings, Warning{WarnNoAuthority, "no authority here covers " + n.Key() + ": it is served by its full name alone"})
	}
	return nil
}

// permit refuses what the actor may not change.
func (b *batch) permit(n name.Name, authority *store.Authority) error {
	switch {
	case !b.actor.mayName(n, Editor):
		return &DeniedError{Who: b.actor.Who, Role: b.actor.Role, Need: Editor, Name: n.Key()}
	case authority == nil && b.actor.Role < Administrator:
		return &DeniedError{Who: b.actor.Who, Role: b.actor.Role, Need: Administrator, Name: n.Key(), Why: "no authority here covers it"}
	}
	return nil
}

// state returns what n has come to.
func (b *batch) state(n name.Name) (*state, error) {
	if s := b.known[n]; s != nil {
		return s, nil
	}
	rec, err := b.store.Get(b.ctx, n, time.Time{})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	s := &state{record: rec}
	b.known[n] = s
	return s, nil
}

// change plans the change of a name by a request that is good in itself.
func (b *batch) change(i int, n name.Name, s *state, req *Request, out *Outcome) error {
	rec := merged(n, s.record, req)
	if err := b.checkMerged(rec, s.record, req); err != nil {
		return err
	}
	next, err := b.next(i, s, req, rec)
	if err != nil {
		return err
	}
	if rec.Status == nomen.Retired && rec.Reason == "" {
		out.Warnings = append(out.Warnings, Warning{WarnNoReason, "retired without a reason: nobody will know why"})
	}
	if right := s.expects(req); next != nil || right == store.AnyRevision || right == s.revision() {
		s.built, s.based = true, req.Expected
	}
	if next == nil {
		out.Record, out.Result = s.record, store.Result{Revision: s.revision()}
		return nil
	}
	out.Created = s.record == nil
	out.Record, out.Result = next.Record, store.Result{Revision: next.Record.Revision, Changed: true}
	b.add(i, s, next)
	return nil
}

// expects returns the revision that a request rightly expects or not, in terms
// of the state that the batch has led to.
func (s *state) expects(req *Request) uint64 {
	switch {
	case s.record == nil && req.OrCreate:
		return 0
	case s.built && req.Expected == s.based && req.Expected != 0:
		return store.AnyRevision
	}
	return req.Expected
}

// next returns the change that makes rec of the state, nil if it is so already.
func (b *batch) next(i int, s *state, req *Request, rec *store.Record) (*store.Change, error) {
	c := store.Change{Record: rec, Expected: s.expects(req), Time: b.now, Who: b.actor.Who, Why: b.why}
	if err := store.Check(i, &c); err != nil {
		return nil, err
	}
	next, _, err := store.Next(i, s.last(), &c)
	if _, conflict := errors.AsType[*store.ConflictError](err); !conflict {
		return next, err
	}
	if s.record != nil && !s.built && req.Expected != 0 {
		c.Expected = store.AnyRevision
		if next, _, anyway := store.Next(i, s.last(), &c); anyway == nil && next == nil {
			return nil, nil
		}
	}
	return nil, err
}

// add puts a planned change into the batch. The first of a name expects what was
// read; the store applies the others on top of it.
func (b *batch) add(i int, s *state, next *store.Change) {
	expected := s.revision()
	if s.pending {
		expected = store.AnyRevision
	}
	b.changes = append(b.changes, store.Change{Record: next.Record, Expected: expected, Time: b.now, Who: b.actor.Who, Why: b.why})
	b.position = append(b.position, i)
	s.record, s.pending = next.Record, true
}

// commit writes the batch and puts the results into the outcomes. If the store
// refuses a change, at is its number, else -1; on an error nothing went in.
func (b *batch) commit(outs []Outcome) (at int, err error) {
	if len(b.changes) == 0 {
		return -1, nil
	}
	results, err := b.store.Apply(b.ctx, b.changes)
	if err != nil {
		return refused(err), err
	}
	for k, i := range b.position {
		outs[i].Result = results[k]
		outs[i].Record.Revision = results[k].Revision
	}
	return -1, nil
}

// refused returns the number of the change that a store refused, -1 if it
// failed.
func refused(err error) int {
	if e, ok := errors.AsType[*store.ConflictError](err); ok {
		return e.Index
	}
	if e, ok := errors.AsType[*store.StateError](err); ok {
		return e.Index
	}
	if e, ok := errors.AsType[*store.LimitError](err); ok {
		return e.Index
	}
	return -1
}
