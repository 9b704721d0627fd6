package extract

import (
	"iter"
	"time"

	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

// A Writing says whether a link has a valid syntax.
type Writing uint8

// The possible results of checking the syntax of a link.
const (
	WellFormed Writing = iota // a valid URI or IRI
	Mended                    // invalid, but Finding.URI is a repaired form
	Malformed                 // invalid and beyond repair; Finding.URI is zero
)

// String returns "well-formed", "mended" or "malformed".
func (w Writing) String() string {
	return [...]string{"well-formed", "mended", "malformed"}[w]
}

// A LinkState is the result of past attempts to retrieve the target of a link. After a successful
// attempt, the locator may stop working, or lead to a different object (draft of 1993, Uniqueness
// and Security considerations).
type LinkState uint8

// The states of a link.
const (
	NeverRetrieved   LinkState = iota // no attempt is known
	RetrievedEarlier                  // the last attempt succeeded, at Link.Visit.Retrieved
	FailedNow                         // the last attempt failed with Link.Visit.Err, even if an earlier attempt succeeded
)

// String returns "never retrieved", "retrieved earlier" or "failed now".
func (s LinkState) String() string {
	return [...]string{"never retrieved", "retrieved earlier", "failed now"}[s]
}

// A Visit records past attempts to retrieve a target.
type Visit struct {
	Retrieved time.Time // when an attempt last succeeded; zero if none did
	Err       error     // the error of the last attempt; nil if it succeeded
}

// State returns the state of a link to the target of v.
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

// A Link is a finding with a report on it.
type Link struct {
	Finding
	Writing Writing
	State   LinkState
	Visit   Visit
}

// Links returns an iterator that reports for each finding whether its syntax is valid. If history
// is not nil, the report also has the result of history for the target of the finding. Links passes
// on errors between the findings. It does not retrieve the targets.
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

// writingOf returns the Writing of a finding. Identifiers without a scheme are always well-formed.
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
