// Package urn reads Uniform Resource Names to the letter of the document that
// defined them.
//
// # Documents
//
//   - [Draft1995]: draft-ietf-uri-yaurn-00 (March 1995). Four fields, "urn",
//     SchemeID, AuthorityID and ElementID; white space is not significant;
//     escapes by RFC 1738.
//   - [RFC2141]: RFC 2141 (May 1997). NID and NSS; "/", "?" and "#" are reserved
//     characters of the NSS, "&" and "~" excluded.
//   - [Draft2012]: draft-ietf-urnbis-rfc2141bis-urn-03 (October 2012). NID and
//     NSS in the characters of RFC 3986; a reference may have a query of
//     directives and a fragment; NUL is forbidden.
//   - [RFC8141]: RFC 8141 (April 2017), the default. NID and NSS, optionally
//     r-, q- and f-components.
//
// Where prose restricts a grammar, prose counts: an r-component ends at the first
// "?=" (RFC 8141, 2.3.1), the NID "urn" is refused in [RFC2141] and [Draft2012].
//
// # Values
//
// A [URN] is an immutable comparable value: the spelling that was read, where
// its parts end, and the dialect. The zero value is invalid and says so. The
// operator == is simple string comparison within one dialect; [Equivalent] is
// the comparison that the document defines, and [URN.Canonical] the spelling
// that all equivalent URNs share. A [Name] is an assigned name in that spelling.
//
// Every refusal is an [*Error] with the byte offset and the production that was
// broken. What is allowed and yet unwise is told by an [Inspector].
//
// # Registries
//
// Namespaces, SchemeIDs, query keywords and services are a [Table] each: a value
// that is extended by making another. What single namespaces check in their
// names is not known here.
package urn
