package pgstore

import (
	"context"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const (
	placesFrom = `select head, mark, key, rest from nomen_place
	where (head, mark, key) >= ($1, $2, $3) order by head, mark, key limit $4`
	placesOfHead = `select head, mark, key, rest from nomen_place
	where head = $1 and (rest, key) >= ($2, $3) order by rest, key limit $4`
)

// Find implements [store.Finder].
func (s *Store) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	return reading.Seq(func(yield func(store.Place, error) bool) error { return s.search(ctx, prefix, after, yield) })
}

func (s *Store) search(ctx context.Context, prefix string, after store.Place, yield func(store.Place, error) bool) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.snapshot(ctx, s.recent.any(), func(ctx context.Context, tx pgx.Tx, begun *bool) error {
		f := &finder{ctx: ctx, tx: tx, prefix: prefix, size: firstPage, yield: func(p place) bool {
			*begun = true
			return yield(store.Place{URL: p.head + p.rest, Name: name.FromKey(p.key)}, nil)
		}}
		from := makePlace(prefix, "")
		if after != (store.Place{}) && after.URL >= prefix {
			from = makePlace(after.URL, behind(after.Name.Key()))
		}
		return f.find(from)
	})
}

// A finder yields the places whose URLs begin with a prefix. The index of the database sorts URLs
// only by their first headSize bytes, the head. Places with long URLs that have the same head are
// read by a separate statement, which sorts them by the rest of the URL.
type finder struct {
	ctx    context.Context
	tx     pgx.Tx
	prefix string
	size   int // size of the next page
	yield  func(place) bool
}

func (f *finder) find(from place) error {
	for {
		if len(from.head) == headSize {
			if more, err := f.group(from); err != nil || !more {
				return err
			}
			from = place{head: from.head + "\x00"} // continue after all places with this head
		}
		page, err := f.page(placesFrom, []byte(from.head), []byte{}, from.key, f.size)
		if err != nil || len(page) == 0 {
			return err
		}
		last := page[len(page)-1]
		from = place{head: last.head, key: behind(last.key)}
		for _, p := range page {
			if len(p.head) == headSize {
				from = place{head: p.head}
				break
			}
			if more, err := f.hand(p); err != nil || !more {
				return err
			}
		}
	}
}

// group yields the places with the same head, from the given place on. It returns false if the loop
// has ended or no place with the prefix can follow.
func (f *finder) group(from place) (unfinished bool, err error) {
	for {
		page, err := f.page(placesOfHead, []byte(from.head), []byte(from.rest), from.key, f.size)
		if err != nil {
			return false, err
		}
		if len(page) == 0 {
			return true, nil
		}
		for _, p := range page {
			if more, err := f.hand(p); err != nil || !more {
				return false, err
			}
		}
		last := page[len(page)-1]
		from.rest, from.key = last.rest, behind(last.key)
	}
}

func (f *finder) hand(p place) (more bool, err error) {
	if err := f.ctx.Err(); err != nil {
		return false, err
	}
	return strings.HasPrefix(p.head+p.rest, f.prefix) && f.yield(p), nil
}

func (f *finder) page(sql string, args ...any) ([]place, error) {
	page, err := queryPlaces(f.ctx, f.tx, sql, args...)
	f.size = nextSize(page, (*place).size)
	return page, err
}

func queryPlaces(ctx context.Context, c queryer, sql string, args ...any) ([]place, error) {
	return collect(ctx, c, func(r pgx.CollectableRow) (p place, err error) {
		var head, mark, rest []byte
		err = r.Scan(&head, &mark, &p.key, &rest)
		p.head, p.rest, p.stored = string(head), string(rest), string(mark)
		return p, err
	}, sql, args...)
}
