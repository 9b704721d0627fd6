package store

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// Invalidations lets a cache of answers find out which answers may be outdated because of a change.
// It has a fixed number of counters, and the hash of a key selects the counter for the changes of
// the key. So its size does not depend on the number of names, and an import needs no list of what
// to remove. If two keys share a counter, a change of one also invalidates the answers about the
// other, which is harmless.
//
// A store counts a change after readers can see the change and before Apply returns. A cache reads
// the counters before it reads the store ([Dependencies]). So if the cache reads the store too
// early to see a change, the store counts this change after the cache has read the counters, and
// the answer is invalid.
//
// Nothing is counted before the first [Dependencies] of the store begins. The zero value is ready
// for use. All methods can be called concurrently.
type Invalidations struct {
	// Usable reports whether all changes are counted now, including those of other processes. While
	// Usable returns false, no answer is valid. Usable must be set before the first use; if it is
	// nil, all changes are always counted.
	Usable func() bool

	table atomic.Pointer[invalidationTable]
}

// invalidationTable has the counters. A counter can overflow: an answer would only be wrongly valid
// after exactly 2^32 changes of its keys.
type invalidationTable struct {
	seed maphash.Seed
	all  atomic.Uint32 // number of calls of InvalidateAll
	of   [1 << 16]atomic.Uint32
}

// slot returns the number of the counter of a key.
func (t *invalidationTable) slot(key string) uint16 { return uint16(maphash.String(t.seed, key)) }

// counters returns the counters, and makes them if necessary.
func (v *Invalidations) counters() *invalidationTable {
	if t := v.table.Load(); t != nil {
		return t
	}
	v.table.CompareAndSwap(nil, &invalidationTable{seed: maphash.MakeSeed()})
	return v.table.Load()
}

// Invalidate counts a change of a key: the key of a name, the prefix of an authority, or the
// [AliasURL] of an alias.
func (v *Invalidations) Invalidate(key string) {
	if t := v.table.Load(); t != nil {
		t.of[t.slot(key)].Add(1)
	}
}

// InvalidateAll invalidates all answers.
func (v *Invalidations) InvalidateAll() {
	if t := v.table.Load(); t != nil {
		t.all.Add(1)
	}
}

// InvalidateSteps counts the changes of steps that have been written. The removal of an alias need
// not be counted: an answer that found a record by its alias depends on the record too.
func (v *Invalidations) InvalidateSteps(steps []Step) {
	if v.table.Load() == nil {
		return
	}
	for i := range steps {
		v.invalidateStep(&steps[i])
	}
}

func (v *Invalidations) invalidateStep(s *Step) {
	switch s.Subject.Kind {
	case KindToken, KindUser, KindTokenRights:
		return
	}
	v.Invalidate(s.Subject.Key)
	next := s.Next.Record
	if next == nil || s.Last != nil && s.Last.Record != nil && slices.Equal(s.Last.Record.SameAs, next.SameAs) {
		return
	}
	for _, url := range next.AppendAliases(nil) {
		v.Invalidate(url)
	}
}

func (v *Invalidations) usable() bool { return v.Usable == nil || v.Usable() }

// An Invalidator is a store that counts its changes for caches of answers.
type Invalidator interface {
	// Invalidations returns the counters of the store, always the same.
	Invalidations() *Invalidations
}

// InvalidationsOf returns the counters of r. If r is not an [Invalidator], answers must not be
// cached, and InvalidationsOf returns nil.
func InvalidationsOf(r Reader) *Invalidations {
	if v, ok := r.(Invalidator); ok {
		return v.Invalidations()
	}
	return nil
}
