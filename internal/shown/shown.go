// Package shown makes what strangers say fit for a person's terminal and logs.
package shown

import (
	"strings"
	"unicode"
)

// Most bounds the result of [Line], in bytes: nobody reads more.
const Most = 1000

// Line returns s as one line: white space as spaces, without control characters,
// marks that turn the direction of text, and what is not UTF-8.
func Line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s[:min(len(s), Most)], ""))
	return strings.TrimSpace(s)
}
