// Package memstore is a store in memory, for tests and for programs that create
// their names at every start. It fulfils the contract of package store, history
// included, except that nothing survives the process.
//
// Every change is kept as a version, together with the number of its batch. A
// listing reads the versions that existed when it began, so it holds no lock
// during the loop body. Changes are sealed at once. The index of locations is
// built on first use and maintained from then on.
package memstore

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Store keeps everything in memory. [New] returns one.
type Store struct {
	mu     sync.RWMutex
	closed bool
	moment uint64 // number of the last batch
	count  int64  // of records
	tables map[store.Kind]*table
	log    sealed
	places places
}

var (
	_ store.Store              = (*Store)(nil)
	_ store.Historian          = (*Store)(nil)
	_ store.AuthorityHistorian = (*Store)(nil)
	_ store.Counter            = (*Store)(nil)
	_ store.Tokens             = (*Store)(nil)
	_ store.TokenLister        = (*Store)(nil)
	_ store.TokenHistorian     = (*Store)(nil)
	_ store.Feed               = (*Store)(nil)
	_ store.Prover             = (*Store)(nil)
	_ store.Loader             = (*Store)(nil)
	_ store.Verifier           = (*Store)(nil)
	_ store.Finder             = (*Store)(nil)
)

// New returns an empty store.
func New() *Store {
	return &Store{
		tables: map[store.Kind]*table{
			store.KindName:      newTable(),
			store.KindAuthority: newTable(),
			store.KindToken:     newTable(),
		},
		log: sealed{nodes: map[place]ledger.Hash{}},
	}
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
		s.write(step)
	}
	return results, nil
}

// write adds a step to the current moment. The caller must hold the lock.
func (s *Store) write(step store.Step) {
	seq := uint64(0)
	if step.Subject.Kind != store.KindToken {
		seq = s.log.seal(step.Next)
	}
	s.add(step, seq)
}

// add adds a step with its number in the log, and redacts what it redacts.
func (s *Store) add(step store.Step, seq uint64) {
	t, key := s.tables[step.Subject.Kind], step.Subject.Key
	t.add(key, version{s.moment, seq, step.Next})
	s.count += step.Next.Records() - step.Last.Records()
	s.places.add(step)
	for _, revision := range step.Next.Redacts {
		v := &t.versions[key][revision-1]
		if !v.change.Redacted {
			s.places = places{} // it contains redacted locations
			v.change = v.change.Redact()
			s.log.redact(v.seq, v.change)
		}
	}
}

// usable returns the error of a call that cannot begin. The caller must hold the lock.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return store.ErrClosed
	}
	return ctx.Err()
}

func (s *Store) last(subject store.Subject) (*store.Change, error) {
	return s.tables[subject.Kind].at(subject.Key, s.moment, time.Time{}), nil
}

// find returns the change of subject that is current at a time. The caller must not modify
// it.
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

// scan yields the changes that are current at a time, in the order of their keys, as of the
// moment when it begins.
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

// begin returns the sorted keys of a kind and the current moment.
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

// AllTokens implements [store.TokenLister].
func (s *Store) AllTokens(ctx context.Context) iter.Seq2[*store.Token, error] {
	return store.TokensOf(s.TokenChanges(ctx))
}

// TokenChanges implements [store.TokenHistorian].
func (s *Store) TokenChanges(ctx context.Context) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		for c, err := range s.scan(ctx, store.KindToken, store.Scan{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(c.Clone(), nil) {
				return
			}
		}
	}
}

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return s.history(ctx, store.Subject{Kind: store.KindName, Key: n.Key()})
}

// AuthorityHistory implements [store.AuthorityHistorian].
func (s *Store) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return s.history(ctx, store.Subject{Kind: store.KindAuthority, Key: p.String()})
}

func (s *Store) history(ctx context.Context, subject store.Subject) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		versions, err := s.versions(ctx, subject)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, v := range slices.Backward(versions) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(v.change.Clone(), nil) {
				return
			}
		}
	}
}

// versions returns a copy of the versions of a subject, since a redaction modifies them.
func (s *Store) versions(ctx context.Context, subject store.Subject) ([]version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.tables[subject.Kind].versions[subject.Key]), s.usable(ctx)
}

// Count implements [store.Counter]. It is exact.
func (s *Store) Count(ctx context.Context) (int64, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return 0, false, err
	}
	return s.count, true, nil
}

// Close implements [store.Store]. Listings in progress continue.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
