package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// plan finds, reports and counts the moves. It stores the moves on disk, because a large store may
// have a move for each name.
func (r *rekeyer) plan() error {
	w, err := r.filler(r.o.Dir + suffixMoves)
	if err != nil {
		return err
	}
	defer w.batch.Close()
	if err := r.planKind(w, store.KindAuthority); err != nil {
		return err
	}
	if err := r.readFolding(w); err != nil {
		return err
	}
	if err := r.planKind(w, store.KindName); err != nil {
		return err
	}
	for _, k := range [...]store.Kind{store.KindToken, store.KindUser} {
		if err := r.planGrants(k); err != nil {
			return err
		}
	}
	if r.moves, err = w.view(); err != nil {
		return err
	}
	for _, k := range kinds {
		for m, err := range r.groups(k) {
			if err != nil {
				return err
			}
			r.tell(m)
		}
	}
	return nil
}

func (r *rekeyer) tell(m Move) {
	switch {
	case m.Blocks():
		r.res.Blocked++
	case m.New != "":
		r.changed = true
		for _, key := range m.Old {
			if key != m.New {
				r.res.Moved++
			}
		}
		if m.Collides() {
			r.res.United += int64(len(m.Old))
		}
	}
	if r.o.Move != nil {
		r.o.Move(m)
	}
}

func (w *filler) note(k store.Kind, from, to string) error {
	w.key = append(append(append(w.key[:0], byte(k)), to...), 0)
	w.key = append(w.key, from...)
	return w.set(w.key, nil)
}

// view returns a view of everything written so far.
func (w *filler) view() (*view, error) {
	if err := w.apply(); err != nil {
		return nil, err
	}
	return newView(w.db.DB)
}

