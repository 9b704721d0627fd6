// Package uri is the generic syntax of identifiers, in each of its generations:
// it reads, checks, resolves, shortens, normalises, compares, builds and
// inspects URIs and references to the letter of their documents. It needs the
// standard library alone.
//
// # Specifications
//
// The documents, by year, and what differs:
//
//   - [Draft1993]: draft-ietf-uri-url (July 1993), "Uniform Resource Locators".
//     Known schemes have forms of their own, escapes stand for characters of ISO
//     Latin-1, "=" and "~" must be escaped, a search is words joined by "+", and
//     in partial forms "." and ".." take the slash before them away.
//   - [Draft1997]: draft-fielding-url-syntax-05 (May 1997), between RFC 1738 and
//     RFC 2396. Schemes may begin with digits, "$" and "," are unreserved,
//     segments have parameters, an empty reference is the current document, dot
//     segments go from the query of a relative path too, excess ".." stay.
//   - [Draft2003]: draft-fielding-uri-rfc2396bis-01 (March 2003), between RFC
//     2396 and RFC 3986. IPv6 addresses, authorities that are registry names,
//     opaque parts with brackets, the ladder of comparison.
//   - [RFC3986]: January 2005, the default ([Latest]). Later IP literals, any
//     characters in names of hosts, dot segments removed from every reference.
//   - [RFC6874]: February 2013, RFC 3986 with zone identifiers. Opt-in.
//
// A [Dialect] is data: a table of the octets, generated from rules that cite the
// sections, and a struct of differences. There is one parser, which takes one
// pass, does not allocate, and refuses what the document refuses; the place and
// the production are in the [Error]. It is fuzzed against a slow reading of the
// documents' own grammars. Where an ABNF rule derives too much to be looked at
// in isolation, [Dialect.CheckRule] checks any production by its name.
//
// # Values
//
// A [URI] is an immutable value, like netip.Addr: the spelling as read, and the
// ends of its components. Two are == exactly if they are spelled the same in the
// same dialect, so that a URI can be a key. Accessors return substrings, and
// tell what is undefined ("http://a/") from what is empty ("http://a/?").
//
// Components are raw: with their escapes. What they stand for is [Data], a type
// of its own, so that nothing is decoded twice or written without being escaped.
// Split first, then decode: "%2F" is not a slash.
//
// There are no setters. [URI.With] and [Builder] make new values and refuse what
// would be read back as something else, such as a path "//host" without an
// authority.
//
// # Comparison
//
// [Equivalent] answers "equivalent at this [Level]" or "not established", never
// "different resources". [Compare] finds the lowest level, [URI.Normalize] gives
// the normal form, [URI.Changes] says which levels would change a URI.
//
// # Departures
//
// Where a document is ambiguous, the reading is the one that never moves to
// another host. The points that matter:
//
//   - 1993: raw spaces are refused, as the prose demands and the BNF does not. A
//     URL is split at the first colon, the last "@" and the colon of the port
//     before the rules of names are asked, which would derive nearly anything.
//   - 1993 and 1997: a relative path is put behind a base without a path with a
//     slash between, also where the algorithm of 1997 forgets it ("http://a" and
//     "g"); [Resolver.Literal] follows the algorithm.
//   - 1997: the first segment of a relative path has no colon, as section 5
//     demands and the grammar does not.
//   - 2003: escapes of "- . ! * ' ( )" are left by normalisation, as section 2.3
//     advises.
//   - A result of resolution or a normal form that would be read as another URI
//     is written with "/." before its path (RFC 3986), or not at all.
//   - Dot segments are removed by normalisation only from paths that begin with
//     a slash; see [URI.Normalize].
package uri
