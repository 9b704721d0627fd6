package uri

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// parse is like [URI.parse] and returns a new URI.
func parse(d Dialect, s string) (u URI, f fault) {
	f = u.parse(d, s)
	return u, f
}

// parse reads a reference of any dialect into u, which must be zero, in one pass over its bytes. If
// s is valid, the fault has code 0. If it is not, u is not valid, but u.scheme is set if s has a
// scheme.
//
// Most URIs have no escapes. For these URIs, functions such as skipPath read the usual characters,
// and the loops in parse read the rest. The functions below handle all other URIs.
func (u *URI) parse(d Dialect, s string) (f fault) {
	if !d.IsValid() {
		return fault{code: CodeDialect}
	}
	if len(s) > MaxLength {
		return fault{off: MaxLength, code: CodeTooLong}
	}
	g, t := &grammars[d], &classes[d]

	i := skipScheme(s)
	for i < len(s) && t[s[i]]&inScheme != 0 {
		i++
	}
	if i > 0 && i < len(s) && s[i] == ':' && ascii.IsLetter(s[0]) {
		u.scheme = uint32(i)
		i++
	} else if i, f = parseStart(g, t, u, s); f.code != 0 {
		return f
	}

	u.host, u.hostEnd = uint32(i), uint32(i)
	path, query := inPath, inQuery
	if i < len(s) && s[i] == '/' {
		if i+1 < len(s) && s[i+1] == '/' {
			if i, f = parseAuthority(g, t, u, s, i+2); f.code != 0 {
				return f
			}
		}
	} else if u.scheme != 0 {
		path, query = inPath|inOpaque, inQuery|inOpaque
	}
	u.path = uint32(i)
	i = skipPath(s, i)
	for i < len(s) && t[s[i]]&path != 0 {
		i++
	}
	u.query, u.frag = uint32(i), uint32(i)
	if i < len(s) {
		if i = parseTail(t, u, s, i, path, query); i < len(s) {
			return badCharacter(s, i, componentAt(u, i))
		}
	}
	u.s, u.dialect = s, d
	if g.schemeForms {
		f = checkForm(u)
	}
	return f
}

// parseTail reads the rest of a path, the query and the fragment, from offset i on. It returns
// the offset of the first byte that it cannot read. The parameters path and query are the
// classes of the characters of a path and of a query.
func parseTail(t *[256]class, u *URI, s string, i int, path, query class) int {
	if s[i] == '%' {
		i = span(t, s, i, path)
	}
	u.query = uint32(i)
	if i < len(s) && s[i] == '?' {
		i = span(t, s, i+1, query)
	}
	u.frag = uint32(i)
	if i < len(s) && s[i] == '#' {
		i = span(t, s, i+1, inFrag)
	}
	return i
}

// parseStart reads the scheme of a reference that does not begin with an ordinary scheme, and
// returns the offset after the scheme.
func parseStart(g *grammar, t *[256]class, u *URI, s string) (int, fault) {
	i := schemeEnd(g, t, s)
	if i > 0 && i < len(s) && s[i] == ':' {
		u.scheme = uint32(i)
		return i + 1, fault{}
	}
	return 0, noScheme(g, t, s, i)
}

// schemeEnd returns the end of a possible scheme, or 0 if s cannot begin with one.
func schemeEnd(g *grammar, t *[256]class, s string) int {
	i := 0
	for i < len(s) && t[s[i]]&inScheme != 0 {
		i++
	}
	if g.schemeForms { // a%20b: is a scheme of the draft of 1993
		i = span(t, s, i, inScheme)
	}
	if i > 0 && !ascii.IsLetter(s[0]) && !g.anySchemeStart {
		return 0
	}
	return i
}

// noScheme finds out why the text before a colon is not a scheme. The first n
// bytes of s are known to contain no colon.
func noScheme(g *grammar, t *[256]class, s string, n int) fault {
	for i := n; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ':': // 1a:b, a_b:c
			return fault{off: uint32(i), code: CodeColon, rule: ruleFirstSegment}
		case c == '/':
			return fault{}
		case c == '?' && g.schemeForms: // a?b:c is a full form of the draft of 1993, but a? is not a scheme
		case t[c]&inPath == 0 && !isEscape(s, i): // invalid before any colon
			return fault{}
		}
	}
	return fault{}
}

// span skips characters of a class and escapes, from offset i on, and returns the offset after
// them.
func span(t *[256]class, s string, i int, in class) int {
	for i < len(s) {
		c := s[i]
		if t[c]&in != 0 {
			i++
		} else if c == '%' && isEscape(s, i) {
			i += 3
		} else {
			break
		}
	}
	return i
}

// badCharacter returns the fault for the character at i.
func badCharacter(s string, i int, r rule) fault {
	if i < len(s) && s[i] == '%' {
		return fault{off: uint32(i), code: CodeEscape, rule: ruleEscape}
	}
	return fault{off: uint32(i), code: CodeCharacter, rule: r}
}

// componentAt returns the rule of the path, query or fragment that the parser was reading when
// it stopped at offset i.
func componentAt(u *URI, i int) rule {
	switch {
	case int(u.frag) < i:
		return ruleFragment
	case u.query < u.frag:
		return ruleQuery
	default:
		return rulePath
	}
}

