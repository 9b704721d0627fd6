package mint

import (
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// An Error describes an invalid template, with the offset of the error.
type Error struct {
	Input   string // the template
	Offset  int    // offset in Input, in bytes
	Rule    string // the violated rule of the grammar, or of the names
	Message string // what is wrong, for people
	Err     error  // the cause if the names are invalid, or nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("mint: template %q: offset %d: %s: %s", e.Input, e.Offset, e.Rule, e.Message)
}

// Violation implements [uri.InputError].
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Input: e.Input, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// An ExhaustedError means that a run has returned all names of its template.
type ExhaustedError struct {
	Template string
	Capacity uint64 // the number of names of the template
}

func (e *ExhaustedError) Error() string {
	if e.Capacity == 1 {
		return fmt.Sprintf("mint: template %q is exhausted: it has only one name", e.Template)
	}
	return fmt.Sprintf("mint: template %q is exhausted: it has only %d names", e.Template, e.Capacity)
}

// A RunError means that a run has returned [MaxRun] names. A run does not remember more names, so
// it could not prevent repetitions after that.
type RunError struct{ Template string }

func (e *RunError) Error() string {
	return fmt.Sprintf("mint: template %q: limit of %d names per run reached; start another run", e.Template, MaxRun)
}

// A RefusedError means that the names of a template are invalid in their namespace.
type RefusedError struct {
	Template string
	Name     string // an example
	Err      error  // why it is invalid
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("mint: template %q: %s is not valid in its namespace: %v", e.Template, e.Name, e.Err)
}

// Unwrap returns e.Err.
func (e *RefusedError) Unwrap() error { return e.Err }
