package iri

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

const maxQuoted = 80

// An Error says at which byte an input is not an IRI, and why.
type Error struct {
	Input  string
	Offset int      // offset of the first invalid character, in bytes
	Rule   string   // the violated production of RFC 3987, section 2.2, or the section
	Code   uri.Code // what is wrong
}

// Error returns a message with the input, the offset, the rule and what is wrong.
func (e *Error) Error() string {
	return fmt.Sprintf("iri: %q: offset %d: %s: %s", ascii.Head(e.Input, maxQuoted), e.Offset, e.Rule, e.reason())
}

// Violation implements [uri.InputError].
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Input: e.Input, Offset: e.Offset, Rule: e.Rule, Message: e.reason()}
}

func (e *Error) reason() string {
	found := "the end"
	if e.Offset < len(e.Input) {
		r, n := utf8.DecodeRuneInString(e.Input[e.Offset:])
		found = strconv.QuoteRuneToASCII(r)
		if r == utf8.RuneError && n == 1 {
			found = fmt.Sprintf("byte 0x%02X", e.Input[e.Offset])
		}
	}
	if e.Code == uri.CodeCharacter {
		return "unexpected " + found
	}
	return "found " + found + ": " + e.Code.String()
}

func newError(s string, off int, rule string, code uri.Code) *Error {
	return &Error{Input: s, Offset: off, Rule: rule, Code: code}
}

// international returns the name of the production of RFC 3987 that corresponds to a production of
// RFC 3986.
func international(rule string) string {
	switch rule {
	case "URI-reference":
		return "IRI-reference"
	case "authority", "userinfo", "reg-name", "segment-nz-nc", "pchar", "query", "fragment":
		return "i" + rule
	default:
		return rule
	}
}

func fromURIError(s string, err error) error {
	var e *uri.Error
	if !errors.As(err, &e) {
		return err
	}
	off := 0
	for left := e.Offset; left > 0 && off < len(s); off++ {
		if s[off] < 0x80 {
			left--
		} else {
			left -= len("%XX")
		}
	}
	return newError(s, off, international(e.Rule), e.Code)
}
