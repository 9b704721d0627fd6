package extract

import (
	"iter"
	"time"

	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

// A Writing says whether a link is written correctly.
type Writing uint8

// The values of Writing.
const (
	WellFormed Writing = iota // valid in the generic syntax of URIs or IRIs
	Mended                    // invalid but repairable: URI is the repaired form
	Malformed                 // invalid and not repairable: URI is zero
)

// String returns "well-formed", "mended" or "malformed".
func (w Writing) String() string {
	return [...]string{"well-formed", "mended", "malformed"}[w]
}

// A LinkState is the result of past retrievals of a link. A past success does
// not mean that the locator works now, or leads to the same object (1993,
// Uniqueness and Security considerations).
type LinkState uint8

// The states of a link.
const (
	NeverRetrieved   LinkState = iota // there was no attempt, as far as is known
	RetrievedEarlier                  // retrieved at Link.Visit.Retrieved
	FailedNow                         // failed with Link.Visit.Err, even if an earlier attempt succeeded
)

// String returns "never retrieved", "retrieved earlier" or "failed now".
func (s LinkState) String() string {
	return [...]string{"never retrieved", "retrieved earlier", "failed now"}[s]
}

// A Visit is what is known about attempts to retrieve a target.
type Visit struct {
	Retrieved time.Time // the last success; zero if there was none
	Err       error     // error of the last attempt; nil if it succeeded
}

// State returns the state of a link after these attempts.
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

// A Link is an entry of a report on the links in a document.
type Link struct {
	Finding
	Writing Writing
	State   LinkState
	Visit   Visit
}

// Links returns a report on findings. For each finding the report says whether the link is written
// correctly. If history is not nil, the report also says what history knows about past retrievals
// of the target. Each error in the findings is passed on next to the link that the error is about.
// Links does not retrieve anything.
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

// writingOf returns the Writing of a finding. A finding of a kind without a scheme counts as
// well-formed.
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
