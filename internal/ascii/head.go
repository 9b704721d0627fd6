package ascii

import "unicode/utf8"

// Head returns s, or its first n bytes and "..." if s is longer. It cuts before a character that
// would be incomplete.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for first := max(n-utf8.UTFMax+1, 0); n > first && !utf8.RuneStart(s[n]); {
		n--
	}
	return s[:n] + "..."
}
