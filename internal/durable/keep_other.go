//go:build !unix

package durable

// KeepOwner does nothing, because files on this system have no Unix owners.
func KeepOwner(_, _ string) error { return nil }
