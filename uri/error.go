package uri

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxQuoted is the maximum number of bytes of the input that an error message
// repeats.
const maxQuoted = 80

// An Error reports where and why an input violates a rule of its dialect.
//
// The offset is that of the first byte that makes the input invalid: the bytes before it could
// still be the beginning of a valid input. If the input ends too early, the offset is
// len(Input). An invalid escape is reported at its percent sign, an invalid IP literal at its
// bracket, and an invalid port at its first character that is not a digit.
type Error struct {
	Dialect Dialect // the dialect in which the input was parsed
	Input   string  // the whole input
	Offset  int     // offset of the first byte that makes the input invalid
	Rule    string  // the production of the dialect's document, such as pct-encoded
	Code    Code    // what is wrong
}

// Error returns the input, the offset, the rule, what was found and what was
// expected.
func (e *Error) Error() string {
	return fmt.Sprintf("uri: %s: offset %d: %s: %s (%s)", quote(e.Input), e.Offset, e.Rule, e.reason(), e.Dialect)
}

// reason says what was found and what was expected.
func (e *Error) reason() string {
	switch {
	case e.Code == CodeTooLong, e.Code == CodeNoScheme, e.Code == CodeDialect, e.Code == CodeRule && e.Offset == 0:
		return e.Code.String()
	case e.Code == CodeCharacter:
		return "unexpected " + e.found() + e.escapeHint()
	default:
		return "found " + e.found() + ": " + e.Code.String()
	}
}

// escapeHint says how to escape the character at the offset. It returns "" if an escape is not
// valid there.
func (e *Error) escapeHint() string {
	switch e.Rule {
	case rulePath.name(e.Dialect), ruleQuery.name(e.Dialect), ruleFragment.name(e.Dialect):
	default:
		return ""
	}
	if e.Offset >= len(e.Input) {
		return ""
	}
	_, n := utf8.DecodeRuneInString(e.Input[e.Offset:])
	hint := "; percent-encode it as "
	for _, c := range []byte(e.Input[e.Offset : e.Offset+n]) {
		hint += fmt.Sprintf("%%%02X", c)
	}
	return hint
}

// found describes the character at the offset.
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

// quote quotes an input and shortens a long one.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:maxQuoted], "")) + "..."
}

// Violation returns where and why the input violates the rule.
func (e *Error) Violation() Violation { return Violation{e.Input, e.Offset, e.Rule, e.reason()} }

// A Violation says where and why a text violates a rule.
type Violation struct {
	Input   string // the whole text; "" if the error does not have it
	Offset  int    // offset in Input of the first byte that makes it invalid
	Rule    string // the production, in the document's spelling, or the name of the rule
	Message string // what was found, in words, without input, offset and rule
}

// An InputError is an error about a text, such as an identifier, a template or a line of a table.
// The errors of uri, iri, urn, name, namespace, scheme, rule, mint and discover are InputErrors, so
// a program can show the position of each:
//
//	var bad uri.InputError
//	if errors.As(err, &bad) {
//		v := bad.Violation()
//		fmt.Printf("%s\n%*s^ %s\n", v.Input, v.Offset, "", v.Message)
//	}
type InputError interface {
	error
	Violation() Violation
}

// A Code says what is wrong with an input.
type Code uint8

// The codes.
const (
	CodeNone      Code = iota // nothing is wrong
	CodeDialect               // unknown dialect
	CodeTooLong               // longer than MaxLength
	CodeNoScheme              // a relative reference where a scheme is needed
	CodeScheme                // an invalid scheme name
	CodeColon                 // a colon in the first segment of a relative reference
	CodeEscape                // a percent sign without two hexadecimal digits
	CodeCharacter             // a character that cannot appear at the offset
	CodeHost                  // an invalid host
	CodeLiteral               // an invalid address in brackets
	CodePort                  // a port that is not decimal
	CodeWord                  // an empty word in a search (draft of 1993)
	CodeForm                  // the URL does not have the form that its scheme requires (draft of 1993)
	CodeRule                  // the input does not match the named production
)

// String describes the fault in words.
func (c Code) String() string {
	switch c {
	case CodeNone:
		return "valid"
	case CodeDialect:
		return "unknown dialect"
	case CodeTooLong:
		return "longer than " + strconv.Itoa(MaxLength) + " bytes"
	case CodeNoScheme:
		return "missing scheme, such as https:"
	case CodeScheme:
		return "invalid scheme name"
	case CodeColon:
		return "the first segment of a relative reference cannot contain a colon; put ./ before it"
	case CodeEscape:
		return "a percent sign must be followed by two hexadecimal digits"
	case CodeCharacter:
		return "unexpected character"
	case CodeHost:
		return "invalid host"
	case CodeLiteral:
		return "invalid IP literal"
	case CodePort:
		return "a port must be decimal digits"
	case CodeWord:
		return "a search must be words joined by plus signs, none of them empty"
	case CodeForm:
		return "invalid form for this scheme"
	case CodeRule:
		return "does not match the rule"
	default:
		return "code " + strconv.Itoa(int(c))
	}
}

// A fault is the compact form of an error inside the parser; it needs no
// allocation.
type fault struct {
	off  uint32
	code Code
	rule rule
}

func newError(d Dialect, s string, f fault) *Error {
	return &Error{Dialect: d, Input: s, Offset: int(f.off), Rule: f.rule.name(d), Code: f.code}
}
