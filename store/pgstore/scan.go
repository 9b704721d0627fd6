package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
)

// Sizes of the pages of a listing. A page is read completely before its rows are yielded, so that
// no statement waits for the caller. As long as the rows are small, each page has more rows than
// the previous page.
const (
	firstPage = 64      // number of rows
	lastPage  = 4096    // number of rows
	pageBytes = 4 << 20 // target size of a page
)

const (
	presentPage = `select key, time, value from nomen_present
	where kind = $1 and key >= $2 and key < $3 order by key limit $4`
	pastPage = `select v.key, v.value from unnest($2::text[]) as k(key)
	cross join lateral (
		select p.key, p.value from nomen_past p
		where p.kind = $1 and p.key = k.key and p.time <= $3
		order by p.time desc, p.revision desc limit 1
	) v`
	pastOf = `select revision, time, value from nomen_past
	where kind = $1 and key = $2 and (time, revision) < ($3, $4)
	order by time desc, revision desc limit $5`
)

type row struct {
	key   string
	time  int64
	value []byte
}

// snapshot calls f in a read-only transaction with one snapshot. If the server is lost, snapshot
// calls f again with another server, unless *begun is set. The function f must therefore set *begun
// before it yields the first result. Errors of the transaction after f has returned nil are
// ignored.
func (s *Store) snapshot(ctx context.Context, fresh bool, f func(ctx context.Context, tx pgx.Tx, begun *bool) error) error {
	begun := false
	var broken error // an error that must not be retried
	err := s.cluster.read(ctx, long, fresh, func(ctx context.Context, c *pgx.Conn, _ role) error {
		done := false
		err := pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			err := f(ctx, tx, &begun)
			done = err == nil
			return err
		})
		if done {
			return nil
		}
		if begun {
			broken = err
			return nil
		}
		return err
	})
	if err == nil {
		err = broken
	}
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = &lostError{errServerLost}
	}
	return failed("read", ended(ctx, err))
}

func (s *Store) scan(ctx context.Context, k store.Kind, scan store.Scan, yield func(*store.Change) bool) error {
	if k == store.KindToken {
		return s.tokens(ctx, yield)
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	lower, upper, ok := bounds(scan)
	if !ok {
		return nil
	}
	return s.snapshot(ctx, s.recent.any(), func(ctx context.Context, tx pgx.Tx, begun *bool) error {
		lower := lower
		turn := pacer.Begin(ctx)
		for size := firstPage; ; {
			page, err := readPage(ctx, tx, k, lower, upper, size)
			if err != nil || len(page) == 0 {
				return err
			}
			lower = behind(page[len(page)-1].key)
			full := len(page) == size
			size = nextSize(page, (*row).size)
			changes, err := decodePage(ctx, tx, k, page, scan.At)
			for _, c := range changes {
				*begun = true
				if err := turn.Step(ctx); err != nil || !yield(c) {
					return err
				}
			}
			if err != nil || !full {
				return err
			}
		}
	})
}

func readPage(ctx context.Context, tx pgx.Tx, k store.Kind, lower, upper string, size int) ([]row, error) {
	return collect(ctx, tx, func(r pgx.CollectableRow) (row row, err error) {
		err = r.Scan(&row.key, &row.time, &row.value)
		return row, err
	}, presentPage, k, lower, upper, size)
}

// nextSize returns the number of rows to read after a page. The function size returns the size of a
// row in bytes.
func nextSize[T any](page []T, size func(*T) int) int {
	bytes := 1
	for i := range page {
		bytes += size(&page[i])
	}
	return max(1, min(4*len(page), lastPage, len(page)*pageBytes/bytes))
}

func (r *row) size() int { return len(r.key) + len(r.value) }

func decodePage(ctx context.Context, tx pgx.Tx, k store.Kind, page []row, at time.Time) ([]*store.Change, error) {
	past, err := readPast(ctx, tx, k, page, at)
	if err != nil {
		return nil, err
	}
	changes := make([]*store.Change, 0, len(page))
	for _, row := range page {
		if after(row.time, at) {
			row.value = past[row.key]
		}
		if row.value == nil {
			continue
		}
		c, err := codec.Decode(store.Subject{Kind: k, Key: row.key}, row.value)
		if err != nil {
			return changes, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func after(ms int64, limit time.Time) bool { return !limit.IsZero() && ms > millis(limit) }

// readPast returns the earlier values, as of a time, of the subjects on a page that were changed
// after that time.
func readPast(ctx context.Context, tx pgx.Tx, k store.Kind, page []row, at time.Time) (map[string][]byte, error) {
	var keys []string
	for _, row := range page {
		if after(row.time, at) {
			keys = append(keys, row.key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, pastPage, k, keys, millis(at))
	if err != nil {
		return nil, err
	}
	past := map[string][]byte{}
	var key string
	var value []byte
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		past[key], value = value, nil
		return nil
	})
	return past, err
}

func (s *Store) history(ctx context.Context, subject store.Subject, yield func(*store.Change, error) bool) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	if !printable(subject.Key) {
		return nil
	}
	return s.snapshot(ctx, s.recent.need(subject).revision > 0, func(ctx context.Context, tx pgx.Tx, begun *bool) error {
		page, err := readPage(ctx, tx, subject.Kind, subject.Key, behind(subject.Key), 1)
		if err != nil || len(page) == 0 {
			return err
		}
		time, revision := int64(maxMillis), int64(0)
		for size := firstPage; len(page) > 0; {
			for _, row := range page {
				*begun = true
				c, err := codec.Decode(subject, row.value)
				if err == nil {
					err = ctx.Err()
				}
				if err != nil || !yield(c, nil) {
					return err
				}
				time, revision = row.time, int64(c.Expected)+1
			}
			size = nextSize(page, (*row).size)
			if page, err = historyPage(ctx, tx, subject, time, revision, size); err != nil {
				return err
			}
		}
		return nil
	})
}

func historyPage(ctx context.Context, tx pgx.Tx, subject store.Subject, time, revision int64, size int) ([]row, error) {
	return collect(ctx, tx, func(r pgx.CollectableRow) (row row, err error) {
		err = r.Scan(&revision, &row.time, &row.value)
		return row, err
	}, pastOf, subject.Kind, subject.Key, time, revision, size)
}
