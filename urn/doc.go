// Package urn reads Uniform Resource Names to the letter of the document that
// defined them.
//
// # Documents
//
//   - [Draft1995]: draft-ietf-uri-yaurn-00 (March 1995). Four fields, "urn",
//     SchemeID, AuthorityID and ElementID; white space is not significant;
//     escapes by RFC 1738.
//   - [RFC8141]: RFC 8141 (April 2017), the default. NID and NSS, optionally
//     r-, q- and f-components.
//
// # Values
//
// A [URN] is an immutable comparable value: the spelling that was read, where
// its parts end, and the dialect. The zero value is invalid and says so. The
// operator == is simple string comparison within one dialect; [Equivalent] is
// the comparison that the document defines, and [URN.Canonical] the spelling
// that all equivalent URNs share.
//
// Every refusal is an [*Error] with the byte offset and the production that was
// broken.
package urn
