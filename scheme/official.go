package scheme

import (
	"errors"
	"fmt"
	"time"

	"github.com/nomen-project/nomen/uri"
)

// An Object is an object with the names under which it is known here: the
// locator by which it was fetched, and at most one official name (1993,
// Uniqueness). It is a value.
type Object struct {
	Fetched  uri.URI
	official uri.URI
}

// ErrPartial is the error of an official name that is not complete.
var ErrPartial = errors.New("an official name has to be a full form")

// ErrSecondName is the error of a second official name for an object.
var ErrSecondName = errors.New("the object has another official name already")

// WithOfficial returns the object with its official name, of whatever scheme. An
// object has one: another is refused with [ErrSecondName], a partial form with
// [ErrPartial].
func (o Object) WithOfficial(name uri.URI) (Object, error) {
	switch {
	case !name.IsValid() || name.IsReference():
		return o, fmt.Errorf("scheme: %q: %w", name.Redacted(), ErrPartial)
	case o.official.IsValid() && o.official != name:
		return o, fmt.Errorf("scheme: %q, not %q: %w", o.official.Redacted(), name.Redacted(), ErrSecondName)
	}
	o.official = name
	return o, nil
}

// Official returns the official name, if there is one.
func (o Object) Official() (uri.URI, bool) { return o.official, o.official.IsValid() }

// Base returns that in whose context references inside of the object are read:
// the official name if there is one, and not that by which it was fetched.
func (o Object) Base() uri.URI {
	if o.official.IsValid() {
		return o.official
	}
	return o.Fetched
}

// Resolve reads a reference inside of the object.
func (o Object) Resolve(reference string) (uri.URI, error) {
	ref, err := o.Base().Dialect().ParseReference(reference)
	if err != nil {
		return uri.URI{}, err
	}
	return o.Base().Resolve(ref)
}

// A Link is a stored locator with what is known of its retrieval. Locators are
// transient (1993, Uniqueness): that it has led somewhere says nothing about
// now.
type Link struct {
	URI       uri.URI
	Retrieved time.Time // last success; zero if never
	Failed    time.Time // last failure; zero if never
}

// A LinkState says how the retrieval of a link stands.
type LinkState uint8

// The states of links.
const (
	LinkNever     LinkState = iota // never retrieved, and never tried
	LinkRetrieved                  // retrieved earlier: the last attempt was a success
	LinkFailed                     // failed now: the last attempt was a failure
)

// String returns the state: "never retrieved", "retrieved earlier", "failed
// now".
func (s LinkState) String() string {
	switch s {
	case LinkNever:
		return "never retrieved"
	case LinkRetrieved:
		return "retrieved earlier"
	case LinkFailed:
		return "failed now"
	default:
		return "unknown"
	}
}

// State returns how the retrieval stands.
func (l Link) State() LinkState {
	switch {
	case l.Retrieved.IsZero() && l.Failed.IsZero():
		return LinkNever
	case l.Failed.After(l.Retrieved):
		return LinkFailed
	}
	return LinkRetrieved
}
