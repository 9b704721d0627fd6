// Package name computes the canonical key of a persistent name. Stores look up the record of a name
// by this key, so every valid spelling of the name leads to the same record.
//
// # Rules
//
// [Parse] turns a spelling into a [Name]. Two spellings have the same key if their scheme or
// namespace considers them equivalent. [RulesVersion] is the version of these rules:
//
//   - urn (RFC 8141, section 3.1): "urn" and NID in lower case, hex digits of escapes in upper
//     case, the rest in the canonical spelling of the namespace ([namespace.Fold]). For example, an
//     ISBN has thirteen digits without hyphens, a UUID is in lower case, an LEI in upper case. If
//     the rest breaks the rules of the namespace, its spelling is kept. An r-, q- or f-component is
//     an error, because it belongs to a reference and not to the name.
//   - urn:dns (draft-ietf-uri-yaurn-00), in every dialect of package urn: AuthorityID in lower
//     case, escapes of RFC 1738 unreserved characters decoded, an unescaped tilde escaped.
//   - urn:ietf (RFC 2648, section 2), urn:doi (by the registration of the namespace) and the prefix
//     of a urn:nbn name (RFC 8458, section 4.2): case-insensitive, even in a name that breaks the
//     rules of its namespace. In an NBN without a hyphen, only the country code is
//     case-insensitive.
//   - ark (draft-kunze-ark): "ark:" without the old slash, NAAN in lower case, no hyphens, hex
//     digits in upper case. Each run of "/" and "." is reduced to its first character; a run at
//     the end of the name is removed.
//   - doi: as urn:doi.
//   - hdl (RFC 3651, section 2): the prefix in lower case, the local name unchanged, hex digits in
//     upper case.
//   - info (RFC 4452): namespace in lower case, escapes normalised.
//   - tag (RFC 4151): the scheme in lower case, the rest as spelled.
//   - http, https (a PURL): the normal form of RFC 3986, sections 6.2.2 and 6.2.3.
//   - any other scheme: case and escapes normalised as in RFC 3986, sections 6.2.2.1 and 6.2.2.2.
//
// Parse removes angle brackets around a name, "URL:" after the opening bracket, and white space
// inside the brackets, because these do not belong to the name (draft of 1995, section 2; RFC 3986,
// appendix C).
//
// A query or a fragment after an ark, doi, hdl or info name is an error. A query is addressed to
// the resolver or the resource, and a fragment to the client, so neither belongs to the name.
//
// # Keys and prefixes
//
// A key is ASCII without control characters, and has at most [MaxLength] bytes. Keys are ordered by
// their bytes. A store records the version of the rules that made its keys. A [Name] does not
// remember the spelling from which it was parsed.
//
// A [Prefix] is the text with which all names of a naming authority begin, such as urn:nbn:fi. It
// ends before a delimiter of the namespace ([namespace.Delimiters]).
//
// Comments refer to Internet drafts by their year. docs/glossary.md lists these drafts.
package name
