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

// approvedNames is a set of names with their locations. It stores only hashes, because a relocation
// can change millions of names.
type approvedNames struct {
	then, now registrar.Actor // the requester with the rights at the time of the request, and with the current rights
	seed      maphash.Seed

	mu     sync.Mutex
	hashes []uint64 // hashes of names and locations; sorted before the first call of has

	denied int       // number of names that the requester may no longer change
	last   name.Name // the last name that was added

	refused []uint64 // hashes of the names that were rejected when the job was approved
	reasons map[name.Name]error
}

// sort prepares the set. It must be called before has and refusal.
func (a *approvedNames) sort() {
	slices.Sort(a.hashes)
	slices.Sort(a.refused)
}

// add adds a record. It always returns true, so that it can be used as [registrar.Relocation].Only.
func (a *approvedNames) add(rec *store.Record) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hashes = append(a.hashes, a.hash(rec))
	return true
}

// moved checks the rights for a name of which a location would change. The calls for the locations
// of the same name must follow each other.
func (a *approvedNames) moved(n name.Name, _, _ string) {
	if n != a.last && !a.now.MayName(n, registrar.Editor) {
		a.denied++
	}
	a.last = n
}

// refuse records that the check has rejected a name. The name is then not approved even if it
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

// errRefusedThen is the error for a rejected name whose reason was not stored.
var errRefusedThen = &adminapi.StatusError{
	Kind: adminapi.KindSecond, Status: http.StatusConflict,
	Detail: "the check at the approval rejected this name; it was not changed. Make another request for it",
}

// refusal returns the reason for which the check has rejected a name, or nil.
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
	_, _ = h.WriteString(rec.Name.Key()) // writing to a hash does not fail
	for i := range rec.Locations {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(rec.Locations[i].URL)
	}
	return h.Sum64()
}
