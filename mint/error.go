package mint

import "fmt"

// An Error is the refusal of a template.
type Error struct {
	Input   string // the template
	Offset  int    // in bytes, into Input
	Rule    string // the production of the grammar, or the rule that names break
	Message string // what was found, in words
	Err     error  // the error of the names, if it is they that are refused
}

func (e *Error) Error() string {
	return fmt.Sprintf("mint: template %q: offset %d: %s: %s", e.Input, e.Offset, e.Rule, e.Message)
}

// Unwrap returns the error of the names.
func (e *Error) Unwrap() error { return e.Err }

// An ExhaustedError ends a run that has yielded every name of its template.
type ExhaustedError struct {
	Template string
	Capacity uint64 // how many names the template has
}

func (e *ExhaustedError) Error() string {
	if e.Capacity == 1 {
		return fmt.Sprintf("mint: template %q is exhausted: it gives one name", e.Template)
	}
	return fmt.Sprintf("mint: template %q is exhausted: it gives %d names", e.Template, e.Capacity)
}

// A RunError ends a run that has become too long to know that it never repeats.
type RunError struct{ Template string }

func (e *RunError) Error() string {
	return fmt.Sprintf("mint: template %q: %d names in one run: begin another", e.Template, MaxRun)
}

// A RefusedError says that the namespace takes no names of a template.
type RefusedError struct {
	Template string
	Name     string // one that was refused
	Err      error  // why
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("mint: template %q: %s is no name of its namespace: %v", e.Template, e.Name, e.Err)
}

// Unwrap returns why the name was refused.
func (e *RefusedError) Unwrap() error { return e.Err }
