package bulk

// A Summary counts the records of an import or an export. For an export, Read counts the records
// that were written, and Partial counts those that were written without some of their fields.
// Refused counts the records that the format cannot represent. LeftOut counts the records that the
// format does not include, such as retired names in a map.
type Summary struct {
	Read      int64   `json:"read"` // including invalid records
	Created   int64   `json:"created"`
	Changed   int64   `json:"changed"`
	Unchanged int64   `json:"unchanged"`
	Refused   int64   `json:"refused"`
	Retired   int64   `json:"retired,omitempty"` // unchanged because they are retired
	Warned    int64   `json:"warned,omitempty"`  // created or changed, with warnings
	LeftOut   int64   `json:"left_out,omitempty"`
	Partial   int64   `json:"partial,omitempty"`
	Import    string  `json:"import,omitempty"` // batch ID for undoing the changes; absent if nothing changed
	Seconds   float64 `json:"seconds"`
}
