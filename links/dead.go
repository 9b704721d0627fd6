package links

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"
)

// A DeadSet is an in-memory set of the dead locations, which resolvers consult for each request. It
// is safe for concurrent use. A nil set is empty.
type DeadSet struct {
	seed    maphash.Seed // a secret, so that URLs with the same hash cannot be constructed
	changed func(key string)

	mu    sync.RWMutex
	all   map[uint64]deadEntry
	shard [shards]map[uint64]bool
}

// A deadEntry has the time since which a location fails, and the time at which its membership in
// the set last changed, in minutes since 1970. If the location is no longer dead, since is 0. Such
// entries are kept until the process ends, because clients may have cached responses from before
// the change.
type deadEntry struct{ since, changed uint32 }

// NewDeadSet returns an empty set. The set calls the function changed with the key of a location
// (see [DeadSet.Key]) after each change of its entry.
func NewDeadSet(changed func(key string)) *DeadSet {
	return &DeadSet{seed: maphash.MakeSeed(), changed: changed, all: map[uint64]deadEntry{}}
}

// Key returns the key of a location. Caches store the key with an answer that depends on whether
// the location is dead.
func (s *DeadSet) Key(location string) string { return keyOfHash(maphash.String(s.seed, location)) }

func keyOfHash(h uint64) string {
	return "link " + string(binary.BigEndian.AppendUint64(nil, h))
}

// Dead reports whether a location is dead. It also returns the time of the first of its failures,
// and the time at which the location became dead or ceased to be dead.
func (s *DeadSet) Dead(location string) (since, changed time.Time, dead bool) {
	if s == nil {
		return since, changed, false
	}
	s.mu.RLock()
	e, ok := s.all[maphash.String(s.seed, location)]
	s.mu.RUnlock()
	if !ok {
		return since, changed, false
	}
	if e.since > 0 {
		since = timeOfMinute(e.since)
	}
	return since, timeOfMinute(e.changed), e.since > 0
}

// Len returns the number of dead locations.
func (s *DeadSet) Len() (n int) {
	if s == nil {
		return 0
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := range s.shard {
		n += len(s.shard[i])
	}
	return n
}

// put sets the entry of a location in a shard. The zero entry means that the location is not dead.
func (s *DeadSet) put(shard byte, location string, e deadEntry, now uint32) {
	if s == nil {
		return
	}
	h := maphash.String(s.seed, location)
	s.mu.Lock()
	is := s.set(shard, h, e, now)
	s.mu.Unlock()
	if is {
		s.changed(keyOfHash(h))
	}
}

func (s *DeadSet) replace(shard byte, locations map[string]deadEntry, now uint32) {
	next := make(map[uint64]deadEntry, len(locations))
	for l, e := range locations {
		next[maphash.String(s.seed, l)] = e
	}
	var changed []uint64
	s.mu.Lock()
	for h := range s.shard[shard] {
		if _, ok := next[h]; !ok && s.set(shard, h, deadEntry{}, now) {
			changed = append(changed, h)
		}
	}
	for h, e := range next {
		if s.set(shard, h, e, now) {
			changed = append(changed, h)
		}
	}
	s.mu.Unlock()
	for _, h := range changed {
		s.changed(keyOfHash(h))
	}
}

// set sets the entry for the hash of a location, and reports whether the entry has changed. The
// caller must hold mu.
func (s *DeadSet) set(shard byte, h uint64, e deadEntry, now uint32) bool {
	before, known := s.all[h]
	switch {
	case before.since == e.since:
		return false
	case e.since == 0:
		s.all[h] = deadEntry{0, now}
		delete(s.shard[shard], h)
		return known
	}
	if s.shard[shard] == nil {
		s.shard[shard] = map[uint64]bool{}
	}
	s.all[h], s.shard[shard][h] = e, true
	return true
}

func timeOfMinute(n uint32) time.Time { return time.Unix(int64(n)*60, 0).UTC() }
