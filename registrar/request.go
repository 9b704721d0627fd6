package registrar

import (
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Fields is a set of fields of a record.
type Fields uint8

// The fields.
const (
	FieldName Fields = 1 << iota // makes a set that is otherwise empty a merge
	FieldStatus
	FieldLocations
	FieldMetadata
	FieldSameAs
	FieldSuccessors
	FieldReason
)

// Has reports whether f has all fields of g.
func (f Fields) Has(g Fields) bool { return f&g == g }

// Names returns the names of the fields, as records have them in JSON.
func (f Fields) Names() []string {
	var all []string
	for i, name := range [...]string{"name", "status", "locations", "metadata", "same_as", "successors", "reason"} {
		if f.Has(1 << i) {
			all = append(all, name)
		}
	}
	return all
}

// An Existing says what a request does to a name that is there already.
type Existing uint8

// What can be done to a name that is there.
const (
	Update Existing = iota // what the request asks for
	Keep                   // nothing
	Refuse                 // nothing, and the request is refused unless all is so already
)

// A Request asks for a record to be as given.
//
// Without Fields the record is replaced as a whole, its spelling too; only its
// status is kept if none is given. With Fields those are replaced and no others
// touched. With Fields and Add nothing is taken away: locations are added, or
// completed where one of the same URL and component is there; values of same_as
// and successors are added; of the metadata the elements given are replaced;
// status and reason are set.
//
// A name that does not exist is created, active if no status is given.
type Request struct {
	Record *store.Record // Name, or Spelling, or both; Modified and Revision are ignored
	Fields Fields        // those meant; 0 for all
	Add    bool          // add to lists, take nothing away

	Existing Existing // what to do if the name is there

	// Expected is the revision the name must have now, 0 for "does not exist",
	// or store.AnyRevision. In one batch it may also be the revision that an
	// earlier request of the same name rightly expected.
	Expected uint64
	OrCreate bool // a name that does not exist is created whatever is Expected
}

// An Outcome tells what became of a request.
type Outcome struct {
	Name      name.Name // zero for an authority
	Result    store.Result
	Created   bool             // it did not exist before
	Fields    Fields           // that were changed, if it did
	Undone    Fields           // of these, what had become of them by earlier requests of the batch and is no more
	Uncovered bool             // no authority here covers the name
	Record    *store.Record    // as it is now; nil when deleted or refused. May share lists with the request
	Authority *store.Authority // as it is now, if it was about one
	Warnings  []Warning
	Err       error // nil if it was done, or would be
}

// A Warning is something that is allowed and perhaps not meant.
type Warning struct {
	Code    string `json:"code"` // such as no-authority
	Message string `json:"message"`
}

// The codes of warnings.
const (
	WarnNoAuthority = "no-authority" // the name lies under no authority here
	WarnDoubtful    = "doubtful"     // the name breaks the rules of its namespace
	WarnNoReason    = "no-reason"    // retired, and nobody knows why
	WarnSuccessor   = "successor"    // a successor is not known under an authority here
	WarnOwners      = "owners"       // the authority has fewer than two owners
	WarnFoldOff     = "fold-off"     // other spellings of its names are no longer found
	WarnHidden      = "hidden"       // a rule of the authority is not what answers for any name of its tests
)

// A Retirement makes a name a tombstone.
type Retirement struct {
	Reason     string   // never empty
	Successors []string // names to use instead; nil leaves those that are there
	Expected   uint64   // as in Request
}
