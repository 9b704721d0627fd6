package pebblestore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// windowSize is the maximum number of entries that are read together, in the order of their keys on
// disk.
const windowSize = 1024

// firstWindow is the number of entries in the first window. It is small because some readers need
// only one entry. Every further window is four times as large, up to windowSize.
const firstWindow = 16

func logOf(db pebble.Reader) (log ledger.Log, err error) {
	err = viewing(db, func(v *view) error {
		size, err := v.logSize()
		if err == nil {
			log, err = ledger.Open(size, source{db})
		}
		return err
	})
	return log, err
}

func (v *view) logSize() (uint64, error) {
	if !v.it.SeekLT([]byte{spaceLog + 1}) || v.it.Key()[0] != spaceLog {
		return 0, v.failure("log")
	}
	if key := v.it.Key(); len(key) == 9 {
		return binary.BigEndian.Uint64(key[1:]), nil
	}
	return 0, &CorruptError{Key: string(v.it.Key()), Reason: "not a key of the log"}
}

type foundEntry struct {
	row   *logRow
	entry *store.Entry
	leaf  ledger.Hash // zero unless it was read
	bytes []byte      // the leaf itself; nil unless it was read
	err   error
}

// rows reads at most n rows of the log, from the row number start, without reading the changes.
func (v *view) rows(start uint64, n int) ([]foundEntry, error) {
	var list []foundEntry
	v.key = appendSeq(v.key[:0], start)
	for ok := v.it.SeekGE(v.key); ok && v.it.Key()[0] == spaceLog && len(list) < n; ok = v.it.Next() {
		value, err := v.it.ValueAndErr()
		if err != nil {
			return nil, unreadable("log", err)
		}
		row, err := parseRow(v.it.Key(), value)
		if row == nil {
			return nil, err
		}
		list = append(list, foundEntry{row: row, err: err})
	}
	return list, v.failure("log")
}

func (v *view) lookupAll(list []foundEntry) { v.readAll(list, (*foundEntry).decode) }

// leafAll computes the leaf hashes of rows. It decodes an entry only if the leaf cannot be computed
// from the stored value, or does not match the row.
func (v *view) leafAll(list []foundEntry) { v.readAll(list, (*foundEntry).hash) }

func (v *view) readAll(list []foundEntry, take func(f *foundEntry, value []byte)) {
	order := make([]*foundEntry, 0, len(list))
	for i := range list {
		if list[i].err == nil {
			order = append(order, &list[i])
		}
	}
	slices.SortFunc(order, func(a, b *foundEntry) int {
		return cmp.Or(cmp.Compare(a.row.subject.Kind, b.row.subject.Kind), cmp.Compare(a.row.subject.Key, b.row.subject.Key))
	})
	l := lookups{present: cursor{view: view{it: v.it}}}
	defer l.close()
	for _, f := range order {
		v.turn.Rest(nil)
		value, err := l.value(f.row)
		if f.err = err; err == nil {
			take(f, value)
		}
	}
}

func (f *foundEntry) decode(value []byte) {
	e, err := codec.DecodeEntry(f.row.subject, value)
	f.entry, f.err = placed(e, f.row, err)
}

func (f *foundEntry) hash(value []byte) {
	var room [256]byte
	f.appendLeaf(room[:0], value)
}

// text computes the leaf of the entry, and the hash of the leaf, from the stored value.
func (f *foundEntry) text(value []byte) { f.bytes = f.appendLeaf(nil, value) }

func (f *foundEntry) appendLeaf(b, value []byte) []byte {
	p := codec.Position{Subject: f.row.subject, Seq: f.row.seq, Revision: f.row.revision, Time: f.row.time}
	if leaf, ok := codec.AppendStoredLeaf(b, p, value); ok {
		if h := ledger.LeafHash(leaf); bytes.HasPrefix(h[:], f.row.mark[:]) {
			f.leaf = h
			return leaf
		}
	}
	if f.decode(value); f.entry == nil {
		return b
	}
	leaf := codec.AppendLeaf(b, f.entry)
	f.leaf = ledger.LeafHash(leaf)
	return leaf
}

// lookups reads the stored values of entries in the order of their subjects. It has separate
// iterators for last changes and for the history, because an iterator is fastest if it only moves
// forward.
type lookups struct {
	present cursor
	past    *view // nil until it is needed
}

// close closes the view of the history. It does not close the iterator for last changes.
func (l *lookups) close() {
	if l.past != nil {
		l.past.close()
	}
}

// value returns the stored value of the entry of a row. The value is valid until the next call.
func (l *lookups) value(row *logRow) ([]byte, error) {
	if l.present.seek(row.subject) {
		value, err := l.present.it.ValueAndErr()
		if err != nil {
			return nil, unreadable(row.subject.Key, err)
		}
		if r := codec.RevisionOf(value); r == row.revision || r == 0 {
			return value, nil
		}
	} else if err := l.present.failure(row.subject.Key); err != nil {
		return nil, err
	}
	return l.earlier(row)
}

