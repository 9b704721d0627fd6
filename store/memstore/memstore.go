// Package memstore is a store in memory, for tests and for programs that make
// their names anew at every start. It keeps the contract of package store,
// history included, in every point but one: nothing survives the process.
//
// Every change is kept as a version beside those before it, together with the
// number of its batch. A listing reads the versions of the moment at which it
// began, so that it holds no lock while its consumer works.
package memstore

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Store keeps everything in memory. [New] makes one.
type Store struct {
	mu     sync.RWMutex
	closed bool
	moment uint64 // number of the last batch
	count  int64  // of records
	tables map[store.Kind]*table
}

var (
	_ store.Store     = (*Store)(nil)
	_ store.Historian = (*Store)(nil)
	_ store.Counter   = (*Store)(nil)
	_ store.Tokens    = (*Store)(nil)
)

// New returns an empty store.
func New() *Store {
	return &Store{tables: map[store.Kind]*table{
		store.KindName:      newTable(),
		store.KindAuthority: newTable(),
		store.KindToken:     newTable(),
	}}
}

// Apply implements [store.Store].
func (s *Store) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if err := store.CheckBatch(changes); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	steps, results, err := store.Plan(changes, s.last)
	if err != nil {
		return nil, err
	}
	s.moment++
	for _, step := range steps {
		s.tables[step.Subject.Kind].add(step.Subject.Key, version{s.moment, step.Next})
		s.count += records(step.Next) - records(step.Last)
	}
	return results, nil
}

// usable says why a call cannot begin. It wants the lock.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return store.ErrClosed
	}
	return ctx.Err()
}

func (s *Store) last(subject store.Subject) (*store.Change, error) {
	return s.tables[subject.Kind].at(subject.Key, s.moment, time.Time{}), nil
}

// records returns how many records there are after c: one or none.
func records(c *store.Change) int64 {
	if c == nil || c.Record == nil {
		return 0
	}
	return 1
}

// find returns the change of subject that holds at a time. It is not to be
// changed.
func (s *Store) find(ctx context.Context, subject store.Subject, at time.Time) (*store.Change, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	c := s.tables[subject.Kind].at(subject.Key, s.moment, at)
	if c == nil || !c.Delete.IsZero() {
		return nil, store.ErrNotFound
	}
	return c, nil
}

// Get implements [store.Reader].
func (s *Store) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	c, err := s.find(ctx, store.Subject{Kind: store.KindName, Key: n.Key()}, at)
	if err != nil {
		return nil, err
	}
	return c.Record.Clone(), nil
}

// Authority implements [store.Reader].
func (s *Store) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	c, err := s.find(ctx, store.Subject{Kind: store.KindAuthority, Key: p.String()}, at)
	if err != nil {
		return nil, err
	}
	return c.Authority.Clone(), nil
}

// Token implements [store.Tokens].
func (s *Store) Token(ctx context.Context, id string) (*store.Token, error) {
	c, err := s.find(ctx, store.Subject{Kind: store.KindToken, Key: id}, time.Time{})
	if err != nil {
		return nil, err
	}
	return c.Token.Clone(), nil
}

// List implements [store.Reader].
func (s *Store) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for c, err := range s.scan(ctx, store.KindName, scan) {
			if err != nil {
				yield(nil, err)
				return
			}
			if c.Record != nil && !yield(c.Record.Clone(), nil) {
				return
			}
		}
	}
}

// Authorities implements [store.Reader].
func (s *Store) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) {
		for c, err := range s.scan(ctx, store.KindAuthority, store.Scan{At: at}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(c.Authority.Clone(), nil) {
				return
			}
		}
	}
}

// scan yields the changes that hold at a time, in the order of their keys, as
// of the moment when it begins.
func (s *Store) scan(ctx context.Context, kind store.Kind, scan store.Scan) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		keys, moment, err := s.begin(ctx, kind)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, key := range within(keys, scan) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if c := s.lookup(kind, key, moment, scan.At); c != nil && !yield(c, nil) {
				return
			}
		}
	}
}

// begin returns the sorted keys of a kind and the present moment.
func (s *Store) begin(ctx context.Context, kind store.Kind) ([]string, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tables[kind].sorted(), s.moment, s.usable(ctx)
}

func (s *Store) lookup(kind store.Kind, key string, moment uint64, at time.Time) *store.Change {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tables[kind].at(key, moment, at)
}

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		versions, err := s.versions(ctx, n.Key())
		if err != nil {
			yield(nil, err)
			return
		}
		for i := len(versions) - 1; i >= 0; i-- {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(versions[i].change.Clone(), nil) {
				return
			}
		}
	}
}

func (s *Store) versions(ctx context.Context, key string) ([]version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tables[store.KindName].versions[key], s.usable(ctx)
}

// Count implements [store.Counter]; it is exact.
func (s *Store) Count(ctx context.Context) (int64, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return 0, false, err
	}
	return s.count, true, nil
}

// Close implements [store.Store]. Listings under way go on.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
