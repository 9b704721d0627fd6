package pgstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const (
	presentOne = "select revision, value from nomen_present where kind = $1 and key = $2"
	// The statement also searches nomen_present. A replica that is behind may still have a change
	// there that the primary has already moved to nomen_past.
	changeAt = `select value from (
	(select time, revision, value from nomen_present where kind = $1 and key = $2 and time <= $3)
	union all
	(select time, revision, value from nomen_past where kind = $1 and key = $2 and time <= $3
	order by time desc, revision desc limit 1)
) as c order by time desc, revision desc limit 1`
	countAll = "select names + (select coalesce(sum(p.names), 0)::bigint from nomen_pending p) from nomen_head where id = 1"
)

func (s *Store) find(ctx context.Context, subject store.Subject, at time.Time) (*store.Change, error) {
	if subject.Kind == store.KindToken {
		return s.token(ctx, subject.Key)
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	if !printable(subject.Key) {
		return nil, store.ErrNotFound
	}
	c, err := s.last(ctx, subject)
	if err == nil && c != nil && !c.KnownAt(at) {
		c, err = s.before(ctx, subject, at)
	}
	switch {
	case err != nil:
		return nil, err
	case c == nil || !c.Delete.IsZero():
		return nil, store.ErrNotFound
	}
	return c, nil
}

// last returns the last change of a subject, or nil. The change is never older than the changes
// that this node has recently written.
func (s *Store) last(ctx context.Context, subject store.Subject) (*store.Change, error) {
	need := s.recent.need(subject)
	value, err := s.present(ctx, subject, need)
	for errors.Is(err, errStale) { // until the answer of a replica is recent enough
		value, err = s.present(ctx, subject, need)
	}
	if err != nil || value == nil {
		return nil, failed("read", err)
	}
	return codec.Decode(subject, value)
}

// present returns the encoded last change of a subject, or nil. If no server has the revision that
// n requires, the error is errStale.
func (s *Store) present(ctx context.Context, subject store.Subject, n need) (value []byte, err error) {
	err = s.cluster.read(ctx, short, false, func(ctx context.Context, c *pgx.Conn, r role) error {
		var revision uint64
		err := c.QueryRow(ctx, presentOne, subject.Kind, subject.Key).Scan(&revision, &value)
		if errors.Is(err, pgx.ErrNoRows) {
			value, err = nil, nil
		}
		if err == nil && revision < n.revision && r != primary && !n.over() {
			return errStale
		}
		return err
	})
	return value, err
}

// before returns the last change of a subject that was made by the given time, or nil. The caller
// must know that the current change was made later.
func (s *Store) before(ctx context.Context, subject store.Subject, at time.Time) (*store.Change, error) {
	value, err := s.value(ctx, s.recent.need(subject).revision > 0, changeAt, subject.Kind, subject.Key, millis(at))
	if err != nil || value == nil {
		return nil, failed("read", err)
	}
	return codec.Decode(subject, value)
}

func (s *Store) value(ctx context.Context, fresh bool, sql string, args ...any) (value []byte, err error) {
	err = s.cluster.read(ctx, short, fresh, func(ctx context.Context, c *pgx.Conn, _ role) error {
		err := c.QueryRow(ctx, sql, args...).Scan(&value)
		if errors.Is(err, pgx.ErrNoRows) {
			value, err = nil, nil
		}
		return err
	})
	return value, err
}

func collect[T any](ctx context.Context, c queryer, row func(pgx.CollectableRow) (T, error), sql string, args ...any) ([]T, error) {
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, row)
}

// millis converts a time to Unix milliseconds, limited to the range of the times of changes.
func millis(at time.Time) int64 {
	switch {
	case at.Year() > 9999:
		return maxMillis
	case at.Year() < 1:
		return minMillis
	}
	return at.UnixMilli()
}

const (
	minMillis = -62135596800000
	maxMillis = 253402300799999
)

// Records implements [store.BatchReader]. It ignores whether the caller is about to change the
// records.
func (s *Store) Records(ctx context.Context, names []name.Name, _ bool) ([]*store.Record, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	all := make([]*store.Record, 0, len(names))
	for part := range slices.Chunk(names, lastPage) {
		found, err := s.lasts(ctx, part)
		for errors.Is(err, errStale) { // until the answer of a replica is recent enough
			found, err = s.lasts(ctx, part)
		}
		if err != nil {
			return nil, failed("read", err)
		}
		for _, n := range part {
			rec := (*store.Record)(nil)
			if c := found[nameSubject(n.Key())]; c != nil {
				rec = c.Record
			}
			all = append(all, rec)
		}
	}
	return all, ctx.Err()
}

func nameSubject(key string) store.Subject { return store.Subject{Kind: store.KindName, Key: key} }

// lasts returns the last changes of the names. If no server has sufficiently recent data, the error
// is errStale.
func (s *Store) lasts(ctx context.Context, names []name.Name) (found map[store.Subject]*store.Change, err error) {
	keys := make([]string, 0, len(names))
	for _, n := range names {
		if printable(n.Key()) {
			keys = append(keys, n.Key())
		}
	}
	err = s.cluster.read(ctx, long, s.recent.any(), func(ctx context.Context, c *pgx.Conn, r role) error {
		if found, err = load(ctx, c, map[store.Kind][]string{store.KindName: keys}, ""); err != nil || r == primary {
			return err
		}
		for _, k := range keys {
			subject := nameSubject(k)
			if n := s.recent.need(subject); found[subject].Revision() < n.revision && !n.over() {
				return errStale
			}
		}
		return nil
	})
	return found, err
}

// Count implements [store.Counter]. It adds the number of records in the head of the log and the
// effect of changes that are not sealed yet. The result is exact.
func (s *Store) Count(ctx context.Context) (int64, bool, error) {
	if err := s.enter(ctx); err != nil {
		return 0, false, err
	}
	defer s.gate.Leave()
	var n int64
	err := s.cluster.read(ctx, short, s.recent.any(), func(ctx context.Context, c *pgx.Conn, _ role) error {
		return c.QueryRow(ctx, countAll).Scan(&n)
	})
	return n, err == nil, failed("count", err)
}
