package pgstore

import (
	"strings"

	"github.com/nomen-project/nomen/store"
)

// Keys consist of these characters (package store). A key with any other character cannot
// exist, so the store does not ask a server about it. PostgreSQL would reject some of these
// characters.
const (
	lowest  = "!"
	highest = '~'
	beyond  = "\x7f" // sorts after all strings of these characters
)

// printable reports whether key is a possible key.
func printable(key string) bool { return flaw(key) < 0 }

// flaw returns the offset of the first character that is not allowed in a key, -1 if none.
func flaw(key string) int {
	return strings.IndexFunc(key, func(r rune) bool { return r < rune(lowest[0]) || r > highest })
}

// bounds returns the half-open range of keys of a scan; ok is false if it is empty. Both
// bounds consist of characters of keys, except perhaps for the last one.
func bounds(scan store.Scan) (lower, upper string, ok bool) {
	if !printable(scan.Prefix) {
		return "", "", false
	}
	lower, upper = scan.Prefix, beyond
	if n := len(scan.Prefix); n > 0 {
		upper = scan.Prefix[:n-1] + string(scan.Prefix[n-1]+1)
	}
	if scan.After >= scan.Prefix && scan.After != "" {
		lower = behind(scan.After)
	}
	return lower, upper, lower < upper
}

// behind returns a string that sorts after text, and not after any key that sorts after text.
func behind(text string) string {
	i := flaw(text)
	switch {
	case i < 0:
		return text + lowest
	case text[i] > highest:
		return text[:i] + beyond
	}
	return text[:i] + lowest
}
