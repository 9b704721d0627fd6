// Package resolve implements a resolver that answers from a store. For example, it chooses among
// the locations of a name by the client's preferences. It supports all services of RFC 2483.
//
// # Sources of an answer
//
// The authority of a name is the authority with the longest prefix that covers the name. The rest
// of the name after this prefix is called the element. If the authority ignores case, the engine
// first converts the element to lower case (draft of 1995, section 2). If the authority restricts
// access, every question about its names gets the error Denied.
//
// Otherwise, the answer comes from the first of these sources that has the name:
//
//  1. the record of the name;
//  2. if the authority allows it, the record of a shorter name. The engine uses the longest
//     registered name with which the requested name begins and after which a delimiter follows. It
//     appends the rest of the requested name to the locations of the record;
//  3. the rules of the authority;
//  4. the delegation of the authority. The engine redirects the client to another resolver, or
//     sends the question to that resolver. A question passes through at most [nomen.MaxHops]
//     resolvers;
//  5. if the authority has no delegation, a record that lists the name as an alias.
//
// The result depends on the record:
//
//   - A reserved name is Unknown, even if a rule matches it.
//   - If the question is about an earlier time, and the revision that was current at that time has
//     been redacted, the result is Denied for legal reasons.
//   - If a retired name has exactly one successor, the services I2L and I2R return a redirect to
//     the successor. This does not apply if the chain of successors leads back to the name.
//   - For other retired names, and for other services, the result is Gone with the tombstone.
//   - If the record has no data for the service, the result is an empty list for services that
//     return lists, and NoResult for all others.
//   - If no source has the name, the name is Unknown. The error suggests similar names.
//
// # Services
//
// If the requested service is unknown, or the authority does not offer it, the authority's default
// service is used (draft of 2012, section 2.3.1: N12-32). The default service is I2L unless the
// authority has set another service. If the question is strict, as questions in the protocol THTTP
// are, the result is an error instead. I2R and I2Rs are only offered by authorities whose resources
// the engine may fetch. I2N and I2Ns return the aliases in a record. I2N prefers an alias that is a
// URN.
//
// The service I=I compares two names. The answer is true for two spellings of a name, for a name
// and its alias, and for two names with a common alias. Aliases come from records and rules. If
// both names are unknown, the result is Unknown.
//
// # Components
//
// The directive c selects a component of a structured resource (draft of 2012, section 2.3.2). It
// is ignored if no location has this component, or if the authority has a list of keywords without
// c.
//
// The authority defines how an r-component is converted to the directives s, c, lang, type and
// country. All other r-components are ignored. The engine also passes the r-component on to the
// resolver of a delegation.
//
// A q-component is appended to the query of the location (RFC 8141, section 2.3.2), unless the
// policy of the authority is to ignore q-components:
//
//   - https://a/b#c with the q-component x=1 becomes https://a/b?x=1#c;
//   - https://a/b?d with the q-component x=1 becomes https://a/b?d&x=1;
//   - urn:example:a with the q-component x=1 becomes urn:example:a?=x=1;
//   - a location stays unchanged if the query of its scheme does not have parameters, as in mailto,
//     tel, ftp and ldap.
//
// A plain query, which is neither a component nor directives, is ignored unless the authority
// requests that it be appended. Queries are appended only by the resolver to which the client sent
// the request, and not by resolvers of delegations. Descriptions show locations as they are.
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
// If several locations are equal by criteria 1 to 5, I2L and I2R choose one of them at random, with
// probabilities in proportion to the weights. If the policy of the authority is "fixed", they
// choose the location with the greatest weight. The order of lists does not depend on chance.
//
// If the authority has the policy [store.FailoverArchive], locations that are dead ([Options.Dead])
// are treated as unavailable. This requires that another location of the resource, or an archived
// copy, can replace them. The archived copy gets the priority of the dead location, and also the
// media type and language if it has none. Such an answer must not be cached by clients, and its
// redirects are temporary. A location from a rule, or with a suffix, is dead only if the link
// checker has checked exactly this URL. In questions about an earlier time, no location is treated
// as dead.
//
// Locations of related resources, such as a licence, appear in descriptions. Other services use
// these locations only if the record has no other locations.
//
// A location is valid from ValidFrom until just before ValidUntil. An answer is not cached beyond
// the time at which a location next becomes valid or invalid.
//
// Comments cite drafts by their year, as in "draft of 1995, section 3.1". The file docs/glossary.md
// lists these drafts.
package resolve
