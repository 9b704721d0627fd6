package cachestore

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// soon calls ask for a current answer, with a time limit. It is for cases in which a stale answer
// could be returned. A call can take long to fail if the database does not respond. After the time
// limit, soon returns errSlow, and ask continues in the background.
func soon[T any](ctx context.Context, s *Store, ask func(context.Context) (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		v, err := ask(limited)
		done <- result{v, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-limited.Done():
		r.err = limited.Err()
	}
	switch {
	case r.err == nil, ctx.Err() != nil:
	case store.IsAway(r.err):
		s.avoid.Store(time.Now().Add(avoided).UnixNano())
	case limited.Err() != nil:
		s.avoid.Store(time.Now().Add(avoided).UnixNano())
		r.err = errSlow
	}
	return r.v, r.err
}

// withoutFeed calls ask for a current answer. If the store is unavailable, was unavailable a moment
// ago, or does not respond within the time limit of soon, withoutFeed calls use and returns the
// stale answer.
func withoutFeed[T any](ctx context.Context, s *Store, stale T, use func(), ask func(context.Context) (T, error)) (T, error) {
	if s.avoids() {
		use()
		return stale, nil
	}
	v, err := soon(ctx, s, ask)
	if store.IsAway(err) {
		use()
		return stale, nil
	}
	return v, err
}

// read returns the value of a subject from the cache, or calls load. It records in ctx how long an
// answer that depends on the value may be cached.
func (s *Store) read(ctx context.Context, subject store.Subject, load otter.LoaderFunc[store.Subject, value]) (v value, err error) {
	depends := store.DependenciesOf(ctx)
	depends.On(subject.Key)
	if s.usable() {
		v, err = s.get(ctx, subject, load)
		depends.Until(v.until)
		if store.IsAway(err) {
			if last, use, ok := s.stale(ctx, subject); ok {
				use()
				return last, nil
			}
		}
		return v, err
	}
	depends.Unknown()
	ask := func(ctx context.Context) (value, error) {
		s.misses.Add(1)
		return unkeptValue(load(ctx, subject))
	}
	if last, use, ok := s.stale(ctx, subject); ok {
		return withoutFeed(ctx, s, last, use, ask)
	}
	return ask(ctx)
}

// An unkept is a value that may be returned but not cached, because it may be older than a change
// that the cache knows.
type unkept struct{ value value }

func (u *unkept) Error() string { return "cachestore: value must not be cached" }

// unkeptValue converts the result of a loader. If the error has the type unkept, unkeptValue
// returns the value in the error and no error.
func unkeptValue(v value, err error) (value, error) {
	var once *unkept
	if errors.As(err, &once) {
		return once.value, nil
	}
	return v, err
}

// get returns the value of a subject from the cache, or loads the value. Concurrent calls for a
// subject share one load. If a stale answer is possible and the store does not respond within the
// time limit of soon, the error is an AwayError.
func (s *Store) get(ctx context.Context, subject store.Subject, load otter.LoaderFunc[store.Subject, value]) (value, error) {
	v, ok := s.cache.GetIfPresent(subject)
	if ok && v.until.IsZero() && s.good(subject, v) {
		s.hits.Add(1)
		return v, nil
	}
	if ok && time.Now().Before(v.until) && s.good(subject, v) {
		s.hits.Add(1)
	} else {
		s.misses.Add(1)
	}
	ask := func(ctx context.Context) (value, error) { return s.cache.Get(ctx, subject, load) }
	v, err := s.kept(ctx, subject, ask)
	if err != nil || v.until.IsZero() || time.Now().Before(v.until) {
		return v, err
	}
	over := v
	_, limited := s.mayBeStale(ctx)
	if limited && s.avoids() {
		return value{}, errSlow
	}
	s.cache.Invalidate(subject)
	again := func(ctx context.Context) (value, error) { return s.kept(ctx, subject, ask) }
	if limited {
		v, err = soon(ctx, s, again)
	} else {
		v, err = again(ctx)
	}
	if store.IsAway(err) {
		s.keep(subject, over)
	}
	return v, err
}

// kept calls ask until the result is current, or must not be cached, or the store is unavailable.
func (s *Store) kept(ctx context.Context, subject store.Subject, ask func(context.Context) (value, error)) (value, error) {
	for {
		v, err := ask(ctx)
		var once *unkept
		switch {
		case errors.As(err, &once):
			store.DependenciesOf(ctx).Unknown()
			return once.value, nil
		case store.IsAway(err):
			return value{}, err
		case err != nil && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
			continue // the caller that started the shared load has cancelled it
		case err != nil:
			return value{}, err
		case s.good(subject, v):
			return v, nil
		}
		s.cache.Invalidate(subject)
	}
}

var errSlow = &store.AwayError{Cause: "the store does not respond"}

// avoids reports whether a stale answer is returned without a call of the store.
func (s *Store) avoids() bool {
	return s.away.Load() || time.Now().UnixNano() < s.avoid.Load() || store.ConditionOf(s.Backing).NoReads
}

func (s *Store) load(ctx context.Context, subject store.Subject) (v value, err error) {
	switch subject.Kind {
	case store.KindName:
		v.record, err = s.Backing.Get(ctx, name.FromKey(subject.Key), time.Time{})
	case store.KindAuthority:
		v.authority, err = s.Backing.Authority(ctx, name.PrefixFromKey(subject.Key), time.Time{})
	}
	if errors.Is(err, store.ErrNotFound) {
		v, err = value{until: time.Now().Add(s.options.Absent)}, nil
	}
	if err == nil && !s.good(subject, v) {
		return value{}, &unkept{v}
	}
	return v, err
}

// bypassed reports whether a call must not use the cache: the store is closed, the context has
// ended or is from [store.Fresh], or the call is for an earlier time.
func (s *Store) bypassed(ctx context.Context, at time.Time) bool {
	return s.closed.Load() || ctx.Err() != nil || !at.IsZero() || store.IsFresh(ctx)
}

// Get implements [store.Reader].
func (s *Store) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	if s.bypassed(ctx, at) {
		return s.Backing.Get(ctx, n, at)
	}
	v, err := s.read(ctx, store.Subject{Kind: store.KindName, Key: n.Key()}, s.loader)
	switch {
	case err != nil:
		return nil, err
	case v.record == nil:
		return nil, store.ErrNotFound
	}
	return v.record.Clone(), nil
}

