package uri

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxQuoted bounds how much of an input an error message repeats.
const maxQuoted = 80

// An Error tells where and why an input is not what a rule of its dialect
// describes.
//
// The offset is that of the first byte that cannot be: what is before it could
// have become valid. It is len(Input) if the input ends too early. A bad escape
// is told at its percent sign, a bad IP literal at its bracket, and what is wrong
// with a port where it ceases to be decimal.
type Error struct {
	Dialect Dialect // by whose rules
	Input   string  // the whole input
	Offset  int     // in bytes
	Rule    string  // the production of the dialect's document, such as pct-encoded
	Code    Code    // what is wrong
}

// Error says the input, the offset, the rule, what was found and what was
// expected.
func (e *Error) Error() string {
	return fmt.Sprintf("uri: %s: offset %d: %s: %s (%s)", quote(e.Input), e.Offset, e.Rule, e.reason(), e.Dialect)
}

// reason says what was found, and what the code demands.
func (e *Error) reason() string {
	switch e.Code {
	case CodeTooLong, CodeNoScheme, CodeDialect:
		return e.Code.String()
	default:
		return "found " + e.found() + ": " + e.Code.String()
	}
}

// found names the character at the offset.
func (e *Error) found() string {
	if e.Offset >= len(e.Input) {
		return "the end"
	}
	r, n := utf8.DecodeRuneInString(e.Input[e.Offset:])
	if r == utf8.RuneError && n == 1 {
		return fmt.Sprintf("byte 0x%02X", e.Input[e.Offset])
	}
	return strconv.QuoteRune(r)
}

// quote quotes an input and cuts a long one.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:maxQuoted], "")) + "..."
}

// A Code says what is wrong with an input.
type Code uint8

// The codes.
const (
	CodeNone      Code = iota // nothing is wrong
	CodeDialect               // the dialect is not one
	CodeTooLong               // longer than MaxLength
	CodeNoScheme              // a relative reference where a scheme is needed
	CodeScheme                // not the name of a scheme
	CodeColon                 // a colon in the first segment of a relative reference
	CodeEscape                // a percent sign without two hexadecimal digits
	CodeCharacter             // a character that cannot stand there
	CodeHost                  // a host that is none
	CodeLiteral               // an address in brackets that is none
	CodePort                  // a port that is not decimal
	CodeWord                  // an empty word in a search (1993)
	CodeForm                  // not the form that the scheme has (1993)
	CodeRule                  // not what the named production derives
)

// String says in words what the code demands.
func (c Code) String() string {
	switch c {
	case CodeNone:
		return "valid"
	case CodeDialect:
		return "unknown dialect"
	case CodeTooLong:
		return "longer than " + strconv.Itoa(MaxLength) + " bytes"
	case CodeNoScheme:
		return "a scheme and a colon are needed"
	case CodeScheme:
		return "not the name of a scheme"
	case CodeColon:
		return "no colon may stand in the first segment of a relative reference; put ./ before it"
	case CodeEscape:
		return "a percent sign needs two hexadecimal digits after it"
	case CodeCharacter:
		return "not allowed here"
	case CodeHost:
		return "not a host"
	case CodeLiteral:
		return "not an IP literal"
	case CodePort:
		return "a port has decimal digits only"
	case CodeWord:
		return "a search is words joined by plus signs, none of them empty"
	case CodeForm:
		return "not the form of this scheme"
	case CodeRule:
		return "not what the rule derives"
	default:
		return "code " + strconv.Itoa(int(c))
	}
}

// A fault is an error before it is told: small, and without allocation.
type fault struct {
	off  uint32
	code Code
	rule rule
}

func newError(d Dialect, s string, f fault) *Error {
	return &Error{Dialect: d, Input: s, Offset: int(f.off), Rule: f.rule.name(d), Code: f.code}
}
