// Package registrar is the one door for changes: it checks names, locations,
// texts and authorities, the rights of who asks and the states of names, and
// hands what is good to a store.
//
// # Names
//
// A name is whatever [name.Parse] reads. Not assigned are elements that begin
// with "urn+", which are questions to a resolver (draft-ietf-uri-yaurn-00, 2.3
// and 3.5), and names of a scheme that makes a browser run what it is given.
// Nobody has to register before minting under a domain of their own (2.2.1): an
// administrator may put a name that lies under no authority here, which is then
// served by its full name alone, and is told so by a warning. Everybody else
// needs an authority that covers the name.
//
// Where the authority folds case, the element is kept in lower case.
//
// # Locations
//
// A location is an absolute URI of RFC 3986 without control characters and
// without a password, of one of the schemes of package internal/location.
// Not among them is file: it is a place on the machine of whoever asks, not one
// where the resource is. Nothing of javascript, data, vbscript and their kind is
// stored at all.
//
// # States
//
// A name once active or retired is never deleted and never reserved again
// (draft-ietf-uri-yaurn-00, 2.2.1 and 6A). A retired name comes back only when
// an owner says so and names the revision of the tombstone, never by an import
// of an older file.
//
// # Several nodes
//
// A change is planned from what is committed, not from a cache or a replica that may
// be behind (see [store.Fresh]): otherwise a change that another node made a moment
// before would be a conflict, or a request that undoes it would change nothing.
//
// # Tokens
//
// Tokens are given and revoked by administrators of everything alone. The secret
// of a token never changes, and a revoked one stays revoked.
//
// # Merging
//
// A [Request] replaces a record, or the fields it names, or adds to what is
// there: see [Request]. One that asks for what is there already changes nothing
// and makes no new revision, whatever revision it expects (RFC 9110, 13.1.1
// allows that).
package registrar
