package pgstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/check"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const (
	verifyHead    = "select size, names, hash from nomen_head where id = 1"
	verifyPending = "select id, part, names, entries from nomen_pending order by stamp, id, part"
	verifyLog     = "select chunk, entries, hashes from nomen_log where chunk >= $1 order by chunk limit $2"
	verifyLast    = "select chunk, entries from nomen_log order by chunk desc limit 1"
	verifyPlaces  = `select head, mark, key, rest from nomen_place
	where (head, mark, key) > ($1, $2, $3) order by head, mark, key limit $4`
)

// Verify implements [store.Verifier]. It reads everything in one snapshot.
func (s *Store) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (h store.Head, err error) {
	if err := s.enter(ctx); err != nil {
		return h, err
	}
	defer s.gate.Leave()
	err = s.snapshot(ctx, true, func(ctx context.Context, tx pgx.Tx, begun *bool) error {
		v := &verifier{ctx: ctx, tx: tx, fault: func(f store.Fault) {
			*begun = true
			fault(f)
		}}
		src := &check.Source{
			Now: s.now(), Log: v.log, Node: v.node, Changes: v.changes, Places: v.places, Tokens: v.tokens,
			Damaged: func(err error) bool { return errors.Is(err, errBroken) },
		}
		if err := errors.Join(v.readHead(src), v.readPending(src)); err != nil {
			return err
		}
		v.size = src.Size
		h, err = check.Run(ctx, src, v.fault, progress)
		return err
	})
	return h, err
}

type verifier struct {
	ctx    context.Context
	tx     pgx.Tx
	fault  func(store.Fault)
	size   uint64
	chunk  int64 // the row of nomen_log that was read last
	hashes []ledger.Hash
}

// readHead reads the head of the log. If the head is missing, readHead derives the size of the log
// from the rows.
func (v *verifier) readHead(src *check.Source) error {
	var hash []byte
	head := &store.Head{}
	err := v.tx.QueryRow(v.ctx, verifyHead).Scan(&head.Size, &src.Count, &hash)
	if !errors.Is(err, pgx.ErrNoRows) {
		src.Size, src.Head = head.Size, head
		copy(head.Hash[:], hash)
		return err
	}
	v.fault(store.Fault{Problem: "nomen_head has no row: the end of the log is unknown, and nothing can be sealed"})
	src.Count = -1
	var chunk uint64
	var b []byte
	if err = v.tx.QueryRow(v.ctx, verifyLast).Scan(&chunk, &b); errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	entries, _ := readEntries(b, checkSize) // errors are reported with the row
	src.Size = chunk*chunkSize + uint64(len(entries))
	return err
}

func (v *verifier) readPending(src *check.Source) error {
	rows, err := v.tx.Query(v.ctx, verifyPending)
	if err != nil {
		return err
	}
	var id, b []byte
	var part, names int64
	_, err = pgx.ForEachRow(rows, []any{&id, &part, &names, &b}, func() error {
		entries, err := readEntries(b, len(ledger.Hash{}))
		if err != nil {
			v.fault(store.Fault{Problem: fmt.Sprintf("row %x, part %d of nomen_pending cannot be read, and nothing can be sealed: %v", id, part, err)})
		}
		for i := range entries {
			src.Waiting = append(src.Waiting, entries[i].row())
		}
		if src.Count >= 0 {
			src.Count += names
		}
		return nil
	})
	return err
}

// row converts e to a row of the log without a number.
func (e *entry) row() check.Row {
	return check.Row{Subject: e.subject(), Revision: e.revision, Time: time.UnixMilli(e.time).UTC(), Mark: e.leaf[:checkSize]}
}

func (v *verifier) log(leaves bool) iter.Seq2[check.Row, error] {
	return reading.Seq(func(yield func(check.Row, error) bool) error {
		for next := int64(0); ; next = v.chunk + 1 {
			page, err := v.logRows(next)
			if err != nil || len(page) == 0 {
				return err
			}
			for i := range page {
				rows, err := v.logRow(&page[i], leaves)
				if err != nil {
					return err
				}
				for _, r := range rows {
					if !yield(r, nil) {
						return nil
					}
				}
			}
		}
	})
}

func (v *verifier) logRows(from int64) ([]logRow, error) {
	return collect(v.ctx, v.tx, func(r pgx.CollectableRow) (row logRow, err error) {
		err = r.Scan(&row.chunk, &row.entries, &row.hashes)
		return row, err
	}, verifyLog, from, feedChunks)
}

