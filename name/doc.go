// Package name computes the canonical key of a persistent name of any scheme. Stores keep every
// name under its key, and requests look it up by the key.
//
// # Rules
//
// One function, [Parse], turns any spelling into a [Name]. Two spellings that their scheme or
// namespace considers equivalent have the same key. The rules, version [RulesVersion]:
//
//   - urn (RFC 8141, 3.1): "urn" and NID in lower case, hex digits of escapes in upper case,
//     the rest in the canonical spelling of the namespace ([namespace.Fold]). For example, an
//     ISBN has thirteen digits without hyphens, a UUID is in lower case, an LEI in upper case.
//     The namespace's spelling is not applied to a name that breaks the rules of the namespace.
//     r-, q- and f-components belong to references, not to names, and are errors.
//   - urn:dns: by the rules of draft-ietf-uri-yaurn-00, in every dialect: AuthorityID in lower case,
//     escapes of RFC 1738 unreserved characters decoded, an unescaped tilde escaped.
//   - urn:ietf (RFC 2648, 2), urn:doi (by its registration) and the prefix of a urn:nbn name
//     (RFC 8458, 4.2): case-insensitive, even if the name breaks the rules of its namespace. In
//     an NBN without a hyphen, only the country code is case-insensitive.
//   - ark (draft-kunze-ark): "ark:" without the old slash, NAAN in lower case, no hyphens, hex
//     digits in upper case. Each run of "/" and "." is reduced to its first character; a run at
//     the end of the name is removed.
//   - doi: as urn:doi.
//   - hdl (RFC 3651, 2): the prefix in lower case, the local name unchanged, hex digits in
//     upper case.
//   - info (RFC 4452): namespace in lower case, escapes normalised.
//   - tag (RFC 4151): the scheme in lower case, the rest as spelled.
//   - http, https (a PURL): the normal form of RFC 3986, 6.2.2 and 6.2.3.
//   - any other scheme: case and escapes normalised as in RFC 3986, 6.2.2.1 and 6.2.2.2.
//
// Angle brackets around a name, "URL:" after the opening bracket, and white space inside the
// brackets are not part of the name (1995, 2; RFC 3986, appendix C).
//
// A query or fragment after an ark, doi, hdl or info name is an error, because it is not part
// of the name: a query is for the resolver or the resource, a fragment for the client.
//
// A key is ASCII without control characters, and has at most [MaxLength] bytes. Keys are
// ordered by their bytes. A store records the version of the rules that made its keys. A [Name]
// does not include the spelling from which it was parsed.
//
// A [Prefix] is the beginning of the keys for which a naming authority is responsible. In these
// keys a delimiter of the namespace follows the prefix ([namespace.Delimiters]).
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package name
