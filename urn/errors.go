package urn

import (
	"fmt"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// An Error says at which byte an input violates the grammar of its dialect, and why.
type Error struct {
	Dialect Dialect
	Input   string // the whole input
	Offset  int    // offset of the first invalid byte of Input
	Rule    string // the production as the document spells it
	Message string // what is wrong, in words
}

const maxQuoted = 80 // how many bytes of the input the message shows

// Error returns a message with the input, the offset, the production and what was found.
func (e *Error) Error() string {
	return fmt.Sprintf("urn: %q: offset %d: %s: %s", ascii.Head(e.Input, maxQuoted), e.Offset, e.Rule, e.Message)
}

// Violation implements [uri.InputError].
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Input: e.Input, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

func (d Dialect) fail(input string, offset int, rule, format string, args ...any) *Error {
	return &Error{Dialect: d, Input: input, Offset: offset, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// failAt returns the error for the octet at offset i, which the production cannot contain. The
// octet begins an incomplete escape or an escaped NUL, or is itself not allowed.
func (d Dialect) failAt(s string, i int, rule string) *Error {
	switch {
	case i >= len(s) || s[i] != '%':
		return d.fail(s, i, rule, "contains %s", found(s, i))
	case isEscape(s, i):
		return d.fail(s, i, "excluded", "an escaped NUL is not allowed in a URN")
	}
	return d.fail(s, i, grammars[d].escape, `"%%" must be followed by two hex digits`)
}

// found describes the character at offset i of s. For a non-ASCII character the description
// includes the code point, because many characters look alike.
func found(s string, i int) string {
	if i >= len(s) {
		return "the end"
	}
	if r, n := utf8.DecodeRuneInString(s[i:]); n > 1 {
		return fmt.Sprintf("%q (%U)", r, r)
	}
	return fmt.Sprintf("%q", s[i:i+1])
}
