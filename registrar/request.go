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
	FieldName Fields = 1 << iota // the spelling; alone, it leaves all other fields as they are
	FieldStatus
	FieldLocations
	FieldMetadata
	FieldSameAs
	FieldSuccessors
	FieldReason
	FieldShowLocations
)

// has reports whether f has all fields of g.
func (f Fields) has(g Fields) bool { return f&g == g }

// fieldNames returns the names of all fields, in the order of their bits.
func fieldNames() []string {
	return []string{"name", "status", "locations", "metadata", "same_as", "successors", "reason", "show_locations"}
}

// Names returns the names of the fields, as records have them in JSON.
func (f Fields) Names() []string {
	var all []string
	for i, name := range fieldNames() {
		if f.has(1 << i) {
			all = append(all, name)
		}
	}
	return all
}

// MarshalJSON returns the names of the fields as a list.
func (f Fields) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]string{}, f.Names()...))
}

// UnmarshalJSON reads a list of field names.
func (f *Fields) UnmarshalJSON(b []byte) error {
	var given []string
	if err := json.Unmarshal(b, &given); err != nil {
		return err
	}
	*f = 0
	for _, name := range given {
		i := slices.Index(fieldNames(), name)
		if i < 0 {
			return fmt.Errorf("unknown field %q of a record: must be one of %s", name, strings.Join(fieldNames(), ", "))
		}
		*f |= 1 << i
	}
	return nil
}

// An Existing says what a request does to an existing name.
type Existing uint8

// The values of Existing.
const (
	Update Existing = iota // apply the request
	Keep                   // change nothing
	Refuse                 // reject the request unless it would change nothing
)

func existingNames() []string { return []string{"update", "keep", "refuse"} }

// MarshalText returns "update", "keep" or "refuse".
func (e Existing) MarshalText() ([]byte, error) {
	if int(e) >= len(existingNames()) {
		return nil, fmt.Errorf("registrar: unknown policy %d for existing names", e)
	}
	return []byte(existingNames()[e]), nil
}

// UnmarshalText parses what MarshalText returns.
func (e *Existing) UnmarshalText(text []byte) error {
	i := slices.Index(existingNames(), string(text))
	if i < 0 {
		return fmt.Errorf("invalid value %q of existing: must be update, keep or refuse", text)
	}
	*e = Existing(i)
	return nil
}

// A Request describes a change of a record.
//
// There are three ways to change a record:
//
//   - Without Fields the whole record is replaced, including its spelling. Its status is kept
//     if none is given.
//   - With Fields, only these fields are replaced.
//   - With Fields and Add, only values in Remove are removed. Locations are added; a given
//     location with the URL and component of an existing location sets fields of that
//     location. Values of same_as and successors are added. The given elements of metadata
//     are replaced, or removed if they have no values. The other fields are replaced.
//
// A name that does not exist is created; it is active if no status is given.
type Request struct {
	Record *store.Record `json:"record"`           // with Name, Spelling or both; Modified and Revision are ignored
	Fields Fields        `json:"fields,omitempty"` // fields to change; 0 for all
	Add    bool          `json:"add,omitempty"`    // add to lists instead of replacing them

	// Remove contains URLs of locations, and values of same_as, to be removed. It requires
	// Add and the respective Fields. A value that does not exist is an error.
	Remove []string `json:"remove,omitempty"`

	// ReplaceLocations is an exception to Add: the given locations replace all others. If a
	// given location leaves a field such as type or language empty, the field is copied from the
	// existing location with the same URL and component.
	ReplaceLocations bool `json:"replace_locations,omitempty"`

	Existing    Existing `json:"existing,omitempty"`     // what to do if the name exists
	KeepRetired bool     `json:"keep_retired,omitempty"` // do not change a retired name; ignored if Existing is Refuse

	// Expected is the revision that the name must have, 0 if it must not exist, or
	// store.AnyRevision. Within a batch it may also be the revision that an earlier
	// accepted request for the same name expected.
	Expected uint64 `json:"-"`
	OrCreate bool   `json:"or_create,omitempty"` // create a name that does not exist, whatever Expected is

	// Strict rejects a new record if its warnings would include WarnDoubtful or WarnResolver. A
	// mistake in a name is permanent: a name that was active once can never be deleted.
	Strict bool `json:"strict,omitempty"`
}

// An Outcome is the result of a request.
type Outcome struct {
	Name         name.Name        `json:"-"` // zero for an authority or a user
	store.Result                  // of the change
	Created      bool             `json:"created"`             // the name did not exist before
	Fields       Fields           `json:"fields,omitempty"`    // changed fields, if it existed
	Undone       Fields           `json:"undone,omitempty"`    // the fields in which this request reverted changes of earlier requests of the batch
	Uncovered    bool             `json:"uncovered,omitempty"` // no authority here covers the name
	Retired      bool             `json:"retired,omitempty"`   // not changed because it is retired: see KeepRetired
	Record       *store.Record    `json:"record,omitempty"`    // new record; nil if deleted or rejected. May share lists with the request
	Authority    *store.Authority `json:"authority,omitempty"` // new authority, if the request was about one
	User         *store.User      `json:"user,omitempty"`      // new user, if the request was about one
	Warnings     []Warning        `json:"warnings,omitempty"`
	Err          error            `json:"-"` // nil if the request was carried out, or would be
}

// A Warning describes something that is allowed but perhaps not intended.
type Warning struct {
	Code    string `json:"code"` // such as no-authority
	Message string `json:"message"`
}

// The codes of warnings.
const (
	WarnNoAuthority = "no-authority" // no authority here covers the name
	WarnDoubtful    = "doubtful"     // the name, or an identifier in the record, violates the rules of its scheme or namespace
	WarnResolver    = "resolver"     // the name, or an identifier in the record, is the URL of a name at a well-known resolver, not the name itself
	WarnDate        = "date"         // an ambiguous or invalid date in the metadata
	WarnRetired     = "retired"      // not changed because it is retired
	WarnNoReason    = "no-reason"    // retired without a reason
	WarnSuccessor   = "successor"    // a successor under an authority here does not exist
	WarnOwners      = "owners"       // the authority has fewer than two owners
	WarnFoldOff     = "fold-off"     // the authority no longer folds case: requests in another letter case no longer find its names
	WarnHidden      = "hidden"       // no test shows that a rule of the authority is reached
)

// A Retirement describes the tombstone of a name.
type Retirement struct {
	Reason     string   `json:"reason"`              // must not be empty
	Successors []string `json:"successors,omitzero"` // names to use instead; nil keeps the existing ones
	Expected   uint64   `json:"-"`                   // as in Request

	ShowLocations bool `json:"show_locations,omitempty"` // show the locations on the public tombstone
}
