package memstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// A Store keeps everything in memory. It is made by [New].
type Store struct {
	reader

	mu     sync.RWMutex
	closed bool
	split  bool   // digests are split
	moment uint64 // number of the last batch
	count  int64  // number of records
	tables map[store.Kind]*table
	log    sealedLog
	places places
	users  map[string]string // ID of the user who has a subject, by subject

	secrets map[string][]byte
	leases  store.Leases
	jobs    jobs

	invalidations store.Invalidations
}

type reader = reading.Reader

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
	_ store.TreeReader         = (*Store)(nil)
	_ store.Splitter           = (*Store)(nil)
	_ store.Loader             = (*Store)(nil)
	_ store.Verifier           = (*Store)(nil)
	_ store.Finder             = (*Store)(nil)
	_ store.Vault              = (*Store)(nil)
	_ store.Users              = (*Store)(nil)
	_ store.RightsHistorian    = (*Store)(nil)
	_ store.Invalidator        = (*Store)(nil)
)

// New returns an empty store.
func New() *Store {
	s := &Store{
		tables: map[store.Kind]*table{
			store.KindName:        newTable(),
			store.KindAuthority:   newTable(),
			store.KindToken:       newTable(),
			store.KindUser:        newTable(),
			store.KindTokenRights: newTable(),
		},
		log:     sealedLog{nodes: map[place]ledger.Hash{}},
		users:   map[string]string{},
		secrets: map[string][]byte{},
	}
	s.reader = reading.Of(reading.Changes{Find: s.find, Scan: s.scan, History: s.history, Owner: s.owner})
	return s
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
	if err == nil {
		err = store.CheckSubjects(changes, steps, func(subject string) (string, error) { return s.users[subject], nil })
	}
	if err != nil {
		return nil, err
	}
	if s.split {
		store.SplitDigests(steps)
	}
	s.moment++
	for _, step := range steps {
		s.write(step)
	}
	return results, nil
}

// SplitDigests implements [store.Splitter].
func (s *Store) SplitDigests(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.split = true
	return s.usable(ctx)
}

// write writes a step as part of the current batch. The caller must hold the lock.
func (s *Store) write(step store.Step) {
	seq := uint64(0)
	if step.Subject.Kind != store.KindToken {
		seq = s.log.seal(step.Next)
	}
	s.add(step, seq)
}

func (s *Store) add(step store.Step, seq uint64) {
	t, key := s.tables[step.Subject.Kind], step.Subject.Key
	t.add(key, version{s.moment, seq, step.Next})
	s.count += step.Next.Records() - step.Last.Records()
	s.places.add(step)
	s.identify(step)
	s.invalidations.InvalidateSteps([]store.Step{step}) // readers wait for the lock, so they will see the change
	for _, revision := range step.Next.Redacts {
		v := &t.versions[key][revision-1]
		if !v.change.Redacted {
			s.places = places{} // the index contains redacted locations, so it must be built again
			v.change = v.change.Redact()
			s.log.redact(v.seq, v.change)
		}
	}
}

// usable returns an error if the store is closed or ctx has ended. The caller must hold the lock.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return store.ErrClosed
	}
	return ctx.Err()
}

func (s *Store) last(subject store.Subject) (*store.Change, error) {
	return s.tables[subject.Kind].at(subject.Key, s.moment, time.Time{}), nil
}

// identify updates the index that maps subjects at identity providers to users after a step.
// Between the steps of a batch, two users may have the same subject. A step that removes the
// subject from one user must then not remove the index entry of the other user.
func (s *Store) identify(step store.Step) {
	if step.Next.User == nil {
		return
	}
	if step.Last != nil {
		for _, subject := range step.Last.User.Subjects {
			if s.users[subject] == step.Subject.Key {
				s.index(subject)
			}
		}
	}
	for _, subject := range step.Next.User.Subjects {
		s.users[subject] = step.Subject.Key
	}
}

func (s *Store) index(subject string) {
	delete(s.users, subject)
	for id, versions := range s.tables[store.KindUser].versions {
		if slices.Contains(versions[len(versions)-1].change.User.Subjects, subject) {
			s.users[subject] = id
		}
	}
}

func (s *Store) owner(ctx context.Context, subject string) (string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.users[subject], s.usable(ctx)
}

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
	return c.Clone(), nil
}

// scan calls yield with copies of the changes that were current at the time scan.At, in the order
// of their keys. Changes made during the scan do not affect it.
func (s *Store) scan(ctx context.Context, kind store.Kind, scan store.Scan, yield func(*store.Change) bool) error {
	keys, moment, err := s.begin(ctx, kind)
	if err != nil {
		return err
	}
	for _, key := range within(keys, scan) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c := s.lookup(kind, key, moment, scan.At); c != nil && !yield(c.Clone()) {
			break
		}
	}
	return nil
}

// begin returns the sorted keys of a kind, and the number of the last batch.
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

// history calls yield with copies of the changes of a subject, newest first, until yield returns
// false.
func (s *Store) history(ctx context.Context, subject store.Subject, yield func(*store.Change, error) bool) error {
	versions, err := s.versions(ctx, subject)
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(versions) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !yield(v.change.Clone(), nil) {
			break
		}
	}
	return nil
}

// versions returns the versions of a subject. It copies the slice, which a redaction modifies.
func (s *Store) versions(ctx context.Context, subject store.Subject) ([]version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.tables[subject.Kind].versions[subject.Key]), s.usable(ctx)
}

// Count implements [store.Counter]. The number is exact.
func (s *Store) Count(ctx context.Context) (int64, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return 0, false, err
	}
	return s.count, true, nil
}

// Invalidations implements [store.Invalidator].
func (s *Store) Invalidations() *store.Invalidations { return &s.invalidations }

// Close implements [store.Store]. Listings in progress continue.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
