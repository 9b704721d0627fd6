// Package signin finds out who uses the pages of the admin listener. People sign in through OpenID
// Connect, through a header field set by a trusted proxy, or with a one-time link. Passwords are
// not supported.
//
// Sessions and links are in a [store.Vault] that all nodes share. A session has no rights of its
// own: each request has the current rights of the user, so a change of the user takes effect at
// once.
package signin
