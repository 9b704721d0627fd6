package nomen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A Kind is one of the five reasons why a question has no answer (RFC 2483, section 2).
type Kind uint8

// The kinds.
const (
	Malformed Kind = iota + 1 // the identifier is malformed
	Unknown                   // the name does not exist, or is not public yet
	NoResult                  // the name has no result for the service
	Gone                      // the name was retired
	Denied                    // access is denied
)

// String returns a word for the kind, such as "retired". The same word ends the problem type in
// HTTP responses.
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

// Phrase returns the reason phrase of a response with the kind k (1995, 3.4.1: Y95-42). The
// phrase tells the client that a resolver understood the name. Phrase returns "" if the kind
// has only the standard phrase of its status.
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

// MaxHops is the number of resolvers that may pass on a question before it fails with
// [ErrLoop].
const MaxHops = 8

// ErrLoop is returned, wrapped, for a question that too many resolvers ([MaxHops]) passed on,
// because these resolvers delegate the name to each other. It says nothing about the name.
var ErrLoop = errors.New("delegation loop: too many resolvers passed on the question")

// ErrUpstream is returned, wrapped, when the answer depends on another server and that server
// failed: the resolver of a delegation, or the server of a resource. It says nothing about the
// name.
var ErrUpstream = errors.New("upstream server failed")

// An Error says why there is no answer about a name.
type Error struct {
	Kind        Kind
	Name        string   // the name as the client wrote it
	Service     Service  // the service that the question asked for
	Offset      int      // for Malformed: the offset of the fault in Name, in bytes
	Rule        string   // for Malformed: the production that Name violates
	Message     string   // for people, without the name
	Suggestions []string // names that the client may have meant
	Legal       bool     // for Denied: access is denied for legal reasons
	Status      int      // HTTP status that a rule has set; 0 means the status of Kind
	Answer      *Answer  // the tombstone, if Kind is Gone
	Why         []string // explanation for people, if Question.Explain was set
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

// Violation makes e a [uri.InputError]. If the kind is not Malformed, it returns the zero
// Violation.
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
