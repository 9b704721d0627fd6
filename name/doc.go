// Package name computes the canonical key of a persistent name of any scheme.
// Stores keep every name under its key, and requests look it up by the key.
//
// # Rules
//
// One function, [Parse], turns any spelling into a [Name]. Two spellings that
// their scheme or namespace considers equivalent have the same key. The rules,
// version [RulesVersion]:
//
//   - urn (RFC 8141, 3.1): "urn" and NID in lower case, hex digits of escapes in upper case,
//     then the one spelling of all names that the namespace considers equivalent
//     ([namespace.Fold]): an ISBN has thirteen digits without hyphens, a UUID is in lower
//     case, an LEI in upper case. A name that breaks the rules of its namespace is not folded,
//     because it is equivalent only to itself. r-, q- and f-components belong to references,
//     not to names, and are errors.
//   - urn:dns (draft-ietf-uri-yaurn-00): by the rules of 1995, whatever the
//     dialect of the input: AuthorityID in lower case, escapes of RFC 1738
//     unreserved characters decoded, an unescaped tilde escaped.
//   - urn:ietf (RFC 2648, 2), urn:doi (its registration) and the prefixes of
//     urn:nbn (RFC 8458, 4.2) are always case-insensitive, even in names that
//     break the rules. An NBN without a hyphen has no prefix, but it has a
//     country code.
//   - ark (draft-kunze-ark): "ark:" without the old slash, NAAN in lower case, hyphens
//     removed, each run of "/" and "." reduced to its first character, and removed at the end
//     of the name, hex digits in upper case.
//   - doi: as urn:doi.
//   - hdl (RFC 3651, 2): the prefix in lower case, the local name unchanged, hex
//     digits in upper case.
//   - info (RFC 4452): namespace in lower case, escapes normalised.
//   - tag (RFC 4151): the scheme in lower case, the rest as spelled.
//   - http, https (a PURL): the normal form of RFC 3986, 6.2.2 and 6.2.3.
//   - any other scheme: case and escapes normalised as in RFC 3986, 6.2.2.1 and
//     6.2.2.2.
//
// Angle brackets around a name, "URL:" after the opening bracket, and white space inside the
// brackets are not part of the name (1995, 2; RFC 3986, appendix C).
//
// A query after an ark, doi, hdl or info name is for a resolver or for the
// resource, and a fragment is for the client: both are errors.
//
// A key is ASCII without control characters, at most [MaxLength] bytes, and keys
// are ordered by their bytes. A store records the version of the rules that made
// its keys. A Name does not include the original spelling; callers that need it
// must keep it.
//
// A [Prefix] is the part of a key for which a naming authority is responsible. It
// ends where a delimiter of the namespace follows ([namespace.Delimiters]).
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package name
