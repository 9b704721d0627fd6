package discover

import (
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// An Error reports a syntax error in a substitution expression, a service field or a line of a
// table.
type Error struct {
	Input   string
	Line    int // line of a table, from 1; otherwise 0
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

// Violation implements [uri.InputError].
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Input: e.Input, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

func refuse(input string, offset int, rule, format string, args ...any) *Error {
	return &Error{Input: input, Offset: offset, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// A RuleError means that the rules in DNS are invalid or do not lead to a resolver. The mistake is
// in the DNS zone, and not in the network.
type RuleError struct {
	Key    string // the domain name with the invalid rules or records
	Reason string
}

// Public returns a message that a server may show to its clients. It reveals nothing about the
// server.
func (e *RuleError) Public() string { return "invalid rules of " + e.Key + ": " + e.Reason }

func (e *RuleError) Error() string { return fmt.Sprintf("discover: rules of %s: %s", e.Key, e.Reason) }
