package pebblestore

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/nomen-project/nomen/internal/check"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// The number of leaves that are read together. The first window has the size of a tile, and every
// further window is four times as large, up to leafWindow. The changes of a window are read in the
// order of their keys. Large windows are therefore faster if the log is not in this order.
const (
	firstLeafWindow = 256
	leafWindow      = 1 << 15
)

// Leaves implements [store.TreeReader].
func (s *Store) Leaves(ctx context.Context, after, end uint64) iter.Seq2[[]byte, error] {
	return reading.Seq(func(yield func([]byte, error) bool) error {
		return s.usingLog(ctx, func(e *engine) error {
			size, all := s.sealed.size(), false
			err := viewing(e.db, func(v *view) (err error) {
				v.turn = pacer.Begin(ctx)
				all, err = v.leaves(ctx, after, min(end, size), (*foundEntry).text, func(f *foundEntry) bool { return yield(f.bytes, nil) })
				return err
			})
			if all && end > size && end > after {
				err = fmt.Errorf("pebblestore: the log has %d entries, fewer than %d", size, end)
			}
			return err
		})
	})
}

// leaves calls yield for the entries start+1 to end of the log, until yield returns false. For each
// entry, it first calls take with the stored value, to compute the leaf. The result all reports
// whether yield was called for all entries.
func (v *view) leaves(ctx context.Context, start, end uint64, take func(*foundEntry, []byte), yield func(*foundEntry) bool) (all bool, err error) {
	for window := uint64(firstLeafWindow); start < end; window = min(4*window, leafWindow) {
		list, err := v.rows(start+1, int(min(end-start, window)))
		if err == nil && len(list) == 0 {
			err = &CorruptError{Key: "log", Reason: fmt.Sprintf("change %d is missing", start+1)}
		}
		if err != nil {
			return false, err
		}
		v.readAll(list, take)
		for i := range list {
			f := &list[i]
			if start++; f.err == nil && f.row.seq != start {
				f.err = f.row.damage("change %d of the log is missing", start)
			}
			if f.err != nil {
				return false, f.err
			}
			if err := v.turn.Step(ctx); err != nil {
				return false, err
			}
			if !yield(f) {
				return false, nil
			}
		}
	}
	return true, nil
}

// Nodes implements [store.TreeReader].
func (s *Store) Nodes(ctx context.Context, level int, first, end uint64) (hashes [][32]byte, err error) {
	err = s.usingLog(ctx, func(e *engine) error {
		hashes, err = ledger.Nodes(source{e.db}, s.sealed.size(), level, first, end)
		return err
	})
	return hashes, err
}

// EntryOf implements [store.TreeReader].
func (s *Store) EntryOf(ctx context.Context, subject store.Subject, revision uint64) (found *store.Entry, err error) {
	if subject.Kind == store.KindToken {
		return nil, store.ErrNotFound
	}
	err = s.usingLog(ctx, func(e *engine) error {
		size := s.sealed.size()
		return viewing(e.db, func(v *view) error {
			found, err = v.entryOf(subject, revision)
			if err == nil && (found == nil || found.Seq > size) {
				err = store.ErrNotFound
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (v *view) entryOf(s store.Subject, revision uint64) (*store.Entry, error) {
	if !v.seek(s) {
		return nil, v.failure(s.Key)
	}
	match := func() (*store.Entry, bool, error) {
		value, err := v.it.ValueAndErr()
		if err != nil {
			return nil, false, unreadable(s.Key, err)
		}
		if codec.RevisionOf(value) != revision {
			return nil, false, nil
		}
		e, err := codec.DecodeEntry(s, value)
		return e, true, err
	}
	if e, ok, err := match(); ok || err != nil {
		return e, err
	}
	beginning := appendHistory(nil, s)
	for ok := v.it.SeekGE(beginning); ok && isHistory(v.it.Key(), beginning); ok = v.it.Next() {
		if e, ok, err := match(); ok || err != nil {
			return e, err
		}
	}
	return nil, v.failure(s.Key)
}

// ScanLeaves implements [store.LeafScanner]. It reads the changes in the order of their keys, which
// is the order on disk.
func (s *Store) ScanLeaves(ctx context.Context, size uint64, f func(seq uint64, hash [32]byte) bool) error {
	return s.usingLog(ctx, func(e *engine) error {
		snap := e.db.NewSnapshot()
		defer snap.Close()
		var leaf []byte
		var failed error
		turn := pacer.Begin(ctx)
		err := moment{db: snap}.eachChange(func(c check.Change) bool {
			if failed = cmp.Or(c.Err, turn.Step(ctx)); failed != nil {
				return false
			}
			if c.Entry.Seq > size {
				return true
			}
			leaf = codec.AppendLeaf(leaf[:0], c.Entry)
			return f(c.Entry.Seq, ledger.LeafHash(leaf))
		})
		return cmp.Or(failed, err)
	})
}
