// Package resolve answers questions about names from a store: the engine of the
// name service. It offers all services of RFC 2483.
//
// # Who answers
//
// The name is brought into canonical form by package name; where its authority
// folds the case of elements, the element is folded too (1995, 2: case rules of
// the ElementID come from the AuthorityID). The authority is the one with the
// longest prefix. Where its access is restricted every question is Denied. Else
// the first of these that knows the name decides:
//
//  1. the record of exactly that name;
//  2. if the authority says so, the record of the longest beginning of the name
//     that ends at a delimiter, with the rest put behind its locations;
//  3. the rules of the authority;
//  4. the delegation of the authority: the client is sent to another resolver, or
//     that one is asked, at most [nomen.MaxHops] in a row.
//
// A record that is reserved is Unknown, whatever rules say. One as of an earlier
// time whose content was redacted is Denied, for legal reasons. A retired one with
// exactly one successor, asked for a location or the resource, is an answer whose
// Redirect is the successor, unless that leads back to it; otherwise it is Gone, with
// the tombstone. A service
// for one thing of which there is none is NoResult, a list may be empty. What
// nobody knows is Unknown, with names that may have been meant.
//
// # Services
//
// A service that is unknown or that the authority does not offer falls back to the
// authority's default, and where there is none to I2L (2012, 2.3.1: N12-32). I2R
// and I2Rs are for authorities that let resources be fetched. I2N and I2Ns are what
// a record is the same as, I2N a URN if there is one.
//
// I=I is true of two spellings of one name, of two names of which one is the same
// as the other by its record or rule, and of two that are the same as a third. A
// name that is not known is the same as nothing, and if neither is known the
// question is Unknown.
//
// # Components
//
// A component ("c", 2012, 2.3.2) that the authority does not list, or that no
// location has, is as if none were asked for. An r-component means what the
// authority says: directives s, c, lang, type or country; without a word of the
// authority it means nothing. It is passed on to the resolver of a delegation.
//
// A q-component is appended to the query of the location (RFC 8141, 2.3.2): after
// "?" if there is none, after "&" if there is one, before a fragment; unless the
// authority says to ignore it. A location whose scheme has no such query (mailto,
// tel, ftp, ldap ...) stays as it is, and that of a URN is its q-component. A plain
// query, that is neither of both, is ignored unless the authority says to append it,
// which is done in the same way.
// Descriptions show locations as they are. The asker's resolver does this, not the
// one that it asks in turn.
//
// # Choice
//
// Locations are ordered by: not being down; the media type and then the language
// that are wanted; priority; relation (the thing itself, then copies of it, then
// what is about it, as [nomen.RelationOf] says); the country of the asker; weight. Those that are equal up to
// there share the answers of I2L and I2R by weight at random, or the heaviest gets
// all, as the authority says. Lists are always in the same order.
//
// A location that is another thing by its relation, such as a licence, counts only for
// descriptions, unless there is no other location.
//
// A location is valid from its first bound to just before its second. An answer is
// kept no longer than until the next bound of any location of the name.
package resolve
