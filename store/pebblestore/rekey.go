package pebblestore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Merge determines which names may be merged if the rules of names give them the same key.
type Merge uint8

// Values of Merge. If names get the same key but may not be merged, the operator must resolve the
// conflict.
const (
	MergeNothing    Merge = iota
	MergeSafe             // all names, except a retired name with an active name
	MergeRetiredToo       // all names; the record of an active name has precedence over the record of a retired name
)

// RekeyOptions say which store [Rekey] converts, and how.
type RekeyOptions struct {
	Options
	DryRun bool
	Merge  Merge
	Who    string // author of the changes that merge names

	Move     func(Move)                                   // if not nil, called for each move
	Progress func(stage string, done int64, total uint64) // if not nil, called regularly; total is the number of records
}

// A Move is a change of the key of one or more subjects by the rules of names of this program.
type Move struct {
	Kind    store.Kind
	Token   string   // ID of the token or user that has this prefix; only for KindToken and KindUser
	Old     []string // the old keys of the subjects that get the key New, sorted; may include New itself
	New     string   // the new key; "" if the old key stays because it is invalid under the rules
	Problem string   // why the subjects cannot be moved, or why the key that stays is invalid
}

// Collides reports whether several subjects get the same new key.
func (m Move) Collides() bool { return len(m.Old) > 1 }

// Blocks reports whether the move prevents the conversion of the store.
func (m Move) Blocks() bool { return m.Problem != "" && (m.New != "" || m.Kind == store.KindName) }

// A RekeyResult describes what [Rekey] has done or, in a dry run, would do.
type RekeyResult struct {
	From    uint64 `json:"from"`   // version of the rules of names in the store
	To      uint64 `json:"to"`     // version of this program's rules of names
	Moved   int64  `json:"moved"`  // number of keys and prefixes that change
	United  int64  `json:"united"` // number of these keys and prefixes that become equal to others
	Blocked int64  `json:"blocked"`
	Kept    string `json:"kept,omitempty"` // path of the old store
}

// Rekey converts a store to the rules of names of this program. Names and authorities get their new
// keys with their whole history, and the prefixes of tokens are rewritten. If the store is open,
// the error wraps [ErrLocked].
//
// Rekey does not modify the old store. It writes a new store next to the old store, compares the
// two, and exchanges them. The result contains the new path of the old store. After a crash, either
// store is in place, or [Open] puts the new store in place. If all keys stay the same, Rekey only
// updates the version in the store. If the version is current, or if a [Move] blocks the
// conversion, Rekey does nothing.
//
// The new store has a new log with new salts. Its changes are sorted by time, then by key and
// revision.
//
// If names are merged, Rekey sorts their changes by time and assigns new revision numbers. At any
// time, the merged name has the state of the active name if there is one, otherwise of the retired
// name, and otherwise of the reserved name. A public name therefore never appears reserved or
// deleted. A final change merges the locations, metadata, same_as and successors of all names that
// have the final status, and keeps all spellings in same_as. A name with another status, such as a
// reserved name that is merged with an active name, remains only in the history, because its
// locations were not public.
//
// If authorities are merged, Rekey merges their lists and the fields Default and FoldCase. The
// field List is set if it is set in all of the authorities. All other fields come from the
// authority that changed last.
func Rekey(ctx context.Context, o RekeyOptions) (RekeyResult, error) {
	o.defaults()
	res, err := rekey(ctx, o)
	if err != nil {
		err = fmt.Errorf("pebblestore: %s: %w", o.Dir, err)
	}
	return res, err
}

