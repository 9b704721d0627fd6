// Package resolve answers questions about names from a store. It is the engine of the name service
// and offers all services of RFC 2483.
//
// # Sources of an answer
//
// The name is in the canonical form of package name. The authority of the name is the authority
// with the longest prefix that covers it. An authority can fold case. The element is then converted
// to lower case (1995, 2). The element is the part of the name after the prefix. An authority can
// restrict access: then every question about its names gets Denied. Otherwise, the first of these
// sources that knows the name answers:
//
//  1. the record of exactly that name;
//  2. if the authority allows it, the record of a shorter name. This is the longest registered
//     beginning of the name that ends at a delimiter. The rest of the name is appended to the
//     locations of this record;
//  3. the rules of the authority;
//  4. the delegation of the authority: the engine redirects the client to another resolver,
//     or asks that resolver itself. A question passes through at most [nomen.MaxHops]
//     resolvers;
//  5. without a delegation, a record that lists the name as an alias.
//
// The result depends on the record:
//
//   - A reserved name is Unknown, even if a rule matches it.
//   - If the revision that was current at the requested time has since been redacted, the
//     name is Denied for legal reasons.
//   - A retired name with exactly one successor is redirected to the successor if the service
//     is I2L or I2R, unless the chain of successors leads back to the name.
//   - For any other retired name, and for other services, the result is Gone, with the
//     tombstone.
//   - If the record has nothing for the service, a service that asks for one item gets
//     NoResult, and a service that asks for a list gets an empty list.
//   - A name that no source knows is Unknown, with suggestions.
//
// # Services
//
// The authority's default replaces a service that is unknown or that the authority does not offer
// (2012, 2.3.1: N12-32). The default is I2L unless set. In strict questions (THTTP), such a service is
// an error. I2R and I2Rs are for authorities that allow resources to be fetched. I2N and I2Ns return
// the aliases in a record; I2N prefers a URN.
//
// I=I is true for two spellings of one name, for a name and its alias, and for two names with a
// common alias. Records and rules give aliases. If both names are unknown, the result is Unknown.
//
// # Components
//
// A component of a structured resource ("c", 2012, 2.3.2) is ignored if no location has it. It is
// also ignored if the authority has keywords and does not list it.
//
// The authority defines what an r-component means: the directives s, c, lang, type or country. An
// r-component that the authority does not define is ignored. The resolver of a delegation receives
// the r-component too.
//
// A q-component is appended to the query of the location (RFC 8141, 2.3.2), unless the authority
// says to ignore q-components:
//
//   - https://a/b#c with the q-component x=1 becomes https://a/b?x=1#c;
//   - https://a/b?d with the q-component x=1 becomes https://a/b?d&x=1;
//   - urn:example:a with the q-component x=1 becomes urn:example:a?=x=1;
//   - a location whose scheme has no such query (mailto, tel, ftp, ldap ...) stays unchanged.
//
// A plain query, which is neither a component nor directives, is ignored unless the authority says
// to append it. Only the resolver to which the client has sent the request appends queries, not the
// resolvers of delegations. Descriptions show locations unchanged.
//
// # Choice
//
// Locations are ordered by these criteria:
//
//  1. availability;
//  2. the client's preferred media type, then language;
//  3. priority;
//  4. relation: the resource, then copies, then descriptions ([nomen.RelationOf]);
//  5. the client's country;
//  6. weight.
//
// If several locations are best by criteria 1 to 5, I2L and I2R choose one of them at random. The
// probabilities are in proportion to the weights. If the authority has the choice "fixed", they
// choose the location with the greatest weight instead. The order of lists is always the same.
//
// Descriptions show the location of a related resource, such as a licence. Other services use such
// a location only if the record has no other locations.
//
// A location is valid from ValidFrom until just before ValidUntil. A cached answer expires at the
// latest when a location of the name next becomes valid or invalid.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package resolve
