package uri

import (
	"math/bits"
	"strings"
)

// The functions in this file examine eight octets at a time. They combine the octets into one word,
// and mark an octet by setting its high bit in the result.
//
// The arithmetic is exact for ASCII, because the sum of two octets below 0x80 does not carry into
// the next octet. An octet of 0x80 or more may carry into the following octets. In a word with such
// octets, only the first mark is reliable.

const (
	ones  = 0x0101010101010101
	highs = ones * 0x80

	fromA, afterZ                 = ones * (0x80 - 'a'), ones * (0x7F - 'z')
	fromHyphen, afterNine         = ones * (0x80 - '-'), ones * (0x7F - '9')
	fromAmpersand, afterSemicolon = ones * (0x80 - '&'), ones * (0x7F - ';')
	fromUpper, afterUpper         = ones * (0x80 - 'A'), ones * (0x7F - 'Z')
	slashes, underscores          = ones * '/', ones * '_'
	percents, dots                = ones * '%', ones * '.'
)

// notHost marks all octets of x except letters, digits, hyphens and full stops, which are allowed
// in hosts in every dialect.
func notHost(x uint64) uint64 {
	y := x | ones*0x20
	return highs & (x | ^((y+fromA)&^(y+afterZ) | (x+fromHyphen)&^(x+afterNine)&^(highs-(x^slashes))))
}

// notPath marks all octets of x except letters, underscores and the octets from & to ; in ASCII,
// which are allowed in paths in every dialect.
func notPath(x uint64) uint64 {
	y := x | ones*0x20
	return highs & (x | ^((y+fromA)&^(y+afterZ) | (x+fromAmpersand)&^(x+afterSemicolon) | (highs - (x ^ underscores))))
}

// load returns the first eight octets of s as a word, in which the first octet is the lowest.
func load(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// loadLast returns the octets of s from offset i on, which are at most seven, followed by zeros.
// The length of s must be at least eight.
func loadLast(s string, i int) uint64 {
	return load(s[len(s)-8:]) >> 8 >> (uint(56-8*(len(s)-i)) & 63)
}

// skipHost returns the offset of the first octet at or after i that notHost marks, or i if s is
// shorter than eight octets.
func skipHost(s string, i int) int {
	for len(s)-i >= 8 {
		if m := notHost(load(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	if len(s) < 8 {
		return i
	}
	return i + bits.TrailingZeros64(notHost(loadLast(s, i)))/8
}

func skipPath(s string, i int) int {
	for len(s)-i >= 8 {
		if m := notPath(load(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	if len(s) < 8 {
		return i
	}
	return i + bits.TrailingZeros64(notPath(loadLast(s, i)))/8
}

// skipScheme returns the offset of the colon if s begins with "http:" or "https:", and 0 otherwise.
// It does not branch on the scheme, because in a list with both schemes a processor would often
// mispredict the branch.
func skipScheme(s string) int {
	if len(s) < 8 {
		return 0
	}
	x := load(s)
	secure := uint64(0)
	if byte(x>>32) == 's' {
		secure = 1
	}
	if uint32(x) != 'h'|'t'<<8|'t'<<16|'p'<<24 || byte(x>>32>>(secure*8)) != ':' {
		return 0
	}
	return 4 + int(secure)
}

func hasUpper(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' })
}

func hasUpperOrEscape(s string) bool {
	if len(s) < 8 {
		return hasUpper(s) || strings.IndexByte(s, '%') >= 0
	}
	found := uppersOrEscapes(load(s[len(s)-8:]))
	for len(s) > 8 {
		found |= uppersOrEscapes(load(s))
		s = s[8:]
	}
	return found&highs != 0
}

func uppersOrEscapes(x uint64) uint64 {
	return (x+fromUpper)&^(x+afterUpper) | (highs - (x ^ percents))
}

func hasEscapeOrDot(s string) bool {
	if len(s) < 9 {
		return strings.IndexByte(s, '%') >= 0 || strings.Contains(s, "/.")
	}
	last := load(s[len(s)-8:])
	found := escapesOrDots(load(s[len(s)-9:]), last) | (highs - (last ^ percents))
	for len(s) > 9 {
		found |= escapesOrDots(load(s), load(s[1:]))
		s = s[8:]
	}
	return found&highs != 0
}

// escapesOrDots marks the percent signs of x, and the slashes before a full stop. The parameter
// following has the octets that follow the octets of x.
func escapesOrDots(x, following uint64) uint64 {
	return (highs - (x ^ percents)) | (highs - ((x ^ slashes) | (following ^ dots)))
}
