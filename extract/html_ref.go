package extract

import (
	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

// readReference parses a reference. It repairs an invalid reference as browsers do, if that is
// possible ([iri.FixReference]).
//
// It does not change a valid reference, even if browsers read it differently. For example, "http:g"
// and "http:///g" are URIs without a host.
func readReference(s string) (uri.URI, error) {
	u, _, err := iri.FixReference(s)
	return u, err
}
