package pgstore

import (
	"strings"

	"github.com/nomen-project/nomen/store"
)

// Keys have no other characters than these (package store): a key that has is
// that of nothing, and no server is asked for it. PostgreSQL would refuse some.
const (
	lowest  = "!"
	highest = '~'
	beyond  = "\x7f" // after everything that begins with a character of a key
)

// printable reports whether key could be one.
func printable(key string) bool { return flaw(key) < 0 }

// flaw returns where the first character stands that no key has, -1 if nowhere.
func flaw(key string) int {
	return strings.IndexFunc(key, func(r rune) bool { return r < rune(lowest[0]) || r > highest })
}

// bounds returns the keys between which a scan lies, the second not included;
// ok is false if nothing lies between them. Both could be keys, but for their
// end.
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

// behind returns the least string after text such that every key after text is
// not before it.
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
