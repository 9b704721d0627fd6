package uri

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

func parse(d Dialect, s string) (u URI, f fault) {
	f = u.parse(d, s)
	return u, f
}

// parse reads a reference in dialect d into u, which must be zero. If s is valid, the code of the
// fault is 0. Otherwise u is not valid, although parse sets u.scheme if s has a scheme.
//
// Most URIs contain no escapes and only common characters. For speed, parse reads these itself,
// with functions such as skipPath, and calls slower functions for all other URIs.
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

// parseTail reads the rest of a path, the query and the fragment, from offset i on. It returns the
// offset of the first byte that it cannot read.
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

// parseStart reads a scheme with unusual characters and returns the offset after the scheme.
func parseStart(g *grammar, t *[256]class, u *URI, s string) (int, fault) {
	i := schemeEnd(g, t, s)
	if i > 0 && i < len(s) && s[i] == ':' {
		u.scheme = uint32(i)
		return i + 1, fault{}
	}
	return 0, noScheme(g, t, s, i)
}

func schemeEnd(g *grammar, t *[256]class, s string) int {
	i := 0
	for i < len(s) && t[s[i]]&inScheme != 0 {
		i++
	}
	if g.schemeForms { // in the draft of 1993, "a%20b:" is a scheme
		i = span(t, s, i, inScheme)
	}
	if i > 0 && !ascii.IsLetter(s[0]) && !g.anySchemeStart {
		return 0
	}
	return i
}

// noScheme returns the fault for s, which does not begin with a scheme. Such a reference is invalid
// if its first segment contains a colon. The first n bytes of s contain no colon.
func noScheme(g *grammar, t *[256]class, s string, n int) fault {
	for i := n; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ':': // 1a:b, a_b:c
			return fault{off: uint32(i), code: CodeColon, rule: ruleFirstSegment}
		case c == '/':
			return fault{}
		case c == '?' && g.schemeForms: // in the draft of 1993 a?b:c has a colon and so must have a scheme, but a? is not one
		case t[c]&inPath == 0 && !isEscape(s, i): // invalid before any colon
			return fault{}
		}
	}
	return fault{}
}

// span skips characters of a class and escapes from offset i on, and returns the offset after them.
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

func badCharacter(s string, i int, r rule) fault {
	if i < len(s) && s[i] == '%' {
		return fault{off: uint32(i), code: CodeEscape, rule: ruleEscape}
	}
	return fault{off: uint32(i), code: CodeCharacter, rule: r}
}

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

// parseAuthority reads the authority that begins at start, and returns its end.
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

func kindOfName(host string) HostKind {
	if host != "" && host[0]-'0' < 10 && isIPv4(host) { // a call of isDigit would prevent inlining
		return HostIPv4
	}
	return HostName
}

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

// cleanHost reports whether every sequence of host characters is a valid host in the dialect.
func (g *grammar) cleanHost() bool { return g.future }

// endsAuthority reports whether c ends an authority (Appendix B of the draft of 1997 and
// later).
func endsAuthority(c byte) bool { return c == '/' || c == '?' || c == '#' }

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

// atSign returns the index of the @ that ends the user information, or -1. In the draft of 1993,
// user information may contain an @, so the last @ is the delimiter. Later dialects allow only one
// @.
func atSign(g *grammar, authority string) int {
	if g.schemeForms {
		return strings.LastIndexByte(authority, '@')
	}
	return strings.IndexByte(authority, '@')
}

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

// parseRegistry reads an authority that is not a server but a registry name (draft of 2003, section
// 3.2.1). The draft of 1997 has no registry names, but allows the same characters there in an
// opaque part or in a path with two slashes. The parameter f is the fault found when reading the
// authority as a server. If the authority contains a square bracket, which a registry name cannot
// contain, parseRegistry returns f.
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
