package uri

import (
	"math/bits"
	"strings"
)

// The functions in this file read eight octets at a time: each octet of a word is compared on its
// own, and the high bit of the octet is the result. The sums of two octets below 0x80 do not carry.
// An octet that is not ASCII may carry into the octets after it, so in a text that may have such
// octets only the first result is used.

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

// notHost marks all octets of x except letters, digits, hyphens and full stops. The octets that it
// does not mark may appear in a host in every dialect.
func notHost(x uint64) uint64 {
	y := x | ones*0x20
	return highs & (x | ^((y+fromA)&^(y+afterZ) | (x+fromHyphen)&^(x+afterNine)&^(highs-(x^slashes))))
}

// notPath marks all octets of x except letters, underscores and the octets from & to ; in ASCII.
// The octets that it does not mark may appear in a path in every dialect.
func notPath(x uint64) uint64 {
	y := x | ones*0x20
	return highs & (x | ^((y+fromA)&^(y+afterZ) | (x+fromAmpersand)&^(x+afterSemicolon) | (highs - (x ^ underscores))))
}

// load returns the first eight octets of s, which must have them. The first octet is the lowest.
func load(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// loadLast returns the octets of s from offset i on, of which there are at most seven, and zeros
// after them. The length of s must be at least eight.
func loadLast(s string, i int) uint64 {
	return load(s[len(s)-8:]) >> 8 >> (uint(56-8*(len(s)-i)) & 63)
}

// skipHost returns the offset of the first octet of s at or after i that notHost marks. If s is
// shorter than a word, it returns i.
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

// skipPath is like skipHost for notPath.
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

// skipScheme returns the offset of the colon if s begins with "http:" or "https:", and else 0. The
// code does not branch on the scheme, because a processor cannot predict which of the two schemes
// comes next in a list.
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

// hasUpper reports whether s, which is ASCII, has an upper-case letter.
func hasUpper(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' })
}

// hasUpperOrEscape reports whether s, which is ASCII, has an upper-case letter or a percent sign.
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

// uppersOrEscapes sets the high bit of each octet of x that is an upper-case letter or a percent
// sign.
func uppersOrEscapes(x uint64) uint64 {
	return (x+fromUpper)&^(x+afterUpper) | (highs - (x ^ percents))
}

// hasEscapeOrDot reports whether s, which is ASCII, has a percent sign, or a full stop after a
// slash.
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

// escapesOrDots sets the high bit of each octet of x that is a percent sign, or that is a slash
// before a full stop. The parameter following has the octets that follow those of x.
func escapesOrDots(x, following uint64) uint64 {
	return (highs - (x ^ percents)) | (highs - ((x ^ slashes) | (following ^ dots)))
}
