package bulk

import (
	"errors"
	"fmt"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Refusal says which record was rejected, and why.
type Refusal struct {
	Sheet  string `json:"sheet,omitempty"`  // of a workbook
	Line   int    `json:"line,omitempty"`   // from 1; 0 in an export; in a workbook, the number of the row
	Column int    `json:"column,omitempty"` // in bytes, from 1; 0 if the line is well-formed; in a workbook, the number of the column
	Offset int64  `json:"offset,omitempty"` // in bytes, from 0, after decompression
	Name   string `json:"name,omitempty"`   // as in the file, if it could be read
	Field  string `json:"field,omitempty"`  // such as "locations[2].url"; the column of a table
	Value  string `json:"value,omitempty"`  // shortened value of the field; only in a table
	Code   string `json:"code,omitempty"`   // kind of the reason: one of the constants, or the rule of a [registrar.RefusalError]
	Reason string `json:"reason"`
	Clock  bool   `json:"clock,omitempty"` // the clock is too far behind the last change of the name, as in store.StateError
	Err    error  `json:"-"`               // a *LineError, or the error of the registrar
}

// These values of [Refusal.Code] are defined here. For a [registrar.RefusalError], the code is the
// Rule of the error.
const (
	CodeLine     = "line"     // the line is not a valid record
	CodeConflict = "conflict" // the line is based on another revision
	CodeChanged  = "changed"  // another user changed the name during the import
	CodeState    = "status"   // the status of the name does not allow the change
	CodeClock    = "clock"    // the clock is too far behind the last change of the name
	CodeLimit    = "limit"    // a limit is exceeded
	CodeDenied   = "denied"   // the actor has no permission
	CodeOther    = "other"
)

// String returns the refusal as text.
func (r Refusal) String() string {
	s := fmt.Sprintf("line %d", r.Line)
	switch {
	case r.Sheet != "":
		s = r.Cell()
	case r.Column > 0:
		s += fmt.Sprintf(", column %d", r.Column)
	}
	for _, part := range []string{r.Name, r.Field, r.Reason} {
		if part != "" {
			s += ": " + part
		}
	}
	return s
}

// Cell returns the position of the cell in a workbook, such as "Names!B7", or "" for other files.
func (r Refusal) Cell() string {
	if r.Sheet == "" {
		return ""
	}
	return Place(r.Sheet, r.Line, r.Column)
}

// reason returns the invalid field, the reason and the code for an error. The reason does not
// include the name of the record.
func reason(err error) (field, why, code string) {
	var refusal *registrar.RefusalError
	var conflict *store.ConflictError
	var state *store.StateError
	var limit *store.LimitError
	switch {
	case errors.As(err, &refusal):
		return refusal.Field, refusal.Why(), refusal.Rule
	case errors.As(err, &conflict):
		return "revision", fmt.Sprintf("the line is based on revision %d, but the name has revision %d", conflict.Expected, conflict.Current), CodeConflict
	case errors.As(err, &state) && state.Clock:
		return "", state.Rule, CodeClock
	case errors.As(err, &state):
		return "status", state.Rule, CodeState
	case errors.As(err, &limit):
		return limit.What, fmt.Sprintf("%d exceeds the limit of %d", limit.Size, limit.Limit), CodeLimit
	case errors.As(err, new(*registrar.DeniedError)):
		return "", err.Error(), CodeDenied
	}
	return "", err.Error(), CodeOther
}
