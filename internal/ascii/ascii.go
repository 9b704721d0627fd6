// Package ascii classifies, converts and escapes ASCII characters. The functions for one
// byte are small enough to be inlined, and no other byte belongs to any of its classes.
package ascii

import "strings"

// UpperHex lists the digits that percent-encodings are written with.
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

// IsHex reports whether c is a hexadecimal digit, in either case.
func IsHex(c byte) bool { return IsDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// Unhex returns the value of a hexadecimal digit.
func Unhex(c byte) byte {
	if IsDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// Lower returns an upper-case letter in lower case, and any other byte as it is.
func Lower(c byte) byte {
	if IsUpper(c) {
		return c + 0x20
	}
	return c
}

// Upper returns a lower-case letter in upper case, and any other byte as it is.
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

// EqualFold reports whether a and b are equal, ignoring the case of ASCII
// letters. Unlike strings.EqualFold it folds no other characters, such as the
// Kelvin sign and k.
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

// Compare compares a and b as strings.Compare does, ignoring the case of ASCII
// letters.
func Compare(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if d := int(Lower(a[i])) - int(Lower(b[i])); d != 0 {
			return d
		}
	}
	return len(a) - len(b)
}

// CutPrefix is like strings.CutPrefix and ignores the case of ASCII letters.
func CutPrefix(s, prefix string) (after string, found bool) {
	if len(s) < len(prefix) || !EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// IsASCII reports whether s has only ASCII characters.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Escape returns the percent-encoding of c.
func Escape(c byte) string { return string([]byte{'%', UpperHex[c>>4], UpperHex[c&15]}) }
