package mint

import (
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// An Error reports an invalid template.
type Error struct {
	Input   string // the template
	Offset  int    // byte offset in Input
	Rule    string // the grammar rule, or the rule that the names violate
	Message string // a description of the error
	Err     error  // the cause, if the names are invalid
}

func (e *Error) Error() string {
	return fmt.Sprintf("mint: template %q: offset %d: %s: %s", e.Input, e.Offset, e.Rule, e.Message)
}

// Violation makes e a [uri.InputError].
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Input: e.Input, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// An ExhaustedError means that a run has yielded every name of its template.
type ExhaustedError struct {
	Template string
	Capacity uint64 // number of names that the template has
}

func (e *ExhaustedError) Error() string {
	if e.Capacity == 1 {
		return fmt.Sprintf("mint: template %q is exhausted: it has only one name", e.Template)
	}
	return fmt.Sprintf("mint: template %q is exhausted: it has only %d names", e.Template, e.Capacity)
}

// A RunError means that a run has yielded [MaxRun] names. A run cannot exclude repetitions of more
// names.
type RunError struct{ Template string }

func (e *RunError) Error() string {
	return fmt.Sprintf("mint: template %q: limit of %d names per run reached; start another run", e.Template, MaxRun)
}

// A RefusedError means that the namespace rejects the names of a template.
type RefusedError struct {
	Template string
	Name     string // an example of a rejected name
	Err      error  // the reason
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("mint: template %q: %s is not valid in its namespace: %v", e.Template, e.Name, e.Err)
}

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }
