package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Verify implements [store.Verifier]. It reads the log in windows, then the subjects with
// their histories, then the index. It keeps at most one window in memory.
func (s *Store) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	e, err := s.enter()
	if err != nil {
		return store.Head{}, err
	}
	defer e.gate.Leave()
	if err := ctx.Err(); err != nil {
		return store.Head{}, err
	}
	if e.missing != nil {
		fault(store.Fault{Problem: e.missing.Error()})
	}
	snap := e.db.NewSnapshot()
	defer snap.Close()
	return check(ctx, snap, s.now(), fault, progress)
}

// check verifies a snapshot. Changes dated after now are reported.
func check(ctx context.Context, db *pebble.Snapshot, now time.Time, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	c := &checker{ctx: ctx, db: db, fault: fault, show: progress, progress: store.NewPasses(0, passes, progress), future: store.FutureCheck{Now: now}}
	for _, step := range []func() error{c.open, c.entries, c.subjects, c.indexes, c.counts} {
		err := c.broken(store.Subject{}, 0, step())
		c.close()
		if err != nil {
			return store.Head{}, err
		}
	}
	c.progress.End()
	c.future.Report(fault)
	return c.tree.Head(), nil
}

// passes is how many passes a verification makes: over the log, the subjects and the indexes.
const passes = 3

// A checker is one call of Verify.
type checker struct {
	ctx      context.Context
	db       *pebble.Snapshot
	fault    func(store.Fault)
	show     func(done, total uint64) // may be nil
	progress *store.Passes
	views    []*view

	size    uint64     // of the log
	tree    ledger.Log // computed anew
	kept    uint64     // nodes that should be stored
	rows    uint64     // rows of the log that exist
	changes uint64     // changes of all subjects
	records uint64
	places  uint64 // locations of all records
	pending []store.Place
	future  store.FutureCheck
}

// view returns a view that is closed after the current step.
func (c *checker) view() (*view, error) {
	v, err := newView(c.db)
	if err == nil {
		c.views = append(c.views, v)
	}
	return v, err
}

func (c *checker) close() {
	for _, v := range c.views {
		v.close()
	}
	c.views = nil
}

func (c *checker) report(s store.Subject, seq uint64, format string, args ...any) {
	c.fault(store.Fault{Subject: s, Seq: seq, Problem: fmt.Sprintf(format, args...)})
}

// broken reports err as a fault if it is damage. Otherwise it returns err.
func (c *checker) broken(s store.Subject, seq uint64, err error) error {
	if err == nil {
		return nil
	}
	var bad *CorruptError
	if errors.As(err, &bad) || pebble.IsCorruptionError(err) {
		c.report(s, seq, "%s", firstLine(err))
		return nil
	}
	return err
}

func (c *checker) step() error {
	c.progress.Add(1)
	return c.ctx.Err()
}

func (c *checker) open() error {
	v, err := c.view()
	if err != nil {
		return err
	}
	c.size, err = v.logSize()
	c.progress = store.NewPasses(c.size, passes, c.show)
	return err
}

