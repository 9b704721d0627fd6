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

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Merge says what becomes of names that the rules make one.
type Merge uint8

// What may become one. What may not is a collision that somebody has to decide.
const (
	MergeNothing    Merge = iota
	MergeSafe             // all but a retired and an active name
	MergeRetiredToo       // all; the active name holds
)

// RekeyOptions say which store is rekeyed and how.
type RekeyOptions struct {
	Options
	DryRun bool
	Merge  Merge

	Move     func(Move)                                   // is told what moves, unless nil
	Progress func(stage string, done int64, total uint64) // is told now and then, unless nil; total is that of records
}

// A Move is something in a store that the rules of this program call otherwise.
type Move struct {
	Kind    store.Kind
	Token   string   // the ID of the token whose prefix it is, for KindToken
	Old     []string // the keys that become one, in their order; the new one too, if it is there
	New     string   // "" if it stays because it can be none by the rules
	Problem string   // why it cannot be done, or what is wrong with what stays
}

// Collides reports whether several become one.
func (m Move) Collides() bool { return len(m.Old) > 1 }

// Blocks reports whether the move keeps a store from being rekeyed.
func (m Move) Blocks() bool { return m.Problem != "" && (m.New != "" || m.Kind == store.KindName) }

// A RekeyResult says what was done, or would be.
type RekeyResult struct {
	From    uint64 `json:"from"`   // version of the rules of names
	To      uint64 `json:"to"`     // of this program
	Moved   int64  `json:"moved"`  // keys and prefixes that became others
	United  int64  `json:"united"` // of these, how many went to a key that others had or got too
	Blocked int64  `json:"blocked"`
	Logged  bool   `json:"logged"`         // the store had no log of its changes
	Kept    string `json:"kept,omitempty"` // where the store is as it was
}

// Rekey gives a store the keys of the rules of this program: names move with all
// of their history, and so do authorities and the prefixes of tokens. The error
// contains [ErrLocked] when the store is open anywhere.
//
// Nothing in the store is changed. A new one is written beside it, compared with
// it, and takes its place; the old one is kept under another name, which the
// result tells. A crash leaves one or the other: see [Open]. A store in which
// nothing moves is only marked with the version; one of this version is left
// alone. If a move is blocked nothing is done.
//
// The new store has a log of its own: its changes in the order of their times, then
// of their keys and revisions, with new salts. A store of format 1, which has no
// log, gets one in this way too, also when it is of the present rules.
//
// Names that become one: their changes are put in the order of their times and
// numbered anew. Of two names at a time the active one shows, then the retired,
// then the reserved one, so that a public name is never seen to be reserved or
// deleted. A last change unites what those have whose status shows in the end:
// locations, metadata, same_as, successors. Their spellings are kept in same_as. What was
// reserved beside an active name, or retired, is in the history alone: it was not
// meant to be led to. Authorities are united in their lists, Default and FoldCase,
// and List only if all do; else the one that changed last holds.
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
	defer func() { err = cmp.Or(err, r.close()) }() // what is left is removed by the next run
	if err := r.open(); err != nil || res.From == res.To && r.old.format != format1 {
		return res, err
	}
	if err := errors.Join(r.clear(), o.FS.RemoveAll(o.Dir+suffixComplete)); err != nil {
		return res, err
	}
	if err := r.plan(); err != nil || res.Blocked > 0 || o.DryRun {
		return res, unchanged(err)
	}
	format := r.old.format
	if !r.changed && format != format1 {
		return res, r.mark()
	}
	if err := cmp.Or(r.build(), r.closeDatabases()); err != nil {
		return res, unchanged(err)
	}
	suffix := fmt.Sprintf(suffixRules, res.From)
	if res.From == res.To {
		suffix = fmt.Sprintf(suffixFormat, format)
	}
	res.Kept, err = swap(o.Options, suffix)
	return res, err
}

// unchanged adds to the error of a disk what became of the store.
func unchanged(err error) error {
	if isUnwritable(err) {
		return fmt.Errorf("the new store cannot be written: %w; the old one is as it was", err)
	}
	return err
}

// A rekeyer is one run of Rekey.
type rekeyer struct {
	o     RekeyOptions
	res   *RekeyResult
	ctx   context.Context
	total uint64    // records
	now   time.Time // of the changes that unite names

	old   *view
	moves *view // kind, new key, 0, old key: ""
	fold  *store.AuthoritySet
	lock  *dirLock // of the old store
	dbs   []*database

	changed bool // something will be other than it was
}

