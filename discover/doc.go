// Package discover finds the server that resolves a name. For example, it finds out from DNS which
// server to ask about urn:nbn:fi names.
//
// A [Finder] returns an iterator over the ways to resolve a name, which the caller tries until one
// works. The ways come from these sources, in this order:
//
//  1. the user's own table;
//  2. the host of a urn:dns name;
//  3. rules in DNS;
//  4. known public resolvers;
//  5. a default resolver.
//
// The package also looks up addresses of hosts. No other package looks up anything else in DNS.
//
// # Specifications
//
//   - draft-ietf-uri-yaurn-00, 2.2.1 and 3.2: the AuthorityID of a urn:dns name is a fully
//     qualified domain name. The resolver is reachable at one port of every address of that
//     domain name. Nothing is inferred from the structure of the name (Y95-11,
//     Y95-23, Y95-26, Y95-29).
//   - RFC 3401 to 3404, DDDS: rules in NAPTR records, for names of all namespaces
//     (NID.urn.arpa) and schemes (SCHEME.uri.arpa). Records in the form of RFC
//     2168 and RFC 2915 are supported too.
//   - RFC 2782: which of several servers of one service to try first.
//
// # Departures
//
// A rule contains a regular expression. An expression whose meaning POSIX leaves undefined is an
// error. If an expression has several longest matches, the first in the order of the alternatives
// is used, while POSIX would in rare cases choose another. Additional records in a response are not
// used, as RFC 3403, section 4.2.2 permits.
//
// The file docs/glossary.md lists the drafts that comments cite by their year, such as "draft of
// 1995, section 3.1".
package discover
