package answercache

import (
	"math"
	"math/bits"
	"strings"
	"sync"

	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/store"
)

const (
	// Approximate memory of the data that entries share, in bytes, without the texts.
	sharedOverhead = 200
	pieceSize      = 24

	maxUses = 3

	placeBits = 10
	// maxRescued limits the time for adding one entry. The used entries of at most maxRescued
	// dropped segments are kept.
	maxRescued = 4
)

// A shard is a part of a cache with its own lock.
//
// A shard stores entries in segments, in the order in which they were added. To make room, it drops
// the oldest segment. Entries of this segment that were used are added again, and their use counts
// are decremented. An entry therefore stays in the cache as long as it is used from time to time.
//
// When a shard is half full, an answer is added only on the second miss for its key. If a client
// requests many names only once each, this keeps the answers that other clients use, and avoids the
// cost of adding answers.
type shard struct {
	mu       sync.RWMutex
	index    map[uint64]place // by hash of the key
	segments []*segment       // by number; nil if the number is free
	order    []int            // numbers of the segments, oldest first
	free     []int            // free numbers
	bytes    int64
	capacity int64
	size     int      // bytes of the texts of a segment
	missed   []uint16 // hashes of keys that have missed once, where the hash itself selects the element
	scopes   shared[scope]
	patterns shared[sharedPattern]
	scopeOf  map[scope]uint16
	pattern  map[string]uint16 // by skeleton
	skeleton []byte            // a buffer
}

// A place consists of the number of a segment and the number of an entry in this segment.
type place uint32

func placeOf(segment, entry int) place { return place(segment<<placeBits | entry) }

func (s *shard) at(p place) (*segment, *head) {
	g := s.segments[p>>placeBits]
	return g, &g.heads[p&(1<<placeBits-1)]
}

type sharedPattern struct {
	*pattern
	skeleton string
}

func (s *shard) init(capacity int64) {
	s.capacity = capacity
	s.size = int(min(maxSegment, max(capacity/8*usualTexts/usualSize, usualSize)))
	s.index, s.scopeOf, s.pattern = map[uint64]place{}, map[scope]uint16{}, map[string]uint16{}
	s.missed = make([]uint16, 1<<bits.Len64(uint64(capacity/usualSize)))
}

// get returns the answer for a key. It returns false if the shard has no valid answer.
func (s *shard) get(k *Key, now *store.Invalidations) (a Answer, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.index[k.hash]
	if !ok {
		return Answer{}, false
	}
	g, h := s.at(p)
	texts := g.textsOf(h)
	valid, texts := store.Validity(texts[:h.valid]), texts[h.valid:]
	if string(texts[:h.target]) != k.target || s.scopes.of(h.scope) != k.scope || !valid.Holds(now) {
		return Answer{}, false
	}
	if n := h.uses.Load(); n < maxUses {
		h.uses.Store(n + 1)
	}
	name, end := texts[:0], len(texts)-h.tail()
	switch {
	case h.name == 0:
	case end < len(texts):
		name = texts[end:]
	default:
		name = texts[1 : 1+h.name]
	}
	texts = texts[:end]
	return Answer{
		Status: int(h.status), Form: h.form, Name: name, What: counts.What(h.what &^ apart), Hash: k.hash, Last: &h.last,
		pattern: s.patterns.of(h.pattern).pattern, texts: texts, target: h.target, location: h.location,
	}, true
}

// miss records a miss for the key with this hash, and reports whether the answer for the key may be
// added.
func (s *shard) miss(hash uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, outdated := s.index[hash]; outdated || s.bytes < s.capacity/2 {
		return true
	}
	last, tag := &s.missed[hash&uint64(len(s.missed)-1)], uint16(hash>>tagShift)
	if *last == tag {
		return true
	}
	*last = tag
	return false
}

func (s *shard) put(k *Key, a Answer, text []byte, valid store.Validity) (removed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := gaps{target: []byte(k.target)}
	var ok bool
	if s.skeleton, ok = appendSkeleton(s.skeleton[:0], text, &g); !ok || len(g.length) > math.MaxUint8 {
		return 0
	}
	h := head{
		hash: k.hash, target: uint16(len(g.target)), location: uint16(len(g.location)),
		status: uint16(a.Status), valid: uint8(len(valid)), length: uint8(len(g.length)), form: a.Form,
		name: uint16(len(a.Name)), what: uint8(a.What),
	}
	var name []byte
	if !strings.HasPrefix(k.target[min(1, len(k.target)):], string(a.Name)) {
		h.what |= apart
		name = a.Name
	}
	if h.size() > s.size || !s.share(&h, k) {
		return 0
	}
	delete(s.index, k.hash) // the outdated answer stays in its segment, but cannot be found
	if removed, ok = s.makeRoom(h.size()); !ok {
		s.unshare(&h)
		return removed
	}
	s.add(&h, 0, valid, g.target, g.location, g.length, name)
	return removed
}

