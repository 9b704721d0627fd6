package registrar

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Redaction selects earlier revisions of a name, an authority, a user or the rights of a token
// whose content is permanently removed.
type Redaction struct {
	Revisions []uint64 `json:"revisions,omitempty"` // revisions whose content, author and reason are removed; if empty: for an authority, all revisions before the current one; for a user or a token, see [Registrar.RedactUser] and [Registrar.RedactToken]
	Reason    string   `json:"reason"`              // recorded in the history; must not be empty
	Expected  uint64   `json:"-"`                   // expected revision, as in Request
	DryRun    bool     `json:"dry_run,omitempty"`   // check without changing anything; the outcome has only the current revision, 0 for a deleted name
}

// GetAt returns the record of the name n as of a time, or [store.ErrNotFound]. The zero time means
// now.
func (r *Registrar) GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	kept, err := r.Kept(ctx, n, at)
	if err != nil {
		return nil, err
	}
	return r.store.Get(ctx, kept, at)
}

// Kept returns the name n in the letter case in which the store had it at the given time. The zero
// time means now. The history and the permission checks use this spelling.
func (r *Registrar) Kept(ctx context.Context, n name.Name, at time.Time) (name.Name, error) {
	set, err := r.authorities.Set(ctx, at)
	if err != nil {
		return n, err
	}
	return set.Of(n).Fold(n), nil
}

// Redact permanently removes the content of revisions of the name n. It makes a new revision with
// the current content, so the caller must first remove sensitive text from the current record. Only
// an administrator may call it. Redact returns the errors of [Registrar.Put], [store.ErrNotFound]
// if the name never existed, and [errors.ErrUnsupported] if the store has no history.
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
	if !a.MayName(n, Administrator) {
		return Outcome{}, cannotRedact(a.Denied(Administrator, n, n.Key()))
	}
	if len(red.Revisions) == 0 {
		return Outcome{}, refuse(n.Key(), "revisions", faultf(0, "revision", "must name at least one revision"))
	}
	return r.redactSubject(ctx, a, redactable{key: n.Key(), changes: store.History(ctx, r.store, n)}, red)
}

// RedactAuthority removes content of earlier revisions of the authority whose prefix is exactly p,
// as Redact does for a name. The histories of the names that the authority covers do not change.
func (r *Registrar) RedactAuthority(ctx context.Context, a Actor, p name.Prefix, red Redaction) (Outcome, error) {
	ctx = store.Fresh(ctx)
	if !a.MayPrefix(p, Administrator) {
		err := cannotRedact(a.deniedPrefix(Administrator, p))
		return Outcome{Err: err}, err
	}
	out, err := r.redactSubject(ctx, a, redactable{key: p.String(), changes: store.AuthorityHistory(ctx, r.store, p)}, red)
	if err != nil {
		return Outcome{Err: err}, err
	}
	if !red.DryRun {
		r.authorities.Replace(out.Authority.Clone())
	}
	return out, nil
}

func cannotRedact(denied *DeniedError) error {
	denied.Why = "this removes content from its history"
	return denied
}

// A redactable is a name, an authority, a user or the rights of a token, with its history, newest
// change first.
type redactable struct {
	key     string
	changes iter.Seq2[*store.Change, error]
	erase   bool // also remove the person from the current content of a user or a token
}