// parseAuthority reads the authority that begins at start, and returns its end:
//
//	authority = [ userinfo "@" ] host [ ":" port ]
func parseAuthority(g *grammar, t *[256]class, u *URI, s string, start int) (int, fault) {
	i := skipHost(s, start)
	for i < len(s) && t[s[i]]&inHost != 0 {
		i++
	}
	if g.cleanHost() && (i == len(s) || endsAuthority(s[i])) {
		u.host, u.hostEnd, u.kind = uint32(start), uint32(i), kindOfName(s[start:i])
		return i, fault{}
	}
	return parseLongAuthority(g, t, u, s, start)
}

// kindOfName returns the kind of a host that consists of characters of names: an
// IPv4 address or a name.
func kindOfName(host string) HostKind {
	if host != "" && host[0]-'0' < 10 && isIPv4(host) { // isDigit would prevent inlining
		return HostIPv4
	}
	return HostName
}

// parseLongAuthority reads an authority that is not just a host.
func parseLongAuthority(g *grammar, t *[256]class, u *URI, s string, start int) (int, fault) {
	i := start
	for i < len(s) && !endsAuthority(s[i]) {
		i++
	}
	f := parseServer(g, t, u, s, start, i)
	if f.code != 0 && g.domainHosts {
		f = parseRegistry(t, u, s, start, i, f)
	}
	return i, f
}

// cleanHost reports whether every run of host characters is a valid host in the dialect.
func (g *grammar) cleanHost() bool { return g.future }

// endsAuthority reports whether c ends an authority (Appendix B of the draft of 1997 and
// later).
func endsAuthority(c byte) bool { return c == '/' || c == '?' || c == '#' }

// parseServer reads an authority between start and end. It reports the first
// fault.
func parseServer(g *grammar, t *[256]class, u *URI, s string, start, end int) fault {
	host := start
	if n := atSign(g, s[start:end]); n >= 0 {
		host = start + n + 1
		if i := span(t, s[:start+n], start, inUser); i < start+n {
			return badCharacter(s, i, ruleUserinfo)
		}
		if n == 0 && g.schemeForms { // http://@h/
			return fault{off: uint32(start), code: CodeCharacter, rule: ruleUserinfo}
		}
	}
	if start == end && g.domainHosts { // file:///x: the server is empty
		u.host, u.hostEnd = uint32(host), uint32(host)
		return fault{}
	}
	hostEnd, kind, f := parseHost(g, t, s[:end], host)
	if f.code != 0 {
		return f
	}
	if f := checkPort(g, s[:end], hostEnd); f.code != 0 {
		return f
	}
	u.host, u.hostEnd, u.kind = uint32(host), uint32(hostEnd), kind
	return fault{}
}

// atSign returns the index of the @ that ends the user information, or -1. In the draft of 1993 it
// is the last @, because user information may contain an @; later dialects allow only one @.
func atSign(g *grammar, authority string) int {
	if g.schemeForms {
		return strings.LastIndexByte(authority, '@')
	}
	return strings.IndexByte(authority, '@')
}

// parseHost reads the host that begins at start, up to the colon of a port or the
// end.
func parseHost(g *grammar, t *[256]class, s string, start int) (int, HostKind, fault) {
	if start < len(s) && s[start] == '[' && g.ipv6 {
		return parseLiteral(g, t, s, start)
	}
	end := len(s)
	if n := strings.IndexByte(s[start:], ':'); n >= 0 {
		end = start + n
	}
	if i := span(t, s[:end], start, inHost); i < end {
		return 0, 0, badCharacter(s[:end], i, ruleHost)
	}
	kind, at := hostKind(g, s[start:end])
	if at >= 0 {
		return 0, 0, fault{off: uint32(start + at), code: CodeHost, rule: ruleHost}
	}
	return end, kind, fault{}
}

// parseLiteral reads an address in brackets.
func parseLiteral(g *grammar, t *[256]class, s string, start int) (int, HostKind, fault) {
	bad := fault{off: uint32(start), code: CodeLiteral, rule: ruleLiteral}
	n := strings.IndexByte(s[start:], ']')
	if n < 0 {
		return 0, 0, bad
	}
	kind := literalKind(g, t, s[start+1:start+n])
	if kind == HostNone {
		return 0, 0, bad
	}
	end := start + n + 1
	if end < len(s) && s[end] != ':' { // [::1]x
		return 0, 0, fault{off: uint32(end), code: CodeCharacter, rule: ruleAuthority}
	}
	return end, kind, fault{}
}

// checkPort checks that a host is followed by nothing, or by a colon and digits.
func checkPort(g *grammar, s string, hostEnd int) fault {
	for i := hostEnd + 1; i < len(s); i++ {
		if !ascii.IsDigit(s[i]) {
			return fault{off: uint32(i), code: CodePort, rule: rulePort}
		}
	}
	if hostEnd+1 == len(s) && g.schemeForms { // http://h:/
		return fault{off: uint32(hostEnd + 1), code: CodePort, rule: rulePort}
	}
	return fault{}
}

// parseRegistry reads an authority that is not a server: a reg-name of 2003, 3.2.1. In the draft of
// 1997 such a reference is opaque, or its path begins with two slashes; the allowed characters are
// the same. The parameter f is the fault in the syntax of a server. If the authority has a square
// bracket, parseRegistry returns f.
func parseRegistry(t *[256]class, u *URI, s string, start, end int, f fault) fault {
	if i := span(t, s[:end], start, inPath); i < end {
		if c := s[i]; c == '[' || c == ']' {
			return f
		}
		return badCharacter(s[:end], i, ruleAuthority)
	}
	u.host, u.hostEnd, u.kind = uint32(start), uint32(end), HostRegistry
	return fault{}
}
