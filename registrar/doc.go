// Package registrar is the only way to change records and authorities: it checks
// names, locations, texts and authorities, the rights of the actor and the states
// of names, and writes the valid changes to a store.
//
// # Names
//
// A name is anything that [name.Parse] accepts. Two kinds cannot be assigned:
// elements that begin with "urn+", which are requests to a resolver
// (draft-ietf-uri-yaurn-00, 2.3 and 3.5), and names of a scheme that makes a
// browser execute them. Names under one's own domain need no registration (2.2.1): an
// administrator may create a name that no authority here covers, and gets a warning.
// Clients must use the full name of such a name. Actors who are not administrators
// can create only names that an authority covers.
//
// If the authority folds case, the element is stored in lower case.
//
// # Locations
//
// A location is an absolute URI of RFC 3986 without control characters and
// without a password, with one of the schemes of package internal/location. The
// scheme file is not allowed, because it means a file of the client's own machine.
// URIs of javascript, data, vbscript and similar schemes are not allowed in any
// field.
//
// # States
//
// A name that was active or retired is never deleted and never reserved again
// (draft-ietf-uri-yaurn-00, 2.2.1 and 6A). A retired name is reactivated only if
// an owner requests it and expects the revision of the tombstone. So importing an
// old file cannot reactivate it.
//
// # Several nodes
//
// Changes are planned from committed data, not from a cache or a replica that may
// lag (see [store.Fresh]). Otherwise another node's recent change would cause a
// false conflict, or a request to reverse that change would seem to change nothing.
//
// # Tokens
//
// Only administrators without prefixes may create and revoke tokens. The secret of
// a token never changes, and a revoked token stays revoked.
//
// # Merging
//
// A [Request] replaces a record or some of its fields, or adds to them: see
// [Request]. A request that would leave the record as it is makes no new revision,
// whatever revision it expects (RFC 9110, 13.1.1 allows that).
package registrar
