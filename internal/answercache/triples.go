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

// clone returns a copy that shares no memory with a request.
func (t triple) clone() triple {
	return triple{strings.Clone(t.accept), strings.Clone(t.languages), strings.Clone(t.encodings)}
}

// triples numbers frequent triples. Numbers are not reused. When the table is full, a new triple
// can only replace a triple that has not been used since the previous attempt to replace one. So a
// client that sends many different triples cannot remove the triples that other clients use all the
// time.
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

// number returns the number of a triple, and false if the table does not have it.
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

// enter adds a triple to a copy of the table. It adds nothing if all triples in a full table are in
// use.
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
