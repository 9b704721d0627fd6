// Package iri implements internationalized resource identifiers (IRIs), which are URIs that may
// contain non-ASCII characters. It follows RFC 3987 (January 2005), which builds on the generic
// syntax of RFC 3986 in package uri. In this package, a section number without a document refers to
// RFC 3987.
//
// Every URI is an IRI. [IRI.URI] converts an [IRI] to the equivalent URI (section 3.1), and
// [FromURI] converts back as far as that is safe (3.2). Characters are converted to a Unicode
// normal form only by [IRI.NFC], because that could change what the IRI identifies (3.1, step 1c;
// 5.3.2.2).
//
// Text from right to left is restricted (4). The parser rejects formatting characters (4.1), and
// [IRI.Inspect] reports components whose structure is not recommended (4.2).
//
// Host names are converted to ASCII by IDNA 2008 with the compatibility mapping of UTS 46. RFC 3987
// is older, and refers to RFC 3490. For most host names the result is the same. It differs for
// names with U+00DF, U+03C2 or joiners.
package iri
