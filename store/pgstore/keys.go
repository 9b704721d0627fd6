package pgstore

import (
	"strings"

	"github.com/nomen-project/nomen/store"
)

// The first and the last character that a key can have (see package store). The store does not
// query the database about keys with other characters, because PostgreSQL would reject some of
// them.
const (
	lowest  = "!"
	highest = '~'
	beyond  = "\x7f" // sorts after all strings that consist of these characters
)

func printable(key string) bool { return flaw(key) < 0 }

func flaw(key string) int {
	return strings.IndexFunc(key, func(r rune) bool { return r < rune(lowest[0]) || r > highest })
}

// bounds returns the range lower <= key < upper of the keys that a scan reads. The result ok is
// false for an empty range. Only the last character of a bound can be outside the characters of
// keys.
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
