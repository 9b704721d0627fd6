package ascii

import "unicode/utf8"

// Head returns s if it has at most n bytes, and otherwise its first n bytes and "...". It does not
// split a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for first := max(n-utf8.UTFMax+1, 0); n > first && !utf8.RuneStart(s[n]); {
		n--
	}
	return s[:n] + "..."
}
