package pgstore

import (
	"strings"

	"github.com/nomen-project/nomen/store"
)

// Keys consist of these characters (see package store). No key has any other character, so the
// store does not query a server about a key with another character. PostgreSQL would reject some of
// the other characters.
const (
	lowest  = "!"
	highest = '~'
	beyond  = "\x7f" // sorts after all strings that consist of these characters
)

// printable reports whether key is a possible key.
func printable(key string) bool { return flaw(key) < 0 }

// flaw returns the offset of the first character that is not allowed in a key, or -1 if there is
// none.
func flaw(key string) int {
	return strings.IndexFunc(key, func(r rune) bool { return r < rune(lowest[0]) || r > highest })
}

// bounds returns the range of keys that a scan reads: from lower up to, but not including, upper.
// If the range is empty, ok is false. Both bounds consist of characters of keys, except perhaps the
// last character.
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

// behind returns a string that sorts after the text. All keys that sort after the text also sort
// after this string, or are equal to it.
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
