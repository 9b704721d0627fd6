package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var xmpp = Scheme{
	Name: "xmpp", Title: "Extensible Messaging and Presence Protocol", Kind: KindOther,
	Reference: "RFC 5122",
	Example:   "xmpp:guest@example.com/resource?message;subject=Hello",
	Note:      "the account to connect with follows two slashes, and the entity to contact follows the next slash; the profiles of nodes and resources are not applied",
	Security:  "the author of the link writes the message: show it to the user before sending it",
	Special: []Special{
		{uri.ComponentPath, "@", "separates the node and domain"},
		{uri.ComponentPath, "/", "precedes the resource"},
		{uri.ComponentQuery, ";", "precedes a key and its value"},
	},
	Properties: "identifies an entity that can receive messages; nothing is retrieved",
	Rules:      RuleSet{Check: checkXMPP, Parts: partsXMPP, Canonical: canonicalXMPP},
}

// The grammar rules of XMPP URIs.
const (
	ruleXMPP       = "RFC 5122, 2.2: pathxmpp"
	ruleXMPPAuth   = "RFC 5122, 2.2: authxmpp"
	ruleXMPPNode   = "RFC 5122, 2.2: nodeid"
	ruleXMPPDomain = "RFC 5122, 2.2: host"
	ruleXMPPQuery  = "RFC 5122, 2.2: querycomp"
)

// A jid holds the offsets of the pieces of an address, -1 for those that are
// undefined.
type jid struct {
	node, nodeEnd     int
	domain, domainEnd int
	resource, end     int
}

// jid returns the offsets. ok is false if there is an account and no entity to
// contact.
func (l *layout) jid() (j jid, ok bool) {
	j = jid{node: -1, domain: l.path, resource: -1, end: l.pathEnd}
	if l.authority {
		if l.path+1 >= l.pathEnd {
			return j, false
		}
		j.domain++
	}
	j.domainEnd = until(l.s, j.domain, l.pathEnd, '/')
	if j.domainEnd < l.pathEnd {
		j.resource = j.domainEnd + 1
	}
	if sign := until(l.s, j.domain, j.domainEnd, '@'); sign < j.domainEnd {
		j.node, j.nodeEnd, j.domain = j.domain, sign, sign+1
	}
	return j, true
}

// checkXMPP checks an account, an address and the query.
//
//	hierxmpp = authpath / pathxmpp
//	authpath = "//" authxmpp [ "/" pathxmpp ]
//	authxmpp = nodeid "@" host
//	pathxmpp = [ nodeid "@" ] host [ "/" resid ]
func checkXMPP(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.authority {
		switch {
		case l.user < 0 || l.user == l.userEnd || l.host == l.hostEnd:
			return refuse(l.rest+2, l.path, ruleXMPPAuth, "an account must have the form node@host")
		case l.port >= 0:
			return refuse(l.port-1, l.portEnd, ruleXMPPAuth, "a port is not allowed")
		}
		if i := firstNot(l.s, l.user, l.userEnd, isXMPPNode); i >= 0 {
			return refuse(i, i+1, ruleXMPPNode, "must be percent-encoded in a node")
		}
		if l.path+1 == l.pathEnd {
			return refuse(l.path, l.pathEnd, ruleXMPP, "an address must follow the slash")
		}
	}
	if j, ok := l.jid(); ok || !l.authority {
		if bad := l.checkJID(&j); bad != nil {
			return bad
		}
	}
	if l.query >= 0 {
		return l.checkXMPPQuery()
	}
	return nil
}

// checkJID checks an address.
func (l *layout) checkJID(j *jid) []Finding {
	if j.node >= 0 {
		if j.node == j.nodeEnd {
			return refuse(j.node, j.nodeEnd, ruleXMPPNode, "missing node before the @")
		}
		if i := firstNot(l.s, j.node, j.nodeEnd, isXMPPNode); i >= 0 {
			return refuse(i, i+1, ruleXMPPNode, "must be percent-encoded in a node")
		}
	}
	switch {
	case j.domain == j.domainEnd:
		return refuse(j.domain, j.domain, ruleXMPPDomain, "missing domain")
	case strings.IndexByte(l.s[j.domain:j.domainEnd], '%') >= 0: // an internationalised domain name
	default:
		if bad := badHost(l.s, j.domain, j.domainEnd); bad >= 0 {
			return refuse(bad, min(bad+1, j.end), ruleXMPPDomain, "the domain must be a domain name or an IP address")
		}
	}
	if j.resource >= 0 {
		if i := firstNot(l.s, j.resource, j.end, isXMPPResource); i >= 0 {
			return refuse(i, i+1, "RFC 5122, 2.2: resid", "must be percent-encoded in a resource")
		}
	}
	return l.refuseHeaderControls(l.path, l.pathEnd, ruleXMPP)
}

// isXMPPNode reports whether c is allowed in a node. It accepts the percent
// sign, which begins a percent-encoding.
func isXMPPNode(c byte) bool { return isUnreserved(c) || strings.IndexByte("!$()*+,;=%", c) >= 0 }

func isXMPPResource(c byte) bool { return isXMPPNode(c) || strings.IndexByte("&':", c) >= 0 }

// isXMPPWord reports whether c is allowed in a querytype, key or value.
func isXMPPWord(c byte) bool { return isUnreserved(c) || c == '%' }

// checkXMPPQuery checks the query, which names an action and its arguments.
//
//	querycomp = querytype [ *pair ]
//	pair      = ";" key "=" value
func (l *layout) checkXMPPQuery() []Finding {
	end := until(l.s, l.query, l.queryEnd, ';')
	if i := firstNot(l.s, l.query, end, isXMPPWord); i >= 0 {
		return refuse(i, i+1, ruleXMPPQuery, "the query type must consist of letters, digits and - . _ ~; key=value pairs follow after semicolons")
	}
	for at := end + 1; at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, ';')
		if f.value < 0 {
			return refuse(f.name, f.end, "RFC 5122, 2.2: pair", "a pair must have the form key=value")
		}
		i := firstNot(l.s, f.name, f.nameEnd, isXMPPWord)
		if i < 0 {
			i = firstNot(l.s, f.value, f.end, isXMPPWord)
		}
		if i >= 0 {
			return refuse(i, i+1, "RFC 5122, 2.2: pair", "must be percent-encoded in a key or value")
		}
		at = f.end + 1
	}
	return nil
}

func partsXMPP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.user >= 0 {
		t.data("account_node", t.user, t.userEnd)
	}
	if t.host >= 0 {
		t.part("account_host", t.host, t.hostEnd)
	}
	if j, ok := t.jid(); ok {
		if j.node >= 0 {
			t.data("node", j.node, j.nodeEnd)
		}
		t.data("domain", j.domain, j.domainEnd)
		if j.resource >= 0 {
			t.data("resource", j.resource, j.end)
		}
	}
	if t.query >= 0 {
		end := until(t.s, t.query, t.queryEnd, ';')
		t.part("query_type", t.query, end)
		if end < t.queryEnd {
			t.fields(end+1, t.queryEnd, ';')
		}
	}
	t.fragment()
	return t.parts
}

// canonicalXMPP converts the domain to lower case.
func canonicalXMPP(u uri.URI) string {
	l := layoutOf(u)
	j, ok := l.jid()
	if !ok {
		return l.s
	}
	return l.s[:j.domain] + lowerRaw(l.s[j.domain:j.domainEnd]) + l.s[j.domainEnd:]
}