// open opens the old store for reading.
func (r *rekeyer) open() error {
	db, err := r.database(r.o.Dir, r.lock, func(p *pebble.Options, _ *engineDisk) { p.ReadOnly = true })
	if err != nil {
		return err
	}
	format, rules, err := versionsOf(db.DB)
	if err != nil {
		return err
	}
	r.res.From, r.res.Logged = rules, format == format1
	r.res.To = name.RulesVersion
	if r.res.From > r.res.To {
		return &store.VersionError{What: "rules of names", Found: r.res.From, Known: r.res.To}
	}
	r.total, _, err = number(db.DB, metaCount)
	if err != nil {
		return err
	}
	if r.old, err = newView(db.DB); err == nil {
		r.old.format = format
	}
	return err
}

// versionsOf returns the format, which this program has to know, and the rules of
// names of a store.
func versionsOf(db *pebble.DB) (format, rules uint64, err error) {
	format, ok, err := number(db, metaFormat)
	switch {
	case err != nil:
		return 0, 0, err
	case !ok:
		return 0, 0, errors.New("this is not a store of names")
	case format != format1 && format != formatUnaliased && format != formatVersion:
		return 0, 0, &store.VersionError{What: "format of the store", Found: format, Known: formatVersion}
	}
	rules, _, err = number(db, metaRules)
	return format, rules, err
}

// database opens a database until the run ends.
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

// close leaves nothing but stores behind.
func (r *rekeyer) close() error {
	err := r.closeDatabases()
	err = cmp.Or(err, r.lock.release())
	return cmp.Or(err, r.clear())
}

// clear removes what a run leaves, or an earlier one has left, beside a store.
func (r *rekeyer) clear() error {
	return errors.Join(
		r.o.FS.RemoveAll(r.o.Dir+suffixMoves),
		r.o.FS.RemoveAll(r.o.Dir+suffixOrder),
		r.o.FS.RemoveAll(r.o.Dir+suffixBuilding),
	)
}

// mark records the rules in a store in which they move nothing.
func (r *rekeyer) mark() error {
	if err := r.closeDatabases(); err != nil {
		return err
	}
	db, err := r.database(r.o.Dir, r.lock, nil)
	if err != nil {
		return err
	}
	batch := db.NewBatch()
	defer batch.Close()
	return errors.Join(
		batch.Set([]byte(metaFormat), encodeNumber(formatUnaliased), nil), // aliases are by other rules: opening it makes them anew
		batch.Set([]byte(metaRules), encodeNumber(name.RulesVersion), nil),
		db.Apply(batch, pebble.Sync),
		db.disk.err(),
	)
}

// progress tells how far a stage is.
func (r *rekeyer) progress(stage string, done int64) error {
	const often = 1 << 10
	if r.o.Progress != nil && done%often == 0 {
		r.o.Progress(stage, done, r.total)
	}
	return r.ctx.Err()
}

// last returns the last change that the old store has of a subject.
func (r *rekeyer) last(k store.Kind, key string) (*store.Change, error) {
	return r.old.last(store.Subject{Kind: k, Key: key})
}

// changes yields the changes that go to the subject of a move, in their order;
// of what does not move, those that are there.
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

// rename gives a change another subject of its kind; a token has the same, and
// its prefixes another spelling.
func rename(c *store.Change, key string) {
	switch {
	case c.Record != nil:
		c.Record.Name = name.FromKey(key)
	case c.Authority != nil:
		c.Authority.Prefix = name.PrefixFromKey(key)
	case c.Token != nil:
		c.Token.Prefixes, _ = newPrefixes(c.Token)
	default:
		c.Delete = name.FromKey(key)
	}
}

// changes yields all changes of a subject, the first one first. The view is not to
// be used for anything else meanwhile.
func (v *view) changes(s store.Subject) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		beginning := appendHistory(nil, s)
		end := successor(slices.Clone(beginning))
		for ok := v.it.SeekLT(end); ok && isHistory(v.it.Key(), beginning); ok = v.it.Prev() {
			c, err := v.change(s)
			if !yield(c, err) || err != nil {
				return
			}
		}
		if err := v.failure(s.Key); err != nil {
			yield(nil, err)
			return
		}
		if c, err := v.last(s); c != nil || err != nil {
			yield(c, err)
		}
	}
}

// subjects yields the keys of a kind in their order.
func (v *view) subjects(k store.Kind) iter.Seq2[store.Subject, error] {
	return func(yield func(store.Subject, error) bool) {
		own, err := v.clone()
		if err != nil {
			yield(store.Subject{}, err)
			return
		}
		defer own.close()
		lower := []byte{space(k)}
		for ok := own.it.SeekGE(lower); ok && bytes.HasPrefix(own.it.Key(), lower); ok = own.it.Next() {
			if !yield(store.Subject{Kind: k, Key: string(own.it.Key()[1:])}, nil) {
				return
			}
		}
		if err := own.failure(string(lower)); err != nil {
			yield(store.Subject{}, err)
		}
	}
}
