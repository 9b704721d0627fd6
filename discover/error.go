package discover

import (
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// An Error reports a syntax error in a substitution expression, a service field
// or a line of a table.
type Error struct {
	Input   string
	Line    int // in a table, from 1; 0 elsewhere
	Offset  int // in bytes, into Input
	Rule    string
	Message string
}

func (e *Error) Error() string {
	at := fmt.Sprintf("offset %d", e.Offset)
	if e.Line > 0 {
		at = fmt.Sprintf("line %d, %s", e.Line, at)
	}
	return fmt.Sprintf("discover: %q: %s: %s: %s", e.Input, at, e.Rule, e.Message)
}

// Violation makes e a [uri.InputError].
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Input: e.Input, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

func refuse(input string, offset int, rule, format string, args ...any) *Error {
	return &Error{Input: input, Offset: offset, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// A RuleError reports that the rules in DNS lead nowhere: the error is in the
// zone at Key, not in the network.
type RuleError struct {
	Key    string // domain name whose rules or records are invalid
	Reason string
}

// Public returns the text of the error for clients of a server. The text reveals nothing about
// the server, because the rules are those of another zone.
func (e *RuleError) Public() string { return "invalid rules of " + e.Key + ": " + e.Reason }

func (e *RuleError) Error() string { return fmt.Sprintf("discover: rules of %s: %s", e.Key, e.Reason) }
