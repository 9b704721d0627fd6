package scheme

import (
	"slices"

	"github.com/nomen-project/nomen/uri"
)

// schemesToday returns the schemes that are newer than 1993 and have rules.
func schemesToday() []Scheme {
	return slices.Concat([]Scheme{
		ws, wss,
		ark, doi, hdl, info, tag,
		data, mailto,
		tel, sms, geo,
		javascript, vbscript, viewSource, feed, webcal, blob, filesystem, jar, about,
		sip, sips, acct, im, pres, xmpp,
		ldap, ldaps, imap, pop,
		ni, nih, magnet, did,
		ssh, sftp, git, svn, rsync, jdbc,
		dns, dict, ipp, ipps, snmp, tftp, nfs, opaquelocktoken, pkcs11, payto,
	}, tunnelled(), constrained(), relays(), z3950(), servers())
}

var ws = Scheme{
	Name: "ws", Title: "WebSocket connections", Kind: KindLocator,
	Reference:   "RFC 6455, 3",
	Example:     "ws://example.org/chat",
	Security:    "others on the network path can read and change the data",
	DefaultPort: "80", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: "open a connection to the resource; its subprotocol defines the messages",
	Rules:     RuleSet{Check: checkWebSocket, Parts: partsHTTP},
}

var wss = Scheme{
	Name: "wss", Title: "Encrypted WebSocket connections", Kind: KindLocator,
	Reference:   "RFC 6455, 3",
	Example:     "wss://example.org/chat",
	DefaultPort: "443", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: ws.Retrieval,
	Rules:     RuleSet{Check: checkWebSocket, Parts: partsHTTP},
}

// checkWebSocket checks that there is a host and no fragment.
//
//	ws-URI = "ws:" "//" host [ ":" port ] path [ "?" query ]
func checkWebSocket(u uri.URI) []Finding {
	const rule = "RFC 6455, 3: ws-URI"
	l := layoutOf(u)
	if bad := l.needServer(rule); bad != nil {
		return bad
	}
	switch {
	case l.user >= 0:
		return refuse(l.user, l.userEnd+1, rule, "user information is not allowed")
	case l.frag >= 0:
		return []Finding{instead(broken(l.frag-1, len(l.s), rule, "fragments are not allowed; percent-encode a number sign as %23"), "%23"+l.s[l.frag:])}
	}
	return nil
}
