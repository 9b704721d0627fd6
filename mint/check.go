package mint

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/namespace"
)

// betanumeric is the alphabet of NOID: digits and consonants other than "l" and
// "y".
const betanumeric = "0123456789bcdfghjkmnpqrstvwxz"

// A checker computes the check characters for key. It returns "" if key has no characters that count
// for the check. The zero checker stands for the rule of the namespace.
type checker struct {
	of    func(key string) string
	width int
}

// noid returns the check character of NOID. It is computed over everything after the scheme and the
// NID. The weight of a character is its position, starting at 1. Characters outside the alphabet have
// the value 0, but have a position. If a text has only characters of the alphabet, and fewer than 29,
// the check character detects every wrong character and every transposition.
func noid(key string) string {
	_, s, _ := strings.Cut(key, ":")
	if strings.HasPrefix(key, "urn:") {
		_, s, _ = strings.Cut(s, ":")
	}
	sum := 0
	for i := range len(s) {
		sum += (i + 1) * max(strings.IndexByte(betanumeric, s[i]), 0)
	}
	at := sum % len(betanumeric)
	return betanumeric[at : at+1]
}

// luhn returns the check digit for the digits at the end of key.
func luhn(key string) string {
	d := tail(key, ascii.IsDigit)
	if d == "" {
		return ""
	}
	return string(rune(namespace.Luhn([]byte(d))))
}

// mod97 returns the check digits for the letters and digits at the end of key.
// A letter counts as two digits: "a" is 10.
func mod97(key string) string {
	s := tail(key, func(c byte) bool { return ascii.IsDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' })
	if s == "" {
		return ""
	}
	digits := 98 - namespace.Mod97([]byte(s+"00"))
	return string([]byte{byte('0' + digits/10), byte('0' + digits%10)})
}

// tail returns the longest suffix of s that consists of bytes for which accepted returns true.
func tail(s string, accepted func(byte) bool) string {
	at := len(s)
	for at > 0 && accepted(s[at-1]) {
		at--
	}
	return s[at:]
}
