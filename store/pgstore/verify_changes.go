package pgstore

import (
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/check"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

const (
	verifyPresent = `select key, time, revision, salt, value from nomen_present
	where kind = $1 and key >= $2 order by key limit $3`
	verifyPast = `select key, time, revision, salt, value from nomen_past
	where kind = $1 and (key, time, revision) > ($2, $3, $4) order by key, time, revision limit $5`
)

// changes yields the changes of all subjects. The earlier changes of a subject come first, and then
// its last change.
func (v *verifier) changes() iter.Seq2[check.Change, error] {
	return reading.Seq(func(yield func(check.Change, error) bool) error {
		more := true
		for _, kind := range changeKinds {
			past := &stream{v: v, kind: kind, page: v.pastPage, row: changeRow{time: minMillis - 1}}
			present := &stream{v: v, kind: kind, page: v.presentPage}
			err := merge(past, present, func(r *changeRow, last bool) bool {
				more = yield(r.checked(last), nil)
				return more
			})
			if err != nil || !more {
				return err
			}
		}
		return nil
	})
}

func (r *changeRow) checked(last bool) check.Change {
	c := check.Change{Subject: r.subject, Revision: uint64(r.revision), Time: time.UnixMilli(r.time).UTC(), Last: last}
	c.Entry, c.Err = r.decode()
	return c
}

func merge(past, present *stream, f func(r *changeRow, last bool) bool) error {
	p, err := past.next()
	if err != nil {
		return err
	}
	n, err := present.next()
	for err == nil && (p != nil || n != nil) {
		if p == nil || n != nil && n.subject.Key < p.subject.Key {
			if !f(n, true) {
				return nil
			}
			n, err = present.next()
			continue
		}
		if !f(p, false) {
			return nil
		}
		p, err = past.next()
	}
	return err
}

// A stream reads rows of changes page by page.
type stream struct {
	v    *verifier
	kind store.Kind
	page func(s *stream) ([]changeRow, error)
	row  changeRow // the row that the method next returned last
	rows []changeRow
	size int
	end  bool
}

func (s *stream) next() (*changeRow, error) {
	if len(s.rows) == 0 && !s.end {
		var err error
		if s.rows, err = s.page(s); err != nil {
			return nil, err
		}
		s.end, s.size = len(s.rows) == 0, nextSize(s.rows, (*changeRow).size)
	}
	if s.end {
		return nil, s.v.ctx.Err()
	}
	s.row, s.rows = s.rows[0], s.rows[1:]
	return &s.row, nil
}

func (v *verifier) presentPage(s *stream) ([]changeRow, error) {
	lower := ""
	if s.row.subject.Key != "" {
		lower = behind(s.row.subject.Key)
	}
	return v.changeRows(s.kind, verifyPresent, s.kind, lower, max(s.size, firstPage))
}

func (v *verifier) pastPage(s *stream) ([]changeRow, error) {
	return v.changeRows(s.kind, verifyPast, s.kind, s.row.subject.Key, s.row.time, s.row.revision, max(s.size, firstPage))
}

func (v *verifier) changeRows(kind store.Kind, sql string, args ...any) ([]changeRow, error) {
	return collect(v.ctx, v.tx, func(r pgx.CollectableRow) (row changeRow, err error) {
		row.subject.Kind = kind
		err = r.Scan(&row.subject.Key, &row.time, &row.revision, &row.salt, &row.value)
		return row, err
	}, sql, args...)
}