func (s *shard) add(h *head, uses uint32, texts ...[]byte) {
	n := s.order[len(s.order)-1]
	s.index[h.hash] = placeOf(n, s.segments[n].add(h, uses, texts...))
}

// makeRoom makes room for an entry whose texts have the given size, and returns the number of
// removed entries. If the shard is too small for the entry, ok is false.
func (s *shard) makeRoom(size int) (removed uint64, ok bool) {
	for n := 0; s.bytes > s.capacity || !s.hasRoom(size); n++ {
		if len(s.order) == 0 {
			return removed, false
		}
		removed += s.drop(n < maxRescued)
	}
	return removed, true
}

// hasRoom reports whether the newest segment has room for texts of the given size. If the segment
// is full but the shard is not, hasRoom adds a new segment.
func (s *shard) hasRoom(size int) bool {
	if n := len(s.order); n > 0 && s.segments[s.order[n-1]].has(size) {
		return true
	}
	g := newSegment(s.size)
	if s.bytes+g.room() > s.capacity {
		return false
	}
	number := len(s.segments)
	if n := len(s.free); n > 0 {
		number, s.free = s.free[n-1], s.free[:n-1]
		s.segments[number] = g
	} else {
		s.segments = append(s.segments, g)
	}
	s.order = append(s.order, number)
	s.bytes += g.room()
	return true
}

// drop drops the oldest segment, and returns the number of removed entries. If rescue is true, drop
// adds used entries again while there is room.
func (s *shard) drop(rescue bool) (removed uint64) {
	number := s.order[0]
	g := s.segments[number]
	s.order = s.order[1:]
	s.bytes -= g.room()
	for i := range g.heads {
		h := &g.heads[i]
		p, current := s.index[h.hash]
		if current = current && p == placeOf(number, i); current {
			delete(s.index, h.hash)
		}
		if n := h.uses.Load(); current && rescue && n > 0 && s.hasRoom(h.size()) {
			s.add(h, n-1, g.textsOf(h))
			continue
		}
		if s.unshare(h); current {
			removed++
		}
	}
	s.segments[number] = nil
	s.free = append(s.free, number)
	return removed
}

// memory returns the approximate memory of the entries in bytes.
func (s *shard) memory() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bytes
}

// share sets the scope and the pattern of an entry, which may be shared with other entries. It
// returns false if all numbers for scopes or patterns are in use.
func (s *shard) share(h *head, k *Key) (ok bool) {
	if h.scope, ok = s.scopeOf[k.scope]; !ok {
		of := k.scope
		of.mount, of.host, of.country = strings.Clone(k.mount), strings.Clone(k.host), strings.Clone(k.country)
		if h.scope, ok = s.scopes.add(of); !ok {
			return false
		}
		s.scopeOf[of] = h.scope
		s.bytes += of.weight()
	}
	s.scopes.rows[h.scope].entries++
	if h.pattern, ok = s.pattern[string(s.skeleton)]; !ok {
		of := sharedPattern{skeleton: string(s.skeleton)}
		of.pattern = newPattern(of.skeleton)
		if h.pattern, ok = s.patterns.add(of); !ok {
			s.unshareScope(h)
			return false
		}
		s.pattern[of.skeleton] = h.pattern
		s.bytes += of.weight()
	}
	s.patterns.rows[h.pattern].entries++
	return true
}

// unshare releases the scope and the pattern of an entry.
func (s *shard) unshare(h *head) {
	s.unshareScope(h)
	if of, last := s.patterns.release(h.pattern); last {
		delete(s.pattern, of.skeleton)
		s.bytes -= of.weight()
	}
}

func (s *shard) unshareScope(h *head) {
	if of, last := s.scopes.release(h.scope); last {
		delete(s.scopeOf, of)
		s.bytes -= of.weight()
	}
}

func (of *scope) weight() int64 {
	return int64(2*sharedOverhead + len(of.mount) + len(of.host) + len(of.country))
}

func (of *sharedPattern) weight() int64 {
	return int64(sharedOverhead + len(of.skeleton) + pieceSize*(cap(of.head)+cap(of.body)))
}
