package registrar

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// maxAttempts is how often a request that expects no particular revision is
// tried again when others change the same name at the same time.
const maxAttempts = 100

// A plan turns the requests of a batch into changes, each on top of what the
// store has and of what those before it lead to.
type plan struct {
	*Load
	ctx   context.Context // of the one call that the plan lives in
	batch *Batch
	blind bool // every name is taken to be new
	now   time.Time

	there    []*store.Record // of the first requests, if they were read by a listing
	states   []state         // one for each request at most
	known    map[name.Name]*state
	outs     []Outcome
	created  int
	changes  []store.Change
	position []int // in the requests, of each change
}

// A state is what a name has come to in a batch.
type state struct {
	record  *store.Record // nil if there is none
	before  *store.Record // what was there before the batch, nil if nothing was
	pending bool          // the batch holds a change of it already
	built   bool          // an earlier request of this batch, the only one, was right about it
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
	return r.batch(ctx, a, reqs, why, "", (*Load).Apply)
}

// Preview returns what Apply would, and changes nothing.
func (r *Registrar) Preview(ctx context.Context, a Actor, reqs []Request) ([]Outcome, error) {
	return r.batch(ctx, a, reqs, "", "", (*Load).Preview)
}

// batch does something with a single batch, whose changes have an ID in common if that
// is not empty.
func (r *Registrar) batch(ctx context.Context, a Actor, reqs []Request, why, id string, do func(*Load, context.Context, *Batch) ([]Outcome, error)) ([]Outcome, error) {
	l, err := r.NewLoad(a, why)
	if err != nil {
		return nil, err
	}
	l.new, l.single, l.id = false, true, id
	b, err := l.Check(ctx, reqs)
	if err != nil {
		return nil, err
	}
	outs, err := do(l, ctx, b)
	for i := range outs {
		if outs[i].Err != nil {
			continue
		}
		if outs[i].Uncovered {
			outs[i].Warnings = append(outs[i].Warnings, Warning{WarnNoAuthority, "no authority here covers " + outs[i].Name.Key() + ": it is served by its full name alone"})
		}
	}
	return outs, err
}

// plan works out what the requests lead to now, leaving out those that have a
// final error.
func (l *Load) plan(ctx context.Context, b *Batch, final map[int]error, blind bool) (*plan, error) {
	n := len(b.reqs)
	p := &plan{
		Load: l, ctx: ctx, batch: b, blind: blind, now: time.UnixMilli(l.now().UnixMilli()).UTC(),
		states: make([]state, 0, n), outs: make([]Outcome, n),
		changes: make([]store.Change, 0, n), position: make([]int, 0, n),
	}
	if !b.ascending {
		p.known = make(map[name.Name]*state, n)
	}
	switch {
	case b.there != nil:
		p.there = b.there
	case !blind:
		p.list()
	}
	for i := range b.reqs {
		out := &p.outs[i]
		out.Name, out.Err = b.checks[i].name, cmp.Or(final[i], b.checks[i].err)
		if out.Err != nil {
			continue
		}
		s, err := p.state(i)
		if err != nil {
			return nil, err
		}
		out.Uncovered, out.Warnings = b.checks[i].authority == nil, b.checks[i].doubts
		out.Err = p.change(i, s)
	}
	return p, nil
}

// state returns what the name of request i has come to.
func (p *plan) state(i int) (*state, error) {
	n := p.batch.checks[i].name
	if s := p.known[n]; s != nil {
		return s, nil
	}
	rec, err := p.read(i, n)
	if err != nil {
		return nil, err
	}
	p.states = append(p.states, state{record: rec, before: rec})
	s := &p.states[len(p.states)-1]
	if p.known != nil {
		p.known[n] = s
	}
	return s, nil
}

// read returns the record that is there, nil if there is none.
func (p *plan) read(i int, n name.Name) (*store.Record, error) {
	if p.scratch != nil {
		if rec, err := p.scratch.Record(n); rec != nil || err != nil {
			return rec, err
		}
	}
	switch {
	case p.blind:
		return nil, nil
	case i < len(p.there):
		return p.there[i], nil
	}
	rec, err := p.store.Get(p.ctx, n, time.Time{})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return rec, err
}

// A batch whose names ascend is read by one listing, which costs less than so
// many questions if not many other names lie between.
const (
	fewNames    = 8  // are asked for one by one
	maxBetween  = 2  // records of a listing to one that was asked for
	widePenalty = 16 // batches until a listing is tried again
)

// list reads the records of the first requests, as far as a listing pays. Where it
// breaks off, as when a connection is lost amid it, the names are asked for one by one:
// the store tries that again, or says what is wrong.
func (p *plan) list() {
	checks := p.batch.checks
	if p.wide > 0 || !p.batch.ascending || len(checks) < fewNames {
		p.wide = max(p.wide-1, 0)
		return
	}
	var first, last string
	for i := range checks {
		if checks[i].err == nil {
			first, last = cmp.Or(first, checks[i].name.Key()), checks[i].name.Key()
		}
	}
	if first == "" {
		return
	}
	p.there = make([]*store.Record, 0, len(checks))
	read := 0
	for rec, err := range p.store.List(p.ctx, store.Scan{Prefix: common(first, last), After: before(first)}) {
		if err != nil {
			return
		}
		if !p.place(rec) {
			break
		}
		if read++; read > maxBetween*len(checks) {
			p.wide = widePenalty
			return
		}
	}
	p.there = p.there[:len(checks)]
}

