package registrar

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// An Undoing selects changes in the log to undo. These are either all changes with the batch ID of
// one import, relocation or undo, or all changes in a range of log numbers.
//
// Each name gets a new revision with the content that it had before the first of these changes.
// Nothing is removed from the history. A name that the changes created is deleted if it is still
// reserved. Otherwise, the name may be in use, so it becomes a tombstone without content. Names
// with later changes are not restored, unless Force is set.
type Undoing struct {
	Batch string `json:"batch,omitempty"` // batch ID, as in store.Change
	From  uint64 `json:"from,omitempty"`  // log number of the first change
	To    uint64 `json:"to,omitempty"`    // log number of the last change

	Force  bool   `json:"force,omitempty"`   // also undo later changes of the names, and retire names that cannot be reserved again
	DryRun bool   `json:"dry_run,omitempty"` // only report what would change
	Reason string `json:"reason,omitempty"`  // reason for the tombstones; DefaultUndoReason if empty
	Why    string `json:"why,omitempty"`     // reason for the history

	// Undo calls these functions if they are not nil.
	Begun    func(id string)             `json:"-"` // before the first change, with the batch ID
	Reverted func(Reversal)              `json:"-"` // for each name or authority that is (or would be) changed
	Refused  func(key string, err error) `json:"-"` // for each name or authority that cannot be changed
	Progress func(Undone)                `json:"-"` // after each batch
}

// DefaultUndoReason is the default reason on tombstones that an undo makes.
const DefaultUndoReason = "assigned by mistake"

// Values of Reversal.Action, which describe what happened to the name or authority.
const (
	ActionRestored  = "restored"  // its earlier content was restored
	ActionRetired   = "retired"   // it became a tombstone, because it did not exist or was reserved before the changes
	ActionDeleted   = "deleted"   // it was deleted, because the changes created it and it was still reserved
	ActionRecreated = "recreated" // it was created again, because the changes deleted it
)

// A Reversal describes what Undo did, or would do, to a name or an authority.
type Reversal struct {
	Key       string `json:"key"`                 // key of the name, or prefix of the authority
	Authority bool   `json:"authority,omitempty"` // Key is the prefix of an authority
	Action    string `json:"action"`
}

// An Undone is the progress of an undo so far.
type Undone struct {
	Batch     string `json:"batch,omitempty"` // batch ID of the changes that it made; "" if it made none
	Changes   int64  `json:"changes"`         // selected changes that the actor may undo
	Restored  int64  `json:"restored"`        // names and authorities restored, including names that were created again
	Retired   int64  `json:"retired"`
	Deleted   int64  `json:"deleted"`
	Unchanged int64  `json:"unchanged"` // names and authorities that already had their earlier content
	Refused   int64  `json:"refused"`
}

const undoBatch = 500 // number of names changed in one batch

// newBatch returns a new batch ID. It begins with the size of the log, so that a search for the
// changes of the batch can start there.
func (r *Registrar) newBatch(ctx context.Context) (string, error) {
	head, err := store.HeadOf(ctx, r.store)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return "", err
	}
	const letters = 8
	return fmt.Sprintf("%d-%s", head.Size, strings.ToLower(rand.Text()[:letters])), nil
}

func batchStart(id string) (uint64, bool) {
	size, _, ok := strings.Cut(id, "-")
	n, err := strconv.ParseUint(size, 10, 64)
	return n, ok && err == nil
}

// Undo undoes the changes that u selects, with the same checks as all changes. It skips names that
// the actor may not change. The error is a [*RefusalError] if u is invalid or selects no change
// that the actor may undo; any other error is a failure. Changes made before an error are not
// undone.
func (r *Registrar) Undo(ctx context.Context, a Actor, u Undoing) (Undone, error) {
	ctx = store.Fresh(ctx)
	u.Reason = cmp.Or(u.Reason, DefaultUndoReason)
	ctx = store.WithPatience(ctx, store.LongPatience)
	after, err := u.check()
	if err != nil {
		return Undone{}, err
	}
	if err := store.Settle(ctx, r.store); err != nil {
		return Undone{}, err
	}
	l, err := r.NewLoad(a, u.Why)
	if err != nil {
		return Undone{}, err
	}
	l.new = false
	w := &undoer{Registrar: r, Undoing: u, actor: a, load: l, of: map[store.Subject]*undoSubject{}}
	if err := w.find(ctx, after); err != nil {
		return w.sum, err
	}
	if len(w.subjects) == 0 {
		return w.sum, refuse("", w.field(), faultf(0, "change", "no such change is in the log"))
	}
	if err := l.begin(ctx, u.DryRun, u.Begun); err != nil {
		return w.sum, err
	}
	for chunk := range slices.Chunk(w.subjects, undoBatch) {
		if err := w.revert(ctx, chunk); err != nil {
			return w.sum, err
		}
		if u.Progress != nil {
			u.Progress(w.sum)
		}
	}
	return w.sum, nil
}

