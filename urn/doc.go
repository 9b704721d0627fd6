// Package urn parses, compares and builds Uniform Resource Names. By default it follows RFC 8141.
// It also implements three earlier versions of the syntax, each exactly as its document specifies.
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
//   - [RFC8141]: RFC 8141 (April 2017), the default. A name has a NID and an NSS; a reference
//     may add r-, q- and f-components.
//
// In comments, "the draft of 1995" and "the draft of 2012" are the documents of [Draft1995] and
// [Draft2012]. If the prose of a document restricts its grammar, the package follows the prose. For
// example, an r-component ends at the first "?=" (RFC 8141, section 2.3.1), and the NID cannot be
// "urn" in [RFC2141] and [Draft2012].
//
// # Values
//
// A [URN] is an immutable value. It consists of the spelling that was parsed, the positions of its
// parts, and the dialect. The zero URN is not valid. There are three ways to compare URNs:
//
//   - == compares the spelling and the dialect.
//   - [Equivalent] follows the rules of the dialect's document.
//   - [URN.Canonical] returns a spelling that is the same for all equivalent URNs. A [Name] is an
//     assigned name in its canonical spelling, and can be a map key.
//
// Every parser returns an [*Error] with the byte offset of the fault and the production that the
// input violates. An [Inspector] warns of URNs that are valid but not recommended.
//
// # Registries
//
// The registries of namespaces, SchemeIDs, query keywords and services are immutable values of type
// [Table]. Package namespace has the rules of individual namespaces.
package urn