// Records implements [store.BatchReader].
func (s *Store) Records(ctx context.Context, names []name.Name, change bool) ([]*store.Record, error) {
	if store.IsFresh(ctx) {
		return store.Records(ctx, s.Backing, names, change)
	}
	return store.Records(ctx, struct{ store.Reader }{s}, names, change)
}

// History implements [store.Historian]. The history is not cached. It may come from a replica, and
// lack changes that the cache already has.
func (s *Store) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	store.DependenciesOf(ctx).Unknown()
	return s.Backing.History(ctx, n)
}

// Authority implements [store.Reader].
func (s *Store) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	if s.bypassed(ctx, at) {
		return s.Backing.Authority(ctx, p, at)
	}
	v, err := s.read(ctx, store.Subject{Kind: store.KindAuthority, Key: p.String()}, s.loader)
	switch {
	case err != nil:
		return nil, err
	case v.authority == nil:
		return nil, store.ErrNotFound
	}
	return v.authority.Clone(), nil
}

// Aliased implements [store.Aliaser].
func (s *Store) Aliased(ctx context.Context, n name.Name) ([]name.Name, error) {
	load := func(ctx context.Context, subject store.Subject) (v value, err error) {
		v.names, err = store.Aliased(ctx, s.Backing, n)
		v.until = time.Now().Add(s.options.Absent)
		if err == nil && !s.good(subject, v) {
			return value{}, &unkept{v}
		}
		return v, err
	}
	if s.bypassed(ctx, time.Time{}) {
		return store.Aliased(ctx, s.Backing, n)
	}
	v, err := s.read(ctx, store.Subject{Kind: kindAlias, Key: store.AliasURL(n)}, load)
	return slices.Clone(v.names), err
}

// Authorities implements [store.Reader].
func (s *Store) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	if s.bypassed(ctx, at) {
		return s.Backing.Authorities(ctx, at)
	}
	s.mu.RLock()
	kept, good := s.all, s.allGood
	s.mu.RUnlock()
	use, stale := s.mayBeStale(ctx)
	switch {
	case good && s.usable():
		return clones(kept)
	case !good || !stale:
		return s.Backing.Authorities(ctx, at)
	}
	all, err := withoutFeed(ctx, s, kept, use, func(ctx context.Context) ([]*store.Authority, error) {
		return listed(s.Backing.Authorities(ctx, at))
	})
	if err != nil {
		return func(yield func(*store.Authority, error) bool) { yield(nil, err) }
	}
	return clones(all)
}

func clones(all []*store.Authority) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) {
		for _, a := range all {
			if !yield(a.Clone(), nil) {
				return
			}
		}
	}
}
