package nomen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A Kind is a reason why a question has no answer (RFC 2483, section 2).
type Kind uint8

// The five kinds.
const (
	Malformed Kind = iota + 1 // the identifier is malformed
	Unknown                   // the name does not exist, or is not public yet
	NoResult                  // the name has no data for the service
	Gone                      // the name was retired
	Denied                    // access is denied
)

// String returns a word for the kind, such as "retired". In HTTP responses, the URI of the problem
// type ends in this word.
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

// Phrase returns the reason phrase of an HTTP response with an error of this kind. This phrase
// shows that the response comes from a resolver, which has interpreted the name (draft of 1995,
// section 3.4.1: Y95-42). If Phrase returns "", the standard reason phrase is used.
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

// MaxHops is the maximum number of resolvers that may pass a question on. After that, the question
// fails with [ErrLoop].
const MaxHops = 8

// ErrLoop means that more than [MaxHops] resolvers have passed a question on. This happens if
// resolvers delegate a name to each other. The error does not mean that the name is unknown.
var ErrLoop = errors.New("delegation loop: too many resolvers passed on the question")

// ErrUpstream means that the answer depends on another server, which failed. This is the resolver
// of a delegation, or the server that has the resource. The error does not mean that the name is
// unknown.
var ErrUpstream = errors.New("upstream server failed")

// An Error is the reason for which a question about a name has no answer.
type Error struct {
	Kind        Kind
	Name        string   // the name in the client's spelling
	Service     Service  // the requested service
	Offset      int      // for Malformed: the offset of the error in Name, in bytes
	Rule        string   // for Malformed: the violated production
	Message     string   // for people, without the name
	Suggestions []string // similar names that exist or may exist
	Legal       bool     // for Denied: access is denied for legal reasons
	Status      int      // HTTP status that a rule has set; 0 means the status of Kind
	Answer      *Answer  // for Gone: the tombstone, if known
	Why         []string // an explanation for people, if requested
	Err         error    // the cause, or nil
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

// Violation implements [uri.InputError]. It returns the zero Violation unless the kind is
// Malformed.
func (e *Error) Violation() uri.Violation {
	if e.Kind != Malformed {
		return uri.Violation{}
	}
	return uri.Violation{Input: e.Name, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

// Is reports whether target is an [*Error] of the same kind without a name. For example,
// errors.Is(err, &Error{Kind: Gone}) reports whether the kind of err is Gone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind && t.Name == ""
}