// place puts a listed record where it was asked for, if it was, and reports
// whether there are requests for later ones.
func (p *plan) place(rec *store.Record) bool {
	checks := p.batch.checks
	for i := len(p.there); i < len(checks); i++ {
		c := &checks[i]
		switch {
		case c.err != nil || c.name.Key() < rec.Name.Key():
			p.there = append(p.there, nil)
		case c.name == rec.Name:
			p.there = append(p.there, rec)
			return i+1 < len(checks)
		default:
			return true
		}
	}
	return false
}

// common returns the bytes that both keys begin with.
func common(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[:i]
}

// before returns a string that comes after all keys that are less than key, and
// before key: keys have no byte above "~".
func before(key string) string {
	end := len(key) - 1
	return key[:end] + string(key[end]-1) + "\x7F"
}

// change plans the change of a name by request i, which is good in itself.
func (p *plan) change(i int, s *state) error {
	req, out, check := &p.batch.reqs[i], &p.outs[i], &p.batch.checks[i]
	expected := s.expects(req)
	if s.record != nil && req.Existing == Keep {
		out.Record, out.Result = s.record, store.Result{Revision: s.revision()}
		return nil
	}
	if s, missing := req.missing(s.record); missing {
		return refuse(cmp.Or(req.Record.Spelling, check.name.Key()), "remove", faultf(0, "value", "the record has no location or same_as %q", s))
	}
	if s.record == nil && (expected == 0 || expected == store.AnyRevision) {
		if check.freshErr != nil {
			return check.freshErr
		}
		check.fresh.Modified, check.fresh.Revision = p.now, 1
		p.put(i, s, &check.fresh)
		return nil
	}
	rec := new(store.Record)
	fill(rec, check.name, s.record, req)
	if req.KeepRetired && req.Existing != Refuse && s.record != nil && s.record.Status == nomen.Retired {
		out.Record, out.Result = s.record, store.Result{Revision: s.revision()}
		out.Retired = differences(s.record, rec) != 0
		return nil
	}
	if err := p.checkMerged(rec, s.record, req); err != nil {
		return err
	}
	next, err := p.next(i, s, req, rec)
	if err != nil {
		return err
	}
	if next == nil {
		if expected == store.AnyRevision || expected == s.revision() {
			s.built, s.based = p.single, req.Expected
		}
		out.Record, out.Result = s.record, store.Result{Revision: s.revision()}
		return nil
	}
	if s.record != nil {
		if out.Fields = differences(s.record, next.Record); req.Existing == Refuse {
			return refuse(cmp.Or(req.Record.Spelling, check.name.Key()), "name", faultf(0, "exists",
				"the name is there already, and this would change its %s", strings.Join(out.Fields.Names(), ", ")))
		}
	}
	if s.pending {
		out.Undone = undone(s.before, s.record, next.Record)
	}
	p.put(i, s, next.Record)
	return nil
}

// put notes that request i makes rec of a name. The first change of a name
// expects what was read; the store applies the others on top of it.
func (p *plan) put(i int, s *state, rec *store.Record) {
	out, req := &p.outs[i], &p.batch.reqs[i]
	expected := s.revision()
	if s.pending {
		expected = store.AnyRevision
	}
	if out.Created = s.record == nil; out.Created {
		p.created++
	}
	if rec.Status == nomen.Retired && rec.Reason == "" {
		out.Warnings = append(out.Warnings, Warning{WarnNoReason, "retired without a reason: nobody will know why"})
	}
	out.Record, out.Result = rec, store.Result{Revision: rec.Revision, Changed: true}
	p.changes = append(p.changes, store.Change{Record: rec, Expected: expected, Time: p.now, Who: p.actor.Who, Why: p.why, Batch: p.id})
	p.position = append(p.position, i)
	s.record, s.pending = rec, true
	s.built, s.based = p.single, req.Expected
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
func (p *plan) next(i int, s *state, req *Request, rec *store.Record) (*store.Change, error) {
	c := store.Change{Record: rec, Expected: s.expects(req), Time: p.now, AnyTime: p.anyTime, Who: p.actor.Who, Why: p.why, Batch: p.id}
	if err := store.Check(i, &c); err != nil {
		return nil, err
	}
	next, _, err := store.Next(i, s.last(), &c)
	if !errors.As(err, new(*store.ConflictError)) {
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

// commit writes the batch and puts the results into the outcomes. If the store
// refuses a change, at is its number, else -1; on an error nothing went in.
func (p *plan) commit() (at int, err error) {
	if len(p.changes) == 0 {
		return -1, nil
	}
	results, err := p.apply(p.ctx, p.changes)
	if err != nil {
		return refused(err), err
	}
	for k, i := range p.position {
		p.outs[i].Result = results[k]
		p.outs[i].Record.Revision = results[k].Revision
	}
	return -1, nil
}

// refused returns the number of the change that a store refused, -1 if it
// failed.
func refused(err error) int {
	var conflict *store.ConflictError
	var state *store.StateError
	var limit *store.LimitError
	switch {
	case errors.As(err, &conflict):
		return conflict.Index
	case errors.As(err, &state):
		return state.Index
	case errors.As(err, &limit):
		return limit.Index
	}
	return -1
}
