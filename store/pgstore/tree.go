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

// EntryOf first searches nearRows rows before and after the expected position of an entry, and then
// the whole log. The times in the log ascend except for differences between the clocks of nodes. An
// entry is therefore usually in one of the two rows at the expected position.
const nearRows = 128

const (
	// searchLog finds rows of a part of the log by the beginning of the encoding of an entry.
	searchLog     = "select chunk, entries from nomen_log where chunk >= $1 and chunk < $2 and position($3::bytea in entries) > 0 order by chunk"
	searchPending = "select exists(select 1 from nomen_pending where position($1::bytea in entries) > 0)"
)

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

// EntryOf implements [store.TreeReader]. The database has no index from changes to their positions
// in the log, so EntryOf searches the log by the time of the change.
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
			e.Seq, err = positionOf(ctx, tx, h.Size, &entry{kind: subject.Kind, key: subject.Key, revision: revision, time: row.time}, 1, nearRows)
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

const maxRevision = 1<<63 - 1

type revisionRow struct {
	Time, Revision int64
	Salt, Value    []byte
}

// positionOf returns the number of a change in a log of the given size. The changes are not exactly
// in the order of their times: a clock can have been wrong for a while, and many changes have the
// same time after 'nomen migrate --repair-times'. So positionOf finds the expected row by the time
// of the change, and searches the rows around it, up to each of the distances in near. Then it
// searches the whole log. If the change is not sealed yet, positionOf returns 0.
func positionOf(ctx context.Context, c queryer, size uint64, wanted *entry, near ...int64) (uint64, error) {
	rows := int64((size + chunkSize - 1) / chunkSize)
	place, err := rowAfter(ctx, c, rows, wanted.time)
	if err != nil {
		return 0, err
	}
	for _, distance := range near {
		if seq, err := searchRows(ctx, c, max(place-distance, 0), min(place+distance, rows), wanted); seq > 0 || err != nil {
			return seq, err
		}
	}
	var waits bool
	if err := c.QueryRow(ctx, searchPending, wanted.appendTo(nil, 0)).Scan(&waits); waits || err != nil {
		return 0, err
	}
	return searchRows(ctx, c, 0, rows, wanted)
}

// rowAfter returns the number of the first row of the log that begins after the given time. It does
// a binary search, which assumes that the times of the rows ascend.
func rowAfter(ctx context.Context, c queryer, rows, moment int64) (int64, error) {
	from, to := int64(0), rows
	for from < to {
		middle := from + (to-from)/2
		entries, _, err := (&source{ctx: ctx, c: c}).row(uint64(middle))
		if err != nil {
			return 0, err
		}
		first, err := firstEntry(entries)
		switch {
		case err != nil:
			return 0, err
		case first.time > moment:
			to = middle
		default:
			from = middle + 1
		}
	}
	return from, nil
}

func firstEntry(b []byte) (entry, error) {
	if len(b) > 0 {
		if e, _, ok := readEntry(b, checkSize); ok {
			return e, nil
		}
	}
	return entry{}, fmt.Errorf("%w: the first entry of a row of nomen_log", errBroken)
}

func searchRows(ctx context.Context, c queryer, from, to int64, wanted *entry) (uint64, error) {
	found, err := collect(ctx, c, pgx.RowToStructByPos[foundRow], searchLog, from, to, wanted.appendTo(nil, 0))
	if err != nil {
		return 0, err
	}
	for _, row := range found {
		entries, err := readEntries(row.Entries, checkSize)
		if err != nil {
			return 0, err
		}
		for i := range entries {
			if e := &entries[i]; e.revision == wanted.revision && e.subject() == wanted.subject() {
				return uint64(row.Chunk)*chunkSize + uint64(i) + 1, nil
			}
		}
	}
	return 0, nil
}

// A foundRow is a row in the result of searchLog.
type foundRow struct {
	Chunk   int64
	Entries []byte
}
