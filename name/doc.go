// Package name computes the canonical key of a persistent name. Stores keep the record of a name
// under its key, so a request finds the record whichever valid spelling of the name it uses.
//
// # Rules
//
// [Parse] turns a spelling into a [Name]. Two spellings have the same key if their scheme or
// namespace considers them equivalent. These are the rules, whose version is [RulesVersion]:
//
//   - urn (RFC 8141, 3.1): "urn" and NID in lower case, hex digits of escapes in upper case,
//     the rest in the canonical spelling of the namespace ([namespace.Fold]). For example, an
//     ISBN has thirteen digits without hyphens, a UUID is in lower case, an LEI in upper case.
//     A name that breaks the rules of its namespace keeps the spelling of that rest.
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
// Parse removes angle brackets around a name, "URL:" after the opening bracket, and white space
// inside the brackets, because these do not belong to the name (1995, 2; RFC 3986, appendix C).
//
// A query or a fragment is an error after an ark, doi, hdl or info name. It does not belong to the
// name either, since a query is for the resolver or the resource, and a fragment is for the client.
//
// # Keys and prefixes
//
// A key is ASCII without control characters, and has at most [MaxLength] bytes. Keys are ordered by
// their bytes. A store records the version of the rules by which its keys were made. A [Name] does
// not remember the spelling from which it was parsed.
//
// A [Prefix] is what all names of a naming authority begin with, such as urn:nbn:fi. It ends before
// a delimiter of the namespace ([namespace.Delimiters]).
//
// Comments cite drafts by their year and section, as in "1995, 3.1"; docs/glossary.md lists the
// drafts.
package name