// earlier is like value, for an entry in the history.
func (l *lookups) earlier(row *logRow) (_ []byte, err error) {
	if l.past == nil {
		if l.past, err = l.present.clone(); err != nil {
			return nil, err
		}
	}
	v := l.past
	v.key = appendStamp(appendHistory(v.key[:0], row.subject), row.time, row.revision)
	if v.it.SeekGE(v.key) && bytes.Equal(v.it.Key(), v.key) {
		value, err := v.it.ValueAndErr()
		if err != nil {
			return nil, unreadable(row.subject.Key, err)
		}
		return value, nil
	}
	if err := v.failure(row.subject.Key); err != nil {
		return nil, err
	}
	return nil, row.damage("revision %d, change %d of the log, is missing", row.revision, row.seq)
}

func placed(e *store.Entry, row *logRow, err error) (*store.Entry, error) {
	switch {
	case err != nil:
		return nil, err
	case e.Seq != row.seq:
		return nil, row.damage("revision %d has number %d in the log, expected %d", row.revision, e.Seq, row.seq)
	case e.Change.Revision() != row.revision || !e.Change.Time.Equal(row.time):
		return nil, row.damage("change %d of the log is not revision %d of %v", row.seq, row.revision, row.time)
	}
	return e, nil
}

func (r *logRow) damage(format string, args ...any) error {
	return &CorruptError{Key: r.subject.Key, Reason: fmt.Sprintf(format, args...)}
}

// all yields the entries with the numbers start+1 to end. If an entry is missing, it yields an
// error.
func (v *view) all(ctx context.Context, start, end uint64) iter.Seq2[*store.Entry, error] {
	return reading.Seq(func(yield func(*store.Entry, error) bool) error {
		v.turn = pacer.Begin(ctx)
		for window := uint64(firstWindow); start < end; window = min(4*window, windowSize) {
			list, err := v.rows(start+1, int(min(end-start, window)))
			if err == nil && len(list) == 0 {
				err = &CorruptError{Key: "log", Reason: fmt.Sprintf("change %d is missing", start+1)}
			}
			if err != nil {
				return err
			}
			v.lookupAll(list)
			for _, f := range list {
				if start++; f.err == nil && f.row.seq != start {
					f.err = f.row.damage("change %d of the log is missing", start)
				}
				if err := cmp.Or(f.err, v.turn.Step(ctx)); err != nil || !yield(f.entry, nil) {
					return err
				}
			}
		}
		return nil
	})
}

// A source reads the Merkle tree for package ledger.
type source struct{ db pebble.Reader }

func (s source) Node(level int, index uint64) (h ledger.Hash, err error) {
	key := appendNode(nil, level, index)
	value, closer, err := s.db.Get(key)
	switch {
	case err == pebble.ErrNotFound:
		return h, &CorruptError{Key: string(key), Reason: "a node of the log is missing"}
	case err != nil:
		return h, unreadable(string(key), err)
	}
	defer closer.Close()
	if copy(h[:], value) != len(h) || len(value) != len(h) {
		return h, &CorruptError{Key: string(key), Reason: "not a node of the log"}
	}
	return h, nil
}

func (s source) Leaves(from, to uint64) iter.Seq2[ledger.Hash, error] {
	return reading.Seq(func(yield func(ledger.Hash, error) bool) error {
		return viewing(s.db, func(v *view) error {
			_, err := v.leaves(context.Background(), from, to, (*foundEntry).hash, func(f *foundEntry) bool { return yield(f.leaf, nil) })
			return err
		})
	})
}

// Changes implements [store.Feed]. All entries on disk are sealed.
func (s *Store) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return reading.Seq(func(yield func(*store.Entry, error) bool) error {
		return s.usingLog(ctx, func(e *engine) error {
			size := s.sealed.size()
			return viewing(e.db, func(v *view) error {
				for e, err := range v.all(ctx, after, size) {
					if err != nil || !yield(e, nil) {
						return err
					}
				}
				return nil
			})
		})
	})
}

// usingLog calls f with the current engine. If the log is damaged, it returns an error instead.
func (s *Store) usingLog(ctx context.Context, f func(*engine) error) error {
	return s.using(ctx, func(e *engine) error {
		if e.damage != nil {
			return e.damage
		}
		return f(e)
	})
}

// Head implements [store.Feed].
func (s *Store) Head(ctx context.Context) (h store.Head, err error) {
	err = s.usingLog(ctx, func(*engine) error { h = s.sealed.head(); return nil })
	return h, err
}

// ProveEntry implements [store.Prover].
func (s *Store) ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error) {
	return s.prove(ctx, size, func(src source) ([][32]byte, error) { return ledger.ProveInclusion(src, size, seq) })
}

// ProveHead implements [store.Prover].
func (s *Store) ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error) {
	return s.prove(ctx, later, func(src source) ([][32]byte, error) { return ledger.ProveConsistency(src, later, earlier) })
}

func (s *Store) prove(ctx context.Context, size uint64, prove func(source) ([][32]byte, error)) (proof [][32]byte, err error) {
	err = s.usingLog(ctx, func(e *engine) error {
		if n := s.sealed.size(); size > n {
			return fmt.Errorf("pebblestore: the log has %d entries, fewer than %d", n, size)
		}
		snap := e.db.NewSnapshot()
		defer snap.Close()
		proof, err = prove(source{snap})
		return err
	})
	return proof, err
}
