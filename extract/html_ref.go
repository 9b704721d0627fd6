package extract

import (
	"github.com/nomen-project/nomen/internal/ascii"
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

// schemeLength returns the length of the scheme at the beginning of s, or 0 if
// there is none.
func schemeLength(s string) int {
	n := 0
	for n < len(s) && (ascii.IsLetter(s[n]) || n > 0 && (ascii.IsDigit(s[n]) || s[n] == '+' || s[n] == '-' || s[n] == '.')) {
		n++
	}
	if n == 0 || n == len(s) || s[n] != ':' {
		return 0
	}
	return n
}
