// Package cachestore caches a store in memory, for nodes that share a database. The
// cache is itself a store: reads and writes go through it.
//
// # Coherence
//
// Changes made through the cache are visible at once. Those of other nodes are read
// from the store's feed twice a second: an answer is never older than
// [Options.Within] plus the second that a change may wait to be sealed. When the feed
// cannot be read for that time, the cache is bypassed until it can. When the database
// has lost changes, in a failover to a replica that had not received them, the cache
// is emptied.
//
// A store with replicas may return an old answer after the feed has announced a
// change. Such an answer is returned but not cached; for this purpose the cache
// tracks the latest revisions for a while.
//
// The cache holds current records, aliases, authorities, the list of authorities and,
// for a short time, the absence of a name. Listings, reads as of a time, tokens, the
// feed with its head, and proofs are passed to the store.
//
// # Stale answers
//
// While the store is unavailable (see [store.AwayError]), cached data is still returned
// to callers that accept stale answers (see [store.WithStaleness]), until
// [Options.StaleIfError] after the feed was last read, as in RFC 5861, section 4. When
// the feed was last read, all cached data was current except for changes of the last
// second; a stale answer never undoes a change of which this node knew. This includes
// the list of authorities and the absence of names. If the feed has not been read for
// Options.Within, a store that does not respond within half a second counts as
// unavailable.
package cachestore

import (
	"cmp"
	"context"
	"errors"
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
	store.Feed
	store.Prover
}

// Options are the parameters of a cache. A zero field means the default.
type Options struct {
	Bytes  int64         // approximate size of cached data in bytes; default 64 MiB
	Every  time.Duration // how often the feed is read; default half a second
	Within time.Duration // maximum age of an answer, not counting the second of sealing; default 2 seconds
	Absent time.Duration // how long the absence of a name is cached; default 1 second
	Settle time.Duration // must exceed the lag of the store's replicas; default 15 seconds
	Log    *slog.Logger  // for failures to read the feed; nil disables it

	// StaleIfError is how long after the feed was last read cached data is returned while
	// the store is unavailable; 0 disables it.
	StaleIfError time.Duration
}

const (
	patience = 500 * time.Millisecond // maximum wait for the store if there is a stale answer
	avoided  = 500 * time.Millisecond // how long the store is then not asked again if there is a stale answer
)

// A Store is a cache in front of another store. [New] returns one.
type Store struct {
	Backing
	options Options
	cache   *otter.Cache[store.Subject, value]
	loader  otter.LoaderFunc[store.Subject, value] // load

	closed  atomic.Bool
	checked atomic.Int64 // start of the last successful read of the feed, Unix nanoseconds; 0 if none
	away    atomic.Bool  // the store was unavailable when the feed was last read
	avoid   atomic.Int64 // until then the store is not asked if there is a stale answer, Unix nanoseconds
	follower
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.RWMutex
	minima  map[store.Subject]minimum
	paused  time.Time          // nothing is cached until then, and until forget has emptied the cache; zero if not paused
	all     []*store.Authority // the list of authorities
	allGood bool               // all is current
}

// A follower is the state of the goroutine that reads the feed.
type follower struct {
	begun bool     // the feed has been read
	seen  uint64   // number of the last change
	last  [32]byte // its digest; zero if unknown
	marks []mark   // when earlier changes were seen, oldest first
	lost  bool     // the feed cannot be read
}

// A mark records when a change was seen.
type mark struct {
	seen uint64
	at   time.Time
}

// A value is the cached data of a subject.
type value struct {
	record    *store.Record
	authority *store.Authority
	names     []name.Name // of records that have the alias
	until     time.Time   // when an alias, or the absence of a record or authority, must be read again
}

// kindAlias is the kind of subjects that are aliases. Their keys are those of
// [store.AliasURL].
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

// A minimum is what data of a recently changed subject must have to be cached.
type minimum struct {
	revision uint64
	named    name.Name // for an alias: the record that has it
	until    time.Time
}

