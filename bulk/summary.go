package bulk

// A Summary counts the records of an import; of an export Read alone.
type Summary struct {
	Read      int64   `json:"read"` // bad ones too
	Created   int64   `json:"created"`
	Changed   int64   `json:"changed"`
	Unchanged int64   `json:"unchanged"`
	Refused   int64   `json:"refused"`
	Seconds   float64 `json:"seconds"`
}
