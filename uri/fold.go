package uri

import "strings"

// LineBreak returns where a writer that breaks s over lines ends the first one: n
// bytes into it, or before, so that no line ends in a hyphen, which readers take
// for one that the writer added (1997 and 2003, Appendix E). It is more than n
// only where the first n bytes are all hyphens, and len(s) if s fits. n is at
// least 1.
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
