// Package uri parses, checks, resolves, compares, normalises and builds URIs and relative
// references. By default it follows RFC 3986. It also implements earlier drafts of this syntax,
// each exactly as its document specifies. The package depends only on the standard library.
//
// # Specifications
//
// Each version of the syntax is a [Dialect]. In comments, "the draft of 1997" is the document of
// [Draft1997].
//
//   - [Draft1993]: draft-ietf-uri-url (July 1993), "Uniform Resource Locators". Known schemes have
//     their own forms. Escapes represent characters of ISO Latin-1. "=" and "~" must be escaped. A
//     query is called a search, and consists of words joined by "+". In relative references, "."
//     and ".." also remove the slash before them.
//   - [Draft1997]: draft-fielding-url-syntax-05 (May 1997), between RFC 1738 and RFC 2396. Schemes
//     may begin with digits. "$" and "," are unreserved. Segments have parameters. An empty
//     reference means the current document. Dot segments are also removed from the query of a
//     relative reference. If ".." segments go above the root, they are kept.
//   - [Draft2003]: draft-fielding-uri-rfc2396bis-01 (March 2003), between RFC 2396 and RFC
//     3986. It adds IPv6 addresses, authorities that are registry names, opaque parts with
//     brackets, and levels of comparison.
//   - [RFC3986]: January 2005, the default ([Latest]). It adds later versions of IP literals
//     and any characters in host names, and removes dot segments from every reference.
//   - [RFC6874]: February 2013, RFC 3986 with zone identifiers. It must be chosen explicitly.
//
// The same parser serves all dialects. It reads the input once, without allocating, and rejects
// whatever the document of the dialect rejects. An [Error] has the offset of the fault and the
// production that it violates. Fuzz tests compare the parser with a slow implementation of the
// grammars in the documents.
//
// In some documents the top rules match nearly any text. To check that a text has a particular
// form, for example that it is a host, use [Dialect.CheckRule].
//
// # Values
//
// A [URI] is an immutable value, like netip.Addr. It consists of the spelling that was parsed and
// the positions of the components in it. Two URIs are == exactly if they have the same spelling and
// dialect, so a URI can be a map key. Accessors return substrings, and distinguish a component that
// is absent ("http://a/" has no query) from an empty one ("http://a/?" has an empty query).
//
// Components are raw: they still have their escapes. Decoded text has the type [Data], so the
// compiler prevents a program from decoding a text twice or writing it without escapes. Split a
// component first and decode its parts afterwards, because an escaped slash ("%2F") does not
// separate segments.
//
// A URI has no setters. [URI.With] and [Builder] make a new URI instead. They return an error if
// the result would be parsed as something else, for example if a path "//host" has no authority
// before it.
//
// # Comparison
//
// [Equivalent] reports whether two URIs are equivalent at a given [Level] of normalisation. If
// Equivalent returns false, the URIs may still identify the same resource. [Compare] finds the
// lowest level at which two URIs are equivalent, [URI.Normalize] returns the normal form, and
// [URI.Changes] says which levels would change a URI.
//
// # Departures
//
// Where a document is ambiguous, the package chooses the interpretation in which a URI has the host
// that readers expect. The important cases are:
//
//   - [Draft1993]: unescaped spaces are invalid, as the prose says. The BNF allows them. A URL is
//     split at the first colon, the last "@" and the colon of the port. The rules for schemes, user
//     names and hosts are applied to the parts after the split, because each of these rules matches
//     nearly any text.
//   - [Draft1993] and [Draft1997]: a slash is inserted between a base without a path and a relative
//     path ("http://a" and "g"). The algorithm of the draft of 1997 does not insert a slash;
//     [Resolver.Literal] follows the algorithm.
//   - [Draft1997]: the first segment of a relative path cannot contain a colon. Section 5 requires
//     this, although the grammar does not.
//   - [Draft2003]: normalisation keeps escapes of "- . ! * ' ( )", as section 2.3 advises.
//   - If the result of resolution or normalisation would be parsed as a different URI, "/." is
//     put before its path in RFC 3986. In the other dialects resolution returns an error, and
//     normalisation does not change the path.
//   - Normalisation removes dot segments only from paths that begin with a slash; see
//     [URI.Normalize].
package uri
