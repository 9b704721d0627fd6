package registrar

import (
	"context"
	"errors"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// CheckAuthority validates the fields of an authority, its rules and the tests of the rules, as far
// as this is possible without a store. The error is a [*RefusalError].
func CheckAuthority(a *store.Authority) error {
	a = a.Clone()
	if err := checkAuthority(a, ""); err != nil {
		return err
	}
	return checkAnswers(a.Prefix.String(), a)
}

// PutAuthorities creates or replaces several authorities in one batch. Either all of them change or
// none does. PutAuthorities checks only the state after the whole batch, so a batch can move a host
// from one authority to another. The actor must be an administrator of all names.
//
// PutAuthorities returns an outcome for each authority, in the same order. If any outcome has an
// error, nothing is changed, and PutAuthorities also returns the first such error.
func (r *Registrar) PutAuthorities(ctx context.Context, a Actor, all []*store.Authority, why string) ([]Outcome, error) {
	if !a.MayAll(Administrator) {
		return nil, a.DeniedAll(Administrator, "")
	}
	ctx = store.Fresh(ctx)
	r.authorities.Forget()
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	later := merged(set.All(), all)
	outs := make([]Outcome, len(all))
	changes := make([]store.Change, len(all))
	for i, next := range all {
		there, err := r.checkInBatch(ctx, next.Clone(), why, later)
		if err != nil && !isRefusal(err) {
			return nil, err
		}
		outs[i] = Outcome{Err: err, Created: there == nil}
		if err == nil {
			outs[i].Authority = later[next.Prefix]
			outs[i].Warnings = append(warnings(next, there), r.hidden(ctx, next)...)
			changes[i] = store.Change{Authority: later[next.Prefix], Expected: store.AnyRevision, Time: r.now(), Who: a.Who, Why: why}
		}
	}
	for _, out := range outs {
		if out.Err != nil {
			return outs, out.Err
		}
	}
	results, err := r.apply(ctx, changes)
	if err != nil {
		return nil, err
	}
	r.authorities.Forget()
	for i := range outs {
		outs[i].Result = results[i]
	}
	return outs, nil
}

// merged applies a batch to the authorities in there. The result has all authorities after the
// batch, in normal form, by prefix.
func merged(there, batch []*store.Authority) map[name.Prefix]*store.Authority {
	all := make(map[name.Prefix]*store.Authority, len(there)+len(batch))
	for _, a := range there {
		all[a.Prefix] = a
	}
	for _, a := range batch {
		a = a.Clone()
		_ = checkAsked("", a) // normalizes hosts and addresses; checkInBatch reports the errors
		all[a.Prefix] = a
	}
	return all
}

// checkInBatch checks an authority in a batch. The map final has all authorities as they will be
// after the batch. It returns the stored authority with the same prefix, or nil.
func (r *Registrar) checkInBatch(ctx context.Context, next *store.Authority, why string, final map[name.Prefix]*store.Authority) (*store.Authority, error) {
	there, err := r.store.Authority(ctx, next.Prefix, time.Time{})
	switch {
	case errors.Is(err, store.ErrNotFound):
		there = nil
	case err != nil:
		return nil, err
	}
	if err := checkAuthority(next, why); err != nil {
		return there, err
	}
	if err := checkAnswers(next.Prefix.String(), next); err != nil {
		return there, err
	}
	others := make([]*store.Authority, 0, len(final))
	for _, a := range final {
		if a.Prefix != next.Prefix {
			others = append(others, a)
		}
	}
	if err := checkOthers(next, others); err != nil {
		return there, err
	}
	if !next.FoldCase || there != nil && there.FoldCase {
		return there, nil
	}
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return there, err
	}
	return there, r.checkFolded(ctx, next, set)
}

// isRefusal reports whether err rejects the content of a change, as opposed to a failure of the
// store.
func isRefusal(err error) bool { return errors.As(err, new(*RefusalError)) }
