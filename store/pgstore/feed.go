package pgstore

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// feedChunks is the maximum number of rows of nomen_log that are read together, with the content of
// their entries.
const feedChunks = 8

// firstFeed is the number of entries in the first page. It is small because some readers need only
// one entry. Every further page has four times as many entries, up to those of feedChunks rows.
const firstFeed = 16

const (
	readHead  = "select size, hash from nomen_head where id = 1"
	readRange = "select chunk, entries from nomen_log where chunk >= $1 and chunk < $2 order by chunk"
	// This must be one statement. Between two statements, a change could move from nomen_present to
	// nomen_past and be missed.
	readContents = `select u.n, c.salt, c.value from unnest($1::integer[], $2::smallint[], $3::text[], $4::bigint[], $5::bigint[])
	as u(n, kind, key, time, revision) join nomen_present c on c.kind = u.kind and c.key = u.key and c.revision = u.revision
	union all
	select u.n, c.salt, c.value from unnest($1::integer[], $2::smallint[], $3::text[], $4::bigint[], $5::bigint[])
	as u(n, kind, key, time, revision) join nomen_past c on c.kind = u.kind and c.key = u.key and c.time = u.time and c.revision = u.revision`
)

// Head implements [store.Feed].
func (s *Store) Head(ctx context.Context) (h store.Head, err error) {
	if err := s.enter(ctx); err != nil {
		return h, err
	}
	defer s.gate.Leave()
	err = s.cluster.read(ctx, short, s.recent.any(), func(ctx context.Context, c *pgx.Conn, _ role) error {
		h, err = head(ctx, c)
		return err
	})
	return h, failed("read the head", err)
}

func head(ctx context.Context, c queryer) (h store.Head, err error) {
	var hash []byte
	if err = c.QueryRow(ctx, readHead).Scan(&h.Size, &hash); err == nil {
		copy(h.Hash[:], hash)
	}
	return h, err
}

// Changes implements [store.Feed].
func (s *Store) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return reading.Seq(func(yield func(*store.Entry, error) bool) error { return s.changes(ctx, after, yield) })
}

func (s *Store) changes(ctx context.Context, after uint64, yield func(*store.Entry, error) bool) error {
	h, err := s.Head(ctx)
	if err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	turn := pacer.Begin(ctx)
	for most := uint64(firstFeed); after < h.Size; most = min(4*most, feedChunks*chunkSize) {
		page, err := s.feedPage(ctx, after, min(h.Size, after+most))
		if err != nil {
			return failed("read changes", err)
		}
		for _, e := range page {
			if err := turn.Step(ctx); err != nil || !yield(e, nil) {
				return err
			}
		}
		after += uint64(len(page))
	}
	return ctx.Err()
}

// feedPage returns the entries from start+1 to end, or only the first of them.
func (s *Store) feedPage(ctx context.Context, start, end uint64) (page []*store.Entry, err error) {
	err = s.cluster.read(ctx, short, false, func(ctx context.Context, c *pgx.Conn, _ role) error {
		page, err = readFeed(ctx, c, start, end)
		return err
	})
	return page, err
}

func readFeed(ctx context.Context, c queryer, after, last uint64) ([]*store.Entry, error) {
	entries, err := logPage(ctx, c, after, last)
	if err != nil {
		return nil, err
	}
	rows, err := readAll(ctx, c, entries)
	if err != nil {
		return nil, err
	}
	page := make([]*store.Entry, len(rows))
	for i := range rows {
		if rows[i].value == nil {
			return nil, fmt.Errorf("%w: revision %d of %s is missing", errBroken, entries[i].revision, entries[i].key)
		}
		e, err := rows[i].decode()
		if err != nil {
			return nil, err
		}
		e.Seq = after + uint64(i) + 1
		page[i] = e
	}
	return page, nil
}

// logPage returns the entries of the log from start+1 to end, or only the first page of them. If
// the server is a replica that does not have these entries yet, the error is errStale.
func logPage(ctx context.Context, c queryer, start, end uint64) ([]entry, error) {
	first := start / chunkSize
	rows, err := c.Query(ctx, readRange, first, min(first+feedChunks, (end+chunkSize-1)/chunkSize))
	if err != nil {
		return nil, err
	}
	var all []entry
	var row logRow
	next := int64(first)
	_, err = pgx.ForEachRow(rows, []any{&row.chunk, &row.entries}, func() error {
		entries, err := readEntries(row.entries, checkSize)
		if err == nil && (row.chunk != next || len(all)%chunkSize != 0) {
			err = fmt.Errorf("%w: nomen_log has row %d, expected row %d", errBroken, row.chunk, next)
		}
		next++
		all = append(all, entries...)
		return err
	})
	if err != nil {
		return nil, err
	}
	skip := start - first*chunkSize
	if uint64(len(all)) <= skip {
		return nil, errStale
	}
	all = all[skip:]
	return all[:min(uint64(len(all)), end-start)], nil
}

func readAll(ctx context.Context, c queryer, entries []entry) ([]changeRow, error) {
	n := len(entries)
	numbers, kinds, keys := make([]int32, n), make([]int16, n), make([]string, n)
	times, revisions := make([]int64, n), make([]int64, n)
	for i := range entries {
		e := &entries[i]
		numbers[i], kinds[i], keys[i], times[i], revisions[i] = int32(i), int16(e.kind), e.key, e.time, int64(e.revision)
	}
	rows, err := c.Query(ctx, readContents, numbers, kinds, keys, times, revisions)
	if err != nil {
		return nil, err
	}
	all := make([]changeRow, n)
	var i int32
	var salt, value []byte
	_, err = pgx.ForEachRow(rows, []any{&i, &salt, &value}, func() error {
		all[i] = changeRow{entries[i].subject(), times[i], revisions[i], salt, value}
		salt, value = nil, nil
		return nil
	})
	return all, err
}
