//go:build !unix

package openfiles

// Limit returns how many files and connections this process may open, [Unlimited] on this system.
func Limit() uint64 { return Unlimited }
