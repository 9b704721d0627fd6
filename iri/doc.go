// Package iri implements internationalized resource identifiers (IRIs), which are URIs that may
// contain non-ASCII characters. It follows RFC 3987 (January 2005), which builds on the generic
// syntax of RFC 3986 in package uri. In this package, a section number without a document refers to
// RFC 3987.
//
// Every URI is an IRI. [IRI.URI] converts an [IRI] to the equivalent URI (section 3.1). [FromURI]
// converts in the other direction, and keeps the escapes that cannot be decoded safely (section
// 3.2). Only [IRI.NFC] converts characters to a Unicode normal form, because the conversion could
// change what the IRI identifies (RFC 3987, section 3.1, step 1c, and section 5.3.2.2).
//
// RFC 3987, section 4, restricts right-to-left text. The parser rejects formatting characters (RFC
// 3987, section 4.1), and [IRI.Inspect] reports components whose structure is not recommended (RFC
// 3987, section 4.2).
//
// Host names are converted to ASCII by IDNA 2008 with the compatibility mapping of UTS 46. RFC 3987
// is older and requires the conversion of RFC 3490. The two conversions differ for some names, such
// as those with U+00DF, U+03C2 or joiners.
package iri
