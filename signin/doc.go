// Package signin identifies the users of the pages of the admin listener. People sign in through
// OpenID Connect, through a header field set by a trusted proxy, or with a one-time link. Passwords
// are not supported.
//
// Sessions and links are in a [store.Vault] that all nodes share. A session stores no rights: each
// request has the current rights of the user, so that a change of these rights takes effect at
// once.
package signin
