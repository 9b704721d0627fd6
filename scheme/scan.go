package scheme

import "strings"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isAlnum(c byte) bool { return isDigit(c) || isAlpha(c) }
func isHex(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 0x20
	}
	return c
}

// unhex returns the value of a hex digit.
func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// equalFold compares strings, ignoring the case of ASCII letters.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// run returns the end of the run of bytes from offset i that satisfy kind.
func run(s string, i int, kind func(byte) bool) int {
	for i < len(s) && kind(s[i]) {
		i++
	}
	return i
}

// all reports whether s is not empty and all its bytes satisfy kind.
func all(s string, kind func(byte) bool) bool { return s != "" && run(s, 0, kind) == len(s) }

// until returns the offset of the first sep at or after i and before end, or
// end.
func until(s string, i, end int, sep byte) int {
	if n := strings.IndexByte(s[i:end], sep); n >= 0 {
		return i + n
	}
	return end
}

// escapedControl returns the offset of the first percent-encoded control
// character in s[from:to], or -1.
func escapedControl(s string, from, to int) int {
	for i := from; i < to; i++ {
		n := strings.IndexByte(s[i:to], '%')
		if n < 0 {
			return -1
		}
		i += n
		if i+2 < to {
			if c := unhex(s[i+1])<<4 | unhex(s[i+2]); c < ' ' || c == 0x7F {
				return i
			}
		}
	}
	return -1
}

// cutPrefixFold is like strings.CutPrefix and ignores case.
func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
