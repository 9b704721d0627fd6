// Package uri reads, checks, resolves, normalises and compares the generic
// syntax of identifiers to the letter of RFC 3986.
package uri