// entries computes the tree over all entries.
func (c *checker) entries() error {
	c.progress.Begin(c.size)
	v, err := c.view()
	if err != nil {
		return err
	}
	var leaf []byte
	for next := uint64(1); next <= c.size; {
		list, err := v.window(next, c.size, windowSize)
		if err != nil {
			return c.broken(store.Subject{}, next, err)
		}
		if len(list) == 0 {
			c.report(store.Subject{}, next, "changes %d to %d of the log are missing", next, c.size)
			return nil
		}
		for i := range list {
			f := &list[i]
			for ; next < f.row.seq; next++ {
				c.report(store.Subject{}, next, "change %d of the log is missing", next)
			}
			next++
			if leaf, err = c.entry(leaf[:0], f); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry verifies one entry. It uses leaf as a buffer.
func (c *checker) entry(leaf []byte, f *found) ([]byte, error) {
	c.rows++
	c.future.Add(f.row.subject, f.row.seq, f.row.time)
	if f.err != nil {
		return leaf, errors.Join(c.broken(f.row.subject, f.row.seq, f.err), c.step())
	}
	leaf = codec.AppendLeaf(leaf, f.entry)
	h := ledger.LeafHash(leaf)
	if !bytes.Equal(h[:markSize], f.row.mark[:]) {
		c.report(f.row.subject, f.row.seq, "revision %d was altered: it does not match the log", f.row.revision)
	}
	for _, n := range c.tree.AppendHash(nil, h) {
		c.kept++
		got, err := source{c.db}.Node(n.Level, n.Index)
		if err != nil {
			if err = c.broken(store.Subject{}, f.row.seq, err); err != nil {
				return leaf, err
			}
		} else if got != n.Hash {
			first := n.Index<<n.Level + 1
			c.report(store.Subject{}, f.row.seq, "changes %d to %d are not those of the log: its hash over them is another", first, f.row.seq)
		}
	}
	return leaf, c.step()
}

// subjects verifies every name and authority with its history, and every token.
func (c *checker) subjects() error {
	c.progress.Begin(c.size)
	v, err := c.view()
	if err != nil {
		return err
	}
	history, err := c.view()
	if err != nil {
		return err
	}
	for _, k := range []store.Kind{store.KindAuthority, store.KindName} {
		for s, err := range v.subjects(k) {
			if err == nil {
				err = c.subject(history, s)
			}
			if err != nil {
				return err
			}
		}
	}
	for s, err := range v.subjects(store.KindToken) {
		if err == nil {
			_, err = history.last(s)
		}
		if err := c.broken(s, 0, err); err != nil {
			return err
		}
	}
	return c.flush()
}

// subject verifies one subject, from its last change to its first.
func (c *checker) subject(v *view, s store.Subject) error {
	if !v.seek(s) {
		return v.failure(s.Key)
	}
	later, err := v.entry(s)
	if err != nil {
		return c.broken(s, 0, err)
	}
	c.changes++
	c.records += uint64(records(later.Change))
	if err := c.located(s, later.Change); err != nil {
		return err
	}
	var named, gone []uint64
	note := func(change *store.Change) {
		named = append(named, change.Redacts...)
		if change.Redacted {
			gone = append(gone, change.Revision())
		}
	}
	note(later.Change)
	if later.Change.Revision() > 1 {
		if err := c.history(v, s, later, note); err != nil {
			return err
		}
	}
	c.redactions(s, named, gone)
	return c.step()
}

// history verifies the changes before the last one.
func (c *checker) history(v *view, s store.Subject, later *store.Entry, note func(*store.Change)) error {
	beginning := appendHistory(nil, s)
	for ok := v.it.SeekGE(beginning); ok && isHistory(v.it.Key(), beginning); ok = v.it.Next() {
		key := v.it.Key()
		e, err := v.entry(s)
		c.changes++
		if err != nil {
			if err := c.broken(s, 0, err); err != nil {
				return err
			}
			continue
		}
		if !bytes.Equal(key[len(beginning):], appendStamp(nil, e.Change.Time, e.Change.Revision())) {
			c.report(s, e.Seq, "revision %d is stored under the key of another", e.Change.Revision())
		}
		if e.Change.Revision() != later.Change.Expected || e.Change.Time.After(later.Change.Time) {
			c.report(s, e.Seq, "revision %d of %v cannot be followed by revision %d of %v", e.Change.Revision(), e.Change.Time, later.Change.Revision(), later.Change.Time)
		}
		note(e.Change)
		later = e
		if err := c.step(); err != nil {
			return err
		}
	}
	if later.Change.Expected != 0 {
		c.report(s, later.Seq, "the revision before revision %d is missing", later.Change.Revision())
	}
	return v.failure(s.Key)
}

// redactions checks that the revisions named by redactions, and no others, are redacted.
func (c *checker) redactions(s store.Subject, named, gone []uint64) {
	slices.Sort(named)
	named = slices.Compact(named)
	slices.Sort(gone)
	for _, r := range named {
		if _, ok := slices.BinarySearch(gone, r); !ok {
			c.report(s, 0, "the content of revision %d exists although it was redacted", r)
		}
	}
	for _, r := range gone {
		if _, ok := slices.BinarySearch(named, r); !ok {
			c.report(s, 0, "the content of revision %d is missing although no change redacted it", r)
		}
	}
}

// located records the locations of a record for flush.
func (c *checker) located(s store.Subject, last *store.Change) error {
	if last.Record == nil {
		return nil
	}
	for _, url := range urls(nil, last) {
		c.pending = append(c.pending, store.Place{URL: url, Name: name.FromKey(s.Key)})
		c.places++
	}
	if len(c.pending) < windowSize {
		return nil
	}
	return c.flush()
}

// flush looks up the recorded locations in the order of the index.
func (c *checker) flush() error {
	slices.SortFunc(c.pending, store.Place.Compare)
	it, err := c.db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceLocation}, UpperBound: []byte{spaceLocation + 1}})
	if err != nil {
		return err
	}
	defer it.Close()
	var key []byte
	for _, p := range c.pending {
		key = appendPlace(key[:0], p)
		if !it.SeekGE(key) || !bytes.Equal(it.Key(), key) {
			if err := it.Error(); err != nil {
				return c.broken(store.Subject{}, 0, err)
			}
			c.report(store.Subject{Kind: store.KindName, Key: p.Name.Key()}, 0, "the index does not have its location %q", p.URL)
		}
	}
	c.pending = c.pending[:0]
	return nil
}

// indexes checks that there are no other nodes and locations than those found before.
func (c *checker) indexes() error {
	c.progress.Begin(c.kept + c.places)
	if err := c.broken(store.Subject{}, 0, c.nodes()); err != nil {
		return err
	}
	return c.index()
}

// nodes counts the stored nodes: entries has checked that all that should exist do.
func (c *checker) nodes() error { return c.count(spaceNode, c.kept, "nodes of the tree", nil) }

