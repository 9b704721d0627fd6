package admin

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// approvedNames is a set of names and their locations. It has a hash of each, because a relocation
// can change millions of names.
type approvedNames struct {
	then, now registrar.Actor // the requester, with the rights at the request and the present ones
	seed      maphash.Seed

	mu     sync.Mutex
	hashes []uint64 // to be sorted before the first call of has

	denied int       // names that would change, but that the requester may not change any more
	last   name.Name // the last one that would change
}

// add adds a record, and returns true.
func (a *approvedNames) add(rec *store.Record) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hashes = append(a.hashes, a.hash(rec))
	return true
}

// moved checks the rights on a name of which a location would change. The locations of a name follow
// each other.
func (a *approvedNames) moved(n name.Name, _, _ string) {
	if n != a.last && !a.now.MayName(n, registrar.Editor) {
		a.denied++
	}
	a.last = n
}

// has reports whether the set has the name of a record with the same locations.
func (a *approvedNames) has(rec *store.Record) bool {
	_, found := slices.BinarySearch(a.hashes, a.hash(rec))
	return found
}

func (a *approvedNames) hash(rec *store.Record) uint64 {
	var h maphash.Hash
	h.SetSeed(a.seed)
	_, _ = h.WriteString(rec.Name.Key()) // a hash returns no error
	for i := range rec.Locations {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(rec.Locations[i].URL)
	}
	return h.Sum64()
}