// logRow returns the entries in a row of nomen_log. If the whole row is faulty, the first entry has
// the error.
func (v *verifier) logRow(row *logRow, leaves bool) ([]check.Row, error) {
	first := uint64(row.chunk)*chunkSize + 1
	entries, err := readEntries(row.entries, checkSize)
	if err != nil {
		err = fmt.Errorf("%w: row %d of nomen_log cannot be read: %w", errBroken, row.chunk, err)
	}
	v.chunk, v.hashes = row.chunk, nil
	if hashes, bad := splitHashes(row.hashes); bad != nil {
		err = errors.Join(err, bad)
	} else {
		v.hashes = hashes
	}
	want := len(entries)
	if want == chunkSize {
		want = bits.TrailingZeros64(uint64(row.chunk)+1) + 1
	}
	if len(entries) > chunkSize || len(v.hashes) != want {
		err = errors.Join(err, fmt.Errorf("%w: row %d of nomen_log has %d entries and %d hashes, expected %d hashes", errBroken, row.chunk, len(entries), len(v.hashes), want))
	}
	if len(entries) == 0 {
		return []check.Row{{Seq: first, Err: err}}, nil
	}
	all := make([]check.Row, len(entries))
	for i := range entries {
		all[i] = entries[i].row()
		all[i].Seq = first + uint64(i)
	}
	all[0].Err = err
	if !leaves {
		return all, nil
	}
	return all, v.leaves(all, entries)
}

// leaves reads the changes for entries, which all come from one row of nomen_log.
func (v *verifier) leaves(all []check.Row, entries []entry) error {
	rows, err := readAll(v.ctx, v.tx, entries)
	if err != nil {
		return err
	}
	for i := range rows {
		r := &all[i]
		if rows[i].value == nil {
			r.Err = errors.Join(r.Err, check.Problem(fmt.Sprintf("revision %d is missing", r.Revision)))
			continue
		}
		kept, err := rows[i].decode()
		if err != nil {
			r.Err = errors.Join(r.Err, fmt.Errorf("revision %d cannot be read: %w", r.Revision, err))
			continue
		}
		e := entryOf(r.Subject, kept)
		r.Leaf = e.leaf
		switch {
		case e.revision != r.Revision || e.time != entries[i].time:
			r.Err = errors.Join(r.Err, check.Problem(fmt.Sprintf("revision %d was altered: it does not match the log", r.Revision)))
		case len(entries) < chunkSize && i < len(v.hashes) && v.hashes[i] != r.Leaf:
			r.Err = errors.Join(r.Err, check.Problem(fmt.Sprintf("the hash of revision %d in the last row of nomen_log is another", r.Revision)))
		}
	}
	return nil
}

// node returns a node of the tree that the last row has completed.
func (v *verifier) node(level int, _ uint64) (ledger.Hash, error) {
	if i := level - ledger.MinLevel; i < len(v.hashes) {
		return v.hashes[i], nil
	}
	return ledger.Hash{}, check.Problem(fmt.Sprintf("row %d of nomen_log has no hash of level %d", v.chunk, level))
}

func (v *verifier) tokens() iter.Seq2[check.Token, error] {
	return reading.Seq(func(yield func(check.Token, error) bool) error {
		for last := []byte{}; ; {
			page, err := readTokens(v.ctx, v.tx, last)
			if err != nil || len(page) == 0 {
				return err
			}
			last = page[len(page)-1].id
			for _, row := range page {
				t := check.Token{ID: string(row.id)}
				if c, err := row.decode(); err != nil {
					t.Err = err
				} else {
					t.Token = c.Token
				}
				if !yield(t, nil) {
					return nil
				}
			}
		}
	})
}

func (v *verifier) places() iter.Seq2[check.Place, error] {
	return reading.Seq(func(yield func(check.Place, error) bool) error {
		var after place
		for size := firstPage; ; {
			page, err := queryPlaces(v.ctx, v.tx, verifyPlaces, []byte(after.head), []byte(after.stored), after.key, size)
			if err != nil || len(page) == 0 {
				return err
			}
			for i := range page {
				if !yield(page[i].checked(), nil) {
					return nil
				}
			}
			after, size = page[len(page)-1], nextSize(page, (*place).size)
		}
	})
}

func (p *place) checked() check.Place {
	url := p.head + p.rest
	c := check.Place{Place: store.Place{URL: url, Name: name.FromKey(p.key)}}
	if want := makePlace(url, p.key); want.head != p.head || string(want.mark()) != p.stored {
		c.Err = check.Problem(fmt.Sprintf("the location %q is at the wrong place of the index", url))
	}
	return c
}
