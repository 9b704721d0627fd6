// Package signin finds out who uses the pages of the admin listener: through OpenID Connect,
// through a field that a trusted proxy sets, or with a link that works once. There are no
// passwords.
//
// Sessions and links are in a [store.Vault], which all nodes share. A session has no rights: each
// request has those that the user has at that moment, so that a change of a user takes effect at
// once.
package signin