// index finds locations in the index that no record has.
func (c *checker) index() error {
	v, err := c.view()
	if err != nil {
		return err
	}
	return c.count(spaceLocation, c.places, "locations in the index", func(key []byte) error {
		p, err := parsePlace(key)
		if err != nil {
			return c.broken(store.Subject{}, 0, err)
		}
		s := store.Subject{Kind: store.KindName, Key: p.Name.Key()}
		last, err := v.last(s)
		if err != nil {
			return c.broken(s, 0, err)
		}
		if last == nil || !slices.Contains(urls(nil, last), p.URL) {
			c.report(s, 0, "the index has the location %q, which it does not have", p.URL)
		}
		return nil
	})
}

// count checks the number of keys of a space, and if it is wrong, calls each for every key.
func (c *checker) count(space byte, want uint64, what string, each func(key []byte) error) error {
	it, err := c.db.NewIter(&pebble.IterOptions{LowerBound: []byte{space}, UpperBound: []byte{space + 1}})
	if err != nil {
		return err
	}
	defer it.Close()
	got := uint64(0)
	for ok := it.First(); ok; ok = it.Next() {
		got++
		if err := c.step(); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return c.broken(store.Subject{}, 0, err)
	}
	if got == want {
		return nil
	}
	c.report(store.Subject{}, 0, "%d %s, expected %d", got, what, want)
	if each == nil {
		return nil
	}
	for ok := it.First(); ok; ok = it.Next() {
		if err := each(it.Key()); err != nil {
			return err
		}
	}
	return c.broken(store.Subject{}, 0, it.Error())
}

// counts checks the totals. Every row of the log refers to a different change, so if there
// are as many changes as rows, every change is in the log.
func (c *checker) counts() error {
	count := uint64(0)
	value, closer, err := c.db.Get([]byte(metaCount))
	switch {
	case err == nil:
		count, err = decodeNumber(metaCount, value)
		err = errors.Join(err, closer.Close())
	case err == pebble.ErrNotFound:
		err = nil
	}
	if err != nil {
		return c.broken(store.Subject{}, 0, err)
	}
	if count != c.records {
		c.report(store.Subject{}, 0, "%d records, but the stored count is %d", c.records, count)
	}
	orphans, err := c.orphans()
	if err != nil {
		return err
	}
	if c.changes+orphans != c.rows {
		return c.unlogged()
	}
	return nil
}

// orphans reports history without a subject, and returns the number of such subjects.
func (c *checker) orphans() (n uint64, err error) {
	v, err := c.view()
	if err != nil {
		return 0, err
	}
	it, err := c.db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceHistory}, UpperBound: []byte{spaceHistory + 1}})
	if err != nil {
		return 0, err
	}
	defer it.Close()
	var last []byte
	for ok := it.First(); ok; ok = it.Next() {
		s, beginning := historySubject(it.Key())
		if bytes.Equal(beginning, last) {
			continue
		}
		last = bytes.Clone(beginning)
		if s.Kind != 0 && v.seek(s) {
			e, err := v.entry(s)
			if err != nil || e.Change.Revision() > 1 {
				continue // it was checked, or cannot be
			}
		}
		c.report(s, 0, "there is history, but the last change is missing")
		n++
	}
	return n, c.broken(store.Subject{}, 0, it.Error())
}

// historySubject returns the subject of a history key, the zero one if the key is invalid,
// and the prefix of its keys.
func historySubject(key []byte) (store.Subject, []byte) {
	end := len(key) - stampSize
	if end < 3 || key[end-1] != 0 {
		return store.Subject{}, key
	}
	s := store.Subject{Key: string(key[2 : end-1])}
	switch key[1] {
	case spaceName:
		s.Kind = store.KindName
	case spaceAuthority:
		s.Kind = store.KindAuthority
	}
	return s, key[:end]
}

// unlogged reports changes to which no row of the log refers.
func (c *checker) unlogged() error {
	v, err := c.view()
	if err != nil {
		return err
	}
	rows, err := c.view()
	if err != nil {
		return err
	}
	for _, k := range []store.Kind{store.KindAuthority, store.KindName} {
		for s, err := range v.subjects(k) {
			if err != nil {
				return err
			}
			if err := c.unloggedOf(rows, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) unloggedOf(v *view, s store.Subject) error {
	var all []*store.Entry
	if v.seek(s) {
		if e, err := v.entry(s); err == nil {
			all = append(all, e)
		}
	}
	beginning := appendHistory(nil, s)
	for ok := v.it.SeekGE(beginning); ok && isHistory(v.it.Key(), beginning); ok = v.it.Next() {
		if e, err := v.entry(s); err == nil {
			all = append(all, e)
		}
	}
	for _, e := range all {
		v.key = appendSeq(v.key[:0], e.Seq)
		if v.it.SeekGE(v.key) && bytes.Equal(v.it.Key(), v.key) {
			value, err := v.it.ValueAndErr()
			if err != nil {
				return c.broken(s, e.Seq, err)
			}
			row, err := parseRow(v.it.Key(), value)
			if err == nil && row.subject == s && row.revision == e.Change.Revision() {
				continue
			}
		}
		c.report(s, e.Seq, "revision %d is not in the log", e.Change.Revision())
	}
	return v.failure(s.Key)
}
