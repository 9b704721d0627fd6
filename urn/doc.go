// Package urn parses Uniform Resource Names exactly as each of their defining documents
// specifies.
//
// # Documents
//
//   - [Draft1995]: draft-ietf-uri-yaurn-00 (March 1995). A name has four fields: "urn",
//     SchemeID, AuthorityID and ElementID. White space is not significant. Escapes are those of
//     RFC 1738.
//   - [RFC2141]: RFC 2141 (May 1997). A name has a NID (namespace identifier) and an NSS
//     (namespace-specific string). In the NSS, "/", "?" and "#" are reserved, "&" and "~" are
//     excluded.
//   - [Draft2012]: draft-ietf-urnbis-rfc2141bis-urn-03 (October 2012). NID and NSS consist of
//     characters of RFC 3986; a reference may have a query of directives and a fragment; NUL is
//     forbidden.
//   - [RFC8141]: RFC 8141 (April 2017), the default. NID and NSS, optionally r-, q- and
//     f-components.
//
// Comments cite a document by its year and section: "2012, 2.3" is section 2.3 of [Draft2012].
// If the prose of a document restricts its grammar, the package follows the prose: an
// r-component ends at the first "?=" (RFC 8141, 2.3.1), and the NID "urn" is invalid in
// [RFC2141] and [Draft2012].
//
// # Values
//
// A [URN] is an immutable comparable value: the spelling that was parsed, the ends of its
// parts, and the dialect. The zero value is invalid. To compare URNs:
//
//   - == compares spelling and dialect.
//   - [Equivalent] is the comparison that the document of the dialect defines.
//   - [URN.Canonical] returns the spelling shared by all equivalent URNs. A [Name] is an
//     assigned name in this canonical spelling.
//
// Every error of a parser is an [*Error] with the byte offset and the production that the input
// violates. An [Inspector] reports what is valid but inadvisable.
//
// # Registries
//
// Namespaces, SchemeIDs, query keywords and services are each a [Table], an immutable value.
// Package namespace has the rules of single namespaces.
package urn