// redactSubject redacts revisions. If another client changes the subject at the same time,
// redactSubject tries again.
func (r *Registrar) redactSubject(ctx context.Context, a Actor, s redactable, red Redaction) (Outcome, error) {
	if red.Reason == "" {
		return Outcome{}, refuse(s.key, "reason", faultf(0, "state", "a redaction needs a reason, which is recorded in the history"))
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

func (r *Registrar) redactOnce(ctx context.Context, a Actor, s redactable, red Redaction) (Outcome, error) {
	last, revisions, err := s.find(red.Revisions)
	if err != nil {
		return Outcome{}, err
	}
	now := time.UnixMilli(r.now().UnixMilli()).UTC()
	c := store.Change{
		Record: last.Record, Authority: last.Authority, User: last.User, Rights: last.Rights, Delete: last.Delete, Expected: red.Expected,
		Time: now, Who: a.Who, Why: red.Reason, Redacts: revisions,
	}
	if s.erase {
		c.User, c.Rights = erased(last.User), withoutBearer(last.Rights)
	}
	if c.Expected == store.AnyRevision {
		if c.Expected = last.Revision(); !last.Delete.IsZero() {
			c.Expected = 0 // a deleted name has no revision
		}
	}
	if red.DryRun {
		return s.check(red, last)
	}
	batch, err := r.withToken(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	results, err := r.apply(ctx, batch)
	if err != nil {
		return Outcome{}, err
	}
	if c.Time = now; now.Before(last.Time) {
		c.Time = last.Time
	}
	out := Outcome{Result: results[len(results)-1]}
	switch {
	case last.Authority != nil:
		out.Authority = last.Authority.Clone()
		out.Authority.Modified, out.Authority.Revision = c.Time, out.Result.Revision
	case last.Record != nil:
		out.Record = last.Record.Clone()
		out.Record.Modified, out.Record.Revision = c.Time, out.Result.Revision
	case last.User != nil:
		out.User = c.User.Clone()
		out.User.Modified, out.User.Revision = c.Time, out.Result.Revision
	}
	if last.Authority == nil && last.User == nil && last.Rights == nil {
		out.Name = name.FromKey(s.key)
	}
	r.log.InfoContext(ctx, "history redacted", "of", s.key, "who", a.Who, "revisions", revisions)
	return out, nil
}

func (s redactable) check(red Redaction, last *store.Change) (Outcome, error) {
	current := last.Revision()
	if !last.Delete.IsZero() {
		current = 0
	}
	if red.Expected != store.AnyRevision && red.Expected != current {
		return Outcome{}, &store.ConflictError{Key: s.key, Expected: red.Expected, Current: current}
	}
	return Outcome{Result: store.Result{Revision: current}}, nil
}

func (s redactable) refuse(i int, format string, args ...any) error {
	return refuseAt(s.key, "revisions", i, "", faultf(0, "revision", format, args...))
}

// removes reports whether a redaction also removes the current content, which the change last has
// made.
func (s redactable) removes(last *store.Change) bool {
	switch {
	case !s.erase:
		return false
	case last.Rights != nil:
		return !withoutBearer(last.Rights).SameContent(last.Rights)
	}
	return !erased(last.User).SameContent(last.User)
}

// find returns the last change and the revisions to redact. If requested is empty, these are all
// revisions with content, except the last one. It returns an error if a requested revision does not
// exist, is the current revision, or no longer has content.
func (s redactable) find(requested []uint64) (last *store.Change, revisions []uint64, err error) {
	wanted := make(map[uint64]int, len(requested))
	for i, revision := range requested {
		wanted[revision] = i
	}
	for c, err := range s.changes {
		if err != nil {
			return nil, nil, err
		}
		last = cmp.Or(last, c)
		i, named := wanted[c.Revision()]
		delete(wanted, c.Revision())
		switch {
		case !named && (len(requested) > 0 || c == last && !s.removes(c) || c.Redacted):
			continue
		case named && c.Redacted:
			return nil, nil, s.refuse(i, "the content of revision %d was removed already", c.Revision())
		case named && c == last && c.Delete.IsZero():
			return nil, nil, s.refuse(i, "revision %d is the current one: first change the content, then redact this revision", c.Revision())
		}
		if revisions = append(revisions, c.Revision()); named && len(wanted) == 0 {
			break
		}
	}
	if last == nil {
		return nil, nil, store.ErrNotFound
	}
	for i, revision := range requested {
		if _, missing := wanted[revision]; missing {
			return nil, nil, s.refuse(i, "there is no revision %d", revision)
		}
	}
	if len(revisions) == 0 {
		return nil, nil, refuse(s.key, "revisions", faultf(0, "revision", "no earlier revision has content"))
	}
	slices.Sort(revisions)
	return last, revisions, nil
}
