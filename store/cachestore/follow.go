package cachestore

import (
	"context"
	"iter"
	"time"

	"github.com/nomen-project/nomen/store"
)

// A follower is the state of the goroutine that reads the feed.
type follower struct {
	begun bool     // the feed has been read
	seen  uint64   // number of the last change that was read
	last  [32]byte // its digest; zero if unknown
	marks []mark   // when earlier changes were seen, oldest first
	lost  bool     // the feed cannot be read
}

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
		s.options.Log.Info("the cache follows the changes of other nodes again")
	case s.options.StaleIfError > 0:
		s.options.Log.Warn("cannot follow the changes of other nodes: while the store is unavailable, answers from the cache are stale", "for", s.options.StaleIfError.String(), "err", err)
	default:
		s.options.Log.Warn("cannot follow the changes of other nodes: the cache is not used", "err", err)
	}
}

// look reads the changes since the last call. It also reads the last known change again, because a
// database may lose changes in a failover. In that case the log has another change with the same
// number, or is shorter.
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

// readAll reads the list of authorities, unless the known list is current. It discards the new list
// if a replica has returned a list that is older than known changes.
func (s *Store) readAll(ctx context.Context) error {
	s.mu.RLock()
	good := s.allGood
	s.mu.RUnlock()
	if good {
		return nil
	}
	s.mu.Lock()
	s.allGood = true // unless an authority changes meanwhile
	s.mu.Unlock()
	all, err := listed(s.Backing.Authorities(ctx, time.Time{}))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = all
	s.allGood = s.allGood && err == nil && s.hasHeard(all)
	return err
}

// hasHeard reports whether a list of authorities includes all recent changes that are known from
// the feed. The caller must hold the lock.
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

func listed(each iter.Seq2[*store.Authority, error]) (all []*store.Authority, err error) {
	for a, err := range each {
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// behind handles a log that ends before the last known change. At first, this can mean that a
// replica is late, and behind does nothing. After the time [Options.Settle], either changes were
// lost, or the only available replica is so late that its answers must not stay in the cache. In
// both cases behind empties the cache and continues at the end of this log.
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

// pause empties the cache and disables it until the given time.
func (s *Store) pause(until time.Time) {
	s.mu.Lock()
	if until.After(s.paused) {
		s.paused = until
	}
	s.allGood = false
	s.mu.Unlock()
	s.removeAll()
}

func (s *Store) heard(c *store.Change, revision uint64) {
	s.changed(c.Subject(), minimum{revision: revision})
	if c.Record != nil {
		for _, url := range c.Record.AppendAliases(nil) {
			s.changed(store.Subject{Kind: kindAlias, Key: url}, minimum{named: c.Record.Name})
		}
	}
}

// changed removes a changed subject from the cache, and records the oldest state that may be cached
// from now on.
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
	s.remove(subject)
}

// forget removes outdated elements of s.minima, and ends a pause. At the end of a pause it empties
// the cache again, because reads that began before the pause may have filled it.
func (s *Store) forget(now time.Time) {
	s.mu.RLock()
	over := !s.paused.IsZero() && now.After(s.paused)
	s.mu.RUnlock()
	if over {
		s.removeAll()
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
