package uri

import "strings"

// parse reads a reference in one pass. The fault has code 0 if s is one.
func parse(d Dialect, s string) (u URI, f fault) {
	if d != RFC3986 {
		return u, fault{code: CodeDialect}
	}
	if len(s) > MaxLength {
		return u, fault{off: MaxLength, code: CodeTooLong}
	}
	t := &classes[d]
	u.dialect = d
	u.s = s

	i := 0
	for i < len(s) && t[s[i]]&inScheme != 0 {
		i++
	}
	if i > 0 && i < len(s) && s[i] == ':' && isLetter(s[0]) {
		u.scheme = uint32(i)
		i++
	} else {
		if at := firstColon(t, s, i); at >= 0 {
			return u, fault{off: uint32(at), code: CodeColon, rule: ruleFirstSegment}
		}
		i = 0
	}

	u.host = uint32(i)
	if i+1 < len(s) && s[i] == '/' && s[i+1] == '/' {
		if i, f = parseAuthority(t, &u, i+2); f.code != 0 {
			return u, f
		}
	} else {
		u.hostEnd = uint32(i)
	}
	u.path = uint32(i)

	if i, f = span(t, s, i, inPath, rulePath); f.code != 0 {
		return u, f
	}
	u.query = uint32(i)
	if i < len(s) && s[i] == '?' {
		if i, f = span(t, s, i+1, inQuery, ruleQuery); f.code != 0 {
			return u, f
		}
	}
	u.frag = uint32(i)
	if i == len(s) {
		return u, fault{}
	}
	if s[i] != '#' {
		return u, fault{off: uint32(i), code: CodeCharacter, rule: rulePath}
	}
	if i, f = span(t, s, i+1, inFrag, ruleFragment); f.code == 0 && i < len(s) {
		f = fault{off: uint32(i), code: CodeCharacter, rule: ruleFragment}
	}
	return u, f
}

// firstColon returns the index of a colon in the first segment of a relative
// path, of which the first n bytes are known to have none; -1 without.
func firstColon(t *[256]class, s string, n int) int {
	for i := n; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ':':
			return i
		case c == '/', c != '%' && t[c]&inPath == 0:
			return -1
		}
	}
	return -1
}

// span skips what may stand bare or escaped in a place, up to a delimiter that
// ends it.
func span(t *[256]class, s string, i int, in class, r rule) (int, fault) {
	for i < len(s) {
		c := s[i]
		if t[c]&in != 0 {
			i++
			continue
		}
		switch {
		case isEscape(s, i):
			i += 3
		case c == '%':
			return i, fault{off: uint32(i), code: CodeEscape, rule: ruleEscape}
		case c == '#' || c == '?':
			return i, fault{}
		default:
			return i, fault{off: uint32(i), code: CodeCharacter, rule: r}
		}
	}
	return i, fault{}
}

// parseAuthority reads the authority that begins at start, and returns its end:
//
//	authority = [ userinfo "@" ] host [ ":" port ]
func parseAuthority(t *[256]class, u *URI, start int) (int, fault) {
	s := u.s
	i := start
	for i < len(s) && t[s[i]]&inHost != 0 {
		i++
	}
	u.host = uint32(start)
	u.hostEnd = uint32(i)
	u.kind = HostName
	if i == len(s) || s[i] == '/' || s[i] == '?' || s[i] == '#' {
		u.kind = nameKind(s[start:i])
		return i, fault{}
	}
	return parseFullAuthority(t, u, start)
}

func nameKind(host string) HostKind {
	if host != "" && isDigit(host[0]) && isIPv4(host) {
		return HostIPv4
	}
	return HostName
}

// parseFullAuthority reads an authority that is not just a plain host name.
func parseFullAuthority(t *[256]class, u *URI, start int) (int, fault) {
	s := u.s
	end := len(s)
	if n := strings.IndexAny(s[start:], "/?#"); n >= 0 {
		end = start + n
	}
	host := start
	if n := strings.IndexByte(s[start:end], '@'); n >= 0 {
		if f := all(t, s, start, start+n, inUser, ruleUserinfo); f.code != 0 {
			return 0, f
		}
		host = start + n + 1
	}
	u.host = uint32(host)
	hostEnd, f := parseHost(t, u, host, end)
	if f.code != 0 {
		return 0, f
	}
	u.hostEnd = uint32(hostEnd)
	for i := hostEnd + 1; i < end; i++ {
		if !isDigit(s[i]) {
			return 0, fault{off: uint32(i), code: CodePort, rule: rulePort}
		}
	}
	return end, fault{}
}

// parseHost reads a host that ends before end or before the colon of a port.
func parseHost(t *[256]class, u *URI, start, end int) (int, fault) {
	s := u.s
	if start < end && s[start] == '[' {
		n := strings.IndexByte(s[start:end], ']')
		if n < 0 {
			return 0, fault{off: uint32(start), code: CodeLiteral, rule: ruleLiteral}
		}
		after := start + n + 1
		switch inner := s[start+1 : start+n]; {
		case isIPv6(inner):
			u.kind = HostIPv6
		case isIPvFuture(inner, t):
			u.kind = HostIPvFuture
		default:
			return 0, fault{off: uint32(start), code: CodeLiteral, rule: ruleLiteral}
		}
		if after < end && s[after] != ':' {
			return 0, fault{off: uint32(after), code: CodeCharacter, rule: ruleAuthority}
		}
		return after, fault{}
	}
	if n := strings.IndexByte(s[start:end], ':'); n >= 0 {
		end = start + n
	}
	if f := all(t, s, start, end, inHost, ruleHost); f.code != 0 {
		return 0, f
	}
	u.kind = nameKind(s[start:end])
	return end, fault{}
}

// all checks that everything from start to end may stand in a place, bare or
// escaped.
func all(t *[256]class, s string, start, end int, in class, r rule) fault {
	for i := start; i < end; i++ {
		switch {
		case t[s[i]]&in != 0:
		case isEscape(s[:end], i):
			i += 2
		case s[i] == '%':
			return fault{off: uint32(i), code: CodeEscape, rule: ruleEscape}
		default:
			return fault{off: uint32(i), code: CodeCharacter, rule: r}
		}
	}
	return fault{}
}
