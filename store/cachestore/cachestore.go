// Package cachestore caches a store in memory, for nodes that share a database. The cache
// implements the interfaces of the underlying store, and all reads and writes must go through the
// cache.
//
// # Coherence
//
// Changes that this node makes through the cache are visible at once. To see the changes of other
// nodes, the cache reads the feed of the store ([store.Feed]) twice a second. If the feed could not
// be read for the time [Options.Within], the cache passes all calls to the store until it can read
// the feed again. A change enters the feed within a second. An answer is therefore at most
// [Options.Within] plus one second old. Exceptions are old answers of replicas, and stale answers
// (see below). If the database fails over to a replica that has not received all changes, the cache
// is emptied.
//
// A store with replicas may return an old answer even after a newer change was in the feed. The
// cache returns such an answer but does not keep it. To recognize old answers, the cache remembers
// the latest revisions of recently changed subjects.
//
// A cache of complete responses can use this cache as its source ([store.Invalidator]). A cached
// response is then at most as old as a cached record, and is used only while cached records can be
// used.
//
// The cache contains current records, aliases, authorities, the list of authorities and, for a
// short time, the absence of a name. Calls for other data go to the store: listings, earlier
// states, tokens, users, secrets, the feed with its head, and proofs.
//
// # Stale answers
//
// The cache returns stale answers, as in RFC 5861, section 4, if all of these are true:
//
//   - The store is unavailable (see [store.AwayError]). If the cache could not read the feed for
//     [Options.Within], a store that does not respond within half a second also counts as
//     unavailable.
//   - The caller accepts stale answers (see [store.WithStaleness]).
//   - The cache has read the feed within the last [Options.StaleIfError].
//
// A stale answer includes all changes that were in the feed when the cache last read it. The list
// of authorities and the absence of a name can also be stale.
package cachestore

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Backing is a store that can be cached.
type Backing interface {
	store.Store
	store.Tokens
	store.TokenLister
	store.TokenHistorian
	store.Historian
	store.AuthorityHistorian
	store.Counter
	store.Finder
	store.Feed
	store.Prover
	store.TreeReader
	store.Splitter
	store.Verifier
	store.Users
	store.RightsHistorian
}

// Options are the parameters of a cache. A zero field means the default value.
type Options struct {
	Bytes  int64         // approximate size of cached data in bytes; default 64 MiB
	Every  time.Duration // how often the feed is read; default half a second
	Within time.Duration // maximum age of an answer, besides the second in which a change enters the feed; default 2 seconds
	Absent time.Duration // how long the absence of a name is cached; default 1 second
	Settle time.Duration // time after which every replica has a change; must exceed the lag of the replicas; default 15 seconds
	Log    *slog.Logger  // logger for failures to read the feed; nil for no log

	// StaleIfError is how long the cache may return stale answers after its last read of the feed.
	// With 0, the cache returns no stale answers.
	StaleIfError time.Duration
}

const (
	patience = 500 * time.Millisecond // maximum wait for the store if there is a stale answer to return
	avoided  = 500 * time.Millisecond // after such a wait, how long stale answers are returned without asking the store
)

// A Store is a cache in front of another store. It is made by [New].
type Store struct {
	Backing
	options Options
	cache   *otter.Cache[store.Subject, value]
	loader  otter.LoaderFunc[store.Subject, value] // the function load

	hits, misses, evictions atomic.Uint64 // numbers of answers; an answer that needs the cache twice is counted once

	closed  atomic.Bool
	checked atomic.Int64 // start of the last successful read of the feed, in Unix nanoseconds; 0 if none
	away    atomic.Bool  // the store was unavailable when the feed was last read
	avoid   atomic.Int64 // until then, in Unix nanoseconds, a stale answer is returned without asking the store
	follower
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.RWMutex
	minima  map[store.Subject]minimum
	paused  time.Time          // until then, and until forget has emptied the cache, nothing is cached; zero if not paused
	all     []*store.Authority // the list of authorities
	allGood bool               // all includes every known change

	invalidations store.Invalidations
}

// A mark records when the feed was read up to a change.
type mark struct {
	seen uint64
	at   time.Time
}

// A value is the cached data of a subject.
type value struct {
	record    *store.Record
	authority *store.Authority
	names     []name.Name // for an alias, the names of the records that have it
	until     time.Time   // when an alias, or the absence of a record or authority, must be read again
}

// kindAlias is the kind of subject for an alias. The key of the subject is [store.AliasURL] of the
// alias.
const kindAlias store.Kind = 255

