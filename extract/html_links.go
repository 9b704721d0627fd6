package extract

import (
	"iter"
	"time"

	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

// A Writing says how a link is written.
type Writing uint8

// The ways.
const (
	WellFormed Writing = iota // by the generic syntax of URIs or IRIs
	Mended                    // not so, but it can be told what is meant: URI is that
	Malformed                 // nobody knows what it means: there is no URI
)

// String returns the name: well-formed, mended, malformed.
func (w Writing) String() string {
	return [...]string{"well-formed", "mended", "malformed"}[w]
}

// A LinkState says what came of following a link. That a locator led to something
// once does not mean that it does now, or to the same (1993, Uniqueness and
// Security considerations).
type LinkState uint8

// The states.
const (
	NeverRetrieved   LinkState = iota // nobody has tried, as far as is known
	RetrievedEarlier                  // at Link.Visit.Retrieved
	FailedNow                         // for Link.Visit.Err, whatever was earlier
)

// String returns the state in words.
func (s LinkState) String() string {
	return [...]string{"never retrieved", "retrieved earlier", "failed now"}[s]
}

// A Visit is what is known of attempts to retrieve something.
type Visit struct {
	Retrieved time.Time // the last time that it could be; zero: never
	Err       error     // of the last attempt, if that failed
}

// State returns the state that a link is in after the attempts.
func (v Visit) State() LinkState {
	switch {
	case v.Err != nil:
		return FailedNow
	case !v.Retrieved.IsZero():
		return RetrievedEarlier
	default:
		return NeverRetrieved
	}
}

// A Link is a line of a report on the links of a document.
type Link struct {
	Finding
	Writing Writing
	State   LinkState
	Visit   Visit
}

// Links makes a report of findings: how each is written, and what is known of
// its target, about which history is asked; nil knows nothing. Errors of the
// findings are passed on beside the links that they are about. It retrieves
// nothing itself.
func Links(found iter.Seq2[Finding, error], history func(target uri.URI) Visit) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		for f, err := range found {
			l := Link{Finding: f, Writing: writingOf(f)}
			if history != nil && f.Target.IsValid() {
				l.Visit = history(f.Target)
				l.State = l.Visit.State()
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

// writingOf says how a finding is written. What stands without a scheme because
// of its kind is well-formed.
func writingOf(f Finding) Writing {
	switch {
	case !f.URI.IsValid():
		return Malformed
	case f.Kind == Abbreviated || f.Kind == Mail || f.URI.String() == f.Spelling:
		return WellFormed
	}
	if _, err := iri.ParseReference(f.Spelling); err != nil {
		return Mended
	}
	return WellFormed
}
