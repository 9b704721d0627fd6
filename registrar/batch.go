package registrar

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// maxAttempts is how often a request without an expected revision is tried if other clients keep
// changing the name.
const maxAttempts = 100

// A plan computes the changes for the requests of a batch. Each change is based on the stored
// record and the earlier requests of the batch.
type plan struct {
	*Load
	ctx   context.Context // context of the one call that uses the plan
	batch *Batch
	blind bool // assume that every name is new, without reading records
	now   time.Time

	there    []*store.Record // records of the first requests, if they were read with a listing
	states   []state         // states of the names in the requests
	known    map[name.Name]*state
	outs     []Outcome
	decided  int // number of requests that were compared with their state
	created  int
	changes  []store.Change
	position []int // index of the request of each change
}

// A state is the state of a name after some of the requests of a batch.
type state struct {
	record  *store.Record // the current record, or nil
	before  *store.Record // the record before the batch, or nil
	pending bool          // an earlier request of the batch changes the name
	built   bool          // an earlier request of the batch for this name was accepted, so later requests may also expect the revision based. Only with Load.single
	based   uint64        // the revision that the last accepted request expected
}

// last returns the change that led to the state. Only the fields that store.Next needs are set.
func (s *state) last() *store.Change {
	if s.record == nil {
		return nil
	}
	return &store.Change{Record: s.record, Expected: s.record.Revision - 1, Time: s.record.Modified}
}

func (s *state) revision() uint64 {
	if s.record == nil {
		return 0
	}
	return s.record.Revision
}

// Apply handles many requests as [Registrar.Put] handles one. It writes the changes of all accepted
// requests as one batch, and leaves out the requests that it rejects. Apply returns one outcome for
// each request, in the same order. If several requests have the same name, each is applied to the
// result of the previous request.
//
// If the reason or a.Who is invalid, the error is a [*RefusalError]; any other error is a failure
// of the store. If Apply returns an error, it has not written anything.
func (r *Registrar) Apply(ctx context.Context, a Actor, reqs []Request, why string) ([]Outcome, error) {
	return r.batch(ctx, a, reqs, why, "", (*Load).Write)
}

// Preview returns what Apply would return, without changing anything.
func (r *Registrar) Preview(ctx context.Context, a Actor, reqs []Request) ([]Outcome, error) {
	return r.batch(ctx, a, reqs, "", "", (*Load).Preview)
}

// batch creates a Batch of the requests and calls do with it. The batch ID of the changes is id,
// which may be "".
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
			outs[i].Warnings = append(outs[i].Warnings, Warning{WarnNoAuthority, "no authority here covers " + outs[i].Name.Key() + ": only requests with the full name find it"})
		}
	}
	return outs, err
}

// plan plans the changes for the requests, given the current state. It skips the requests with an
// error in final.
func (l *Load) plan(ctx context.Context, b *Batch, final map[int]error, blind bool) (*plan, error) {
	n := len(b.reqs)
	p := &plan{
		Load: l, ctx: ctx, batch: b, blind: blind, now: time.UnixMilli(l.reg.now().UnixMilli()).UTC(),
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
	turn := pacer.Begin(ctx)
	for i := range b.reqs {
		turn.Rest(ctx.Done())
		out := &p.outs[i]
		out.Name, out.Err = b.checks[i].name, cmp.Or(final[i], b.checks[i].err)
		if out.Err != nil {
			continue
		}
		s, err := p.state(i)
		if err != nil {
			return nil, err
		}
		p.decided++
		out.Uncovered, out.Warnings = b.checks[i].authority == nil, b.checks[i].doubts
		out.Err = p.change(i, s)
	}
	return p, nil
}

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
	rec, err := p.reg.store.Get(p.ctx, n, time.Time{})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return rec, err
}

// If the names of a batch are in ascending order, the plan reads their records with one listing.
// This is faster than reading each record, unless the store has many other names between them.
const (
	fewNames    = 8  // if there are fewer names, they are read one by one
	maxBetween  = 2  // maximum number of listed records for each record needed
	widePenalty = 16 // number of batches before a listing is tried again
)