// maxTracked is the maximum number of recently changed subjects that are tracked.
const maxTracked = 200_000

var (
	_ store.Store     = (*Store)(nil)
	_ store.Historian = (*Store)(nil)
	_ store.Finder    = (*Store)(nil)
	_ store.Aliaser   = (*Store)(nil)
	_ store.Prover    = (*Store)(nil)
	_ store.Watched   = (*Store)(nil)
)

// New returns a cache in front of b. Closing it closes b. If b is unavailable, nothing is
// cached until its feed can be read.
func New(ctx context.Context, b Backing, o Options) (*Store, error) {
	o.Bytes = cmp.Or(o.Bytes, 64<<20)
	o.Every = cmp.Or(o.Every, 500*time.Millisecond)
	o.Within = cmp.Or(o.Within, 2*time.Second)
	o.Absent = cmp.Or(o.Absent, time.Second)
	o.Settle = cmp.Or(o.Settle, 15*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	cache, err := otter.New(&otter.Options[store.Subject, value]{MaximumWeight: uint64(o.Bytes), Weigher: weight})
	if err != nil {
		return nil, err
	}
	s := &Store{Backing: b, options: o, cache: cache, ended: make(chan struct{}), minima: map[store.Subject]minimum{}}
	s.loader = s.load
	if err := s.begin(ctx); err != nil && !store.IsAway(err) {
		return nil, err
	}
	follow, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.follow(follow)
	return s, nil
}

// begin skips to the end of the feed.
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

// weight returns the approximate memory of a value in bytes.
func weight(s store.Subject, v value) uint32 {
	const (
		fixed    = 400 // for a record and the cache's own data about it
		location = 250
		text     = 20
	)
	n := fixed + len(s.Key)
	for _, alias := range v.names {
		n += text + len(alias.Key())
	}
	if r := v.record; r != nil {
		n += len(r.Spelling) + len(r.Reason)
		for i := range r.Locations {
			l := &r.Locations[i]
			n += location + len(l.URL) + len(l.Note) + len(l.Type)
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

// follow reads the feed at intervals until ctx ends.
func (s *Store) follow(ctx context.Context) {
	defer close(s.ended)
	tick := time.NewTicker(s.options.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		look, cancel := context.WithTimeout(ctx, s.options.Within)
		err := s.look(look)
		cancel()
		s.away.Store(store.IsAway(err))
		if (err != nil) != s.lost && ctx.Err() == nil {
			s.lost = err != nil
			s.tell(err)
		}
	}
}

// tell logs that the feed cannot be read, or can be read again.
func (s *Store) tell(err error) {
	switch {
	case err == nil:
		s.options.Log.Info("changes of other nodes are followed again")
	case s.options.StaleIfError > 0:
		s.options.Log.Warn("changes of other nodes cannot be followed: while the store is away, answers from the cache are stale", "for", s.options.StaleIfError.String(), "err", err)
	default:
		s.options.Log.Warn("changes of other nodes cannot be followed: what is cached is not used", "err", err)
	}
}

// look reads the changes since the last call. It reads the last known change again: in a
// database that has lost changes in a failover that number has another change, or none.
func (s *Store) look(ctx context.Context) error {
	if !s.begun {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	begun := time.Now()
	met := s.seen == 0
	for e, err := range s.Backing.Changes(ctx, max(s.seen, 1)-1) {
		if err != nil {
			return err
		}
		again := !met && (e.Digest == s.last || s.last == [32]byte{})
		if !met && !again {
			s.options.Log.Warn("the database has lost changes: the cache is emptied", "seen", s.seen)
			s.pause(begun)
		}
		met = true
		if !again {
			s.heard(e.Change, e.Change.Revision())
		}
		s.seen, s.last = e.Seq, e.Digest
	}
	if !met {
		if err := s.behind(ctx, begun); err != nil {
			return err
		}
	}
	s.marks = append(s.marks, mark{s.seen, begun})
	for len(s.marks) > 1 && begun.Sub(s.marks[1].at) >= s.options.Settle {
		s.marks = s.marks[1:]
	}
	if err := s.readAll(ctx); err != nil {
		return err
	}
	s.checked.Store(begun.UnixNano())
	s.forget(begun)
	return nil
}

// readAll reads the list of authorities unless it is current. It discards a list that is
// older than known changes.
func (s *Store) readAll(ctx context.Context) error {
	s.mu.RLock()
	good := s.allGood
	s.mu.RUnlock()
	if good {
		return nil
	}
	s.mu.Lock()
	s.allGood = true // unless one changes meanwhile
	s.mu.Unlock()
	all, err := listed(s.Backing.Authorities(ctx, time.Time{}))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = all
	s.allGood = s.allGood && err == nil && s.hasHeard(all)
	return err
}

// hasHeard reports whether a list of authorities includes all known changes. The caller
// must hold the lock.
func (s *Store) hasHeard(all []*store.Authority) bool {
	revisions := make(map[string]uint64, len(all))
	for _, a := range all {
		revisions[a.Prefix.String()] = a.Revision
	}
	for subject, f := range s.minima {
		if subject.Kind == store.KindAuthority && revisions[subject.Key] < f.revision {
			return false
		}
	}
	return true
}

// listed collects the authorities of a listing.
func listed(each iter.Seq2[*store.Authority, error]) (all []*store.Authority, err error) {
	for a, err := range each {
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// behind restarts at the end of a log that ends before changes that were seen so long ago
// that every replica must have them. Either changes were lost, or only a late replica is
// available, whose answers must not stay in the cache afterwards.
func (s *Store) behind(ctx context.Context, now time.Time) error {
	head, err := s.Backing.Head(ctx)
	if err != nil || len(s.marks) == 0 {
		return err
	}
	if m := s.marks[0]; now.Sub(m.at) < s.options.Settle || head.Size >= m.seen {
		return nil
	}
	s.options.Log.Warn("the database has fewer changes than before: the cache is emptied", "seen", s.seen, "has", head.Size)
	s.seen, s.last, s.marks = head.Size, [32]byte{}, nil
	s.pause(now)
	return nil
}

// pause empties the cache, and caches nothing until a time.
func (s *Store) pause(until time.Time) {
	s.mu.Lock()
	if until.After(s.paused) {
		s.paused = until
	}
	s.allGood = false
	s.mu.Unlock()
	s.cache.InvalidateAll()
}

// heard records that a change was made.
func (s *Store) heard(c *store.Change, revision uint64) {
	s.changed(c.Subject(), minimum{revision: revision})
	if c.Record != nil {
		for _, url := range c.Record.AppendAliases(nil) {
			s.changed(store.Subject{Kind: kindAlias, Key: url}, minimum{named: c.Record.Name})
		}
	}
}

// changed records the minimum that current data of a subject must have.
func (s *Store) changed(subject store.Subject, least minimum) {
	s.mu.Lock()
	now := time.Now()
	least.revision = max(least.revision, s.minima[subject].revision)
	least.until = now.Add(s.options.Settle)
	s.minima[subject] = least
	s.allGood = s.allGood && subject.Kind != store.KindAuthority
	full := len(s.minima) > maxTracked
	if full {
		s.minima = map[store.Subject]minimum{}
	}
	s.mu.Unlock()
	if full {
		s.pause(now.Add(s.options.Settle))
		return
	}
	s.cache.Invalidate(subject)
}

// forget drops expired minima, and ends a pause. It then empties the cache again, to
// remove answers that were in progress when the pause began.
func (s *Store) forget(now time.Time) {
	s.mu.RLock()
	over := !s.paused.IsZero() && now.After(s.paused)
	s.mu.RUnlock()
	if over {
		s.cache.InvalidateAll()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if over {
		s.paused = time.Time{}
	}
	for subject, f := range s.minima {
		if now.After(f.until) {
			delete(s.minima, subject)
		}
	}
}

// usable reports whether the cache may be read and filled, and its answers are current.
func (s *Store) usable() bool {
	if time.Since(time.Unix(0, s.checked.Load())) > s.options.Within || store.ConditionOf(s.Backing).NoReads {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.paused.IsZero()
}

// good reports whether v includes all known changes of its subject.
func (s *Store) good(subject store.Subject, v value) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, heard := s.minima[subject]
	return !heard || v.revision() >= f.revision && (f.named.IsZero() || slices.Contains(v.names, f.named))
}

// keep caches a value, unless its subject was changed recently.
func (s *Store) keep(subject store.Subject, v value) {
	s.mu.RLock()
	defer s.mu.RUnlock() // changed removes the value after it has held the lock
	if _, heard := s.minima[subject]; !heard && s.paused.IsZero() {
		s.cache.Set(subject, v)
	}
}

// stale returns the cached value of a subject, if the caller accepts stale answers. The
// caller must call use if it returns the value.
func (s *Store) stale(ctx context.Context, subject store.Subject) (v value, use func(), ok bool) {
	use, ok = s.mayBeStale(ctx)
	if !ok {
		return v, nil, false
	}
	v, ok = s.cache.GetIfPresent(subject)
	return v, use, ok && s.good(subject, v)
}

// mayBeStale reports whether ctx accepts a stale answer now. The caller must call use if it
// returns one.
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

// soon calls ask when there is a stale answer. If that takes too long, it returns errSlow and
// leaves ask running, because a database may take long to give up.
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

// withoutFeed calls ask when there is a stale answer. It returns that answer, after calling
// use, if the store is unavailable, was so a moment ago, or does not respond soon.
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

// read returns the value of a subject, from the cache or with load.
func (s *Store) read(ctx context.Context, subject store.Subject, load otter.LoaderFunc[store.Subject, value]) (v value, err error) {
	if s.usable() {
		v, err = s.get(ctx, subject, load)
		if store.IsAway(err) {
			if last, use, ok := s.stale(ctx, subject); ok {
				use()
				return last, nil
			}
		}
		return v, err
	}
	ask := func(ctx context.Context) (value, error) { return unkeptValue(load(ctx, subject)) }
	if last, use, ok := s.stale(ctx, subject); ok {
		return withoutFeed(ctx, s, last, use, ask)
	}
	return ask(ctx)
}

// An unkept is a value that is current but must not be cached.
type unkept struct{ value value }

func (u *unkept) Error() string { return "cachestore: value must not be cached" }

// unkeptValue returns the result of a loader, whether or not it may be cached.
func unkeptValue(v value, err error) (value, error) {
	var once *unkept
	if errors.As(err, &once) {
		return once.value, nil
	}
	return v, err
}

// get returns the value of a subject from the cache, and loads it if necessary. Concurrent
// calls for one subject share one load. If there is a stale answer and the store does not
// respond soon, the error is an AwayError.
func (s *Store) get(ctx context.Context, subject store.Subject, load otter.LoaderFunc[store.Subject, value]) (value, error) {
	if v, ok := s.cache.GetIfPresent(subject); ok && v.until.IsZero() && s.good(subject, v) {
		return v, nil
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

// kept calls ask until its result is current or must not be cached.
func (s *Store) kept(ctx context.Context, subject store.Subject, ask func(context.Context) (value, error)) (value, error) {
	for {
		v, err := ask(ctx)
		var once *unkept
		switch {
		case errors.As(err, &once):
			return once.value, nil
		case store.IsAway(err):
			return value{}, err
		case err != nil && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
			continue // the caller that started the shared load has gone away
		case err != nil:
			return value{}, err
		case s.good(subject, v):
			return v, nil
		}
		s.cache.Invalidate(subject)
	}
}

// errSlow is returned by a slow store if there is a stale answer.
var errSlow = &store.AwayError{Cause: "the store does not respond"}

// avoids reports whether the store should not be asked if there is a stale answer.
func (s *Store) avoids() bool {
	return s.away.Load() || time.Now().UnixNano() < s.avoid.Load() || store.ConditionOf(s.Backing).NoReads
}

// load reads a subject from the store.
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

// Get implements [store.Reader].
func (s *Store) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	if s.closed.Load() || ctx.Err() != nil || !at.IsZero() || store.IsFresh(ctx) {
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
	return store.Records(ctx, struct{ store.Reader }{s}, names, change) // one by one, with Get
}

// Authority implements [store.Reader].
func (s *Store) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	if s.closed.Load() || ctx.Err() != nil || !at.IsZero() || store.IsFresh(ctx) {
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
	if s.closed.Load() || ctx.Err() != nil || store.IsFresh(ctx) {
		return store.Aliased(ctx, s.Backing, n)
	}
	v, err := s.read(ctx, store.Subject{Kind: kindAlias, Key: store.AliasURL(n)}, load)
	return slices.Clone(v.names), err
}

// Authorities implements [store.Reader].
func (s *Store) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	if s.closed.Load() || ctx.Err() != nil || !at.IsZero() || store.IsFresh(ctx) {
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

// clones yields copies of authorities.
func clones(all []*store.Authority) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) {
		for _, a := range all {
			if !yield(a.Clone(), nil) {
				return
			}
		}
	}
}

// Condition implements [store.Watched]. It returns the condition of the underlying store.
func (s *Store) Condition() store.Condition { return store.ConditionOf(s.Backing) }

// Apply implements [store.Store]. It removes what was changed, or may have been, from the
// cache.
func (s *Store) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	results, err := s.Backing.Apply(ctx, changes)
	for i := range changes {
		subject := changes[i].Subject()
		switch {
		case subject.Kind == store.KindToken:
		case store.IsAway(err): // nothing was written
		case err != nil:
			s.doubt(&changes[i])
		case results[i].Changed:
			s.heard(&changes[i], results[i].Revision)
		}
	}
	return results, err
}

// doubt removes from the cache what c may have changed.
func (s *Store) doubt(c *store.Change) {
	s.mu.Lock()
	s.allGood = s.allGood && c.Authority == nil
	s.mu.Unlock()
	s.cache.Invalidate(c.Subject())
	if c.Record != nil {
		for _, url := range c.Record.AppendAliases(nil) {
			s.cache.Invalidate(store.Subject{Kind: kindAlias, Key: url})
		}
	}
}

// Load implements [store.Loader] if the underlying store does.
func (s *Store) Load(ctx context.Context, entries iter.Seq2[*store.Entry, error]) error {
	defer func() {
		s.mu.Lock()
		s.allGood = false
		s.mu.Unlock()
		s.cache.InvalidateAll()
	}()
	return store.Load(ctx, s.Backing, entries)
}

// Settle implements [store.Settler].
func (s *Store) Settle(ctx context.Context) error { return store.Settle(ctx, s.Backing) }

// History implements [store.Historian] if the underlying store does.
func (s *Store) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return store.History(ctx, s.Backing, n)
}

// AuthorityHistory implements [store.AuthorityHistorian] if the underlying store does.
func (s *Store) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return store.AuthorityHistory(ctx, s.Backing, p)
}

// Count implements [store.Counter].
func (s *Store) Count(ctx context.Context) (int64, bool, error) { return store.Count(ctx, s.Backing) }

// Find implements [store.Finder].
func (s *Store) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	return store.Find(ctx, s.Backing, prefix, after)
}

// AllTokens implements [store.TokenLister] if the underlying store does.
func (s *Store) AllTokens(ctx context.Context) iter.Seq2[*store.Token, error] {
	return store.AllTokens(ctx, s.Backing)
}

// TokenChanges implements [store.TokenHistorian] as far as the underlying store does.
func (s *Store) TokenChanges(ctx context.Context) iter.Seq2[*store.Change, error] {
	return store.TokenChanges(ctx, s.Backing)
}

// Verify implements [store.Verifier] if the underlying store does.
func (s *Store) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	return store.Verify(ctx, s.Backing, fault, progress)
}
