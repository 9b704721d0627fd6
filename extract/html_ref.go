package extract

import (
	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

// readReference parses a reference from a place meant for references. It repairs an
// invalid one as browsers do, if possible ([iri.FixReference]).
//
// It does not change a valid reference, even where browsers read it differently:
// "http:g" and "http:///g" are URIs without a host.
func readReference(s string) (uri.URI, error) {
	u, _, err := iri.FixReference(s)
	return u, err
}