// list reads the records for the requests with one listing. It stops early if the listing returns
// too many other names or fails, for example after a lost connection. The remaining records are
// then read one by one, with the retries of the store.
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
	for rec, err := range p.reg.store.List(p.ctx, store.Scan{Prefix: common(first, last), After: before(first)}) {
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

// place stores a listed record in the state of the request for its name, if the batch has such a
// request. It reports whether the batch has requests for later names.
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

func common(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[:i]
}

// before returns a string that sorts directly before key, after all smaller keys. It assumes that
// no byte of a key is above "~".
func before(key string) string {
	end := len(key) - 1
	return key[:end] + string(key[end]-1) + "\x7F"
}

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
	return p.revise(i, s, rec)
}

// revise plans the change that makes rec the record of the name. If this is already the record,
// revise plans nothing.
func (p *plan) revise(i int, s *state, rec *store.Record) error {
	req, out := &p.batch.reqs[i], &p.outs[i]
	expected := s.expects(req)
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
			return refuse(cmp.Or(req.Record.Spelling, rec.Name.Key()), "name", faultf(0, "exists",
				"the name exists already, and this would change its %s", strings.Join(out.Fields.Names(), ", ")))
		}
	}
	if s.pending {
		out.Undone = undone(s.before, s.record, next.Record)
	}
	p.put(i, s, next.Record)
	return nil
}

// put adds the change for request i, which makes rec the record of the name. The first change of a
// name expects the revision that was read, and each later change expects the revision of the
// previous change.
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
		out.Warnings = append(out.Warnings, Warning{WarnNoReason, "retired without a reason"})
	}
	if staysReserved(req, s.record, rec) {
		out.Warnings = append(out.Warnings, Warning{WarnReserved, "still reserved, so it does not resolve; to publish it, set its status to active"})
	}
	out.Record, out.Result = rec, store.Result{Revision: rec.Revision, Changed: true}
	p.changes = append(p.changes, store.Change{Record: rec, Expected: expected, Time: p.now, Who: p.actor.Who, Why: p.why, Batch: p.id})
	p.position = append(p.position, i)
	s.record, s.pending = rec, true
	s.built, s.based = p.single, req.Expected
}

// staysReserved reports whether a request without a status gives other locations to a reserved
// name. The client may have meant to publish the name.
func staysReserved(req *Request, was, is *store.Record) bool {
	return was != nil && was.Status == nomen.Reserved && is.Status == nomen.Reserved &&
		!(req.meant().has(FieldStatus) && req.Record.Status != "") &&
		len(is.Locations) > 0 && !slices.Equal(was.Locations, is.Locations)
}

// expects returns the expected revision for the change of a request, given the earlier requests of
// the batch.
func (s *state) expects(req *Request) uint64 {
	switch {
	case s.record == nil && req.OrCreate:
		return 0
	case s.built && req.Expected == s.based && req.Expected != 0:
		return store.AnyRevision
	}
	return req.Expected
}

// next returns the change that makes rec the record of the name. It returns nil if nothing would
// change.
func (p *plan) next(i int, s *state, req *Request, rec *store.Record) (*store.Change, error) {
	c := store.Change{Record: rec, Expected: s.expects(req), Time: p.now, AnyTime: p.reg.anyTime, Who: p.actor.Who, Why: p.why, Batch: p.id}
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

// confirm reports whether each request that changes nothing was compared with a current record. The
// store does not check such requests, but checks the revisions of all others. The records were read
// after start, except for records that came with the batch, whose age is unknown.
func (p *plan) confirm(start time.Time) (bool, error) {
	if p.decided == len(p.changes) {
		return true, nil
	}
	if p.batch.there != nil {
		start = time.Time{} // the records came with the batch
	}
	return store.Confirm(p.ctx, p.reg.store, start)
}

func (p *plan) commit() (index int, err error) {
	if len(p.changes) == 0 {
		return -1, nil
	}
	results, err := p.reg.apply(p.ctx, p.changes)
	if err != nil {
		return refused(err), err
	}
	for k, i := range p.position {
		p.outs[i].Result = results[k]
		p.outs[i].Record.Revision = results[k].Revision
	}
	return -1, nil
}

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
