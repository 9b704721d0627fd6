package uri

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxQuoted = 80

// An Error says at which byte an input violates the grammar of its dialect, and why.
//
// The text before Offset could still be the start of a valid input. If the input ends too early,
// Offset is len(Input). Three faults have a fixed position: an invalid escape is reported at its
// percent sign, an invalid IP literal at its opening bracket, and an invalid port at its first
// character that is not a digit.
type Error struct {
	Dialect Dialect // the dialect in which the input was parsed
	Input   string  // the whole input
	Offset  int     // offset of the first byte that makes the input invalid
	Rule    string  // the production as the document spells it, such as pct-encoded
	Code    Code    // what is wrong
}

// Error returns a message with the input, the offset, the rule, and what was found and expected.
func (e *Error) Error() string {
	return fmt.Sprintf("uri: %s: offset %d: %s: %s (%s)", quote(e.Input), e.Offset, e.Rule, e.reason(), e.Dialect)
}

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

func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:maxQuoted], "")) + "..."
}

// Violation implements [InputError].
func (e *Error) Violation() Violation { return Violation{e.Input, e.Offset, e.Rule, e.reason()} }

// A Violation says where and why a text violates a rule. All errors of this module about texts
// provide a Violation, so programs can display them uniformly.
type Violation struct {
	Input   string // the whole text, or "" if the error does not have it
	Offset  int    // offset in Input of the first byte that makes it invalid
	Rule    string // the production as the document spells it, or the name of the rule
	Message string // what was found; it does not repeat the other fields
}

// An InputError is an error about a text, such as an identifier, a template or a line of a table.
// The packages uri, iri, urn, name, namespace, scheme, rule, mint and discover return such errors.
// A program can use them to show where a text is wrong:
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

// A Code is the kind of fault in an input. Programs can compare codes, while messages may change.
type Code uint8

// The kinds of faults.
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

// String describes the kind of fault in words.
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

// A fault is the parser's form of an [Error]. It does not contain the input and needs no
// allocation.
type fault struct {
	off  uint32
	code Code
	rule rule
}

func newError(d Dialect, s string, f fault) *Error {
	return &Error{Dialect: d, Input: s, Offset: int(f.off), Rule: f.rule.name(d), Code: f.code}
}
