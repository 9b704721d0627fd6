//go:build !unix

package durable

// KeepOwner does nothing, because this system has no such owners.
func KeepOwner(_, _ string) error { return nil }
