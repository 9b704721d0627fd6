package pebblestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/check"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// Verify implements [store.Verifier]. It reads the log in windows, of which at most one is in
// memory. Then it reads the subjects with their histories, and finally the index.
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
	return verify(ctx, snap, s.now(), fault, progress)
}

func verify(ctx context.Context, db *pebble.Snapshot, now time.Time, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	m := moment{db, pacer.Begin(ctx)}
	src := &check.Source{
		Now: now, Count: -1, Node: source{db}.Node, Log: m.log, Changes: m.changes, Descending: true,
		Places: m.places, Tokens: m.tokens, Damaged: pebble.IsCorruptionError,
	}
	err := viewing(db, func(v *view) (err error) { src.Size, err = v.logSize(); return err })
	if err != nil {
		fault(store.Fault{Problem: firstLine(err)})
	}
	if count, _, err := number(db, metaCount); err != nil {
		fault(store.Fault{Problem: firstLine(err)})
	} else {
		src.Count = int64(count)
	}
	head, err := check.Run(ctx, src, fault, progress)
	if err != nil {
		return head, err
	}
	return head, m.nodes(src.Size, fault)
}

// A moment is the content of a store in a snapshot.
type moment struct {
	db   *pebble.Snapshot
	turn *pacer.Turn
}

func (m moment) log(leaves bool) iter.Seq2[check.Row, error] {
	return reading.Seq(func(yield func(check.Row, error) bool) error {
		return viewing(m.db, func(v *view) error {
			v.turn = m.turn
			for next := uint64(1); ; {
				list, err := v.rows(next, windowSize)
				if err != nil || len(list) == 0 {
					return err
				}
				if leaves {
					v.leafAll(list)
				}
				for i := range list {
					if !yield(list[i].checked(), nil) {
						return nil
					}
				}
				next = list[len(list)-1].row.seq + 1
			}
		})
	})
}

func (f *foundEntry) checked() check.Row {
	return check.Row{Seq: f.row.seq, Subject: f.row.subject, Revision: f.row.revision, Time: f.row.time, Mark: f.row.mark[:], Leaf: f.leaf, Err: f.err}
}

// changes yields the changes of all subjects, subject by subject. The last change of a subject
// comes first.
func (m moment) changes() iter.Seq2[check.Change, error] {
	return reading.Seq(func(yield func(check.Change, error) bool) error {
		return m.eachChange(func(c check.Change) bool { return yield(c, nil) })
	})
}

// eachChange calls yield with the changes of all subjects until yield returns false. In a damaged
// store, a subject can have a history without a last change.
func (m moment) eachChange(yield func(check.Change) bool) error {
	past, err := m.iterate(spaceHistory)
	if err != nil {
		return err
	}
	defer past.close()
	past.it.First()
	for _, kind := range []store.Kind{store.KindAuthority, store.KindTokenRights, store.KindName, store.KindUser} { // in the order of their key spaces
		present, err := m.iterate(space(kind))
		if err != nil {
			return err
		}
		defer present.close()
		for ok := present.it.First(); ok; ok = present.it.Next() {
			key := append(bytes.Clone(present.it.Key()), 0)
			if !past.pass(yield, func(subject []byte) bool { return bytes.Compare(subject, key) < 0 }) ||
				!yield(present.newest(store.Subject{Kind: kind, Key: string(key[1 : len(key)-1])})) ||
				!past.pass(yield, func(subject []byte) bool { return bytes.Equal(subject, key) }) {
				return nil
			}
		}
		if err := present.failure(string(space(kind))); err != nil {
			return err
		}
	}
	past.pass(yield, func([]byte) bool { return true })
	return past.failure("history")
}

func (m moment) iterate(space byte) (*view, error) {
	it, err := m.db.NewIter(&pebble.IterOptions{LowerBound: []byte{space}, UpperBound: []byte{space + 1}})
	return &view{it: it}, err
}

func (v *view) newest(s store.Subject) check.Change {
	c := check.Change{Subject: s, Last: true}
	if c.Entry, c.Err = v.entry(s); c.Err == nil {
		c.Revision, c.Time = c.Entry.Change.Revision(), c.Entry.Change.Time
	}
	return c
}

// pass calls yield for the history from the position of v. It returns true as soon as more returns
// false for the key prefix of a subject. It returns false if yield returns false.
func (v *view) pass(yield func(check.Change) bool, more func(subject []byte) bool) bool {
	for ; v.it.Valid(); v.it.Next() {
		key := v.it.Key()[1:]
		end := len(key) - stampSize
		if end < 2 || key[end-1] != 0 {
			if !yield(check.Change{Err: &CorruptError{Key: string(key), Reason: "not a key of the history"}}) {
				return false
			}
			continue
		}
		if !more(key[:end]) {
			return true
		}
		if !yield(v.past(key, end)) {
			return false
		}
	}
	return true
}

// past returns the change in the history at the position of v. The stamp of the change is
// key[end:].
func (v *view) past(key []byte, end int) check.Change {
	c := check.Change{Subject: store.Subject{Kind: kindIn(key[0])}}
	if c.Subject.Kind == 0 {
		c.Err = &CorruptError{Key: string(key), Reason: "not a key of the history"}
		return c
	}
	c.Subject.Key = string(key[1 : end-1])
	c.Time = fromMillis(int64(^binary.BigEndian.Uint64(key[end:]) ^ 1<<63))
	c.Revision = ^binary.BigEndian.Uint64(key[end+8:])
	c.Entry, c.Err = v.entry(c.Subject)
	return c
}

func (m moment) places() iter.Seq2[check.Place, error] {
	return each(m, spaceLocation, "index", func(v *view) (check.Place, error) {
		p, err := parsePlace(v.it.Key())
		return check.Place{Place: p, Err: err}, nil
	})
}

func (m moment) tokens() iter.Seq2[check.Token, error] {
	return each(m, spaceToken, "tokens", func(v *view) (check.Token, error) {
		t := check.Token{ID: string(v.it.Key()[1:])}
		c, err := v.change(store.Subject{Kind: store.KindToken, Key: t.ID})
		if err != nil {
			t.Err = err
			return t, nil
		}
		t.Token = c.Token
		return t, nil
	})
}

// each yields the result of read for each key of a key space. The parameter title describes the key
// space in errors.
func each[T any](m moment, space byte, title string, read func(*view) (T, error)) iter.Seq2[T, error] {
	return reading.Seq(func(yield func(T, error) bool) error {
		v, err := m.iterate(space)
		if err != nil {
			return err
		}
		defer v.close()
		for ok := v.it.First(); ok; ok = v.it.Next() {
			if !yield(read(v)) {
				return nil
			}
		}
		return v.failure(title)
	})
}

// nodes reports stored nodes that cannot be in the Merkle tree of a log of the given size. It does
// not check the hashes of the nodes.
func (m moment) nodes(size uint64, fault func(store.Fault)) error {
	v, err := m.iterate(spaceNode)
	if err != nil {
		return err
	}
	defer v.close()
	want, got := uint64(0), uint64(0)
	for level := ledger.MinLevel; size>>level > 0; level++ {
		want += size >> level
	}
	for ok := v.it.First(); ok; ok = v.it.Next() {
		m.turn.Rest(nil)
		got++
	}
	switch err := v.it.Error(); {
	case pebble.IsCorruptionError(err):
		fault(store.Fault{Problem: firstLine(err)})
	case err != nil:
		return err
	case got != want:
		fault(store.Fault{Problem: fmt.Sprintf("%d nodes of the tree, expected %d", got, want)})
	}
	return nil
}
