package extract

import (
	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

// readReference parses a reference. It tries to repair an invalid reference as browsers do; see
// [iri.FixReference].
//
// readReference does not change a valid reference, even if browsers parse it differently. For
// example, "http:g" and "http:///g" are URIs without a host.
func readReference(s string) (uri.URI, error) {
	u, _, err := iri.FixReference(s)
	return u, err
}
