package mint

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/namespace"
)

// betanumeric is the alphabet of NOID, which has digits and all consonants except "l" and "y".
const betanumeric = "0123456789bcdfghjkmnpqrstvwxz"

// A checker computes the check characters for a key. The result is "" if the key has no characters
// from which to compute them. If the function is nil, the namespace determines the check
// characters.
type checker struct {
	of    func(key string) string
	width int
}

// noid returns the check character of NOID for the part of key after the scheme, or after the NID
// of a URN. The value of each character is multiplied by its position, which starts at 1.
// Characters outside the NOID alphabet have the value 0. If the text has fewer than 29 characters,
// all in the alphabet, the check character detects any single wrong character and any transposition
// of two characters.
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

// mod97 returns the check digits for the letters and digits at the end of key. Letters are replaced
// by two-digit numbers, beginning with 10 for "a".
func mod97(key string) string {
	s := tail(key, func(c byte) bool { return ascii.IsDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' })
	if s == "" {
		return ""
	}
	digits := 98 - namespace.Mod97([]byte(s+"00"))
	return string([]byte{byte('0' + digits/10), byte('0' + digits%10)})
}

// tail returns the longest suffix of s whose bytes are all accepted.
func tail(s string, accepted func(byte) bool) string {
	at := len(s)
	for at > 0 && accepted(s[at-1]) {
		at--
	}
	return s[at:]
}
