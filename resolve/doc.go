// Package resolve answers questions about names from a store. For example, it returns the locations
// of a name, chosen by the client's preferences. It offers all services of RFC 2483.
//
// # Sources of an answer
//
// The authority of a name is the one with the longest prefix that covers it. The element is the
// rest of the name after this prefix. If the authority folds case, the element is converted to
// lower case first (draft of 1995, section 2). If the authority restricts access, every question
// about its names gets the error Denied.
//
// Otherwise, the answer comes from the first of these sources that knows the name:
//
//  1. the record of the name;
//  2. if the authority allows it, the record of a shorter name. This is the longest registered
//     name with which the name begins and that ends at a delimiter. The rest of the name is
//     appended to the locations of the record;
//  3. the rules of the authority;
//  4. the delegation of the authority: the engine redirects the client to another resolver,
//     or asks that resolver itself. A question passes through at most [nomen.MaxHops]
//     resolvers;
//  5. without a delegation, a record that lists the name as an alias.
//
// The result depends on the record:
//
//   - A reserved name is Unknown, even if a rule matches it.
//   - If the question is about an earlier time and the revision of that time has been redacted,
//     the name is Denied for legal reasons.
//   - A retired name with exactly one successor is redirected to it for the services I2L and
//     I2R, unless the chain of successors leads back to the name.
//   - Other retired names, and other services, get the result Gone with the tombstone.
//   - If the record has nothing for the service, the result is NoResult for a single item, and an
//     empty list for a list.
//   - A name that no source knows is Unknown. The error suggests similar names.
//
// # Services
//
// If the requested service is unknown, or the authority does not offer it, the authority's default
// service is used (draft of 2012, section 2.3.1: N12-32). This is I2L unless the authority has set
// another. In strict questions, which THTTP uses, such a request is an error. I2R and I2Rs are only
// for authorities whose resources may be fetched. I2N and I2Ns return the aliases in a record, and
// I2N prefers a URN.
//
// I=I asks whether two names identify the same thing. This is true for two spellings of a name, for
// a name and its alias, and for two names that share an alias. Records and rules can give aliases.
// If both names are unknown, the result is Unknown.
//
// # Components
//
// The component of a structured resource ("c", draft of 2012, section 2.3.2) is ignored if no
// location has it, or if the authority has a list of keywords without it.
//
// The authority defines what an r-component means, which can be the directives s, c, lang, type and
// country. Other r-components are ignored. An r-component is also passed on to the resolver of a
// delegation.
//
// A q-component is appended to the query of the location (RFC 8141, section 2.3.2), unless the
// authority says to ignore q-components:
//
//   - https://a/b#c with the q-component x=1 becomes https://a/b?x=1#c;
//   - https://a/b?d with the q-component x=1 becomes https://a/b?d&x=1;
//   - urn:example:a with the q-component x=1 becomes urn:example:a?=x=1;
//   - a location whose scheme has no such query (mailto, tel, ftp, ldap ...) stays unchanged.
//
// A plain query, which is neither a component nor directives, is ignored unless the authority says
// to append it. Queries are appended only by the resolver to which the client sent the request, and
// not by resolvers of delegations. Descriptions show locations as they are.
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
// probabilities in proportion to the weights. If the authority has the choice "fixed", they choose
// the one with the greatest weight. The order of lists does not depend on chance.
//
// If the authority says so ([store.FailoverArchive]), a location that is dead counts as unavailable
// ([Options.Dead]), but only if the record has a location that can take its place: another location
// of the resource, or an archived copy. The copy then has the priority, media type and language of
// the dead location, unless it has a media type and a language of its own. Such an answer must not
// be cached by clients, and a redirect is temporary. The locations of rules, and those with a suffix,
// are dead only if the checks of links know exactly this URL. Questions about an earlier time ignore
// the checks.
//
// Locations of related resources, such as a licence, appear in descriptions. Other services use
// them only if there are no others.
//
// A location is valid from ValidFrom until just before ValidUntil. An answer is not cached beyond
// the time at which a location next becomes valid or invalid.
//
// The file docs/glossary.md lists the drafts that comments cite by their year, such as "draft of
// 1995, section 3.1".
package resolve