func (r *rekeyer) planKind(w *filler, k store.Kind) error {
	done := int64(0)
	for s, err := range r.old.subjects(k) {
		if err == nil && k == store.KindName {
			err = r.progress("reading", done)
		}
		if err != nil {
			return err
		}
		done++
		key, problem := r.destination(s)
		if problem != "" {
			r.tell(Move{Kind: s.Kind, Old: []string{s.Key}, Problem: problem})
		} else if key != s.Key {
			if err := w.note(s.Kind, s.Key, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// newAuthority is like newPrefix, for the key of an authority. A delimiter at the end of such a key
// is significant, because an empty part follows it.
func newAuthority(s string) (key, problem string) {
	if key, problem = newPrefix(s); len(key) < len(s) && strings.HasPrefix(s, key) {
		return s, "ends with an empty part"
	}
	return key, problem
}

// newPrefix returns the form of a prefix by the rules of names of this program. It returns an
// invalid prefix, which covers no name, unchanged and with a problem.
func newPrefix(s string) (key, problem string) {
	p, err := name.ParsePrefix(s)
	var bad *name.Error
	switch {
	case errors.As(err, &bad):
		return s, bad.Message
	case err != nil:
		return s, err.Error()
	}
	return p.String(), ""
}

// newPrefixes converts the prefixes of a token or a grant to the rules of names of this program. It
// returns a move for each prefix that changes. Invalid prefixes are dropped, unless all prefixes
// are invalid. A token or grant without prefixes would be valid for all names.
func newPrefixes(kind store.Kind, id string, prefixes []string) ([]string, []Move) {
	var list []string
	var moves []Move
	for _, s := range prefixes {
		key, problem := newPrefix(s)
		m := Move{Kind: kind, Token: id, Old: []string{s}, New: key, Problem: problem}
		if problem != "" {
			m.New = ""
		} else {
			key, _ = name.CanonicalPrefix(s)
			m.New = key
			list = append(list, key)
		}
		if m.New != s {
			moves = append(moves, m)
		}
	}
	if len(list) == 0 {
		list = prefixes
	}
	return list, moves
}

func (r *rekeyer) planGrants(k store.Kind) error {
	for s, err := range r.old.subjects(k) {
		if err != nil {
			return err
		}
		c, err := r.last(s.Kind, s.Key)
		if err != nil {
			return err
		}
		for _, prefixes := range scopes(c) {
			list, moves := newPrefixes(k, s.Key, prefixes)
			r.changed = r.changed || !slices.Equal(list, prefixes)
			for _, m := range moves {
				r.tell(m)
			}
		}
	}
	return nil
}

// scopes returns the prefixes of a token, or of each grant of a user.
func scopes(c *store.Change) (all [][]string) {
	if c.Token != nil {
		return [][]string{c.Token.Prefixes}
	}
	for _, g := range c.User.Grants {
		all = append(all, g.Prefixes)
	}
	return all
}

// readFolding reads the converted authorities if any of them folds case. After the conversion, such
// an authority may cover more names.
func (r *rekeyer) readFolding(w *filler) error {
	var err error
	if r.moves, err = w.view(); err != nil {
		return err
	}
	defer func() {
		r.moves.close()
		r.moves = nil
	}()
	var list authorities
	folding := false
	for m, err := range r.outcomes(store.KindAuthority) {
		if err != nil {
			return err
		}
		var last *store.Change
		for c, err := range r.changes(m) {
			if err != nil {
				return err
			}
			last = c
		}
		list.all = append(list.all, last.Authority)
		folding = folding || last.Authority.FoldCase
	}
	if !folding {
		return nil
	}
	r.fold, err = store.NewTable(list, time.Now, time.Hour).Set(r.ctx, time.Time{})
	return err
}

// authorities is a store.Reader that contains only authorities.
type authorities struct {
	store.Reader
	all []*store.Authority
}

func (l authorities) Authorities(context.Context, time.Time) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) {
		for _, a := range l.all {
			if !yield(a, nil) {
				return
			}
		}
	}
}

func (r *rekeyer) groups(k store.Kind) iter.Seq2[Move, error] {
	return reading.Seq(func(yield func(Move, error) bool) error {
		v, err := r.moves.clone()
		if err != nil {
			return err
		}
		defer v.close()
		beginning := []byte{byte(k)}
		for ok := v.it.SeekGE(beginning); ok && bytes.HasPrefix(v.it.Key(), beginning); {
			var m Move
			if m, ok = v.group(); !yield(r.complete(m)) {
				return nil
			}
		}
		return v.failure("moves")
	})
}

// group reads all moves to one new key. It also reports whether moves to other keys follow.
func (v *view) group() (Move, bool) {
	at := bytes.IndexByte(v.it.Key(), 0)
	beginning := slices.Clone(v.it.Key()[:at+1])
	m := Move{Kind: store.Kind(beginning[0]), New: string(beginning[1:at])}
	for {
		m.Old = append(m.Old, string(v.it.Key()[at+1:]))
		if !v.it.Next() {
			return m, false
		}
		if !bytes.HasPrefix(v.it.Key(), beginning) {
			return m, true
		}
	}
}

// complete adds the subject that already has the new key to m, if there is one. If the subjects
// cannot be merged, complete also sets the problem.
func (r *rekeyer) complete(m Move) (Move, error) {
	there, err := r.last(m.Kind, m.New)
	if err != nil {
		return m, err
	}
	if there != nil {
		m.Old = append(m.Old, m.New)
		slices.Sort(m.Old)
	}
	if m.Collides() {
		m.Problem, err = r.problem(m)
	}
	return m, err
}

// outcomes yields the moves of all subjects of a kind. First it yields the subjects whose keys stay
// the same, as moves from a key to itself. Then it yields the moves to new keys.
func (r *rekeyer) outcomes(k store.Kind) iter.Seq2[Move, error] {
	return func(yield func(Move, error) bool) {
		for s, err := range r.old.subjects(k) {
			if err == nil {
				var moves bool
				if moves, err = r.isMoving(s); moves && err == nil {
					continue
				}
			}
			if !yield(Move{Kind: k, Old: []string{s.Key}, New: s.Key}, err) {
				return
			}
		}
		for m, err := range r.groups(k) {
			if !yield(m, err) {
				return
			}
		}
	}
}

func (r *rekeyer) isMoving(s store.Subject) (bool, error) {
	if s.Kind == store.KindToken || s.Kind == store.KindUser || s.Kind == store.KindTokenRights {
		return false, nil
	}
	if key, _ := r.destination(s); key != s.Key {
		return true, nil
	}
	beginning := append(append([]byte{byte(s.Kind)}, s.Key...), 0)
	return r.moves.it.SeekGE(beginning) && bytes.HasPrefix(r.moves.it.Key(), beginning), r.moves.failure(s.Key)
}

// destination returns the new key of a name or an authority. If the key is invalid by the rules of
// names, it returns the old key and the problem.
func (r *rekeyer) destination(s store.Subject) (key, problem string) {
	if s.Kind == store.KindAuthority {
		return newAuthority(s.Key)
	}
	n, err := name.Parse(s.Key)
	if err != nil {
		return s.Key, err.Error()
	}
	if r.fold != nil {
		n = r.fold.Of(n).Fold(n)
	}
	return n.Key(), ""
}

func (r *rekeyer) problem(m Move) (string, error) {
	what := "several names become one"
	if m.Kind == store.KindAuthority {
		what = "several authorities become one"
	}
	last, err := r.lasts(m)
	if err != nil {
		return "", err
	}
	if hasStatus(last, nomen.Active) && hasStatus(last, nomen.Retired) {
		what += ", of which some are active and some retired"
		if r.o.Merge == MergeSafe {
			return what, nil
		}
	}
	if r.o.Merge == MergeNothing {
		return what, nil
	}
	if c := union(m, last, r.now, r.o.Who); c != nil {
		if err := store.Check(0, c); err != nil {
			return what + ": " + strings.TrimPrefix(err.Error(), "store: "), nil
		}
	}
	return "", nil
}

func (r *rekeyer) lasts(m Move) ([]*store.Change, error) {
	list := make([]*store.Change, len(m.Old))
	for i, key := range m.Old {
		var err error
		if list[i], err = r.last(m.Kind, key); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func hasStatus(list []*store.Change, status nomen.Status) bool {
	return slices.ContainsFunc(list, func(c *store.Change) bool { return c.Record != nil && c.Record.Status == status })
}
