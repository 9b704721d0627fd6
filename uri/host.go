package uri

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// hostKind returns the kind of a host that is not in brackets, and the offset of the first fault,
// or -1 if the host is valid. All characters of host must be allowed in a host.
func hostKind(g *grammar, host string) (HostKind, int) {
	switch {
	case g.hostNumbers && isHostNumber(host), !g.hostNumbers && isIPv4(host):
		return HostIPv4, -1
	case g.domainHosts:
		return HostName, badLabel(g, host)
	case g.schemeForms && (host == "" || !ascii.IsLetter(host[0])): // http:///b, http://3com.com/
		return HostName, 0
	default:
		return HostName, -1
	}
}

func literalKind(g *grammar, t *[256]class, s string) HostKind {
	switch {
	case isIPv6(s), g.zones && isZoned(t, s):
		return HostIPv6
	case g.future && isIPvFuture(t, s):
		return HostIPvFuture
	default:
		return HostNone
	}
}

// maxLabel is the maximum length of a domain label (draft of 2003, section 3.2.2).
const maxLabel = 63

// badLabel returns the offset of the first fault in a domain name, or -1. The first of these rules
// is from the draft of 1997, section 4.3.1, the second from the draft of 2003, section 3.2.2:
//
//	hostname = *( domainlabel "." ) toplabel
//	hostname = domainlabel *( "." domainlabel ) [ "." toplabel "." ]
func badLabel(g *grammar, host string) int {
	start := 0
	for {
		n := labelLen(host[start:])
		end := start + n
		switch {
		case n == 0: // a..b, -a.b
			return start
		case host[end-1] == '-': // a-.b
			return end
		case g.labels2003 && n > maxLabel:
			return start + maxLabel
		case end == len(host):
			if !g.labels2003 && !ascii.IsLetter(host[start]) { // a.1
				return start
			}
			return -1
		case host[end] != '.': // a_b
			return end
		case g.labels2003 && end+1 == len(host):
			if start == 0 || !ascii.IsLetter(host[start]) { // localhost., a.1.
				return end
			}
			return -1
		}
		start = end + 1
	}
}

func labelLen(s string) int {
	n := 0
	for n < len(s) && (ascii.IsLetter(s[n]) || ascii.IsDigit(s[n]) || s[n] == '-' && n > 0) {
		n++
	}
	return n
}

// isIPv4 reports whether s consists of four numbers from 0 to 255 without leading zeros (draft of
// 2003 and RFC 3986, section 3.2.2).
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

func octetLen(s string) int {
	n, value := 0, 0
	for n < len(s) && ascii.IsDigit(s[n]) {
		value = value*10 + int(s[n]-'0')
		n++
		if n > 3 || value > 255 || n > 1 && s[0] == '0' {
			return 0
		}
	}
	return n
}

// isHostNumber reports whether s consists of four groups of digits (draft of 1993, BNF; draft of
// 1997, section 4.3.1).
func isHostNumber(s string) bool {
	dots, digits := 0, 0
	for i := range len(s) {
		switch {
		case ascii.IsDigit(s[i]):
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

// isIPv6 reports whether s is an IPv6address (draft of 2003 and RFC 3986, section 3.2.2).
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
		for n < len(s) && ascii.IsHex(s[n]) {
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

// enoughGroups reports whether n groups of 16 bits form an address. An elided address has a "::",
// which stands for one or more groups.
func enoughGroups(n int, elided bool) bool {
	if elided {
		return n <= 7
	}
	return n == 8
}

// isIPvFuture reports whether s is an IPvFuture (RFC 3986, section 3.2.2).
func isIPvFuture(t *[256]class, s string) bool {
	if len(s) < 4 || s[0]|0x20 != 'v' {
		return false
	}
	i := 1
	for i < len(s) && ascii.IsHex(s[i]) {
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

// isZoned reports whether s is an IPv6addrz, which is an address, an escaped percent sign and a
// zone (RFC 6874, section 2).
func isZoned(t *[256]class, s string) bool {
	addr, zone, ok := strings.Cut(s, "%25")
	return ok && zone != "" && isIPv6(addr) && span(t, zone, 0, unreserved) == len(zone)
}
