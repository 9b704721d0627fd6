package registrar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Options configure a Registrar. The zero value is valid.
type Options struct {
	Now func() time.Time // returns the current time; time.Now if nil
	Log *slog.Logger     // nil for no log

	Authorities *store.Table // a table to share with other users of the store; nil for a new one

	// AnyTime permits changes even if the clock is more than [store.MaxSkew] earlier than the last
	// change of the store or of the name (see [Registrar.CheckClock]).
	AnyTime bool
}

// authorityLife limits how long a Registrar may use a cached authority after another process has
// changed it.
const authorityLife = time.Second

// A Registrar changes a store. It is safe for concurrent use.
type Registrar struct {
	store       store.Store
	authorities *store.Table
	now         func() time.Time
	log         *slog.Logger
	anyTime     bool
	clock       clockGuard
	relocates   int // number of names that a relocation changes in one batch
}

// New returns a Registrar for the store s.
func New(s store.Store, o Options) *Registrar {
	r := &Registrar{store: s, anyTime: o.AnyTime, now: o.Now, log: o.Log, relocates: relocateBatch}
	if r.now == nil {
		r.now = time.Now
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.authorities = o.Authorities; r.authorities == nil {
		r.authorities = store.NewTable(s, r.now, authorityLife)
	}
	return r
}

// Put creates or changes a record. Its error, which is also in the Outcome, is a [*RefusalError], a
// [*DeniedError], one of the errors of [store.Store], or a failure of the store.
func (r *Registrar) Put(ctx context.Context, a Actor, req Request, why string) (Outcome, error) {
	outs, err := r.Apply(ctx, a, []Request{req}, why)
	if err != nil {
		return Outcome{Err: err}, err
	}
	return outs[0], outs[0].Err
}

// Retire makes the name n a tombstone. It returns the errors of [Registrar.Put], and
// [store.ErrNotFound] if n does not exist.
func (r *Registrar) Retire(ctx context.Context, a Actor, n name.Name, t Retirement, why string) (Outcome, error) {
	ctx = store.Fresh(ctx)
	if t.Reason == "" {
		err := refuse(n.Key(), "reason", faultf(0, "state", "must not be empty: readers are shown the reason"))
		return Outcome{Name: n, Err: err}, err
	}
	there, err := r.findFor(ctx, a, n)
	if err != nil {
		return Outcome{Name: n, Err: err}, err
	}
	fields := FieldStatus | FieldReason | FieldShowLocations
	if t.Successors != nil {
		fields |= FieldSuccessors
	}
	rec := &store.Record{Name: there.Name, Status: nomen.Retired, Reason: t.Reason, Successors: t.Successors, ShowLocations: t.ShowLocations}
	out, err := r.Put(ctx, a, Request{Record: rec, Fields: fields, Expected: t.Expected}, why)
	if err == nil {
		out.Warnings = append(out.Warnings, r.strangers(ctx, a, t.Successors)...)
	}
	return out, err
}

// strangers returns a warning for each successor that does not exist. It ignores names that need no
// record in this store, because their authority is elsewhere, has rules or has a delegation. A
// reserved name outside the actor's scope is reported as missing, because the actor must not learn
// that it exists.
func (r *Registrar) strangers(ctx context.Context, actor Actor, successors []string) (all []Warning) {
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil
	}
	for _, s := range successors {
		n, err := name.Parse(s)
		if err != nil {
			continue // not a name
		}
		a := set.Of(n)
		if a == nil || a.Policy.Delegation != nil || len(a.Policy.Rules) > 0 {
			continue
		}
		rec, err := r.Get(ctx, n)
		if errors.Is(err, store.ErrNotFound) || err == nil && rec.Status == nomen.Reserved && !actor.Reaches(rec.Name) {
			all = append(all, Warning{WarnSuccessor, fmt.Sprintf("the successor %s was not found, although its authority %s is served here", n, a.Prefix)})
		}
	}
	return all
}

// Delete deletes a reserved name. It returns the errors of [Registrar.Put], a [*store.StateError]
// if the name is active or retired, and [store.ErrNotFound] if it does not exist.
func (r *Registrar) Delete(ctx context.Context, a Actor, n name.Name, expected uint64, why string) (Outcome, error) {
	out, err := r.remove(ctx, a, n, expected, why, "")
	out.Name, out.Err = n, err
	return out, err
}

func (r *Registrar) remove(ctx context.Context, a Actor, n name.Name, expected uint64, why, id string) (Outcome, error) {
	ctx = store.Fresh(ctx)
	if f := checkText(why, true); f.bad() {
		return Outcome{}, refuse(n.Key(), "why", f)
	}
	there, err := r.findFor(ctx, a, n)
	if err != nil {
		return Outcome{}, err
	}
	results, err := r.apply(ctx, []store.Change{{Delete: there.Name, Expected: expected, Time: r.now(), Who: a.Who, Why: why, Batch: id}})
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Result: results[0]}, nil
}

// Get returns the current record of the name n, or [store.ErrNotFound].
func (r *Registrar) Get(ctx context.Context, n name.Name) (*store.Record, error) {
	return r.GetAt(ctx, n, time.Time{})
}

// findFor returns the record of the name n, which the actor must be allowed to change. Before
// findFor reports that the record does not exist, it confirms this with a fresh read.
func (r *Registrar) findFor(ctx context.Context, a Actor, n name.Name) (*store.Record, error) {
	kept, err := r.Kept(ctx, n, time.Time{})
	if err != nil {
		return nil, err
	}
	if !a.MayName(kept, Editor) {
		return nil, a.Denied(Editor, kept, n.Key())
	}
	for attempts := 1; ; attempts++ {
		begun := time.Now()
		rec, err := r.store.Get(ctx, kept, time.Time{})
		if !errors.Is(err, store.ErrNotFound) {
			return rec, err
		}
		if current, failure := store.Confirm(ctx, r.store, begun); current || failure != nil || attempts == maxAttempts {
			return nil, cmp.Or(failure, err)
		}
	}
}
