package pgstore

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// maxSearched is how many rows of the log EntryOf reads before and after the row where it expects
// an entry: 65,536 entries. The times of the log ascend, apart from differences between the clocks
// of nodes, so an entry is usually in the first or second row.
const maxSearched = 128

// Leaves implements [store.TreeReader].
func (s *Store) Leaves(ctx context.Context, after, end uint64) iter.Seq2[[]byte, error] {
	return reading.Seq(func(yield func([]byte, error) bool) error {
		h, err := s.Head(ctx)
		if err != nil {
			return err
		}
		if err := s.enter(ctx); err != nil {
			return err
		}
		defer s.gate.Leave()
		turn := pacer.Begin(ctx)
		var leaf []byte
		for after < min(end, h.Size) {
			page, err := s.feedPage(ctx, after, min(end, h.Size, after+feedChunks*chunkSize))
			if err != nil {
				return failed("read changes", err)
			}
			for _, e := range page {
				if err := turn.Step(ctx); err != nil {
					return err
				}
				leaf = codec.AppendLeaf(leaf[:0], e)
				if !yield(leaf, nil) {
					return nil
				}
			}
			after += uint64(len(page))
		}
		if after < end {
			return fmt.Errorf("pgstore: the log has %d entries, fewer than %d", h.Size, end)
		}
		return ctx.Err()
	})
}

// Nodes implements [store.TreeReader].
func (s *Store) Nodes(ctx context.Context, level int, first, end uint64) ([][32]byte, error) {
	h, err := s.Head(ctx)
	if err != nil {
		return nil, err
	}
	return s.prove(ctx, 0, func(src ledger.Source) ([][32]byte, error) { return ledger.Nodes(src, h.Size, level, first, end) })
}

// EntryOf implements [store.TreeReader]. The database has no index of positions, so EntryOf looks
// for the time of the change in the log.
func (s *Store) EntryOf(ctx context.Context, subject store.Subject, revision uint64) (found *store.Entry, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	if !printable(subject.Key) || subject.Kind == store.KindToken || revision > maxRevision {
		return nil, store.ErrNotFound
	}
	err = s.snapshot(ctx, true, func(ctx context.Context, tx pgx.Tx, _ *bool) error {
		rows, err := collect(ctx, tx, pgx.RowToStructByPos[revisionRow], readRevisions, subject.Kind, subject.Key, []int64{int64(revision)})
		if err != nil || len(rows) == 0 {
			return err
		}
		r := rows[0]
		row := changeRow{subject, r.Time, r.Revision, r.Salt, r.Value}
		e, err := row.decode()
		if err != nil {
			return err
		}
		h, err := head(ctx, tx)
		if err == nil {
			e.Seq, err = positionOf(ctx, tx, h.Size, subject, row.time, revision)
		}
		if err == nil && e.Seq > 0 {
			found = e
		}
		return err
	})
	if err == nil && found == nil {
		err = store.ErrNotFound
	}
	return found, err
}

// maxRevision is the greatest revision that a column of the database can have.
const maxRevision = 1<<63 - 1

// A revisionRow is a row of readRevisions.
type revisionRow struct {
	Time, Revision int64
	Salt, Value    []byte
}

// positionOf returns the number of the change that made a revision of a subject, in a log of the
// given size. The parameter at is the time of the change. The log is only nearly in the order of
// time, so positionOf reads up to maxSearched rows before and after the row where this time
// belongs. If none of them has the change, it returns 0.
func positionOf(ctx context.Context, c queryer, size uint64, subject store.Subject, at int64, revision uint64) (uint64, error) {
	rows := int64((size + chunkSize - 1) / chunkSize)
	read := func(chunk int64) ([]entry, error) {
		entries, _, err := (&source{ctx: ctx, c: c}).row(uint64(chunk))
		if err != nil {
			return nil, err
		}
		return readEntries(entries, checkSize)
	}
	from, to := int64(0), rows // the first row that begins after the time is in [from, to]
	for from < to {
		middle := from + (to-from)/2
		entries, err := read(middle)
		switch {
		case err != nil:
			return 0, err
		case len(entries) == 0 || entries[0].time > at:
			to = middle
		default:
			from = middle + 1
		}
	}
	for distance := int64(0); distance <= maxSearched; distance++ {
		for _, chunk := range []int64{from - 1 - distance, from + distance} {
			if chunk < 0 || chunk >= rows {
				continue
			}
			entries, err := read(chunk)
			if err != nil {
				return 0, err
			}
			for i := range entries {
				if e := &entries[i]; e.revision == revision && e.subject() == subject {
					return uint64(chunk)*chunkSize + uint64(i) + 1, nil
				}
			}
		}
	}
	return 0, nil
}