// check validates u. It returns a log number that is lower than the numbers of all selected
// changes.
func (u *Undoing) check() (after uint64, err error) {
	if f := checkText(u.Reason, true); f.bad() {
		return 0, refuse("", "reason", f)
	}
	if u.Batch == "" {
		if u.From == 0 || u.To < u.From {
			return 0, refuse("", "from", faultf(0, "range", "expected the numbers of the first and the last change, from 1"))
		}
		return u.From - 1, nil
	}
	after, ok := batchStart(u.Batch)
	if !ok || u.From != 0 || u.To != 0 {
		return 0, refuse("", "batch", faultf(0, "ID", "%.40q is not the ID of an import, such as 512-k3m9qx7a", u.Batch))
	}
	return after, nil
}

func (u *Undoing) field() string {
	if u.Batch != "" {
		return "batch"
	}
	return "from"
}

type undoSubject struct {
	store.Subject
	first, last uint64 // first and last revision to be undone
	count       uint64
	redacts     bool
}

type undoer struct {
	*Registrar
	Undoing
	actor    Actor
	load     *Load
	sum      Undone
	subjects []*undoSubject // in reverse order of their first changes
	of       map[store.Subject]*undoSubject
}

// find reads the log and collects the names and authorities whose changes are to be undone.
func (w *undoer) find(ctx context.Context, after uint64) error {
	for e, err := range store.Changes(ctx, w.store, after) {
		if err != nil {
			return err
		}
		if w.Batch == "" && e.Seq > w.To {
			break
		}
		c := e.Change
		if w.Batch != "" && c.Batch != w.Batch || !w.may(c) {
			continue
		}
		w.sum.Changes++
		s := w.of[c.Subject()]
		if s == nil {
			s = &undoSubject{Subject: c.Subject(), first: c.Revision()}
			w.of[s.Subject] = s
			w.subjects = append(w.subjects, s)
		}
		s.last, s.redacts = c.Revision(), s.redacts || len(c.Redacts) > 0
		s.count++
	}
	w.of = nil
	slices.Reverse(w.subjects)
	return nil
}

func (w *undoer) may(c *store.Change) bool {
	if c.User != nil || c.Rights != nil {
		return false // undoing changes of names does not restore rights of users or tokens
	}
	if c.Authority != nil {
		return w.actor.MayPrefix(c.Authority.Prefix, Owner)
	}
	return w.actor.MayName(name.FromKey(c.Subject().Key), Editor)
}

func (w *undoer) revert(ctx context.Context, subjects []*undoSubject) error {
	var reqs []Request
	var reversals []Reversal
	for _, s := range subjects {
		if s.Kind == store.KindAuthority {
			if err := w.revertAuthority(ctx, s); err != nil {
				return err
			}
			continue
		}
		n := name.FromKey(s.Key)
		now, before, err := w.look(s, store.History(ctx, w.store, n))
		if err != nil {
			if err = w.refuse(s.Key, err); err != nil {
				return err
			}
			continue
		}
		req, action, err := w.target(s, now, before)
		switch {
		case err != nil:
			_ = w.refuse(s.Key, err)
		case action == "":
			w.sum.Unchanged++
		case action == ActionDeleted:
			if !w.DryRun {
				_, err = w.remove(ctx, w.actor, n, now.Revision(), w.Why, w.load.id)
			}
			if err = w.tell(Reversal{Key: s.Key, Action: action}, err); err != nil {
				return err
			}
		default:
			reqs, reversals = append(reqs, req), append(reversals, Reversal{Key: s.Key, Action: action})
		}
	}
	return w.change(ctx, reqs, reversals)
}

// look returns the last change of a subject, and the last change before the changes to undo. If the
// subject had no earlier change, former is nil.
func (w *undoer) look(s *undoSubject, history iter.Seq2[*store.Change, error]) (now, former *store.Change, err error) {
	for c, err := range history {
		if err != nil {
			return nil, nil, err
		}
		if now == nil {
			now = c
		}
		if c.Revision() < s.first {
			former = c
			break
		}
	}
	switch {
	case now == nil:
		return nil, nil, refuse(s.Key, "revision", faultf(0, "state", "there is no history of this name or authority here"))
	case s.redacts:
		return nil, nil, refuse(s.Key, "revision", faultf(0, "redacted", "a redaction cannot be undone"))
	case former != nil && former.Redacted:
		return nil, nil, refuse(s.Key, "revision", faultf(0, "redacted", "the content of revision %d, before the change, was redacted", former.Revision()))
	}
	return now, former, nil
}

