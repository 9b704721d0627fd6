package registrar

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	FieldShowLocations
)

// Has reports whether f has all fields of g.
func (f Fields) Has(g Fields) bool { return f&g == g }

// fieldNames returns the names of all fields, in the order of their bits.
func fieldNames() []string {
	return []string{"name", "status", "locations", "metadata", "same_as", "successors", "reason", "show_locations"}
}

// Names returns the names of the fields, as records have them in JSON.
func (f Fields) Names() []string {
	var all []string
	for i, name := range fieldNames() {
		if f.Has(1 << i) {
			all = append(all, name)
		}
	}
	return all
}

// MarshalJSON returns the names of the fields as a list.
func (f Fields) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]string{}, f.Names()...))
}

// UnmarshalJSON reads a list of names of fields.
func (f *Fields) UnmarshalJSON(b []byte) error {
	var given []string
	if err := json.Unmarshal(b, &given); err != nil {
		return err
	}
	*f = 0
	for _, name := range given {
		i := slices.Index(fieldNames(), name)
		if i < 0 {
			return fmt.Errorf("unknown field %q of a record: want %s", name, strings.Join(fieldNames(), ", "))
		}
		*f |= 1 << i
	}
	return nil
}

// An Existing says what a request does to a name that is there already.
type Existing uint8

// What can be done to a name that is there.
const (
	Update Existing = iota // what the request asks for
	Keep                   // nothing
	Refuse                 // nothing, and the request is refused unless all is so already
)

func existingNames() []string { return []string{"update", "keep", "refuse"} }

// MarshalText returns update, keep or refuse.
func (e Existing) MarshalText() ([]byte, error) {
	if int(e) >= len(existingNames()) {
		return nil, fmt.Errorf("registrar: unknown policy %d for existing names", e)
	}
	return []byte(existingNames()[e]), nil
}

// UnmarshalText reads what MarshalText writes.
func (e *Existing) UnmarshalText(text []byte) error {
	i := slices.Index(existingNames(), string(text))
	if i < 0 {
		return fmt.Errorf("existing %q: want update, keep or refuse", text)
	}
	*e = Existing(i)
	return nil
}

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
	Record *store.Record `json:"record"`           // Name, or Spelling, or both; Modified and Revision are ignored
	Fields Fields        `json:"fields,omitempty"` // those meant; 0 for all
	Add    bool          `json:"add,omitempty"`    // add to lists, take nothing away

	// Remove are the URLs of locations, and the values of same_as, that go. It goes
	// with Add and the fields meant; one that is not there is refused.
	Remove []string `json:"remove,omitempty"`

	// ReplaceLocations makes an exception from Add: the locations given take the place
	// of all others. Where they say nothing of type, language and so on they keep what
	// those of the same URL and component said.
	ReplaceLocations bool `json:"replace_locations,omitempty"`

	Existing    Existing `json:"existing,omitempty"`     // what to do if the name is there
	KeepRetired bool     `json:"keep_retired,omitempty"` // leave a retired name as it is; Existing goes before if it is Refuse

	// Expected is the revision the name must have now, 0 for "does not exist",
	// or store.AnyRevision. In one batch it may also be the revision that an
	// earlier request of the same name rightly expected.
	Expected uint64 `json:"-"`
	OrCreate bool   `json:"or_create,omitempty"` // a name that does not exist is created whatever is Expected

	// Strict refuses to create a name of which there is a doubt: of
	// WarnDoubtful or WarnResolver. Once active it could never be deleted.
	Strict bool `json:"strict,omitempty"`
}

// An Outcome tells what became of a request.
type Outcome struct {
	Name         name.Name        `json:"-"` // zero for an authority
	store.Result                  // of the change
	Created      bool             `json:"created"`             // it did not exist before
	Fields       Fields           `json:"fields,omitempty"`    // that were changed, if it did
	Undone       Fields           `json:"undone,omitempty"`    // of these, what had become of them by earlier requests of the batch and is no more
	Uncovered    bool             `json:"uncovered,omitempty"` // no authority here covers the name
	Retired      bool             `json:"retired,omitempty"`   // it was left as it is, being retired: see KeepRetired
	Record       *store.Record    `json:"record,omitempty"`    // as it is now; nil when deleted or refused. May share lists with the request
	Authority    *store.Authority `json:"authority,omitempty"` // as it is now, if it was about one
	Warnings     []Warning        `json:"warnings,omitempty"`
	Err          error            `json:"-"` // nil if it was done, or would be
}

// A Warning is something that is allowed and perhaps not meant.
type Warning struct {
	Code    string `json:"code"` // such as no-authority
	Message string `json:"message"`
}

// The codes of warnings.
const (
	WarnNoAuthority = "no-authority" // the name lies under no authority here
	WarnDoubtful    = "doubtful"     // the name, or an identifier in the record, breaks the rules of its scheme or namespace
	WarnResolver    = "resolver"     // it is an address of a well-known resolver, not the name there
	WarnDate        = "date"         // a date in the metadata of which it cannot be told what day it is
	WarnRetired     = "retired"      // left as it is, being retired
	WarnNoReason    = "no-reason"    // retired, and nobody knows why
	WarnSuccessor   = "successor"    // a successor is not known under an authority here
	WarnOwners      = "owners"       // the authority has fewer than two owners
	WarnFoldOff     = "fold-off"     // other spellings of its names are no longer found
	WarnHidden      = "hidden"       // a rule of the authority is not what answers for any name of its tests
)

// A Retirement makes a name a tombstone.
type Retirement struct {
	Reason     string   `json:"reason"`              // never empty
	Successors []string `json:"successors,omitzero"` // names to use instead; nil leaves those that are there
	Expected   uint64   `json:"-"`                   // as in Request

	ShowLocations bool `json:"show_locations,omitempty"` // the tombstone shows the locations to the public
}
