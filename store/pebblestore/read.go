package pebblestore

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func (s *Store) find(ctx context.Context, subject store.Subject, at time.Time) (*store.Change, error) {
	e, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer e.gate.Leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var c *store.Change
	if at.IsZero() {
		c, err = e.last(subject)
	} else {
		c, err = e.at(subject, at)
	}
	switch {
	case err != nil:
		return nil, err
	case c == nil || !c.Delete.IsZero():
		return nil, store.ErrNotFound
	}
	return c, nil
}

// last returns the last change of a subject, or nil. It uses Get, which stops at the first level
// that has the key, and is therefore faster than an iterator.
func (e *engine) last(subject store.Subject) (*store.Change, error) {
	value, closer, err := e.db.Get(appendKey(make([]byte, 0, 1+len(subject.Key)), subject))
	switch {
	case err == pebble.ErrNotFound:
		return nil, nil
	case err != nil:
		return nil, unreadable(subject.Key, err)
	}
	defer closer.Close()
	if subject.Kind == store.KindToken {
		return codec.Decode(subject, value)
	}
	return codec.DecodeEntryChange(subject, value)
}

func (e *engine) at(subject store.Subject, at time.Time) (c *store.Change, err error) {
	err = viewing(e.db, func(v *view) error { c, err = v.at(subject, at); return err })
	return c, err
}

// Records implements [store.BatchReader]. If change is true and the store accepts changes, Records
// keeps the records in memory, so that the batch that changes them need not read them again.
func (s *Store) Records(ctx context.Context, names []name.Name, change bool) ([]*store.Record, error) {
	subjects := make([]store.Subject, len(names))
	for i, n := range names {
		subjects[i] = store.Subject{Kind: store.KindName, Key: n.Key()}
	}
	var found []read
	if change && s.writable() {
		places := s.reads.announce(subjects)
		found = make([]read, len(names))
		defer func() { s.reads.keep(places, found) }()
	}
	e, err := s.enter() // must come after announcing, because a new engine drops earlier announcements
	if err != nil {
		return nil, err
	}
	defer e.gate.Leave()
	var v cursor
	if err := v.open(e.db); err != nil {
		return nil, err
	}
	defer v.close()
	all := make([]*store.Record, len(names))
	var raw encodings
	turn := pacer.Begin(ctx)
	for i, subject := range subjects {
		if err := turn.Step(ctx); err != nil {
			return nil, err
		}
		c, err := v.lastOf(subject)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		if all[i] = c.Record; found != nil {
			found[i] = read{subject, c, raw.keep(v.it.Value())}
		}
	}
	return all, ctx.Err()
}

// encodings copies values into memory that is allocated in blocks of rawSize bytes.
type encodings struct{ free []byte }

const rawSize = 32 << 10

func (k *encodings) keep(value []byte) []byte {
	if len(k.free)+len(value) > cap(k.free) {
		k.free = make([]byte, 0, max(rawSize, len(value)))
	}
	start := len(k.free)
	k.free = append(k.free, value...)
	return k.free[start:len(k.free):len(k.free)]
}

func (s *Store) scan(ctx context.Context, k store.Kind, scan store.Scan, yield func(*store.Change) bool) error {
	return s.viewing(ctx, func(v *view) error {
		lower, upper, ok := bounds(k, scan)
		if !ok {
			return nil
		}
		v.it.SetBounds(lower, upper)
		earlier, err := v.clone()
		if err != nil {
			return err
		}
		defer earlier.close()
		turn := pacer.Begin(ctx)
		for ok := v.it.First(); ok; ok = v.it.Next() {
			if err := turn.Step(ctx); err != nil {
				return err
			}
			c, err := v.here(k, scan.At, earlier)
			if err != nil || c != nil && !yield(c) {
				return err
			}
		}
		return v.failure(string(lower[1:]))
	})
}

// here returns the change that was current at the given time, or nil, for the subject at the
// position of v.
func (v *view) here(k store.Kind, at time.Time, earlier *view) (*store.Change, error) {
	subject := store.Subject{Kind: k, Key: string(v.it.Key()[1:])}
	c, err := v.change(subject)
	if err != nil || c.KnownAt(at) {
		return c, err
	}
	return earlier.before(subject, at)
}

func (s *Store) history(ctx context.Context, subject store.Subject, yield func(*store.Change, error) bool) error {
	return s.viewing(ctx, func(v *view) error {
		c, err := v.last(subject)
		if err != nil || c == nil || !yield(c, nil) {
			return err
		}
		beginning := appendHistory(nil, subject)
		for ok := v.it.SeekGE(beginning); ok && isHistory(v.it.Key(), beginning); ok = v.it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			c, err := v.change(subject)
			if err != nil || !yield(c, nil) {
				return err
			}
		}
		return v.failure(subject.Key)
	})
}

// Count implements [store.Counter]. The number is exact. Count takes constant time.
func (s *Store) Count(ctx context.Context) (n int64, exact bool, err error) {
	err = s.using(ctx, func(*engine) error { n = s.count.Load(); return nil })
	return n, err == nil, err
}

// number returns a number that is stored in spaceMeta. If it does not exist, ok is false.
func number(db pebble.Reader, key string) (n uint64, ok bool, err error) {
	value, closer, err := db.Get([]byte(key))
	switch {
	case err == pebble.ErrNotFound:
		return 0, false, nil
	case err != nil:
		return 0, false, unreadable(key, err)
	}
	n, err = decodeNumber(key, value)
	_ = closer.Close() // it closes only a buffer
	return n, err == nil, err
}
