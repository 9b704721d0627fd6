// Package uri implements the generic syntax of URIs in each of its generations. It parses, checks,
// resolves, relativizes, normalises, compares, builds and inspects URIs and references. It does so
// exactly as their documents specify. It depends only on the standard library.
//
// # Specifications
//
// The documents, by year, and how they differ. Comments cite a document by its year and
// section: "1997, 4.3.2" is section 4.3.2 of [Draft1997].
//
//   - [Draft1993]: draft-ietf-uri-url (July 1993), "Uniform Resource Locators". Known schemes
//     have their own forms. Escapes represent characters of ISO Latin-1. "=" and "~" must be
//     escaped. A search consists of words joined by "+". In partial forms "." and ".." also
//     remove the slash before them.
//   - [Draft1997]: draft-fielding-url-syntax-05 (May 1997), between RFC 1738 and RFC 2396.
//     Schemes may begin with digits. "$" and "," are unreserved. Segments have parameters. An
//     empty reference means the current document. Dot segments are also removed from the query
//     of a relative path. Excess ".." segments, which go above the root, are kept.
//   - [Draft2003]: draft-fielding-uri-rfc2396bis-01 (March 2003), between RFC 2396 and RFC
//     3986. It adds IPv6 addresses, authorities that are registry names, opaque parts with
//     brackets, and levels of comparison.
//   - [RFC3986]: January 2005, the default ([Latest]). It adds later versions of IP literals
//     and any characters in host names, and removes dot segments from every reference.
//   - [RFC6874]: February 2013, RFC 3986 with zone identifiers. Opt-in.
//
// A [Dialect] is data: a table of octets, generated from rules that cite the sections, and a
// struct of differences. One parser serves all dialects. It makes one pass, does not allocate,
// and rejects what the document of the dialect rejects; an [Error] has the offset and the
// production. The parser is fuzzed against a slow implementation of the documents' own
// grammars. The top rules of some grammars match nearly any text; to check for a particular
// production, such as a host, use [Dialect.CheckRule].
//
// # Values
//
// A [URI] is an immutable value, like netip.Addr: the spelling that was parsed, and the ends of
// its components. Two URIs are == exactly if they have the same spelling and dialect, so a URI
// can be a map key. Accessors return substrings, and distinguish an undefined component
// ("http://a/") from an empty one ("http://a/?").
//
// Components are raw, with their escapes. [Data] is the type of decoded text, so that nothing
// is decoded twice or written without being escaped. Split a component first, then decode its
// parts, because "%2F" is not a delimiter.
//
// There are no setters. [URI.With] and [Builder] make new values and reject what would be
// parsed as something else, such as a path "//host" without an authority.
//
// # Comparison
//
// [Equivalent] answers "equivalent at this [Level]" or "not established", never "different
// resources". [Compare] finds the lowest level at which two URIs are equivalent,
// [URI.Normalize] returns the normal form, and [URI.Changes] says which levels would change a
// URI.
//
// # Departures
//
// Where a document is ambiguous, the package chooses an interpretation in which the host of a
// URI is the one that readers expect. The important cases:
//
//   - 1993: raw spaces are invalid, as the text says (the BNF allows them). A URL is split at
//     the first colon, the last "@" and the colon of the port. The rules for the names of
//     schemes, users and hosts apply to the parts after that split, because by themselves they
//     match nearly anything.
//   - 1993 and 1997: a slash is inserted between a base without a path and a relative path
//     ("http://a" and "g"). The algorithm of the draft of 1997 does not insert a slash;
//     [Resolver.Literal] follows the algorithm.
//   - 1997: the first segment of a relative path cannot contain a colon. Section 5 requires
//     this; the grammar does not.
//   - 2003: normalisation keeps escapes of "- . ! * ' ( )", as section 2.3 advises.
//   - If a result of resolution or a normal form would be parsed as another URI, "/." is put
//     before its path in RFC 3986. In the other dialects resolution returns an error, and
//     normalisation does not change the path.
//   - Normalisation removes dot segments only from paths that begin with a slash; see
//     [URI.Normalize].
package uri
