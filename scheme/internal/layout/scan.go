package layout

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// EscapedControl returns the offset of the first percent-encoded control
// character in s[from:to], or -1.
func EscapedControl(s string, from, to int) int {
	for i := from; i < to; i++ {
		n := strings.IndexByte(s[i:to], '%')
		if n < 0 {
			return -1
		}
		i += n
		if i+2 < to {
			if c := ascii.Unhex(s[i+1])<<4 | ascii.Unhex(s[i+2]); c < ' ' || c == 0x7F {
				return i
			}
		}
	}
	return -1
}

// Octet decodes the octet at offset i, and returns the offset of the next octet.
func Octet(s string, i int) (c byte, next int) {
	if s[i] == '%' && i+2 < len(s) {
		return ascii.Unhex(s[i+1])<<4 | ascii.Unhex(s[i+2]), i + 3
	}
	return s[i], i + 1
}
