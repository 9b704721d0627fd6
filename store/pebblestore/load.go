package pebblestore

import (
	"context"
	"errors"
	"iter"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

const loadBatch = 4096

// Load implements [store.Loader].
func (s *Store) Load(ctx context.Context, entries iter.Seq2[*store.Entry, error]) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := s.refusal(s.engine.Load()); err != nil {
		return err
	}
	l := loader{s: s, ctx: ctx}
	err := l.take(entries)
	if given := l.given; err == nil && s.sealed.size() > given {
		err = &store.EntryError{Seq: given + 1, Reason: "the store has more changes than were given"}
	}
	return err
}

type loader struct {
	s     *Store
	ctx   context.Context
	batch []*store.Entry
	given uint64
}

// take writes entries in batches. If the sequence ends with an error, take still writes the entries
// before the error.
func (l *loader) take(entries iter.Seq2[*store.Entry, error]) error {
	for e, err := range entries {
		if err != nil {
			return errors.Join(err, l.flush())
		}
		l.batch = append(l.batch, e)
		if len(l.batch) == loadBatch {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
	return errors.Join(l.ctx.Err(), l.flush())
}

// flush writes the entries of the batch that the store does not have. It stops at the first entry
// that cannot follow the previous entries.
func (l *loader) flush() error {
	batch := l.batch
	l.batch = nil
	there, err := l.compare(batch)
	l.given += uint64(there)
	if batch = batch[there:]; err != nil || len(batch) == 0 {
		return err
	}
	_, err = l.s.submit(l.ctx, nil, batch)
	l.given += uint64(len(batch))
	return err
}

// compare returns the number of entries of a batch that the store already has. If the store has
// other entries with the same numbers, compare returns an error.
func (l *loader) compare(batch []*store.Entry) (int, error) {
	have := min(l.s.sealed.size()-min(l.given, l.s.sealed.size()), uint64(len(batch)))
	if have == 0 {
		return 0, nil
	}
	n := 0
	err := l.s.viewing(l.ctx, func(v *view) error {
		for e, err := range v.all(l.ctx, l.given, l.given+have) {
			if err == nil {
				err = codec.CheckSame(batch[n], e)
			}
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}
