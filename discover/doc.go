// Package discover finds the server that resolves a name. For example, it can find in DNS which
// server resolves names that begin with urn:nbn:fi.
//
// A [Finder] returns an iterator over the ways to resolve a name. The caller tries the ways until
// one of them works. They come from these sources, in this order:
//
//  1. the user's own table;
//  2. the host of a urn:dns name;
//  3. rules in DNS;
//  4. known public resolvers;
//  5. a default resolver.
//
// The package also looks up the addresses of hosts.
//
// # Specifications
//
//   - draft-ietf-uri-yaurn-00, sections 2.2.1 and 3.2: the AuthorityID of a urn:dns name is a fully
//     qualified domain name. The resolver is reachable at the same port of every address of this
//     domain name. The structure of the name has no meaning (Y95-11, Y95-23, Y95-26, Y95-29).
//   - RFC 3401 to 3404, the Dynamic Delegation Discovery System (DDDS): rules in NAPTR records for
//     URN namespaces (NID.urn.arpa) and URI schemes (SCHEME.uri.arpa). NAPTR records in the forms
//     of RFC 2168 and RFC 2915 are also supported.
//   - RFC 2782: the order in which to try the servers of a service.
//
// # Departures
//
// Rules contain regular expressions of POSIX. The package differs from POSIX in two cases. It
// rejects expressions whose meaning POSIX leaves undefined. If an expression has several longest
// matches, the package uses the match of the first alternative, which is not always the match that
// POSIX prescribes. Additional records in a response are not used, as RFC 3403, section 4.2.2
// permits.
//
// Comments cite drafts by their year, as in "draft of 1995, section 3.1". The file docs/glossary.md
// lists these drafts.
package discover
