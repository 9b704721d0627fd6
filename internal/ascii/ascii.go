// Package ascii classifies, converts and escapes ASCII characters. The functions that classify a
// byte return false for bytes that are not ASCII. The functions for a single byte are small enough
// to be inlined.
package ascii

import (
	"strings"
	"unicode/utf8"
)

// UpperHex contains the hexadecimal digits in the order of their values, with upper-case letters.
const UpperHex = "0123456789ABCDEF"

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c-'0' < 10 }

// IsLetter reports whether c is a letter.
func IsLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// IsUpper reports whether c is an upper-case letter.
func IsUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// IsLower reports whether c is a lower-case letter.
func IsLower(c byte) bool { return 'a' <= c && c <= 'z' }

// IsAlnum reports whether c is a letter or a decimal digit.
func IsAlnum(c byte) bool { return IsDigit(c) || IsLetter(c) }

// IsToken reports whether a token can contain c (RFC 9110, 5.6.2).
func IsToken(c byte) bool { return IsAlnum(c) || isIn(tokenMarks, c) }

func isIn(set [2]uint64, c byte) bool { return c < 0x80 && set[c/64]>>(c%64)&1 == 1 }

// The characters that a token or a path segment can contain, besides letters and digits.
var (
	tokenMarks = [2]uint64{1<<'!' | 1<<'#' | 1<<'$' | 1<<'%' | 1<<'&' | 1<<'\'' | 1<<'*' | 1<<'+' | 1<<'-' | 1<<'.', 1<<('^'-64) | 1<<('_'-64) | 1<<('`'-64) | 1<<('|'-64) | 1<<('~'-64)}
	pcharMarks = [2]uint64{1<<'-' | 1<<'.' | 1<<'!' | 1<<'$' | 1<<'&' | 1<<'\'' | 1<<'(' | 1<<')' | 1<<'*' | 1<<'+' | 1<<',' | 1<<';' | 1<<'=' | 1<<':', 1<<('_'-64) | 1<<('~'-64) | 1<<('@'-64)}
)

// IsHex reports whether c is a hexadecimal digit. Letters can be in upper or lower case.
func IsHex(c byte) bool { return IsDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// Unhex returns the value of a hexadecimal digit.
func Unhex(c byte) byte {
	if IsDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// Lower converts an upper-case letter to lower case. It returns other bytes unchanged.
func Lower(c byte) byte {
	if IsUpper(c) {
		return c + 0x20
	}
	return c
}

// Upper converts a lower-case letter to upper case. It returns other bytes unchanged.
func Upper(c byte) byte {
	if IsLower(c) {
		return c - 0x20
	}
	return c
}

// EscapeUnless percent-encodes the bytes of s for which plain returns false.
func EscapeUnless(s string, plain func(byte) bool) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/2)
	for i := range len(s) {
		if c := s[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(Escape(c))
		}
	}
	return b.String()
}

// EqualFold reports whether a and b are equal, ignoring the case of ASCII letters. Unlike
// strings.EqualFold, it considers the Kelvin sign and k different.
func EqualFold[A, B ~string | ~[]byte](a A, b B) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && Lower(a[i]) != Lower(b[i]) {
			return false
		}
	}
	return true
}

// IsOneOf reports whether list contains s, ignoring the case of ASCII letters.
func IsOneOf(s string, list ...string) bool {
	for _, one := range list {
		if EqualFold(s, one) {
			return true
		}
	}
	return false
}

// Compare is strings.Compare, ignoring the case of ASCII letters.
func Compare(a, b string) int {
	for i := range min(len(a), len(b)) {
		if d := int(Lower(a[i])) - int(Lower(b[i])); d != 0 {
			return d
		}
	}
	return len(a) - len(b)
}

// CutPrefix is strings.CutPrefix, ignoring the case of ASCII letters.
func CutPrefix(s, prefix string) (after string, found bool) {
	if len(s) < len(prefix) || !EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// HasPrefix is strings.HasPrefix, ignoring the case of ASCII letters.
func HasPrefix(s, prefix string) bool {
	_, found := CutPrefix(s, prefix)
	return found
}

// IsASCII reports whether s consists of ASCII characters.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Run returns the offset of the first byte at or after i for which kind returns false. If there is
// no such byte, Run returns len(s).
func Run[T ~string | ~[]byte](s T, i int, kind func(byte) bool) int {
	for i < len(s) && kind(s[i]) {
		i++
	}
	return i
}

// All reports whether s is not empty and kind returns true for all its bytes.
func All[T ~string | ~[]byte](s T, kind func(byte) bool) bool {
	return len(s) > 0 && Run(s, 0, kind) == len(s)
}

// Until returns the offset of the first sep in s[i:end], relative to the start of s. If s[i:end]
// does not contain sep, Until returns end.
func Until(s string, i, end int, sep byte) int {
	if n := strings.IndexByte(s[i:end], sep); n >= 0 {
		return i + n
	}
	return end
}

// SchemeLength returns the length of the scheme at the start of a URI (RFC 3986, 3.1), or 0.
func SchemeLength(s string) int {
	n := 0
	for n < len(s) && (IsAlnum(s[n]) || s[n] == '+' || s[n] == '-' || s[n] == '.') {
		n++
	}
	if n == 0 || n == len(s) || s[n] != ':' || !IsLetter(s[0]) {
		return 0
	}
	return n
}

// IsPchar reports whether a path segment can contain c unescaped (RFC 3986, 3.3).
func IsPchar(c byte) bool { return IsAlnum(c) || isIn(pcharMarks, c) }

// IsUUID reports whether s has the form of a UUID, which is 8-4-4-4-12 hexadecimal digits (RFC
// 9562, 4).
func IsUUID[T ~string | ~[]byte](s T) bool {
	const length = 36
	if len(s) != length {
		return false
	}
	for i := range length {
		if hyphen := i == 8 || i == 13 || i == 18 || i == 23; hyphen != (s[i] == '-') || !hyphen && !IsHex(s[i]) {
			return false
		}
	}
	return true
}

// IsEscape reports whether s has a percent sign and two hexadecimal digits at offset i.
func IsEscape(s string, i int) bool {
	return i+2 < len(s) && s[i] == '%' && IsHex(s[i+1]) && IsHex(s[i+2])
}

// UnescapeRune decodes the percent-encoded character at the start of s. It also returns the length
// of the escapes, or 0 if they are not valid UTF-8.
func UnescapeRune(s string) (rune, int) {
	var octets [utf8.UTFMax]byte
	n := 0
	for n < len(octets) && IsEscape(s, 3*n) {
		octets[n] = Unhex(s[3*n+1])<<4 | Unhex(s[3*n+2])
		n++
	}
	r, size := utf8.DecodeRune(octets[:n])
	if r == utf8.RuneError && size <= 1 {
		return 0, 0
	}
	return r, 3 * size
}

// Escape returns the percent-encoding of c.
func Escape(c byte) string { return string([]byte{'%', UpperHex[c>>4], UpperHex[c&15]}) }
