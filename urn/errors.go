package urn

import "fmt"

// An Error is the refusal of an input: where, and which production of the
// dialect's document was broken.
type Error struct {
	Dialect Dialect
	Input   string // as given
	Offset  int    // in bytes, into Input
	Rule    string // the production, in the document's spelling
	Message string // what was found, in words
}

const maxQuoted = 80 // bytes of the input that an error message shows

func (e *Error) Error() string {
	in := e.Input
	if len(in) > maxQuoted {
		in = in[:maxQuoted] + "..."
	}
	return fmt.Sprintf("urn: %q: offset %d: %s: %s", in, e.Offset, e.Rule, e.Message)
}

func (d Dialect) fail(input string, offset int, rule, format string, args ...any) *Error {
	return &Error{Dialect: d, Input: input, Offset: offset, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// found describes the byte at offset i of s for a message.
func found(s string, i int) string {
	if i >= len(s) {
		return "the end"
	}
	return fmt.Sprintf("%q", s[i:i+1])
}
