//go:build !unix

package openfiles

// Limit returns [Unlimited], because this system does not tell how many files and connections a
// process may open.
func Limit() uint64 { return Unlimited }
