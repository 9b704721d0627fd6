// Package cachestore keeps what was read of a store in memory, for nodes that
// share a database. It is a store itself: reading and writing go through it, and
// it answers what it can.
//
// # Coherence
//
// The changes that the node makes are seen at once. Those of others are learnt
// from the store's feed, which is asked twice a second: an answer is never older
// than the time in [Options.Within], and the second that a change may wait to be
// sealed. When the feed cannot be read for that time, everything is asked of the
// store itself until it can. When the database turns out to have lost changes, in a
// fail-over to a replica that had not received them, all that was kept is dropped.
//
// A store with replicas may still give an old answer when a change has been
// heard of. Such an answer is handed on and not kept: for a while the cache
// remembers which revisions there are.
//
// Only present records, aliases and authorities are kept, the list of authorities, and,
// for a short time, that there are none. Listings, questions as of a time, tokens, the feed with its
// head and proofs go to the store, and are as old as the store makes them.
//
// # Stale answers
//
// While the store is away (see [store.AwayError]), what is kept is still answered
// to those who are content with that (see [store.WithStaleness]), for the time in
// [Options.StaleIfError] since the feed was last read: as RFC 5861, section 4, has
// it. Then everything that was kept was current, but for changes of the last second;
// no change that this node had heard of is undone by a stale answer. This includes
// the list of all authorities, and that there is no such name. Where the feed has
// not been read for the time in Options.Within, a store that does not answer within
// half a second counts as away.
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

// A Backing is what can be cached.
type Backing interface {
	store.Store
	store.Tokens
	store.Feed
	store.Prover
}

// Options say how much is kept, and for how long. Zero is the default.
type Options struct {
	Bytes  int64         // of records kept, about; 64 MiB
	Every  time.Duration // how often the feed is asked; half a second
	Within time.Duration // how old an answer may be, the second of sealing aside; 2 seconds
	Absent time.Duration // how long it is kept that there is no such name; 1 second
	Settle time.Duration // longer than a replica of the store may be behind; 15 seconds
	Log    *slog.Logger  // of a feed that is lost; nil for nobody

	// StaleIfError is how long what is kept is answered while the store is away, after
	// the feed was last read; zero for not at all.
	StaleIfError time.Duration
}

const (
	patience = 500 * time.Millisecond // with a store that does not answer, where there is a stale answer
	avoided  = 500 * time.Millisecond // for so long such a store is not asked where there is a stale answer
)

// A Store is a cache in front of another. [New] makes one.
type Store struct {
	Backing
	options Options
	cache   *otter.Cache[store.Subject, value]
	loader  otter.LoaderFunc[store.Subject, value] // load

	closed  atomic.Bool
	checked atomic.Int64 // when the last look at the feed began that was whole, Unix nanoseconds; 0 for never
	away    atomic.Bool  // the store was away at the last look at the feed
	avoid   atomic.Int64 // until then the store is not asked where there is a stale answer, Unix nanoseconds
	follower
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.RWMutex
	floors  map[store.Subject]floor
	paused  time.Time          // until then, and until all is dropped after that, nothing is kept; zero if it is
	all     []*store.Authority // the list of authorities
	allGood bool               // it is that of the last change that was seen
}

// A follower is what the goroutine that asks the feed knows.
type follower struct {
	begun bool     // the feed was read at all
	seen  uint64   // the place of the last change
	last  [32]byte // its digest; zero if unknown
	marks []mark   // when others were seen, the first ones first
	lost  bool     // the feed cannot be read
}

// A mark says when a change had been seen.
type mark struct {
	seen uint64
	at   time.Time
}

// A value is what is kept of a subject.
type value struct {
	record    *store.Record
	authority *store.Authority
	names     []name.Name // that have the alias
	until     time.Time   // of an alias, or if there is neither record nor authority: then this is asked again
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

// A floor is the least that may be kept of a subject that has changed a short time
// ago.
type floor struct {
	revision uint64
	named    name.Name // of an alias: the record that has it
	until    time.Time
}

// maxFloors is how many subjects are remembered to have changed.
const maxFloors = 200_000

var (
	_ store.Store     = (*Store)(nil)
	_ store.Historian = (*Store)(nil)
	_ store.Finder    = (*Store)(nil)
	_ store.Aliaser   = (*Store)(nil)
	_ store.Prover    = (*Store)(nil)
	_ store.Watched   = (*Store)(nil)
)

// New returns a cache in front of b, which is closed with it. If b is away, nothing is
// kept until its feed can be read.
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
	s := &Store{Backing: b, options: o, cache: cache, ended: make(chan struct{}), floors: map[store.Subject]floor{}}
	s.loader = s.load
	if err := s.begin(ctx); err != nil && !store.IsAway(err) {
		return nil, err
	}
	follow, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.follow(follow)
	return s, nil
}

