package registrar

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Redaction removes for ever what earlier revisions of a name or an authority
// hold.
type Redaction struct {
	Revisions []uint64 `json:"revisions,omitempty"` // those whose content goes, with who made them and why; of an authority none for all before the present one
	Reason    string   `json:"reason"`              // why; never empty, kept in the history
	Expected  uint64   `json:"-"`                   // as in Request
}

// GetAt returns the record of n as it was at a time, the present one if that is
// zero, or [store.ErrNotFound].
func (r *Registrar) GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	kept, err := r.Kept(ctx, n, at)
	if err != nil {
		return nil, err
	}
	return r.store.Get(ctx, kept, at)
}

// Kept returns n in the case in which its authority kept it at a time, or keeps it if
// that is zero: the name under which it has a history, and the one that rights are about.
func (r *Registrar) Kept(ctx context.Context, n name.Name, at time.Time) (name.Name, error) {
	set, err := r.authorities.Set(ctx, at)
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
	ctx = store.Fresh(ctx)
	n, err := r.Kept(ctx, n, time.Time{})
	if err != nil {
		return Outcome{}, err
	}
	if !a.mayName(n, Administrator) {
		return Outcome{}, cannotRedact(a, n.Key())
	}
	if len(red.Revisions) == 0 {
		return Outcome{}, refuse(n.Key(), "revisions", faultf(0, "revision", "none is named"))
	}
	return r.redactSubject(ctx, a, redactable{n.Key(), store.History(ctx, r.store, n)}, red)
}

// RedactAuthority does what Redact does for the authority of exactly the prefix p.
// Its names, which have histories of their own, stay as they are.
func (r *Registrar) RedactAuthority(ctx context.Context, a Actor, p name.Prefix, red Redaction) (Outcome, error) {
	ctx = store.Fresh(ctx)
	if !a.mayPrefix(p, Administrator) {
		err := cannotRedact(a, p.String())
		return Outcome{Err: err}, err
	}
	out, err := r.redactSubject(ctx, a, redactable{p.String(), store.AuthorityHistory(ctx, r.store, p)}, red)
	if err != nil {
		return Outcome{Err: err}, err
	}
	r.authorities.Replace(out.Authority.Clone())
	return out, nil
}

func cannotRedact(a Actor, key string) error {
	return &DeniedError{Who: a.Who, Role: a.Role, Need: Administrator, Name: key, Why: "content is removed from its history"}
}

// A redactable is a name or an authority with its changes, the newest first.
type redactable struct {
	key     string
	changes iter.Seq2[*store.Change, error]
}

// redactSubject redacts on top of what is there, again if somebody changes that
// meanwhile.
func (r *Registrar) redactSubject(ctx context.Context, a Actor, s redactable, red Redaction) (Outcome, error) {
	if red.Reason == "" {
		return Outcome{}, refuse(s.key, "reason", faultf(0, "state", "content is removed for a reason, which stays in the history"))
	}
	if f := checkText(red.Reason, true); f.bad() {
		return Outcome{}, refuse(s.key, "reason", f)
	}
	for attempts := 1; ; attempts++ {
		out, err := r.redactOnce(ctx, a, s, red)
		if !errors.As(err, new(*store.ConflictError)) || red.Expected != store.AnyRevision || attempts == maxAttempts {
			return out, err
		}
	}
}

// redactOnce redacts on top of what is there now.
func (r *Registrar) redactOnce(ctx context.Context, a Actor, s redactable, red Redaction) (Outcome, error) {
	last, revisions, err := s.find(red.Revisions)
	if err != nil {
		return Outcome{}, err
	}
	now := time.UnixMilli(r.now().UnixMilli()).UTC()
	c := store.Change{
		Record: last.Record, Authority: last.Authority, Delete: last.Delete, Expected: red.Expected,
		Time: now, Who: a.Who, Why: red.Reason, Redacts: revisions,
	}
	if c.Expected == store.AnyRevision {
		if c.Expected = last.Revision(); !last.Delete.IsZero() {
			c.Expected = 0 // a deleted name has no revision
		}
	}
	results, err := r.apply(ctx, []store.Change{c})
	if err != nil {
		return Outcome{}, err
	}
	if c.Time = now; now.Before(last.Time) {
		c.Time = last.Time
	}
	out := Outcome{Result: results[0]}
	switch {
	case last.Authority != nil:
		out.Authority = last.Authority.Clone()
		out.Authority.Modified, out.Authority.Revision = c.Time, results[0].Revision
	case last.Record != nil:
		out.Record = last.Record.Clone()
		out.Record.Modified, out.Record.Revision = c.Time, results[0].Revision
	}
	if last.Authority == nil {
		out.Name = name.FromKey(s.key)
	}
	r.log.InfoContext(ctx, "history redacted", "of", s.key, "who", a.Who, "revisions", revisions)
	return out, nil
}

// find returns the last change and which revisions have to go, if each of those
// that were asked for has content that can: all before the last if none was.
func (s redactable) find(asked []uint64) (last *store.Change, revisions []uint64, err error) {
	wanted := make(map[uint64]int, len(asked))
	for i, revision := range asked {
		wanted[revision] = i
	}
	for c, err := range s.changes {
		if err != nil {
			return nil, nil, err
		}
		if last == nil {
			last = c
		}
		i, named := wanted[c.Revision()]
		if !named {
			if len(asked) == 0 && c != last && !c.Redacted {
				revisions = append(revisions, c.Revision())
			}
			continue
		}
		if delete(wanted, c.Revision()); c.Redacted {
			return nil, nil, refuseAt(s.key, "revisions", i, "", faultf(0, "revision", "the content of revision %d was removed already", c.Revision()))
		}
		if c == last && c.Delete.IsZero() {
			return nil, nil, refuseAt(s.key, "revisions", i, "", faultf(0, "revision",
				"revision %d is the present one: put content without what has to go first, then redact", c.Revision()))
		}
		if revisions = append(revisions, c.Revision()); len(wanted) == 0 {
			break
		}
	}
	if last == nil {
		return nil, nil, store.ErrNotFound
	}
	for i, revision := range asked {
		if _, missing := wanted[revision]; missing {
			return nil, nil, refuseAt(s.key, "revisions", i, "", faultf(0, "revision", "there is no revision %d", revision))
		}
	}
	if len(revisions) == 0 {
		return nil, nil, refuse(s.key, "revisions", faultf(0, "revision", "there is none before the present one that has content"))
	}
	slices.Sort(revisions)
	return last, revisions, nil
}
