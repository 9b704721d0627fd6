// Package iri is internationalized resource identifiers: RFC 3987 (January
// 2005), on the generic syntax of RFC 3986 in package uri.
//
// An [IRI] is what a URI is, with characters of Unicode beside those of US-ASCII.
// Every URI is an IRI; [IRI.URI] maps an IRI to the URI that means the same
// (section 3.1), [FromURI] goes back as far as that is safe (3.2). Characters
// are never normalised unless it is asked for ([IRI.NFC]), because in a text
// that is Unicode already that could name something else (3.1, step 1c;
// 5.3.2.2).
//
// The restrictions of section 4 on texts that are written from right to left:
// formatting characters are refused by the parser (4.1), the advice on the
// structure of components (4.2) is given by [IRI.Inspect].
//
// Names of hosts are mapped to their ASCII form by the rules of IDNA 2008 with
// the compatibility mapping of UTS 46, where the RFC, which is older, names RFC
// 3490; for names that are registered today the result is the same.
package iri