// begin goes to the end of the feed.
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

// weight is about how many bytes a value takes.
func weight(s store.Subject, v value) uint32 {
	const (
		fixed    = 400 // of a record and what the cache needs for it
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

// Close closes the cache and the store behind it.
func (s *Store) Close() error {
	if !s.closed.Swap(true) {
		s.cancel()
		<-s.ended
		s.cache.StopAllGoroutines()
		s.cache.InvalidateAll()
	}
	return s.Backing.Close()
}

// follow asks the feed for what has changed until ctx ends.
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

// tell logs that the feed is lost, or is read again.
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

// look takes note of what has changed since the last time. The last change that was
// seen is read again: a database that has lost changes in a fail-over has another one
// in its place, or none.
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
			s.options.Log.Warn("the database has lost changes: all that was cached is dropped", "seen", s.seen)
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

// readAll reads the list of authorities, if it is not known. One that is older than
// what has been heard of is not kept.
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

// hasHeard reports whether a list of authorities has all that was heard of. The caller
// holds the lock.
func (s *Store) hasHeard(all []*store.Authority) bool {
	revisions := make(map[string]uint64, len(all))
	for _, a := range all {
		revisions[a.Prefix.String()] = a.Revision
	}
	for subject, f := range s.floors {
		if subject.Kind == store.KindAuthority && revisions[subject.Key] < f.revision {
			return false
		}
	}
	return true
}

// listed returns what a listing yields.
func listed(each iter.Seq2[*store.Authority, error]) (all []*store.Authority, err error) {
	for a, err := range each {
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// behind begins anew at the end of a log that ends before what was seen so long ago
// that no replica may be without it: changes were lost, or there is only a late
// replica, whose answers are not to be kept when there is more again.
func (s *Store) behind(ctx context.Context, now time.Time) error {
	head, err := s.Backing.Head(ctx)
	if err != nil || len(s.marks) == 0 {
		return err
	}
	if m := s.marks[0]; now.Sub(m.at) < s.options.Settle || head.Size >= m.seen {
		return nil
	}
	s.options.Log.Warn("the database does not have what it had: all that was cached is dropped", "seen", s.seen, "has", head.Size)
	s.seen, s.last, s.marks = head.Size, [32]byte{}, nil
	s.pause(now)
	return nil
}

// pause keeps nothing until a time, and drops all that is kept then.
func (s *Store) pause(until time.Time) {
	s.mu.Lock()
	if until.After(s.paused) {
		s.paused = until
	}
	s.allGood = false
	s.mu.Unlock()
	s.cache.InvalidateAll()
}

// heard takes note that a change was made.
func (s *Store) heard(c *store.Change, revision uint64) {
	s.changed(c.Subject(), floor{revision: revision})
	if c.Record != nil {
		for _, url := range c.Record.AppendAliases(nil) {
			s.changed(store.Subject{Kind: kindAlias, Key: url}, floor{named: c.Record.Name})
		}
	}
}

// changed takes note of what is known of a subject now, at least.
func (s *Store) changed(subject store.Subject, least floor) {
	s.mu.Lock()
	now := time.Now()
	least.revision = max(least.revision, s.floors[subject].revision)
	least.until = now.Add(s.options.Settle)
	s.floors[subject] = least
	s.allGood = s.allGood && subject.Kind != store.KindAuthority
	full := len(s.floors) > maxFloors
	if full {
		s.floors = map[store.Subject]floor{}
	}
	s.mu.Unlock()
	if full {
		s.pause(now.Add(s.options.Settle))
		return
	}
	s.cache.Invalidate(subject)
}

// forget drops the floors that are not needed any more, and ends a pause: answers
// that were on their way when it began go before they can be used.
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
	for subject, f := range s.floors {
		if now.After(f.until) {
			delete(s.floors, subject)
		}
	}
}

// usable reports whether what is kept may be used, and more be kept.
func (s *Store) usable() bool {
	if time.Since(time.Unix(0, s.checked.Load())) > s.options.Within {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.paused.IsZero()
}

// good reports whether v is not older than what is known to be there.
func (s *Store) good(subject store.Subject, v value) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, heard := s.floors[subject]
	return !heard || v.revision() >= f.revision && (f.named.IsZero() || slices.Contains(v.names, f.named))
}

// keep keeps a value, unless something was heard of its subject since.
func (s *Store) keep(subject store.Subject, v value) {
	s.mu.RLock()
	defer s.mu.RUnlock() // whoever hears of a change takes the value away after that
	if _, heard := s.floors[subject]; !heard && s.paused.IsZero() {
		s.cache.Set(subject, v)
	}
}

// stale returns what is kept of a subject for a reader who is content with it while
// the store is away. The reader is told by use that it was taken.
func (s *Store) stale(ctx context.Context, subject store.Subject) (v value, use func(), ok bool) {
	use, ok = s.mayBeStale(ctx)
	if !ok {
		return v, nil, false
	}
	v, ok = s.cache.GetIfPresent(subject)
	return v, use, ok && s.good(subject, v)
}

// mayBeStale reports whether a reader may have stale answers now, and returns what
// tells it that it got one.
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

// soon returns what ask does, where there is a stale answer: the error is errSlow if that
// takes long. Then ask goes on by itself, since a database may take its time to give up.
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

// withoutFeed returns what ask does, where there is a stale answer: that if the store is
// away, or was a moment ago, or does not answer soon, after a call of use.
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

// read returns what is known of a subject; load asks the store.
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

// An unkept value is a good answer that is not to be kept.
type unkept struct{ value value }

func (u *unkept) Error() string { return "cachestore: a value that is not kept" }

// unkeptValue returns what a loader found, whether or not it is to be kept.
func unkeptValue(v value, err error) (value, error) {
	var once *unkept
	if errors.As(err, &once) {
		return once.value, nil
	}
	return v, err
}

// get returns what is kept of a subject, and keeps it when it is not. Those who
// ask for the same at the same time wait for one answer. The error is that the store is
// away, too, when there is a stale answer and it does not answer soon.
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

// kept returns what ask does, as often as that was not good enough to be kept.
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
			continue // who asked for all has gone away
		case err != nil:
			return value{}, err
		case s.good(subject, v):
			return v, nil
		}
		s.cache.Invalidate(subject)
	}
}

