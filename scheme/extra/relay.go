package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// relays returns the schemes of STUN (RFC 7064) and TURN (RFC 7065), whose servers help clients
// behind address translation.
func relays() []scheme.Scheme {
	list := []scheme.Scheme{
		{Name: "stun", Title: "Session Traversal Utilities for NAT", Reference: "RFC 7064", DefaultPort: "3478", Example: "stun:example.org:8000"},
		{Name: "stuns", Title: "Session Traversal Utilities for NAT, secured", Reference: "RFC 7064", DefaultPort: "5349", Example: "stuns:example.org"},
		{Name: "turn", Title: "Traversal Using Relays around NAT", Reference: "RFC 7065", DefaultPort: "3478", Example: "turn:example.org:8000?transport=tcp"},
		{Name: "turns", Title: "Traversal Using Relays around NAT, secured", Reference: "RFC 7065", DefaultPort: "5349", Example: "turns:example.org?transport=tcp"},
	}
	for i := range list {
		s := &list[i]
		s.Kind = scheme.KindLocator
		s.Note = "bracketed IPv6 addresses are valid in this scheme, but the general syntax of RFC 3986 rejects them; without a port, clients look it up in DNS, so omitting it is not the same as the default"
		s.Security = "the server learns which peers communicate"
		s.Special = []scheme.Special{inPath(":", "separates the host and port")}
		s.Retrieval = "a client finds and queries the server; nothing is retrieved"
		s.Rules = scheme.RuleSet{Check: withFragment(checkRelay, "RFC 3986, 3.5"), Parts: partsRelay, Canonical: canonicalRelay}
	}
	return list
}

func relayRule(l *layout.Layout) string {
	if l.Text[0]|0x20 == 's' {
		return "RFC 7064, 3.1: stunURI"
	}
	return "RFC 7065, 3.1: turnURI"
}

func relayHost(l *layout.Layout) (hostEnd, port int) {
	from := l.Path
	if l.HasPath() && l.Text[from] == '[' {
		from = ascii.Until(l.Text, from, l.PathEnd, ']')
	}
	colon := ascii.Until(l.Text, from, l.PathEnd, ':')
	if colon == l.PathEnd {
		return colon, -1
	}
	return colon, colon + 1
}

// checkRelay checks the host, the port and the transport.
//
//	stunURI = scheme ":" host [ ":" port ]
//	turnURI = scheme ":" host [ ":" port ] [ "?transport=" transport ]
func checkRelay(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	rule := relayRule(&l)
	if bad := refuseAuthority(&l, rule, "the host"); bad != nil {
		return bad
	}
	end, port := relayHost(&l)
	if sign := ascii.Until(l.Text, l.Path, end, '@'); sign < end {
		return layout.Refuse(l.Path, sign+1, rule, "a user is not allowed")
	}
	if end == l.Path {
		return layout.Refuse(end, end, rule, "missing host")
	}
	if bad := badHost(l.Text, l.Path, end); bad >= 0 {
		return layout.Refuse(bad, min(bad+1, l.PathEnd), rule, "the host must be a domain name or an IP address")
	}
	if port >= 0 && (!isNumber(l.Text[port:l.PathEnd], 0) || l.PathEnd-port > len("65535")) {
		return layout.Refuse(port, l.PathEnd, rule, "the port must be a number")
	}
	if l.Query < 0 {
		return nil
	}
	f := fieldAt(l.Text, l.Query, l.QueryEnd, '&')
	switch {
	case rule[:len("RFC 7064")] == "RFC 7064":
		return refuseQuery(&l, rule)
	case f.end < l.QueryEnd || !f.is(l.Text, "transport") || f.empty():
		return layout.Refuse(l.Query, l.QueryEnd, "RFC 7065, 3.1: transport", "only transport= and a transport name may follow the question mark")
	}
	if i := firstNot(l.Text, f.value, f.end, isUnreserved); i >= 0 {
		return layout.Refuse(i, i+1, "RFC 7065, 3.1: transport", "the transport must be udp, tcp, or another name of letters, digits and - . _ ~")
	}
	return nil
}

func partsRelay(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	end, port := relayHost(&t.Layout)
	t.Part("host", t.Path, end)
	t.Part("port", port, t.PathEnd)
	appendFields(&t, "field", t.Query, t.QueryEnd, '&', "transport")
	t.Fragment()
	return t.Parts
}

// canonicalRelay converts the host and the transport to lower case. Transports are case-insensitive
// (RFC 5234, section 2.3).
func canonicalRelay(u uri.URI) string {
	l := layout.Of(u)
	return l.Text[:l.Path] + strings.ToLower(l.Text[l.Path:l.End()]) + l.Text[l.End():]
}
