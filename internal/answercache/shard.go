package answercache

import (
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nomen-project/nomen/store"
)

const (
	// Approximate memory in bytes, besides texts, of an entry, and of what entries share.
	overhead, sharedOverhead = 160, 200
	pieceSize                = 24

	usualSize = 288 // approximate memory of an entry for a redirect, with its texts

	maxUses = 3
)

// A shard is a part of a cache.
//
// When it is full, it removes entries like a clock with one hand: the hand passes over an entry as
// many times as the entry was used since the hand came by last, but at most maxUses times.
//
// When it is half full, a request must miss twice before its answer enters. So a client that asks
// for each of many names once does not remove the answers that others use, and costs no more than
// without a cache.
type shard struct {
	mu       sync.RWMutex
	entries  map[uint64]*entry // by the hash of the key
	ring     []*entry          // all entries
	hand     int
	bytes    int64
	capacity int64
	missed   []uint16 // hashes of keys that have missed once, each at a place that its hash decides
	scopes   map[scope]*sharedScope
	patterns map[string]*sharedPattern // by the skeleton
	skeleton []byte                    // buffer
}

// An entry is an answer and its key, whose target is in the texts of the answer.
type entry struct {
	hash             uint64
	scope            *sharedScope
	pattern          *sharedPattern
	texts            string
	valid            store.Validity
	uses             atomic.Uint32
	position         uint32 // in the ring
	target, location uint16
	status           uint16
	form             uint8
}

// answer returns the answer of an entry.
func (e *entry) answer() Answer {
	return Answer{
		Status: int(e.status), Form: e.form,
		pattern: e.pattern.pattern, texts: e.texts, target: e.target, location: e.location,
	}
}

// A sharedScope is the scope of some entries.
type sharedScope struct {
	scope
	entries int
}

// A sharedPattern is the pattern of some entries.
type sharedPattern struct {
	*pattern
	skeleton string
	entries  int
}

func (s *shard) init(capacity int64) {
	s.capacity = capacity
	s.entries, s.scopes, s.patterns = map[uint64]*entry{}, map[scope]*sharedScope{}, map[string]*sharedPattern{}
	s.missed = make([]uint16, 1<<bits.Len64(uint64(capacity/usualSize)))
}

// get returns the answer for a key if it is valid.
func (s *shard) get(k *Key, now *store.Invalidations) (a Answer, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.entries[k.hash]
	if e == nil || e.texts[:e.target] != k.target || e.scope.scope != k.scope || !e.valid.Holds(now) {
		return Answer{}, false
	}
	if n := e.uses.Load(); n < maxUses {
		e.uses.Store(n + 1)
	}
	return e.answer(), true
}

// miss reports whether the answer for a key that was not found may enter.
func (s *shard) miss(hash uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes < s.capacity/2 || s.entries[hash] != nil {
		return true
	}
	last, tag := &s.missed[hash&uint64(len(s.missed)-1)], uint16(hash>>tagShift)
	if *last == tag {
		return true
	}
	*last = tag
	return false
}

// put adds an answer, and returns how many others had to be removed.
func (s *shard) put(k *Key, a Answer, text []byte, valid store.Validity) (removed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := gaps{target: []byte(k.target)}
	var ok bool
	if s.skeleton, ok = appendSkeleton(s.skeleton[:0], text, &g); !ok {
		return 0
	}
	if old := s.entries[k.hash]; old != nil {
		s.remove(old)
	}
	e := &entry{
		hash: k.hash, scope: s.scopeOf(k), pattern: s.patternOf(), valid: valid, status: uint16(a.Status), form: a.Form,
		texts: k.target + string(g.location) + string(g.length), target: uint16(len(g.target)), location: uint16(len(g.location)),
	}
	s.add(e)
	for ; s.bytes > s.capacity; removed++ {
		s.remove(s.unused())
	}
	return removed
}

// size returns the approximate memory of the entries in bytes.
func (s *shard) size() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bytes
}

func (e *entry) weight() int64 { return int64(overhead + len(e.texts)) }

// add adds an entry behind the hand, which reaches it last.
func (s *shard) add(e *entry) {
	s.entries[e.hash], s.ring = e, append(s.ring, e)
	s.bytes += e.weight()
	last := len(s.ring) - 1
	s.hand = min(s.hand, last)
	other := s.ring[s.hand]
	s.ring[last], s.ring[s.hand] = other, e
	other.position, e.position = uint32(last), uint32(s.hand)
	s.hand++
}

// unused returns the next entry to remove.
func (s *shard) unused() *entry {
	for ; ; s.hand++ {
		if s.hand >= len(s.ring) {
			s.hand = 0
		}
		e := s.ring[s.hand]
		n := e.uses.Load()
		if n == 0 {
			return e
		}
		e.uses.Store(n - 1)
	}
}

// remove removes an entry. The last one takes its place in the ring.
func (s *shard) remove(e *entry) {
	last := len(s.ring) - 1
	s.ring[e.position] = s.ring[last]
	s.ring[e.position].position = e.position
	s.ring[last] = nil
	s.ring = s.ring[:last]
	delete(s.entries, e.hash)
	s.bytes -= e.weight()
	if e.scope.entries--; e.scope.entries == 0 {
		delete(s.scopes, e.scope.scope)
		s.bytes -= e.scope.weight()
	}
	if e.pattern.entries--; e.pattern.entries == 0 {
		delete(s.patterns, e.pattern.skeleton)
		s.bytes -= e.pattern.weight()
	}
}

// scopeOf returns the scope of a key for another entry.
func (s *shard) scopeOf(k *Key) *sharedScope {
	of := s.scopes[k.scope]
	if of == nil {
		of = &sharedScope{scope: k.scope}
		of.mount, of.host, of.country = strings.Clone(k.mount), strings.Clone(k.host), strings.Clone(k.country)
		s.scopes[of.scope] = of
		s.bytes += of.weight()
	}
	of.entries++
	return of
}

func (of *sharedScope) weight() int64 {
	return int64(2*sharedOverhead + len(of.mount) + len(of.host) + len(of.country))
}

// patternOf returns the pattern with the skeleton in the buffer for another entry.
func (s *shard) patternOf() *sharedPattern {
	of := s.patterns[string(s.skeleton)]
	if of == nil {
		of = &sharedPattern{skeleton: string(s.skeleton)}
		of.pattern = newPattern(of.skeleton)
		s.patterns[of.skeleton] = of
		s.bytes += of.weight()
	}
	of.entries++
	return of
}

func (of *sharedPattern) weight() int64 {
	return int64(sharedOverhead + len(of.skeleton) + pieceSize*(cap(of.head)+cap(of.body)))
}
