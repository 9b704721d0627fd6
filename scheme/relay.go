package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// relays returns the schemes of servers that help through translators of
// addresses: STUN (RFC 7064) and TURN (RFC 7065).
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
		s.Note = "addresses of IPv6 in brackets are right here, and are refused by the general syntax of RFC 3986; a port that is omitted is looked up first, so that it is not the same as the default"
		s.Security = "the server learns who speaks with whom"
		s.Special = []Special{{uri.ComponentPath, ":", "separates host and port"}}
		s.Retrieval = "looks up and asks the server; nothing is retrieved"
		s.Rules = RuleSet{Check: withFragment(checkRelay, "RFC 3986, 3.5"), Parts: partsRelay, Canonical: canonicalRelay}
	}
	return list
}

// relayRule names a production of the document of the scheme.
func (l *layout) relayRule() string {
	if l.s[0]|0x20 == 's' {
		return "RFC 7064, 3.1: stunURI"
	}
	return "RFC 7065, 3.1: turnURI"
}

// relayHost returns where the host ends, and where the port begins, or -1.
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
		return refuse(l.path, sign+1, rule, "no user is provided for")
	}
	if end == l.path {
		return refuse(end, end, rule, "the host is missing")
	}
	if bad := badHost(l.s, l.path, end); bad >= 0 {
		return refuse(bad, min(bad+1, l.pathEnd), rule, "a host is a domain name or an address")
	}
	if port >= 0 && (!isNumber(l.s[port:l.pathEnd], 0) || l.pathEnd-port > len("65535")) {
		return refuse(port, l.pathEnd, rule, "the port is a number")
	}
	if l.query < 0 {
		return nil
	}
	f := nextField(l.s, l.query, l.queryEnd, '&')
	switch {
	case rule[:len("RFC 7064")] == "RFC 7064":
		return l.refuseQuery(rule)
	case f.end < l.queryEnd || !f.is(l.s, "transport") || f.empty():
		return refuse(l.query, l.queryEnd, "RFC 7065, 3.1: transport", "only transport= and a name may follow the question mark")
	}
	if i := firstNot(l.s, f.value, f.end, isUnreserved); i >= 0 {
		return refuse(i, i+1, "RFC 7065, 3.1: transport", "a transport is udp, tcp, or another name of letters, digits and - . _ ~")
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

// canonicalRelay folds the host, and the transport, whose names are equal in any
// case (RFC 5234, 2.3).
func canonicalRelay(u uri.URI) string {
	l := layoutOf(u)
	return l.s[:l.path] + strings.ToLower(l.s[l.path:l.end()]) + l.s[l.end():]
}