// later returns an error if Force is not set and the subject has other changes between or after the
// changes to undo.
func (w *undoer) later(s *undoSubject, now *store.Change) error {
	switch {
	case w.Force:
	case now.Revision() > s.last:
		return refuse(s.Key, "revision", faultf(0, "later", "the record was changed since, last by revision %d of %s; force undoes that too", now.Revision(), now.Time.Format("2006-01-02 15:04")))
	case s.last-s.first+1 != s.count:
		return refuse(s.Key, "revision", faultf(0, "later", "others changed the record between revisions %d and %d; force undoes that too", s.first, s.last))
	}
	return nil
}

// target returns the request that restores a name, and the action. The action is "" if nothing must
// be done.
func (w *undoer) target(s *undoSubject, now, before *store.Change) (Request, string, error) {
	var was *store.Record
	if before != nil {
		was = before.Record
	}
	is := now.Record
	switch {
	case was == nil && (is == nil || isBare(is)), was != nil && is != nil && is.SameContent(was):
		return Request{}, "", nil
	}
	if err := w.later(s, now); err != nil {
		return Request{}, "", err
	}
	unreserved := was != nil && was.Status == nomen.Reserved && is != nil && is.Status != nomen.Reserved
	switch {
	case unreserved && !w.Force:
		return Request{}, "", refuse(s.Key, "status", faultf(0, "state", "the name was reserved before the change, is now %s and can never be reserved again; force retires it", is.Status))
	case was == nil && is.Status == nomen.Reserved:
		return Request{}, ActionDeleted, nil
	case was == nil || unreserved:
		tombstone := &store.Record{Name: is.Name, Spelling: is.Spelling, Status: nomen.Retired, Reason: w.Reason}
		return Request{Record: tombstone, Expected: now.Revision()}, ActionRetired, nil
	case is == nil:
		return Request{Record: was.Clone(), Expected: 0}, ActionRecreated, nil
	}
	return Request{Record: was.Clone(), Expected: now.Revision()}, ActionRestored, nil
}

func isBare(r *store.Record) bool {
	return r.Status == nomen.Retired && len(r.Locations)+len(r.Metadata)+len(r.SameAs)+len(r.Successors)+len(r.Values) == 0
}

// change makes the requests, or previews them in a dry run.
func (w *undoer) change(ctx context.Context, reqs []Request, reversals []Reversal) error {
	if len(reqs) == 0 {
		return nil
	}
	b, err := w.load.Check(ctx, reqs)
	if err != nil {
		return err
	}
	do := w.load.Write
	if w.DryRun {
		do = w.load.Preview
	}
	outs, err := do(ctx, b)
	if err != nil {
		return err
	}
	for i, out := range outs {
		if err := w.tell(reversals[i], out.Err); err != nil {
			return err
		}
	}
	return nil
}

func (w *undoer) revertAuthority(ctx context.Context, s *undoSubject) error {
	p := name.PrefixFromKey(s.Key)
	now, before, err := w.look(s, store.AuthorityHistory(ctx, w.store, p))
	switch {
	case err != nil:
		return w.refuse(s.Key, err)
	case before == nil:
		return w.refuse(s.Key, refuse(s.Key, "prefix", faultf(0, "state", "the change created the authority, and an authority cannot be deleted")))
	case now.Authority.SameContent(before.Authority):
		w.sum.Unchanged++
		return nil
	}
	if err := w.later(s, now); err != nil {
		return w.refuse(s.Key, err)
	}
	_, err = w.putAuthority(ctx, w.actor, before.Authority, putting{now.Revision(), w.Why, w.load.id, w.DryRun})
	return w.tell(Reversal{Key: s.Key, Authority: true, Action: ActionRestored}, err)
}

// tell reports and counts the result for a name or an authority. It returns an error only if the
// undo must stop.
func (w *undoer) tell(r Reversal, err error) error {
	if err != nil {
		return w.refuse(r.Key, err)
	}
	switch r.Action {
	case ActionRetired:
		w.sum.Retired++
	case ActionDeleted:
		w.sum.Deleted++
	default:
		w.sum.Restored++
	}
	if w.sum.Batch = w.load.id; w.Reverted != nil {
		w.Reverted(r)
	}
	return nil
}

// refuse reports that a name or an authority cannot be changed. If the error also concerns other
// names or authorities, refuse returns it.
func (w *undoer) refuse(key string, err error) error {
	if !aboutOne(err) {
		return err
	}
	w.sum.Refused++
	if w.Undoing.Refused != nil {
		w.Undoing.Refused(key, err)
	}
	return nil
}

// aboutOne reports whether an error concerns only a single change.
func aboutOne(err error) bool {
	return errors.As(err, new(*RefusalError)) || errors.As(err, new(*DeniedError)) || errors.As(err, new(*store.ConflictError)) ||
		errors.As(err, new(*store.StateError)) || errors.As(err, new(*store.LimitError)) || errors.As(err, new(*name.Error)) ||
		errors.Is(err, store.ErrNotFound)
}
