package admin

import (
	"hash/maphash"
	"net/http"
	"slices"
	"sync"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// approvedNames is a set of names with their locations. It has only hashes, because a relocation
// can change millions of names.
type approvedNames struct {
	then, now registrar.Actor // the requester, with the rights at the request and the present ones
	seed      maphash.Seed

	mu     sync.Mutex
	hashes []uint64 // to be sorted before the first call of has

	denied int       // number of names that the requester may no longer change
	last   name.Name // the last one that would change

	refused []uint64 // hashes of the names that the check at the approval rejected
	reasons map[name.Name]error
}

// sort prepares the set for has and refusal.
func (a *approvedNames) sort() {
	slices.Sort(a.hashes)
	slices.Sort(a.refused)
}

// add adds a record. It always returns true, because relocations expect a result.
func (a *approvedNames) add(rec *store.Record) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hashes = append(a.hashes, a.hash(rec))
	return true
}

// moved checks the rights for a name with a location that would change. All locations of a name
// come one after the other.
func (a *approvedNames) moved(n name.Name, _, _ string) {
	if n != a.last && !a.now.MayName(n, registrar.Editor) {
		a.denied++
	}
	a.last = n
}

// refuse records that the check has rejected a name. The name is then not approved, even if it
// becomes valid later.
func (a *approvedNames) refuse(n name.Name, err error) {
	a.refused = append(a.refused, maphash.String(a.seed, n.Key()))
	if a.reasons == nil {
		a.reasons = map[name.Name]error{}
	}
	if len(a.reasons) < adminapi.MaxJobDetails {
		a.reasons[n] = err
	}
}

// errRefusedThen is the reason for a rejected name whose own reason was not kept.
var errRefusedThen = &adminapi.StatusError{
	Kind: adminapi.KindSecond, Status: http.StatusConflict,
	Detail: "the check at the approval rejected this name; it was not changed. Make another request for it",
}

// refusal returns why the check has rejected a name, or nil.
func (a *approvedNames) refusal(n name.Name) error {
	if _, found := slices.BinarySearch(a.refused, maphash.String(a.seed, n.Key())); !found {
		return nil
	}
	if err := a.reasons[n]; err != nil {
		return err
	}
	return errRefusedThen
}

// has reports whether the set contains a record with the same name and locations.
func (a *approvedNames) has(rec *store.Record) bool {
	_, found := slices.BinarySearch(a.hashes, a.hash(rec))
	return found && a.refusal(rec.Name) == nil
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