// errSlow is returned where there is a stale answer.
var errSlow = &store.AwayError{Cause: "the store does not answer"}

// avoids reports whether the store is not to be asked where there is a stale answer.
func (s *Store) avoids() bool {
	return s.away.Load() || time.Now().UnixNano() < s.avoid.Load() || store.ConditionOf(s.Backing).NoReads
}

// load asks the store.
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
func (s *Store) Records(ctx context.Context, names []name.Name) ([]*store.Record, error) {
	if store.IsFresh(ctx) {
		return store.Records(ctx, s.Backing, names)
	}
	return store.Records(ctx, struct{ store.Reader }{s}, names) // by Get
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

// Condition implements [store.Watched]: it is that of the store behind.
func (s *Store) Condition() store.Condition { return store.ConditionOf(s.Backing) }

// Apply implements [store.Store]. What was changed, or may have been, is not
// answered from memory any more.
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

// doubt drops what is kept of what may have changed.
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

// Load implements [store.Loader], if the store behind can do it.
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

// History implements [store.Historian], if the store behind can do it.
func (s *Store) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return store.History(ctx, s.Backing, n)
}

// AuthorityHistory implements [store.AuthorityHistorian], if the store behind can
// do it.
func (s *Store) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return store.AuthorityHistory(ctx, s.Backing, p)
}

// Count implements [store.Counter].
func (s *Store) Count(ctx context.Context) (int64, bool, error) { return store.Count(ctx, s.Backing) }

// Find implements [store.Finder].
func (s *Store) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	return store.Find(ctx, s.Backing, prefix, after)
}

// AllTokens implements [store.TokenLister], if the store behind can do it.
func (s *Store) AllTokens(ctx context.Context) iter.Seq2[*store.Token, error] {
	return store.AllTokens(ctx, s.Backing)
}

// TokenChanges implements [store.TokenHistorian], as far as the store behind can do it.
func (s *Store) TokenChanges(ctx context.Context) iter.Seq2[*store.Change, error] {
	return store.TokenChanges(ctx, s.Backing)
}

// Verify implements [store.Verifier], if the store behind can do it.
func (s *Store) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	return store.Verify(ctx, s.Backing, fault, progress)
}
