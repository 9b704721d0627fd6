package store

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// Invalidations counts changes, so that a cache can detect outdated answers. The changes of a key
// are counted in one of a fixed number of counters, which the hash of the key selects. The memory
// therefore does not depend on the number of names or changes. If two keys share a counter, a
// change of one key also invalidates the answers about the other key. This does no harm except that
// such answers are computed again.
//
// A cache reads the counters before it reads the store (see [Dependencies]). A store increments a
// counter after the change has become visible to readers, and before Apply returns. If a cache
// reads the store before a change becomes visible, it has read the counter before the increment.
// The increment then invalidates the answer.
//
// Counting starts when the store is first used with [Dependencies.Begin]. The zero value is ready
// for use, and all methods are safe for concurrent use.
type Invalidations struct {
	// Usable reports whether all changes, including changes by other processes, are counted at
	// present. While Usable returns false, no answer is valid. If Usable is nil, all changes are
	// always counted. Usable must be set before the first use.
	Usable func() bool

	table atomic.Pointer[invalidationTable]
}

// An invalidationTable contains the counters, which may overflow. An outdated answer could be valid
// again only after exactly 2^32 changes.
type invalidationTable struct {
	seed maphash.Seed
	all  atomic.Uint32 // number of calls of InvalidateAll
	of   [1 << 16]atomic.Uint32
}

func (t *invalidationTable) slot(key string) uint16 { return uint16(maphash.String(t.seed, key)) }

// counters returns the counters. The first call allocates them.
func (v *Invalidations) counters() *invalidationTable {
	if t := v.table.Load(); t != nil {
		return t
	}
	v.table.CompareAndSwap(nil, &invalidationTable{seed: maphash.MakeSeed()})
	return v.table.Load()
}

// Invalidate counts a change of a key, which is the key of a name, the prefix of an authority, or
// the [AliasURL] of an alias.
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

// InvalidateSteps counts the changes of steps that have been written. It does not count the removal
// of an alias, because an answer that was found by an alias also depends on the record.
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
	// Invalidations returns the counters of the store. It always returns the same pointer.
	Invalidations() *Invalidations
}

// InvalidationsOf returns the counters of r. It returns nil if r is not an [Invalidator]; answers
// from r must then not be cached.
func InvalidationsOf(r Reader) *Invalidations {
	if v, ok := r.(Invalidator); ok {
		return v.Invalidations()
	}
	return nil
}
