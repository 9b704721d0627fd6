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
type Fields uint16

// Fields of a record.
const (
	FieldName Fields = 1 << iota // the spelling; a request with only this field changes no other field
	FieldStatus
	FieldLocations
	FieldMetadata
	FieldSameAs
	FieldSuccessors
	FieldReason
	FieldShowLocations
	FieldValues
)

func (f Fields) has(g Fields) bool { return f&g == g }

func fieldNames() []string {
	return []string{"name", "status", "locations", "metadata", "same_as", "successors", "reason", "show_locations", "values"}
}

// Names returns the names of the fields in the set, as in the JSON of records.
func (f Fields) Names() []string {
	var all []string
	for i, name := range fieldNames() {
		if f.has(1 << i) {
			all = append(all, name)
		}
	}
	return all
}

// MarshalJSON encodes the set as a list of the names of its fields.
func (f Fields) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]string{}, f.Names()...))
}

// UnmarshalJSON decodes a list of field names.
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

// An Existing determines the effect of a request if the name already exists.
type Existing uint8

// The values of Existing.
const (
	Update Existing = iota // apply the request
	Keep                   // change nothing
	Refuse                 // reject the request, unless it would change nothing
)

func existingNames() []string { return []string{"update", "keep", "refuse"} }

// MarshalText returns "update", "keep" or "refuse".
func (e Existing) MarshalText() ([]byte, error) {
	if int(e) >= len(existingNames()) {
		return nil, fmt.Errorf("registrar: unknown policy %d for existing names", e)
	}
	return []byte(existingNames()[e]), nil
}

// UnmarshalText decodes what MarshalText returns.
func (e *Existing) UnmarshalText(text []byte) error {
	i := slices.Index(existingNames(), string(text))
	if i < 0 {
		return fmt.Errorf("invalid value %q of existing: must be update, keep or refuse", text)
	}
	*e = Existing(i)
	return nil
}

// A Request describes a change of a record, in one of three ways:
//
//   - Without Fields, it replaces the whole record, including the spelling. If no status is given,
//     the status does not change.
//   - With Fields, it replaces only these fields.
//   - With Fields and Add, it adds values, and removes only the values in Remove. A given location
//     sets fields of the existing location with the same URL and component, or is added. Values of
//     same_as and successors are added. A given element of metadata is replaced, or removed if it
//     has no values. A given typed value replaces the value with the same index, or is added. All
//     other fields are replaced.
//
// If the name does not exist, the request creates it, with the status active unless another status
// is given.
type Request struct {
	Record *store.Record `json:"record"`           // has Name, Spelling or both; Modified and Revision are ignored
	Fields Fields        `json:"fields,omitempty"` // fields to change; 0 for all
	Add    bool          `json:"add,omitempty"`    // add to lists instead of replacing them

	// Remove lists URLs of locations and values of same_as to remove. It requires Add, and the
	// fields in question must be in Fields. It is an error if the record does not have a value.
	Remove []string `json:"remove,omitempty"`

	// ReplaceLocations makes the given locations replace all existing locations even if Add is set.
	// An empty field of a given location, such as the type or language, is copied from the existing
	// location with the same URL and component.
	ReplaceLocations bool `json:"replace_locations,omitempty"`

	Existing    Existing `json:"existing,omitempty"`     // what to do if the name exists
	KeepRetired bool     `json:"keep_retired,omitempty"` // do not change a retired name; ignored if Existing is Refuse

	// Expected is the revision that the name must have. It is 0 if the name must not exist, or
	// store.AnyRevision. In a batch, a request may also expect the same revision as an earlier,
	// accepted request for the same name.
	Expected uint64 `json:"-"`
	OrCreate bool   `json:"or_create,omitempty"` // create the name if it does not exist, whatever Expected is

	// Strict rejects a new record with a warning WarnDoubtful or WarnResolver. Mistakes in names
	// are permanent, because a name that was once active can never be deleted.
	Strict bool `json:"strict,omitempty"`
}

// An Outcome is the result of one request.
type Outcome struct {
	Name         name.Name        `json:"-"` // zero if the request is about an authority or a user
	store.Result                  // revision after the change, and whether anything changed
	Created      bool             `json:"created"`             // the name did not exist before
	Fields       Fields           `json:"fields,omitempty"`    // fields that changed, if the name existed before
	Undone       Fields           `json:"undone,omitempty"`    // fields in which the request reverted earlier requests of the batch
	Uncovered    bool             `json:"uncovered,omitempty"` // no authority in this store covers the name
	Retired      bool             `json:"retired,omitempty"`   // unchanged because the name is retired (see KeepRetired)
	Record       *store.Record    `json:"record,omitempty"`    // the record after the request; nil if deleted or rejected. May share lists with the request
	Authority    *store.Authority `json:"authority,omitempty"` // the authority after the request, if it was about one
	User         *store.User      `json:"user,omitempty"`      // the user after the request, if it was about one
	Warnings     []Warning        `json:"warnings,omitempty"`
	Err          error            `json:"-"` // why the request was or would be rejected, or nil
}

// A Warning is about something that is allowed but may be a mistake.
type Warning struct {
	Code    string `json:"code"` // one of the constants below, such as no-authority
	Message string `json:"message"`
}

// Codes of warnings.
const (
	WarnNoAuthority = "no-authority" // no authority in this store covers the name
	WarnDoubtful    = "doubtful"     // the name, or an identifier in the record, violates the rules of its scheme or namespace
	WarnResolver    = "resolver"     // the name, or an identifier in the record, is the URL of a name at a well-known resolver instead of the name
	WarnDate        = "date"         // a date in the metadata is ambiguous or invalid
	WarnRetired     = "retired"      // the name was not changed because it is retired
	WarnNoReason    = "no-reason"    // the name is retired without a reason
	WarnReserved    = "reserved"     // a location was added to a reserved name, which does not resolve before it is active
	WarnSuccessor   = "successor"    // a successor does not exist, although its authority is in this store
	WarnOwners      = "owners"       // the authority has fewer than two owners
	WarnFoldOff     = "fold-off"     // the authority no longer folds case, so requests in another letter case no longer find its names
	WarnHidden      = "hidden"       // no test shows that requests reach a rule of the authority
)

// A Retirement describes the tombstone of a name.
type Retirement struct {
	Reason     string   `json:"reason"`              // must not be empty
	Successors []string `json:"successors,omitzero"` // names to use instead; if nil, the existing ones stay
	Expected   uint64   `json:"-"`                   // expected revision, as in Request

	ShowLocations bool `json:"show_locations,omitempty"` // show the locations on the public tombstone page
}
