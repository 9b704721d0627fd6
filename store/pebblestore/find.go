package pebblestore

import (
	"context"
	"iter"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// Find implements [store.Finder].
func (s *Store) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	return reading.Seq(func(yield func(store.Place, error) bool) error {
		return s.using(ctx, func(e *engine) error { return e.locations(ctx, prefix, after, yield) })
	})
}

func (s *Store) owner(ctx context.Context, subject string) (id string, err error) {
	err = s.using(ctx, func(e *engine) error { id, err = e.owner(subject); return err })
	return id, err
}

func (e *engine) owner(subject string) (string, error) {
	lower := append(appendEscaped([]byte{spaceLocation}, store.SubjectURL(subject)), 0, 0)
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: successor(slices.Clone(lower))})
	if err != nil {
		return "", unreadable(subject, err)
	}
	v := &view{it: it}
	defer v.close()
	if !it.First() {
		return "", v.failure(subject)
	}
	p, err := parsePlace(it.Key())
	return p.Name.Key(), err
}

func (e *engine) locations(ctx context.Context, prefix string, after store.Place, yield func(store.Place, error) bool) error {
	lower := appendEscaped([]byte{spaceLocation}, prefix)
	upper := successor(appendEscaped([]byte{spaceLocation}, prefix))
	if after != (store.Place{}) {
		if from := append(appendPlace(nil, after), 0); string(from) > string(lower) {
			lower = from
		}
	}
	if string(lower) >= string(upper) {
		return ctx.Err()
	}
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return unreadable(prefix, err)
	}
	v := &view{it: it}
	defer v.close()
	turn := pacer.Begin(ctx)
	for ok := it.First(); ok; ok = it.Next() {
		if err := turn.Step(ctx); err != nil {
			return err
		}
		p, err := parsePlace(it.Key())
		if err != nil || !yield(p, nil) {
			return err
		}
	}
	if err := v.failure(prefix); err != nil {
		return err
	}
	return ctx.Err()
}
