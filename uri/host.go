package uri

import "strings"

// isIPv4 reports whether s is an IPv4address of 2003, 3.2.2 and RFC 3986,
// 3.2.2: four numbers from 0 to 255 without leading zeros.
func isIPv4(s string) bool {
	for part := 1; ; part++ {
		n := octetLen(s)
		switch {
		case n == 0: // 1..2.3, 256.1.1.1, 01.2.3.4
			return false
		case part == 4:
			return n == len(s)
		case n == len(s) || s[n] != '.': // 1.2.3
			return false
		}
		s = s[n+1:]
	}
}

// octetLen returns the length of the dec-octet that s begins with, 0 if it
// begins with a number that is none.
func octetLen(s string) int {
	n, value := 0, 0
	for n < len(s) && isDigit(s[n]) {
		value = value*10 + int(s[n]-'0')
		n++
		if n > 3 || value > 255 || n > 1 && s[0] == '0' {
			return 0
		}
	}
	return n
}

// isHostNumber reports whether s is a hostnumber of 1993 (BNF) and 1997, 4.3.1:
// four groups of digits.
func isHostNumber(s string) bool {
	dots, digits := 0, 0
	for i := range len(s) {
		switch {
		case isDigit(s[i]):
			digits++
		case s[i] == '.' && digits > 0:
			dots++
			digits = 0
		default:
			return false
		}
	}
	return dots == 3 && digits > 0
}

// isIPv6 reports whether s is an IPv6address of 2003, 3.2.2 and RFC 3986,
// 3.2.2.
func isIPv6(s string) bool {
	groups, elided := 0, false
	if strings.HasPrefix(s, "::") {
		if s = s[2:]; s == "" {
			return true
		}
		elided = true
	}
	for {
		n := 0
		for n < len(s) && isHex(s[n]) {
			n++
		}
		if n < len(s) && s[n] == '.' { // ls32 as an IPv4address
			return isIPv4(s) && enoughGroups(groups+2, elided)
		}
		if n == 0 || n > 4 { // :::, 12345::
			return false
		}
		groups++
		if n == len(s) {
			return enoughGroups(groups, elided)
		}
		if s[n] != ':' || n+1 == len(s) || groups > 7 { // 1:2:3:4:5:6:7:
			return false
		}
		s = s[n+1:]
		if s[0] != ':' {
			continue
		}
		if elided { // 1::2::3
			return false
		}
		if s = s[1:]; s == "" {
			return enoughGroups(groups, true)
		}
		elided = true
	}
}

// enoughGroups reports whether n groups of 16 bits make an address, when "::"
// may stand for one or more.
func enoughGroups(n int, elided bool) bool {
	if elided {
		return n <= 7
	}
	return n == 8
}

// isIPvFuture reports whether s is an IPvFuture of RFC 3986, 3.2.2.
func isIPvFuture(s string, t *[256]class) bool {
	if len(s) < 4 || s[0]|0x20 != 'v' {
		return false
	}
	i := 1
	for i < len(s) && isHex(s[i]) {
		i++
	}
	if i == 1 || i+1 >= len(s) || s[i] != '.' {
		return false
	}
	for _, c := range []byte(s[i+1:]) {
		if t[c]&inUser == 0 {
			return false
		}
	}
	return true
}
