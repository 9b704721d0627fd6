package answercache

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	maxTriples    = 64
	maxTripleSize = 1 << 10 // bytes of a triple
	admitEvery    = 16      // if the table is full, only one of so many unknown triples enters
)

type triple struct{ accept, languages, encodings string }

// clone returns a copy that shares no memory with the request.
func (t triple) clone() triple {
	return triple{strings.Clone(t.accept), strings.Clone(t.languages), strings.Clone(t.encodings)}
}

// triples assigns numbers to the most frequent triples of Accept fields. Numbers are not reused. When the table is
// full, a new triple can only replace a triple that was not used since the previous attempt to
// replace one. A client that sends many different triples therefore cannot displace triples that
// other clients use constantly.
type triples struct {
	known   atomic.Pointer[map[triple]*numbered]
	unknown atomic.Uint32 // number of requests with unknown triples

	entering sync.Mutex
	last     uint32
}

type numbered struct {
	number uint32
	used   atomic.Bool
}

// number returns the number of a triple. It may add the triple to the table. It returns false if
// the triple is not in the table.
func (t *triples) number(of triple) (n uint32, ok bool) {
	if known := t.known.Load(); known != nil {
		if e := (*known)[of]; e != nil {
			if !e.used.Load() {
				e.used.Store(true)
			}
			return e.number, true
		}
		if len(*known) == maxTriples && t.unknown.Add(1)%admitEvery != 0 {
			return 0, false
		}
	}
	if len(of.accept)+len(of.languages)+len(of.encodings) > maxTripleSize {
		return 0, false
	}
	return t.enter(of)
}

// enter adds a triple by replacing the table with a copy. It returns false if the table is full and
// all its triples are in use.
func (t *triples) enter(of triple) (n uint32, ok bool) {
	t.entering.Lock()
	defer t.entering.Unlock()
	next := map[triple]*numbered{}
	if known := t.known.Load(); known != nil {
		maps.Copy(next, *known)
	}
	if e := next[of]; e != nil {
		return e.number, true
	}
	if len(next) == maxTriples && !t.removeUnused(next) {
		return 0, false
	}
	t.last++
	next[of.clone()] = &numbered{number: t.last}
	t.known.Store(&next)
	return t.last, true
}

// removeUnused removes a triple that was not used since the last call, and reports whether there
// was one.
func (t *triples) removeUnused(table map[triple]*numbered) (removed bool) {
	for of, e := range table {
		if !e.used.Swap(false) && !removed {
			delete(table, of)
			removed = true
		}
	}
	return removed
}