func rekey(ctx context.Context, o RekeyOptions) (res RekeyResult, err error) {
	if err := settle(o.Options); err != nil {
		return res, err
	}
	if err := refuseBackup(o.FS, o.Dir); err != nil {
		return res, err
	}
	r := &rekeyer{o: o, res: &res, ctx: ctx, lock: &dirLock{}, now: o.Now()}
	if err := r.lockStore(); err != nil {
		return res, err
	}
	defer func() { err = cmp.Or(err, r.close()) }() // the next call of Rekey removes what remains
	if err := r.open(); err != nil || res.From == res.To {
		return res, err
	}
	if err := errors.Join(r.clear(), o.FS.RemoveAll(o.Dir+suffixComplete)); err != nil {
		return res, err
	}
	if err := r.plan(); err != nil || res.Blocked > 0 || o.DryRun {
		return res, unchanged(err)
	}
	if !r.changed {
		return res, r.mark()
	}
	if err := cmp.Or(r.build(), r.closeDatabases(), copySecrets(o.FS, o.Dir, o.Dir+suffixBuilding)); err != nil {
		return res, unchanged(err)
	}
	res.Kept, err = swap(o.Options, fmt.Sprintf(suffixRules, res.From))
	return res, err
}

// unchanged adds to a disk error that the old store is unchanged.
func unchanged(err error) error {
	if isUnwritable(err) {
		return fmt.Errorf("the new store cannot be written: %w; the old store is unchanged", err)
	}
	return err
}

// A rekeyer is one call of Rekey.
type rekeyer struct {
	o      RekeyOptions
	res    *RekeyResult
	ctx    context.Context
	total  uint64    // number of records
	format uint64    // version of the store format
	now    time.Time // time of the changes that merge names

	old   *view
	moves *view // each key is kind, new key, 0, old key; the values are empty
	fold  *store.AuthoritySet
	lock  *dirLock // lock of the old store
	dbs   []*database

	changed bool // the new store will differ from the old store
}

func (r *rekeyer) open() error {
	db, err := r.database(r.o.Dir, r.lock, func(p *pebble.Options, _ *engineDisk) { p.ReadOnly = true })
	if err != nil {
		return err
	}
	r.res.To = name.RulesVersion
	if r.format, r.res.From, err = versionsOf(db.DB); err != nil {
		return err
	}
	if r.res.From > r.res.To {
		return &store.VersionError{What: "rules of names", Found: r.res.From, Known: r.res.To}
	}
	r.total, _, err = number(db.DB, metaCount)
	if err != nil {
		return err
	}
	r.old, err = newView(db.DB)
	return err
}

var errNotStore = errors.New("this is not a store of names")

// versionsOf returns the versions of the format and of the rules of names. If this program does not
// support the format, it returns an error.
func versionsOf(db *pebble.DB) (format, rules uint64, err error) {
	format, ok, err := number(db, metaFormat)
	switch {
	case err != nil:
		return 0, 0, err
	case !ok:
		return 0, 0, errNotStore
	}
	if err := checkFormat(format); err != nil {
		return 0, 0, err
	}
	rules, _, err = number(db, metaRules)
	return format, rules, err
}

func checkFormat(format uint64) error {
	if formatNoUsers <= format && format <= formatVersion {
		return nil
	}
	return &store.VersionError{What: "format of the store", Found: format, Known: formatVersion, How: store.ConvertNever}
}

// database opens a database, which closeDatabases closes.
func (r *rekeyer) database(dir string, lock *dirLock, adjust func(*pebble.Options, *engineDisk)) (*database, error) {
	o := r.o.Options
	o.Dir = dir
	db, err := openDatabase(o, lock, nil, adjust)
	if err == nil {
		r.dbs = append(r.dbs, db)
	}
	return db, err
}

func (r *rekeyer) closeDatabases() error {
	for _, v := range []*view{r.old, r.moves} {
		if v != nil {
			v.close()
		}
	}
	r.old, r.moves = nil, nil
	var first error
	for _, db := range r.dbs {
		first = cmp.Or(first, db.Close())
		if db.disk.lock != r.lock {
			first = cmp.Or(first, db.disk.lock.release())
		}
	}
	r.dbs = nil
	return first
}

func (r *rekeyer) close() error {
	err := r.closeDatabases()
	err = cmp.Or(err, r.lock.release())
	return cmp.Or(err, r.clear())
}

