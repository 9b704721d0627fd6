package pgstore

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/reading"
)

// chunkSize is the number of entries in a full row of nomen_log. The last leaf of the row completes
// one or more subtrees. The row contains the hashes of their roots, from [ledger.MinLevel] up. A
// row that is not full has the hashes of its leaves instead.
const chunkSize = 1 << ledger.MinLevel

type logRow struct {
	chunk           int64
	entries, hashes []byte
}

// An edge is the right edge of the log, where new entries are appended. The zero edge belongs to an
// empty log.
type edge struct {
	log    ledger.Log
	leaves []ledger.Hash // leaf hashes of the last row, if it is not full
	tail   []byte        // entries of that row
}

func (e *edge) clone() *edge { return &edge{e.log, slices.Clone(e.leaves), slices.Clone(e.tail)} }

// add appends an entry to the log. If the entry fills a row of the log, add appends the row to
// rows.
func (e *edge) add(rows []logRow, entry *entry) []logRow {
	e.tail = entry.appendTo(e.tail, checkSize)
	e.leaves = append(e.leaves, entry.leaf)
	nodes := e.log.AppendHash(nil, entry.leaf)
	if len(nodes) == 0 {
		return rows
	}
	hashes := make([]ledger.Hash, len(nodes))
	for i, n := range nodes {
		hashes[i] = n.Hash
	}
	rows = append(rows, logRow{int64(e.log.Size()/chunkSize) - 1, e.tail, joinHashes(hashes)})
	e.leaves, e.tail = nil, nil
	return rows
}

// open appends the last row of the log to rows, unless the last row is full.
func (e *edge) open(rows []logRow) []logRow {
	if len(e.leaves) == 0 {
		return rows
	}
	return append(rows, logRow{int64(e.log.Size() / chunkSize), e.tail, joinHashes(e.leaves)})
}

func joinHashes(hashes []ledger.Hash) []byte {
	b := make([]byte, 0, len(hashes)*len(ledger.Hash{}))
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	return b
}

func splitHashes(b []byte) ([]ledger.Hash, error) {
	const size = len(ledger.Hash{})
	if len(b)%size != 0 {
		return nil, fmt.Errorf("%w: hashes of %d bytes", errBroken, len(b))
	}
	hashes := make([]ledger.Hash, len(b)/size)
	for i := range hashes {
		copy(hashes[i][:], b[i*size:])
	}
	return hashes, nil
}

// A queryer is a connection or a transaction.
type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

const readLog = "select entries, hashes from nomen_log where chunk = $1"

// readEdge reads the edge of the log as it was at the given size.
func readEdge(ctx context.Context, c queryer, size uint64) (*edge, error) {
	src := &source{ctx: ctx, c: c}
	log, err := ledger.Open(size, src)
	if err != nil || size%chunkSize == 0 {
		return &edge{log: log}, err
	}
	e := &edge{log: log}
	e.tail, e.leaves, err = src.row(size / chunkSize)
	return e, err
}

// A source reads nomen_log for package ledger.
type source struct {
	ctx context.Context
	c   queryer
}

func (s *source) row(chunk uint64) (entries []byte, hashes []ledger.Hash, err error) {
	var b []byte
	if err := s.c.QueryRow(s.ctx, readLog, chunk).Scan(&entries, &b); err != nil {
		return nil, nil, fmt.Errorf("row %d of nomen_log: %w", chunk, err)
	}
	hashes, err = splitHashes(b)
	return entries, hashes, err
}

func (s *source) Node(level int, index uint64) (ledger.Hash, error) {
	height := level - ledger.MinLevel
	chunk := (index+1)<<height - 1
	_, hashes, err := s.row(chunk)
	if err == nil && height >= len(hashes) {
		err = fmt.Errorf("%w: row %d of nomen_log has %d hashes", errBroken, chunk, len(hashes))
	}
	if err != nil {
		return ledger.Hash{}, err
	}
	return hashes[height], nil
}

// Leaves implements [ledger.Source]. It computes the leaves of a full row from the changes.
func (s *source) Leaves(from, to uint64) iter.Seq2[ledger.Hash, error] {
	return reading.Seq(func(yield func(ledger.Hash, error) bool) error {
		leaves, err := s.leaves(from, to)
		for _, h := range leaves {
			if !yield(h, nil) {
				return nil
			}
		}
		return err
	})
}

// leaves returns the hashes of a range of leaves, all of which are in the same row.
func (s *source) leaves(from, to uint64) ([]ledger.Hash, error) {
	if from == to {
		return nil, nil
	}
	b, hashes, err := s.row(from / chunkSize)
	if err != nil {
		return nil, err
	}
	entries, err := readEntries(b, checkSize)
	first := from % chunkSize
	if err == nil && first+to-from > uint64(len(entries)) {
		err = fmt.Errorf("%w: row %d of nomen_log has %d entries", errBroken, from/chunkSize, len(entries))
	}
	if err != nil {
		return nil, err
	}
	if len(entries) < chunkSize {
		if len(hashes) != len(entries) {
			return nil, fmt.Errorf("%w: row %d of nomen_log has %d entries and %d hashes", errBroken, from/chunkSize, len(entries), len(hashes))
		}
		return hashes[first : first+to-from], nil
	}
	entries = entries[first : first+to-from]
	rows, err := readAll(s.ctx, s.c, entries)
	if err != nil {
		return nil, err
	}
	leaves := make([]ledger.Hash, len(rows))
	for i := range rows {
		e, err := rows[i].decode()
		if err != nil {
			return nil, err
		}
		leaves[i] = entryOf(rows[i].subject, e).leaf
	}
	return leaves, nil
}
