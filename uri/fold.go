package uri

import "strings"

// LineBreak returns where to break s so that the first line has at most n bytes, where n is at
// least 1. It returns len(s) if s fits into one line. LineBreak never breaks after a hyphen,
// because a reader could assume that the hyphen was inserted (drafts of 1997 and 2003, Appendix E).
// The result is greater than n only if the first n bytes are all hyphens.
func LineBreak(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	if fits := len(strings.TrimRight(s[:n], "-")); fits > 0 {
		return fits
	}
	rest := strings.TrimLeft(s[n:], "-")
	return min(len(s), len(s)-len(rest)+1)
}
