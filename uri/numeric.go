package uri

import (
	"net/netip"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// ParseNumericHost parses an IPv4 address in any notation that the C function inet_aton and
// browsers accept (draft of 2003, section 7.3; RFC 3986, section 7.4). An address consists of one
// to four numbers separated by dots. Each number may be decimal, octal (0177) or hexadecimal
// (0x7f). The last number fills the remaining bytes of the address, so "127.1" is 127.0.0.1.
// Filters for addresses should compare the result of ParseNumericHost, not the text of the host.
func ParseNumericHost(host string) (netip.Addr, bool) {
	var value uint64
	for part := 1; ; part++ {
		text, rest, more := strings.Cut(host, ".")
		n, ok := parseCNumber(text)
		switch {
		case !ok || part > 4:
			return netip.Addr{}, false
		case !more:
			left := 8 * (5 - part)
			if n >= 1<<left {
				return netip.Addr{}, false
			}
			value = value<<left | n
			return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
		case n > 255:
			return netip.Addr{}, false
		}
		value = value<<8 | n
		host = rest
	}
}

// parseCNumber parses a 32-bit number in C notation.
func parseCNumber(s string) (uint64, bool) {
	base := uint64(10)
	switch {
	case s == "":
		return 0, false
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x':
		base, s = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, s = 8, s[1:]
	}
	var n uint64
	for i := range len(s) {
		if !ascii.IsHex(s[i]) {
			return 0, false
		}
		digit := uint64(ascii.Unhex(s[i]))
		if digit >= base {
			return 0, false
		}
		if n = n*base + digit; n > 0xFFFFFFFF {
			return 0, false
		}
	}
	return n, true
}
