// Package iri implements internationalized resource identifiers: RFC 3987
// (January 2005), based on the generic syntax of RFC 3986 in package uri. In this
// package, a section number without a document is one of RFC 3987.
//
// An [IRI] is like a URI, but may contain Unicode characters beyond US-ASCII.
// Every URI is an IRI. [IRI.URI] maps an IRI to the equivalent URI (section 3.1),
// and [FromURI] converts back as far as that is safe (3.2). Characters are
// normalised only on request ([IRI.NFC]), because in a Unicode text normalisation
// could change what the IRI identifies (3.1, step 1c; 5.3.2.2).
//
// Section 4 restricts right-to-left text: the parser rejects formatting
// characters (4.1), and [IRI.Inspect] reports violations of the recommendations
// on the structure of components (4.2).
//
// Host names are mapped to ASCII by IDNA 2008 with the compatibility mapping of
// UTS 46. RFC 3987 is older than IDNA 2008 and refers to RFC 3490. For most host
// names both give the same result; for names with U+00DF, U+03C2 or joiners they do not.
package iri
