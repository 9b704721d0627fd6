package plan

import (
	"errors"
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// An Object has the identifiers of a retrieved object: the locator from which it was fetched, and
// at most one official name (draft of 1993, section "Uniqueness"). It is immutable.
type Object struct {
	Fetched  uri.URI
	official uri.URI
}

// ErrPartial means that an official name is a relative reference.
var ErrPartial = errors.New("an official name must be in full form")

// ErrSecondName means that the object already has a different official name.
var ErrSecondName = errors.New("the object already has another official name")

// WithOfficial returns a copy of the object with an official name of any scheme. If the name is a
// relative reference, the error is [ErrPartial]. If the object already has a different official
// name, the error is [ErrSecondName].
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

// Official returns the official name, and reports whether the object has one.
func (o Object) Official() (uri.URI, bool) { return o.official, o.official.IsValid() }

// Base returns the base URI for relative references in the object. This is the official name.
// Without an official name, it is the locator from which the object was fetched.
func (o Object) Base() uri.URI {
	if o.official.IsValid() {
		return o.official
	}
	return o.Fetched
}

// Resolve resolves a relative reference in the object.
func (o Object) Resolve(reference string) (uri.URI, error) {
	ref, err := o.Base().Dialect().ParseReference(reference)
	if err != nil {
		return uri.URI{}, err
	}
	return o.Base().Resolve(ref)
}