func (v value) revision() uint64 {
	switch {
	case v.record != nil:
		return v.record.Revision
	case v.authority != nil:
		return v.authority.Revision
	}
	return 0
}

// A minimum is the oldest state of a recently changed subject that may be cached.
type minimum struct {
	revision uint64
	named    name.Name // for an alias: a record that must have it
	until    time.Time
}

const maxTracked = 200_000

var (
	_ Backing         = (*Store)(nil)
	_ store.Aliaser   = (*Store)(nil)
	_ store.Watched   = (*Store)(nil)
	_ store.Measured  = (*Store)(nil)
	_ store.Settler   = (*Store)(nil)
	_ store.Confirmer = (*Store)(nil)
	_ store.Clocked   = (*Store)(nil)
	_ store.Vault     = (*Store)(nil)

	_ store.Invalidator = (*Store)(nil)
)

// New returns a cache in front of b. Closing the cache closes b. If b is unavailable, nothing is
// cached until the feed of b can be read.
func New(ctx context.Context, b Backing, o Options) (*Store, error) {
	o.Bytes = cmp.Or(o.Bytes, 64<<20)
	o.Every = cmp.Or(o.Every, 500*time.Millisecond)
	o.Within = cmp.Or(o.Within, 2*time.Second)
	o.Absent = cmp.Or(o.Absent, time.Second)
	o.Settle = cmp.Or(o.Settle, 15*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Store{Backing: b, options: o, ended: make(chan struct{}), minima: map[store.Subject]minimum{}}
	var err error
	s.cache, err = otter.New(&otter.Options[store.Subject, value]{MaximumWeight: uint64(o.Bytes), Weigher: weight, OnAtomicDeletion: s.countEviction})
	if err != nil {
		return nil, err
	}
	s.loader, s.invalidations.Usable = s.load, s.usable
	if err := s.begin(ctx); err != nil && !store.IsAway(err) {
		return nil, err
	}
	follow, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.follow(follow)
	return s, nil
}

// begin sets the position of the follower to the present end of the feed.
func (s *Store) begin(ctx context.Context) error {
	begun := time.Now()
	head, err := s.Backing.Head(ctx)
	if err != nil {
		return err
	}
	s.seen, s.begun = head.Size, true
	s.checked.Store(begun.UnixNano())
	return nil
}

// weight estimates the memory of a value, in bytes.
func weight(s store.Subject, v value) uint32 {
	const (
		fixed    = 400 // for a record and what the cache stores about it
		location = 250
		text     = 20
		typed    = 150
	)
	n := fixed + len(s.Key)
	for _, alias := range v.names {
		n += text + len(alias.Key())
	}
	if r := v.record; r != nil {
		n += len(r.Spelling) + len(r.Reason)
		for i := range r.Locations {
			l := &r.Locations[i]
			n += location + len(l.URL) + len(l.Note) + len(l.Type) + len(l.Attributes)
		}
		for i := range r.Values {
			v := &r.Values[i]
			n += typed + len(v.Type) + len(v.Data) + len(v.Timestamp) + len(v.References)
		}
		for k, values := range r.Metadata {
			n += text + len(k) + lengths(values)
		}
		n += lengths(r.SameAs) + lengths(r.Successors)
	}
	if a := v.authority; a != nil {
		n += len(a.Text())
		n += len(a.Description) + len(a.Contact) + lengths(a.Owners) + lengths(a.Hosts) + lengths(a.Addresses) + lengths(a.Parents) + lengths(a.Children)
	}
	return uint32(n)
}

func lengths(values []string) (n int) {
	for _, v := range values {
		n += 20 + len(v)
	}
	return n
}

// Close closes the cache and the underlying store.
func (s *Store) Close() error {
	if !s.closed.Swap(true) {
		s.cancel()
		<-s.ended
		s.cache.StopAllGoroutines()
		s.cache.InvalidateAll()
	}
	return s.Backing.Close()
}

// usable reports whether the cache is current, so that it may be read and filled.
func (s *Store) usable() bool {
	if time.Since(time.Unix(0, s.checked.Load())) > s.options.Within || store.ConditionOf(s.Backing).NoReads {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.paused.IsZero()
}

func (s *Store) good(subject store.Subject, v value) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, heard := s.minima[subject]
	return !heard || v.revision() >= f.revision && (f.named.IsZero() || slices.Contains(v.names, f.named))
}

// keep caches a value, unless its subject has changed recently.
func (s *Store) keep(subject store.Subject, v value) {
	s.mu.RLock()
	defer s.mu.RUnlock() // if the subject changes meanwhile, s.changed waits for this lock and then removes the value
	if _, heard := s.minima[subject]; !heard && s.paused.IsZero() {
		s.cache.Set(subject, v)
	}
}

// stale returns the cached value of a subject if the client accepts stale answers. The caller must
// call use before it returns the value.
func (s *Store) stale(ctx context.Context, subject store.Subject) (v value, use func(), ok bool) {
	use, ok = s.mayBeStale(ctx)
	if !ok {
		return v, nil, false
	}
	v, ok = s.cache.GetIfPresent(subject)
	return v, use, ok && s.good(subject, v)
}

// mayBeStale reports whether a call with ctx may return a stale answer now. The caller must call
// use before it returns such an answer.
func (s *Store) mayBeStale(ctx context.Context) (use func(), ok bool) {
	staleness, checked := store.StalenessOf(ctx), s.checked.Load()
	since := time.Unix(0, checked)
	if staleness == nil || checked == 0 || time.Since(since) > s.options.StaleIfError {
		return nil, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return func() { staleness.Note(since) }, s.paused.IsZero()
}

// Condition implements [store.Watched]. It returns the condition of the underlying store.
func (s *Store) Condition() store.Condition { return store.ConditionOf(s.Backing) }

// Usage implements [store.Measured]. It adds this cache to the usage of the underlying store.
func (s *Store) Usage() store.Usage {
	u := store.UsageOf(s.Backing)
	u.Caches = append(u.Caches, store.CacheUsage{
		Name: "records", Hits: s.hits.Load(), Misses: s.misses.Load(), Evictions: s.evictions.Load(), CountsEvictions: true,
		Bytes: s.cache.WeightedSize(), Capacity: uint64(s.options.Bytes),
	})
	return u
}

// countEviction counts the entries that the cache removes to make room. The cache also has
// statistics of its own, but they would slow down every hit.
func (s *Store) countEviction(e otter.DeletionEvent[store.Subject, value]) {
	if e.WasEvicted() {
		s.evictions.Add(1)
	}
}

// Apply implements [store.Store]. It removes every subject from the cache that the changes have
// changed, or may have changed.
func (s *Store) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	results, err := s.Backing.Apply(ctx, changes)
	for i := range changes {
		subject := changes[i].Subject()
		switch {
		case subject.Kind == store.KindToken, subject.Kind == store.KindTokenRights:
		case store.IsAway(err): // after an AwayError nothing was written
		case err != nil:
			s.doubt(&changes[i])
		case results[i].Changed:
			s.heard(&changes[i], results[i].Revision)
		}
	}
	return results, err
}

// doubt removes everything from the cache that the change c may have changed.
func (s *Store) doubt(c *store.Change) {
	s.mu.Lock()
	s.allGood = s.allGood && c.Authority == nil
	s.mu.Unlock()
	s.remove(c.Subject())
	if c.Record != nil {
		for _, url := range c.Record.AppendAliases(nil) {
			s.remove(store.Subject{Kind: kindAlias, Key: url})
		}
	}
}

// remove removes a subject from the cache, and invalidates the answers that depend on it.
func (s *Store) remove(subject store.Subject) {
	s.cache.Invalidate(subject)
	s.invalidations.Invalidate(subject.Key)
}

func (s *Store) removeAll() {
	s.cache.InvalidateAll()
	s.invalidations.InvalidateAll()
}

// Load implements [store.Loader] if the underlying store does.
func (s *Store) Load(ctx context.Context, entries iter.Seq2[*store.Entry, error]) error {
	defer func() {
		s.mu.Lock()
		s.allGood = false
		s.mu.Unlock()
		s.removeAll()
	}()
	return store.Load(ctx, s.Backing, entries)
}

// Invalidations implements [store.Invalidator]. Changes of other nodes are counted when they are
// read from the feed. While the cache is not current, no answer is valid.
func (s *Store) Invalidations() *store.Invalidations { return &s.invalidations }

// Confirm implements [store.Confirmer].
func (s *Store) Confirm(ctx context.Context, since time.Time) (bool, error) {
	return store.Confirm(ctx, s.Backing, since)
}

// Settle implements [store.Settler].
func (s *Store) Settle(ctx context.Context) error { return store.Settle(ctx, s.Backing) }

// Clock implements [store.Clocked].
func (s *Store) Clock(ctx context.Context) (time.Time, error) { return store.ClockOf(ctx, s.Backing) }
