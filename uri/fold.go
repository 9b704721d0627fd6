package uri

import "strings"

// LineBreak returns the length of the first line when s is broken into lines of at most n bytes. No
// line ends with a hyphen, because readers would think that the hyphen was added at the line break
// (1997 and 2003, Appendix E). If s fits into one line, the result is len(s). The result is greater
// than n only if the first n bytes are all hyphens. n must be at least 1.
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
