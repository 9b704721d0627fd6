// Package name holds the canonical key of a persistent name of any scheme: the
// value under which every store keeps it and every question looks it up.
//
// # Rules
//
// A [Name] is made by one function, [Parse], from whatever spelling a person or
// program used; two spellings that their scheme or namespace calls the same
// name give the same key. The rules, version [RulesVersion]:
//
//   - urn (RFC 8141, 3.1): "urn" and NID in lower case, hex digits of escapes in
//     upper case, then the one spelling of all that the namespace holds equivalent
//     ([namespace.Fold]): an ISBN has thirteen digits without hyphens, a UUID lower
//     case, a LEI upper case. A name that breaks the rules of its namespace is left
//     alone: it is equivalent to nothing else. r-, q- and f-components belong to
//     references and are refused.
//   - urn:dns (draft-ietf-uri-yaurn-00): by the rules of 1995 in whatever
//     dialect it was read: AuthorityID in lower case, escapes of RFC 1738
//     unreserved characters decoded, a raw tilde escaped.
//   - urn:ietf (RFC 2648, 2), urn:doi (its registration) and the prefixes of
//     urn:nbn (RFC 8458, 4.2) are insensitive to case whatever else a name says,
//     so also where it breaks the rules. An NBN without a hyphen has no prefix, but
//     it has a country code.
//   - ark (draft-kunze-ark): "ark:" without the old slash, NAAN in lower case,
//     hyphens removed, runs of "/" and "." cut to their first character and
//     dropped at the end, hex digits in upper case.
//   - doi: as urn:doi.
//   - hdl (RFC 3651, 2): the prefix in lower case, the local name as it is, hex
//     digits in upper case.
//   - info (RFC 4452): namespace in lower case, escapes normalised.
//   - tag (RFC 4151): the scheme in lower case, all else as spelled.
//   - http, https (a PURL): the normal form of RFC 3986, 6.2.2 and 6.2.3.
//   - any other scheme: case and escapes normalised as in RFC 3986, 6.2.2.1
//     and 6.2.2.2.
//
// The angle brackets around a name, "URL:" after the first, and white space inside
// them are no part of it (1995, 2; RFC 3986, appendix C).
//
// A query after an ark, doi, hdl or info name is said to a resolver or to the
// resource, and a fragment to who reads it: both are refused.
//
// A key is ASCII without control characters, at most [MaxLength] bytes, and its
// order is byte order. A store records the version of the rules that made its
// keys. The spelling that was given is not part of a Name; who needs it keeps it
// beside it.
//
// A [Prefix] is the part of a key that a naming authority owns. It ends where a
// delimiter of the namespace follows ([namespace.Delimiters]).
package name
