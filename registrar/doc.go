// Package registrar changes records and authorities. It checks the names, locations and texts of
// each change, the fields of authorities, and the permissions of the actor, and then writes the
// change to a store. A store does not make these checks, so programs must not write to a store
// directly.
//
// # Names
//
// A name is anything that [name.Parse] accepts. Two kinds of names cannot be assigned:
//
//   - A name whose element (the part after the prefix of the authority) begins with "urn+", because
//     such elements are requests to a resolver (1995, 2.3 and 3.5).
//   - A name of a scheme whose content a browser would execute, such as javascript.
//
// The owner of a domain may assign names below the domain without registering an authority (1995,
// 2.2.1). An administrator may therefore create a name that no authority in the store covers. The
// administrator gets a warning, because the server finds such a name only by its full form. Other
// actors can create only names that an authority covers.
//
// If the authority folds case, the element is stored in lower case.
//
// # Locations
//
// A location is an absolute URI of RFC 3986 with one of the schemes of package internal/location,
// without control characters and without a password. The scheme "file" is not allowed, because such
// a URI refers to a file on the client's machine. URIs of javascript, data, vbscript and similar
// schemes are not allowed in any field for URIs or names.
//
// # States
//
// A name that was active or retired is never deleted and never reserved again
// (draft-ietf-uri-yaurn-00, 2.2.1 and 6A). A retired name becomes active again only if an owner
// requests this and expects the revision of the tombstone. The import of an old file therefore
// cannot reactivate a name.
//
// # Several nodes
//
// Changes are planned from committed data, never from a cache or a replica that may lag (see
// [store.Fresh]). With older data, a request could fail with a conflict although its expected
// revision is right, and a request that reverses a recent change of another node would seem to
// change nothing.
//
// # Tokens
//
// Only an administrator whose token is not limited to prefixes may create and revoke tokens. The
// secret of a token never changes, and a revoked token stays revoked.
//
// # Merging
//
// A [Request] replaces a whole record, replaces some of its fields, or adds to some of its fields.
// A request that would not change the record makes no new revision. It succeeds even if the record
// does not have the expected revision, which RFC 9110, section 13.1.1, allows.
//
// The effect of a batch, such as an import, on a record is decided in two files: batch.go plans the
// change for each request, and merge.go merges the fields.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package registrar
