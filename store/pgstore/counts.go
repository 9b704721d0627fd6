package pgstore

import (
	"context"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/counts"
)

// The first write creates the tables of counts, which are not part of the versioned schema. Each
// count is a row of its own, so that a node can add to it without reading it first.
const (
	makeCounts = `create table if not exists nomen_count (
	month integer  not null, -- year * 12 + month - 1
	kind  smallint not null, -- 1 for a name, 2 for an authority
	text  text     not null collate "C",
	cell  integer  not null, -- day * 64 + what * 4 + class
	n     bigint   not null,
	primary key (month, kind, text, cell)
)`
	makeCountBatches = `create table if not exists nomen_count_batch (
	node text        not null primary key,
	seq  bigint      not null, -- number of the last batch of the node
	at   timestamptz not null
)`
	beginCounts = `insert into nomen_count_batch (node, seq, at) values ($1, $2, clock_timestamp())
	on conflict (node) do update set seq = excluded.seq, at = excluded.at where nomen_count_batch.seq <> excluded.seq`
	forgetCounts = "delete from nomen_count_batch where at < clock_timestamp() - interval '30 days'"
	addCounts    = `insert into nomen_count as c (month, kind, text, cell, n)
	select * from unnest($1::integer[], $2::smallint[], $3::text[], $4::integer[], $5::bigint[])
	on conflict (month, kind, text, cell) do update set n = c.n + excluded.n`
	readCounts = `select month, text, cell, n from nomen_count
	where kind = $1 and month = $2 and (text, cell) > ($3, $4) and (text = $5 or $6 and starts_with(text, $5)) and text >= $5
	order by text, cell limit $7`
	rollCounts = `with old as (delete from nomen_count where month < $1 and cell >= 64 returning month, kind, text, cell % 64 as cell, n)
	insert into nomen_count as c (month, kind, text, cell, n) select month, kind, text, cell, sum(n) from old group by 1, 2, 3, 4
	on conflict (month, kind, text, cell) do update set n = c.n + excluded.n`
)

const (
	countRows  = 5000 // cells in a statement
	countCells = 64   // codes of a day; see [counts.Cell]
)

// Counts returns the counts of resolutions in the database, which all nodes share.
func (s *Store) Counts() counts.Store { return countStore{s} }

type countStore struct{ s *Store }

func (k countStore) Add(ctx context.Context, b counts.Batch) error {
	return k.s.retryOnPrimary(ctx, "add counts", func(ctx context.Context, c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, beginCounts, b.Node, int64(b.Seq))
			if err != nil || tag.RowsAffected() == 0 { // the batch was added before
				return err
			}
			if _, err := tx.Exec(ctx, forgetCounts); err != nil {
				return err
			}
			return addCells(ctx, tx, b.Rows)
		})
	})
}

// addCells adds counts in the order of their keys. In different orders, two nodes that write at the
// same time could deadlock.
func addCells(ctx context.Context, tx pgx.Tx, rows []counts.Row) error {
	var months, cells []int32
	var kinds []int16
	var texts []string
	var numbers []int64
	flush := func() error {
		if len(cells) == 0 {
			return nil
		}
		_, err := tx.Exec(ctx, addCounts, months, kinds, texts, cells, numbers)
		months, kinds, texts, cells, numbers = months[:0], kinds[:0], texts[:0], cells[:0], numbers[:0]
		return err
	}
	for _, r := range rows {
		for _, c := range r.Cells {
			months, kinds, texts = append(months, int32(r.Month)), append(kinds, int16(r.Kind)), append(texts, r.Text)
			cells, numbers = append(cells, int32(c.Day)*countCells+int32(c.What)*4+int32(c.Class)), append(numbers, int64(c.N))
		}
		if len(cells) >= countRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Rows implements [counts.Store]. It reads from the primary, page by page.
func (k countStore) Rows(ctx context.Context, q counts.Query) iter.Seq2[counts.Row, error] {
	return func(yield func(counts.Row, error) bool) {
		if !utf8.ValidString(q.Text) || strings.Contains(q.Text, "\x00") {
			return // no row has such a text
		}
		var row counts.Row
		for month := q.From; month <= q.To; month++ {
			text, cell := "", int32(-1)
			for more := true; more; {
				var part []countCell
				err := k.s.cluster.read(ctx, short, true, func(ctx context.Context, c *pgx.Conn, _ role) (err error) {
					part, err = readPart(ctx, c, q, month, text, cell)
					return err
				})
				if state(err) == undefinedTable {
					return // nothing was counted yet
				}
				if err != nil {
					yield(counts.Row{}, failed("read counts", err))
					return
				}
				more = len(part) == countRows
				for _, p := range part {
					text, cell = p.text, p.cell
					key := counts.Key{Month: month, Kind: q.Kind, Text: p.text}
					if row.Key != key {
						if len(row.Cells) > 0 && !yield(row, nil) {
							return
						}
						row = counts.Row{Key: key}
					}
					row.Cells = append(row.Cells, counts.Cell{
						Day: uint8(p.cell / countCells), What: counts.What(p.cell / 4 % 16), Class: counts.Class(p.cell % 4), N: uint64(p.n),
					})
				}
			}
		}
		if len(row.Cells) > 0 {
			yield(row, nil)
		}
	}
}

type countCell struct {
	text string
	cell int32
	n    int64
}

func readPart(ctx context.Context, c *pgx.Conn, q counts.Query, month counts.Month, text string, cell int32) (part []countCell, err error) {
	rows, err := c.Query(ctx, readCounts, int16(q.Kind), int32(month), text, cell, q.Text, q.Prefix, countRows)
	if err != nil {
		return nil, err
	}
	var m int32
	var one countCell
	_, err = pgx.ForEachRow(rows, []any{&m, &one.text, &one.cell, &one.n}, func() error {
		part = append(part, one)
		return nil
	})
	return part, err
}

func (k countStore) Roll(ctx context.Context, before counts.Month) error {
	return k.s.retryOnPrimary(ctx, "roll up counts", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, rollCounts, int32(before))
		return err
	})
}
