// Package urn parses Uniform Resource Names exactly as each of their defining
// documents specifies.
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
//   - [RFC8141]: RFC 8141 (April 2017), the default. NID and NSS, optionally r-,
//     q- and f-components.
//
// Where prose restricts a grammar, the prose applies: an r-component ends at the
// first "?=" (RFC 8141, 2.3.1), and the NID "urn" is invalid in [RFC2141] and
// [Draft2012].
//
// # Values
//
// A [URN] is an immutable comparable value: the spelling that was parsed, the
// ends of its parts, and the dialect. The zero value is invalid. The operator ==
// is simple string comparison within one dialect; [Equivalent] is the comparison
// that the document defines, and [URN.Canonical] is the spelling shared by all
// equivalent URNs. A [Name] is an assigned name in that spelling.
//
// Every error of a parser is an [*Error] with the byte offset and the production
// that the input violates. An [Inspector] reports what is valid but inadvisable.
//
// # Registries
//
// Namespaces, SchemeIDs, query keywords and services are each a [Table], an
// immutable value. Package namespace has the rules of single namespaces.
package urn
