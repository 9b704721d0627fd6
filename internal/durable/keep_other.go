//go:build !unix

package durable

// KeepOwner does nothing: the system has no such owners.
func KeepOwner(_, _ string) error { return nil }
