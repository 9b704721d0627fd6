package bulk

import "fmt"

// A LineError is the refusal of a line that is not a record.
type LineError struct {
	Line    int    // from 1
	Column  int    // in bytes, from 1
	Field   string // such as "locations[2].url"; "" if none was reached
	Message string // in words
}

func (e *LineError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("line %d, column %d: %s: %s", e.Line, e.Column, e.Field, e.Message)
}

// A BrokenError is returned when the input ended too early or could not be
// read. All lines before Line were read.
type BrokenError struct {
	Line int // the one in which it broke off, from 1
	Err  error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("the input broke off in line %d: %v; the lines before it were read", e.Line, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }
