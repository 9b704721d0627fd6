// Package resolve answers questions about names from a store. It is the engine of the name
// service and offers all services of RFC 2483.
//
// # Sources of an answer
//
// Package name brings the name into canonical form. If the authority of the name folds the case
// of elements, the element is folded too (1995, 2: the AuthorityID determines the case rules of
// the ElementID). The authority is the one with the longest prefix. If its access is restricted,
// every question is Denied. Otherwise the first of these that knows the name answers:
//
//  1. the record of exactly that name;
//  2. if the authority allows it, the record of the longest beginning of the name that ends at a
//     delimiter, with the rest appended to its locations;
//  3. the rules of the authority;
//  4. the delegation of the authority: the client is redirected to another resolver, or that
//     resolver is asked, through at most [nomen.MaxHops] resolvers.
//
// The result depends on the record:
//
//   - A reserved name is Unknown, even if a rule matches it.
//   - A name whose record at the requested time was redacted is Denied for legal reasons.
//   - A retired name with exactly one successor is answered with a Redirect to the successor, if
//     the question is for a location or the resource and the successors form no loop.
//   - Any other retired name is Gone, with its tombstone.
//   - A question for a single item that does not exist is NoResult; a list can be empty.
//   - A name that no source knows is Unknown, with suggestions.
//
// # Services
//
// An unknown service, or one that the authority does not offer, is replaced by the authority's
// default, which is I2L unless set (2012, 2.3.1: N12-32). I2R and I2Rs are for authorities that
// allow resources to be fetched. I2N and I2Ns return the aliases in a record; I2N prefers a URN.
//
// I=I is true for two spellings of one name, for a name and its alias (in a record or by a rule),
// and for two names with a common alias. An unknown name equals no other name. If both names are
// unknown, the question is Unknown.
//
// # Components
//
// A component ("c", 2012, 2.3.2) is ignored if the authority does not list it or no location has
// it. An r-component has the meaning that the authority gives it: directives s, c, lang, type or
// country. An r-component without a meaning is ignored. The resolver of a delegation receives the
// r-component too.
//
// A q-component is appended to the query of the location (RFC 8141, 2.3.2), before a fragment:
// after "?", or after "&" if there is a query. The authority can say to ignore the
// q-component. It is not appended to locations whose scheme has no such query (mailto, tel, ftp,
// ldap ...); if the location is a URN, it becomes the q-component of the URN. A plain query is ignored unless the authority
// says to append it. Descriptions show locations unchanged. The query is appended by the
// resolver that the client asked, not by the resolvers that this one asks.
//
// # Choice
//
// Locations are ordered by availability, then by the client's preferred media type and language,
// priority, relation (the resource, then copies, then descriptions, see [nomen.RelationOf]), the
// client's country, and weight. If all but the weights are equal, I2L and I2R choose at random by
// weight or, if the authority says so, always the location with the greatest weight. The order of
// lists is always the same.
//
// A location of a related resource, such as a licence, is used only in descriptions, or if
// there are no other locations.
//
// A location is valid from its first bound until just before its second. An answer expires at the
// latest at the next bound of any location of the name.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package resolve
