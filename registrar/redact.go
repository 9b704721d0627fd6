package registrar

import (
	"context"
	"errors"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Redaction removes for ever what earlier revisions of a name hold.
type Redaction struct {
	Revisions []uint64 // those whose content goes, with who made them and why
	Reason    string   // why; never empty, kept in the history
	Expected  uint64   // as in Request
}

// GetAt returns the record of n as it was at a time, the present one if that is
// zero, or [store.ErrNotFound].
func (r *Registrar) GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	set, err := r.authorities.Set(ctx, at)
	if err != nil {
		return nil, err
	}
	return r.store.Get(ctx, set.Of(n).Fold(n), at)
}

// Kept returns n in the case in which its authority keeps it: the name under
// which it has a history.
func (r *Registrar) Kept(ctx context.Context, n name.Name) (name.Name, error) {
	set, err := r.authorities.Set(ctx, time.Time{})
	if err != nil {
		return n, err
	}
	return set.Of(n).Fold(n), nil
}

// Redact removes the content of revisions of n, which only an administrator may.
// It makes one revision more, with the content that the name has now: content
// that is to go from there must be replaced first. It returns
// [store.ErrNotFound] when there was never such a name, else errors as Put does;
// a store without history gives [errors.ErrUnsupported].
func (r *Registrar) Redact(ctx context.Context, a Actor, n name.Name, red Redaction) (Outcome, error) {
	out, err := r.redact(ctx, a, n, red)
	if err != nil {
		out = Outcome{Name: n, Err: err}
	}
	return out, err
}

func (r *Registrar) redact(ctx context.Context, a Actor, n name.Name, red Redaction) (Outcome, error) {
	if !a.mayName(n, Administrator) {
		return Outcome{}, &DeniedError{Who: a.Who, Role: a.Role, Need: Administrator, Name: n.Key(), Why: "content is removed from its history"}
	}
	if err := checkRedaction(n, red); err != nil {
		return Outcome{}, err
	}
	n, err := r.Kept(ctx, n)
	if err != nil {
		return Outcome{}, err
	}
	for attempts := 1; ; attempts++ {
		out, err := r.redactOnce(ctx, a, n, red)
		_, busy := errors.AsType[*store.ConflictError](err)
		if !busy || red.Expected != store.AnyRevision || attempts == maxAttempts {
			return out, err
		}
	}
}

func checkRedaction(n name.Name, red Redaction) error {
	if red.Reason == "" {
		return refuse(n.Key(), "reason", faultf(0, "state", "content is removed for a reason, which stays in the history"))
	}
	if f := checkText(red.Reason, true); f.bad() {
		return refuse(n.Key(), "reason", f)
	}
	if len(red.Revisions) == 0 {
		return refuse(n.Key(), "revisions", faultf(0, "revision", "none is named"))
	}
	return nil
}

// redactOnce redacts on top of what is there now.
func (r *Registrar) redactOnce(ctx context.Context, a Actor, n name.Name, red Redaction) (Outcome, error) {
	last, err := r.redactable(ctx, n, red.Revisions)
	if err != nil {
		return Outcome{}, err
	}
	now := time.UnixMilli(r.now().UnixMilli()).UTC()
	if now.Before(last.Time) {
		now = last.Time
	}
	c := store.Change{
		Record: last.Record, Delete: last.Delete, Expected: red.Expected,
		Time: now, Who: a.Who, Why: red.Reason, Redacts: red.Revisions,
	}
	if c.Expected == store.AnyRevision {
		if c.Expected = last.Revision(); last.Record == nil {
			c.Expected = 0 // a deleted name has no revision
		}
	}
	results, err := r.store.Apply(ctx, []store.Change{c})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Name: n, Result: results[0]}
	if last.Record != nil {
		out.Record = last.Record.Clone()
		out.Record.Modified, out.Record.Revision = c.Time, results[0].Revision
	}
	r.log.InfoContext(ctx, "history redacted", "name", n.Key(), "who", a.Who, "revisions", red.Revisions)
	return out, nil
}

// redactable returns the last change of n, if each of the revisions has content
// that can go.
func (r *Registrar) redactable(ctx context.Context, n name.Name, revisions []uint64) (*store.Change, error) {
	wanted := make(map[uint64]int, len(revisions))
	for i, revision := range revisions {
		wanted[revision] = i
	}
	var last *store.Change
	for c, err := range store.History(ctx, r.store, n) {
		if err != nil {
			return nil, err
		}
		if last == nil {
			last = c
		}
		i, named := wanted[c.Revision()]
		if !named {
			continue
		}
		if delete(wanted, c.Revision()); c.Redacted {
			return nil, refuseAt(n.Key(), "revisions", i, "", faultf(0, "revision", "the content of revision %d was removed already", c.Revision()))
		}
		if c == last && c.Record != nil {
			return nil, refuseAt(n.Key(), "revisions", i, "", faultf(0, "revision",
				"revision %d is the present one: put a record without what has to go first, then redact", c.Revision()))
		}
		if len(wanted) == 0 {
			break
		}
	}
	if last == nil {
		return nil, store.ErrNotFound
	}
	for i, revision := range revisions {
		if _, missing := wanted[revision]; missing {
			return nil, refuseAt(n.Key(), "revisions", i, "", faultf(0, "revision", "there is no revision %d", revision))
		}
	}
	return last, nil
}
