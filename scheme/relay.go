package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// relays returns the schemes of servers that help clients behind address
// translation: STUN (RFC 7064) and TURN (RFC 7065).
func relays() []Scheme {
	list := []Scheme{
		{Name: "stun", Title: "Session Traversal Utilities for NAT", Reference: "RFC 7064", DefaultPort: "3478", Example: "stun:example.org:8000"},
		{Name: "stuns", Title: "Session Traversal Utilities for NAT, secured", Reference: "RFC 7064", DefaultPort: "5349", Example: "stuns:example.org"},
		{Name: "turn", Title: "Traversal Using Relays around NAT", Reference: "RFC 7065", DefaultPort: "3478", Example: "turn:example.org:8000?transport=tcp"},
		{Name: "turns", Title: "Traversal Using Relays around NAT, secured", Reference: "RFC 7065", DefaultPort: "5349", Example: "turns:example.org?transport=tcp"},
	}
	for i := range list {
		s := &list[i]
		s.Kind = KindLocator
		s.Note = "bracketed IPv6 addresses are valid in this scheme, but the general syntax of RFC 3986 rejects them; without a port, clients look it up in DNS, so omitting it is not the same as the default"
		s.Security = "the server learns which peers communicate"
		s.Special = []Special{{uri.ComponentPath, ":", "separates the host and port"}}
		s.Retrieval = "a client finds and queries the server; nothing is retrieved"
		s.Rules = RuleSet{Check: withFragment(checkRelay, "RFC 3986, 3.5"), Parts: partsRelay, Canonical: canonicalRelay}
	}
	return list
}

// relayRule returns the name of a grammar rule in the document of the scheme.
func (l *layout) relayRule() string {
	if l.s[0]|0x20 == 's' {
		return "RFC 7064, 3.1: stunURI"
	}
	return "RFC 7065, 3.1: turnURI"
}

// relayHost returns the end of the host and the start of the port, -1 if there is
// no port.
func (l *layout) relayHost() (hostEnd, port int) {
	from := l.path
	if l.hasPath() && l.s[from] == '[' {
		from = until(l.s, from, l.pathEnd, ']')
	}
	colon := until(l.s, from, l.pathEnd, ':')
	if colon == l.pathEnd {
		return colon, -1
	}
	return colon, colon + 1
}

// checkRelay checks host, port and transport.
//
//	stunURI = scheme ":" host [ ":" port ]
//	turnURI = scheme ":" host [ ":" port ] [ "?transport=" transport ]
func checkRelay(u uri.URI) []Finding {
	l := layoutOf(u)
	rule := l.relayRule()
	if bad := l.refuseAuthority(rule, "the host"); bad != nil {
		return bad
	}
	end, port := l.relayHost()
	if sign := until(l.s, l.path, end, '@'); sign < end {
		return refuse(l.path, sign+1, rule, "a user is not allowed")
	}
	if end == l.path {
		return refuse(end, end, rule, "missing host")
	}
	if bad := badHost(l.s, l.path, end); bad >= 0 {
		return refuse(bad, min(bad+1, l.pathEnd), rule, "the host must be a domain name or an IP address")
	}
	if port >= 0 && (!isNumber(l.s[port:l.pathEnd], 0) || l.pathEnd-port > len("65535")) {
		return refuse(port, l.pathEnd, rule, "the port must be a number")
	}
	if l.query < 0 {
		return nil
	}
	f := nextField(l.s, l.query, l.queryEnd, '&')
	switch {
	case rule[:len("RFC 7064")] == "RFC 7064":
		return l.refuseQuery(rule)
	case f.end < l.queryEnd || !f.is(l.s, "transport") || f.empty():
		return refuse(l.query, l.queryEnd, "RFC 7065, 3.1: transport", "only transport= and a transport name may follow the question mark")
	}
	if i := firstNot(l.s, f.value, f.end, isUnreserved); i >= 0 {
		return refuse(i, i+1, "RFC 7065, 3.1: transport", "the transport must be udp, tcp, or another name of letters, digits and - . _ ~")
	}
	return nil
}

func partsRelay(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	end, port := t.relayHost()
	t.part("host", t.path, end)
	if port >= 0 {
		t.part("port", port, t.pathEnd)
	}
	if t.query >= 0 {
		t.fields(t.query, t.queryEnd, '&')
	}
	t.fragment()
	return t.parts
}

// canonicalRelay converts the host and the transport to lower case; transport
// names are case-insensitive (RFC 5234, 2.3).
func canonicalRelay(u uri.URI) string {
	l := layoutOf(u)
	return l.s[:l.path] + strings.ToLower(l.s[l.path:l.end()]) + l.s[l.end():]
}
