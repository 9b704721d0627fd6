package bulk

// A Summary counts the records of an import. Of an export Read is those that were
// written, Refused those that the format cannot hold, and LeftOut those that it is
// not about.
type Summary struct {
	Read      int64   `json:"read"` // bad ones too
	Created   int64   `json:"created"`
	Changed   int64   `json:"changed"`
	Unchanged int64   `json:"unchanged"`
	Refused   int64   `json:"refused"`
	Retired   int64   `json:"retired,omitempty"` // left as they are, being retired
	Warned    int64   `json:"warned,omitempty"`  // created or changed, and with something that may not be meant
	LeftOut   int64   `json:"left_out,omitempty"`
	Import    string  `json:"import,omitempty"` // ID of the changes, by which they can be undone; absent if there were none
	Seconds   float64 `json:"seconds"`
}
