package nomen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A Kind is one of the five ways in which a question has no answer (RFC 2483,
// section 2).
type Kind uint8

// The kinds.
const (
	Malformed Kind = iota + 1 // the identifier is not well formed
	Unknown                   // it does not exist, or not yet for the public
	NoResult                  // it exists, but has nothing for this service
	Gone                      // it existed in the past
	Denied                    // the asker may not know
)

// String returns the last part of the kind's problem type.
func (k Kind) String() string {
	switch k {
	case Malformed:
		return "malformed"
	case Unknown:
		return "unknown-name"
	case NoResult:
		return "no-result"
	case Gone:
		return "retired"
	case Denied:
		return "denied"
	}
	return "error"
}

// Phrase returns the reason phrase of a response that says so (1995, 3.4.1: Y95-42); ""
// for the usual one. By it clients know that a resolver understood the name.
func (k Kind) Phrase() string {
	switch k {
	case Malformed:
		return "Malformed name"
	case Unknown:
		return "Unknown name"
	case NoResult:
		return "No result for this service"
	case Gone:
		return "Retired name"
	}
	return ""
}

// MaxHops is how many resolvers may pass a question on before it is cut
// ([nomen.ErrLoop]).
const MaxHops = 8

// ErrLoop is returned, wrapped, for a question that too many resolvers passed
// on: they delegate the name to each other. It says nothing about the name.
var ErrLoop = errors.New("the question was passed on too often: resolvers delegate the name to each other")

// ErrUpstream is returned, wrapped, when another server on which the answer
// depends failed: the resolver of a delegation, or the place of a resource. It says
// nothing about the name.
var ErrUpstream = errors.New("another server, on which the answer depends, failed")

// An Error tells why there is no answer.
type Error struct {
	Kind        Kind
	Name        string   // as asked
	Service     Service  // of the question
	Offset      int      // of Malformed: in bytes, into Name
	Rule        string   // of Malformed: the production that was broken
	Message     string   // in words, without the name
	Suggestions []string // names that may have been meant
	Legal       bool     // of Denied: for legal reasons
	Answer      *Answer  // what can be said all the same: the tombstone of Gone
	Why         []string // how it came about, for people; if it was asked for
	Err         error    // the cause, if any
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %q", e.Kind, e.Name)
	if e.Kind == Malformed {
		fmt.Fprintf(&b, ": offset %d: %s", e.Offset, e.Rule)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Violation makes e a [uri.InputError]. An error of another kind than Malformed returns
// the zero Violation.
func (e *Error) Violation() uri.Violation {
	if e.Kind != Malformed {
		return uri.Violation{}
	}
	return uri.Violation{Input: e.Name, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

// Is makes errors.Is(err, &Error{Kind: k}) true for every error of kind k.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind && t.Name == ""
}
