package links

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"
)

// A DeadSet has the locations that are dead, in memory. Resolvers ask it at each request. All methods
// can be called concurrently. On nil, the set is empty.
type DeadSet struct {
	seed    maphash.Seed // the hashes are secret, so that two URLs with the same hash cannot be made
	changed func(key string)

	mu    sync.RWMutex
	all   map[uint64]deadEntry
	shard [shards]map[uint64]bool
}

// A deadEntry says since when a location fails, and when it became dead, in minutes since 1970. The
// time since is 0 if the location is not dead any more. Such entries stay in memory until the server
// is restarted, because clients may have responses from the time when the location was dead.
type deadEntry struct{ since, changed uint32 }

// NewDeadSet returns an empty set. After each change, the set calls the function with the key of the
// location ([DeadSet.Key]).
func NewDeadSet(changed func(key string)) *DeadSet {
	return &DeadSet{seed: maphash.MakeSeed(), changed: changed, all: map[uint64]deadEntry{}}
}

// Key returns the key of a location. By this key, a cache knows which answers depend on the verdict
// about the location.
func (s *DeadSet) Key(location string) string { return keyOfHash(maphash.String(s.seed, location)) }

func keyOfHash(h uint64) string {
	return "link " + string(binary.BigEndian.AppendUint64(nil, h))
}

// Dead reports whether a location is dead, the time of the first of its failures, and the time when
// the location became dead or ceased to be.
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

// put records that a location of a shard is dead, or with the zero entry that it is not.
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

// set changes the entry of a location, and reports whether it has changed. The caller must hold mu.
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
