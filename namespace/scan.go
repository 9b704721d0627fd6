package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

func isLDH(c byte) bool { return ascii.IsAlnum(c) || c == '-' }

// value36 returns the value of c as a digit in base 36. The letters A to Z have the values 10 to
// 35.
func value36(c byte) int {
	if ascii.IsDigit(c) {
		return int(c - '0')
	}
	return int(ascii.Upper(c)-'A') + 10
}

func digit36(v int) byte { return "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[v] }

func digits(s string, i int) int { return ascii.Run(s, i, ascii.IsDigit) }

// until returns the offset of the first sep from i on, or len(s).
func until(s string, i int, sep byte) int { return ascii.Until(s, i, len(s), sep) }

// emptyField returns the offset of the first empty field of s, or -1.
func emptyField(s string, sep byte) int {
	for i := 0; ; i++ {
		end := until(s, i, sep)
		if end == i {
			return i
		}
		if end == len(s) {
			return -1
		}
		i = end
	}
}

// squeeze copies the letters and digits of s to dst in upper case, without the single hyphens
// between them. It returns the number of copied bytes. The result bad is the offset of the first
// byte that is invalid or does not fit into dst, or -1.
func squeeze(s string, dst []byte) (n, bad int) {
	for i := range len(s) {
		switch c := s[i]; {
		case ascii.IsAlnum(c) && n < len(dst):
			dst[n] = ascii.Upper(c)
			n++
		case c == '-' && i > 0 && i < len(s)-1 && s[i-1] != '-':
		default:
			return n, i
		}
	}
	return n, -1
}

// place returns the offset in s of the character with the index k. The index does not count
// hyphens.
func place(s string, k int) int {
	for i := range len(s) {
		if s[i] == '-' {
			continue
		}
		if k == 0 {
			return i
		}
		k--
	}
	return len(s)
}

func bare(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "")) }

func digitLike(c byte) string {
	switch c {
	case 'O', 'o', 'Q':
		return "0"
	case 'l', 'I', 'i', '|':
		return "1"
	case 'Z', 'z':
		return "2"
	case 'S', 's':
		return "5"
	case 'B':
		return "8"
	}
	return ""
}

func isDate(s string) bool {
	return len(s) == 10 && s[4] == '-' && s[7] == '-' &&
		digits(s, 0) == 4 && digits(s, 5) == 7 && digits(s, 8) == 10 &&
		isMonth(s[5:7]) && isDay(s[8:])
}

func isMonth(s string) bool { return "01" <= s && s <= "12" }
func isDay(s string) bool   { return "01" <= s && s <= "31" }

// foldCase converts letters to lower case. It converts hexadecimal digits in percent-encodings to
// upper case.
func foldCase(s string) string {
	same := true
	for i := range len(s) {
		same = same && !ascii.IsUpper(s[i])
	}
	if same && strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := []byte(s)
	for i := 0; i < len(b); i++ {
		if b[i] == '%' && i+2 < len(b) {
			b[i+1], b[i+2] = ascii.Upper(b[i+1]), ascii.Upper(b[i+2])
			i += 2
			continue
		}
		b[i] = ascii.Lower(b[i])
	}
	return string(b)
}