// clear removes the temporary files next to the store, including those of earlier runs.
func (r *rekeyer) clear() error {
	return errors.Join(
		r.o.FS.RemoveAll(r.o.Dir+suffixMoves),
		r.o.FS.RemoveAll(r.o.Dir+suffixOrder),
		r.o.FS.RemoveAll(r.o.Dir+suffixBuilding),
	)
}

// mark completes a call of Rekey if all keys stay the same. It records the new version of the rules
// of names, and rebuilds the index of aliases, which depends on the rules.
func (r *rekeyer) mark() error {
	if err := r.closeDatabases(); err != nil {
		return err
	}
	db, err := r.database(r.o.Dir, r.lock, nil)
	if err != nil {
		return err
	}
	return cmp.Or(
		indexAliases(db.DB),
		db.Set([]byte(metaRules), encodeNumber(name.RulesVersion), pebble.Sync),
		db.disk.err(),
	)
}

func (r *rekeyer) progress(stage string, done int64) error {
	const often = 1 << 10
	if r.o.Progress != nil && done%often == 0 {
		r.o.Progress(stage, done, r.total)
	}
	return r.ctx.Err()
}

func (r *rekeyer) last(k store.Kind, key string) (*store.Change, error) {
	return r.old.last(store.Subject{Kind: k, Key: key})
}

// changes yields the changes that the subject of a move will have, oldest first.
func (r *rekeyer) changes(m Move) iter.Seq2[*store.Change, error] {
	if m.Collides() {
		return r.united(m)
	}
	return func(yield func(*store.Change, error) bool) {
		for c, err := range r.old.changes(store.Subject{Kind: m.Kind, Key: m.Old[0]}) {
			if err == nil {
				rename(c, m.New)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func rename(c *store.Change, key string) {
	switch {
	case c.Record != nil:
		c.Record.Name = name.FromKey(key)
	case c.Authority != nil:
		c.Authority.Prefix = name.PrefixFromKey(key)
	case c.Token != nil:
		c.Token.Prefixes, _ = newPrefixes(store.KindToken, c.Token.ID, c.Token.Prefixes)
	case c.User != nil:
		for i, g := range c.User.Grants {
			c.User.Grants[i].Prefixes, _ = newPrefixes(store.KindUser, c.User.ID, g.Prefixes)
		}
	case c.Rights != nil:
		c.Rights.Prefixes, _ = newPrefixes(store.KindToken, c.Rights.ID, c.Rights.Prefixes)
	default:
		c.Delete = name.FromKey(key)
	}
}

// changes yields all changes of a subject, oldest first. The view must not be used otherwise during
// the loop.
func (v *view) changes(s store.Subject) iter.Seq2[*store.Change, error] {
	return reading.Seq(func(yield func(*store.Change, error) bool) error {
		beginning := appendHistory(nil, s)
		end := successor(slices.Clone(beginning))
		for ok := v.it.SeekLT(end); ok && isHistory(v.it.Key(), beginning); ok = v.it.Prev() {
			c, err := v.change(s)
			if err != nil || !yield(c, nil) {
				return err
			}
		}
		if err := v.failure(s.Key); err != nil {
			return err
		}
		c, err := v.last(s)
		if err == nil && c != nil {
			yield(c, nil)
		}
		return err
	})
}

func (v *view) subjects(k store.Kind) iter.Seq2[store.Subject, error] {
	return reading.Seq(func(yield func(store.Subject, error) bool) error {
		own, err := v.clone()
		if err != nil {
			return err
		}
		defer own.close()
		lower := []byte{space(k)}
		for ok := own.it.SeekGE(lower); ok && bytes.HasPrefix(own.it.Key(), lower); ok = own.it.Next() {
			if !yield(store.Subject{Kind: k, Key: string(own.it.Key()[1:])}, nil) {
				return nil
			}
		}
		return own.failure(string(lower))
	})
}
