package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var xmpp = scheme.Scheme{
	Name: "xmpp", Title: "Extensible Messaging and Presence Protocol", Kind: scheme.KindOther,
	Reference: "RFC 5122",
	Example:   "xmpp:guest@example.com/resource?message;subject=Hello",
	Note:      "the account to connect with follows two slashes, and the entity to contact follows the next slash; the profiles of nodes and resources are not applied",
	Security:  "the author of the link writes the message: show it to the user before sending it",
	Special: []scheme.Special{
		inPath("@", "separates the node and domain"),
		inPath("/", "precedes the resource"),
		inQuery(";", "precedes a key and its value"),
	},
	Properties: "identifies an entity that can receive messages; nothing is retrieved",
	Rules:      scheme.RuleSet{Check: checkXMPP, Parts: partsXMPP, Canonical: canonicalXMPP},
}

const (
	ruleXMPP       = "RFC 5122, 2.2: pathxmpp"
	ruleXMPPAuth   = "RFC 5122, 2.2: authxmpp"
	ruleXMPPNode   = "RFC 5122, 2.2: nodeid"
	ruleXMPPDomain = "RFC 5122, 2.2: host"
	ruleXMPPQuery  = "RFC 5122, 2.2: querycomp"
)

// A jid holds the offsets of the pieces of an address. The offset of an absent piece is -1.
type jid struct {
	node, nodeEnd     int
	domain, domainEnd int
	resource, end     int
}

// jidOf finds the address in an XMPP URI. It returns false if the URI has only an account, without
// an entity to contact.
func jidOf(l *layout.Layout) (j jid, ok bool) {
	j = jid{node: -1, domain: l.Path, resource: -1, end: l.PathEnd}
	if l.Authority {
		if l.Path+1 >= l.PathEnd {
			return j, false
		}
		j.domain++
	}
	j.domainEnd = ascii.Until(l.Text, j.domain, l.PathEnd, '/')
	if j.domainEnd < l.PathEnd {
		j.resource = j.domainEnd + 1
	}
	if sign := ascii.Until(l.Text, j.domain, j.domainEnd, '@'); sign < j.domainEnd {
		j.node, j.nodeEnd, j.domain = j.domain, sign, sign+1
	}
	return j, true
}

// checkXMPP checks the account, the address and the query.
//
//	hierxmpp = authpath / pathxmpp
//	authpath = "//" authxmpp [ "/" pathxmpp ]
//	authxmpp = nodeid "@" host
//	pathxmpp = [ nodeid "@" ] host [ "/" resid ]
func checkXMPP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if l.Authority {
		switch {
		case l.User < 0 || l.User == l.UserEnd || l.Host == l.HostEnd:
			return layout.Refuse(l.Rest+2, l.Path, ruleXMPPAuth, "an account must have the form node@host")
		case l.Port >= 0:
			return layout.Refuse(l.Port-1, l.PortEnd, ruleXMPPAuth, "a port is not allowed")
		}
		if i := firstNot(l.Text, l.User, l.UserEnd, isXMPPNode); i >= 0 {
			return layout.Refuse(i, i+1, ruleXMPPNode, "must be percent-encoded in a node")
		}
		if l.Path+1 == l.PathEnd {
			return layout.Refuse(l.Path, l.PathEnd, ruleXMPP, "an address must follow the slash")
		}
	}
	if j, ok := jidOf(&l); ok || !l.Authority {
		if bad := checkJID(&l, &j); bad != nil {
			return bad
		}
	}
	if l.Query >= 0 {
		return checkXMPPQuery(&l)
	}
	return nil
}

func checkJID(l *layout.Layout, j *jid) []scheme.Finding {
	if j.node >= 0 {
		if j.node == j.nodeEnd {
			return layout.Refuse(j.node, j.nodeEnd, ruleXMPPNode, "missing node before the @")
		}
		if i := firstNot(l.Text, j.node, j.nodeEnd, isXMPPNode); i >= 0 {
			return layout.Refuse(i, i+1, ruleXMPPNode, "must be percent-encoded in a node")
		}
	}
	switch {
	case j.domain == j.domainEnd:
		return layout.Refuse(j.domain, j.domain, ruleXMPPDomain, "missing domain")
	case strings.IndexByte(l.Text[j.domain:j.domainEnd], '%') >= 0:
	default:
		if bad := badHost(l.Text, j.domain, j.domainEnd); bad >= 0 {
			return layout.Refuse(bad, min(bad+1, j.end), ruleXMPPDomain, "the domain must be a domain name or an IP address")
		}
	}
	if j.resource >= 0 {
		if i := firstNot(l.Text, j.resource, j.end, isXMPPResource); i >= 0 {
			return layout.Refuse(i, i+1, "RFC 5122, 2.2: resid", "must be percent-encoded in a resource")
		}
	}
	return l.RefuseHeaderControls(l.Path, l.PathEnd, ruleXMPP)
}

// isXMPPNode reports whether a node may contain c. It accepts the percent sign, which begins a
// percent-encoding.
func isXMPPNode(c byte) bool { return isUnreserved(c) || strings.IndexByte("!$()*+,;=%", c) >= 0 }

func isXMPPResource(c byte) bool { return isXMPPNode(c) || strings.IndexByte("&':", c) >= 0 }

// checkXMPPQuery checks the query, which consists of an action and its arguments.
//
//	querycomp = querytype [ *pair ]
//	pair      = ";" key "=" value
func checkXMPPQuery(l *layout.Layout) []scheme.Finding {
	end := ascii.Until(l.Text, l.Query, l.QueryEnd, ';')
	if i := firstNot(l.Text, l.Query, end, isEscaped); i >= 0 {
		return layout.Refuse(i, i+1, ruleXMPPQuery, "the query type must consist of letters, digits and - . _ ~; key=value pairs follow after semicolons")
	}
	const rule = "RFC 5122, 2.2: pair"
	for f := range fields(l.Text, end+1, l.QueryEnd, ';') {
		if f.value < 0 {
			return layout.Refuse(f.name, f.end, rule, "a pair must have the form key=value")
		}
		i := firstNot(l.Text, f.name, f.nameEnd, isEscaped)
		if i < 0 {
			i = firstNot(l.Text, f.value, f.end, isEscaped)
		}
		if i >= 0 {
			return layout.Refuse(i, i+1, rule, "must be percent-encoded in a key or value")
		}
	}
	return nil
}

func partsXMPP(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Data("account_node", t.User, t.UserEnd)
	t.Part("account_host", t.Host, t.HostEnd)
	if j, ok := jidOf(&t.Layout); ok {
		t.Data("node", j.node, j.nodeEnd)
		t.Data("domain", j.domain, j.domainEnd)
		t.Data("resource", j.resource, j.end)
	}
	if t.Query >= 0 {
		end := ascii.Until(t.Text, t.Query, t.QueryEnd, ';')
		t.Part("query_type", t.Query, end)
		if end < t.QueryEnd {
			appendFields(&t, "key", end+1, t.QueryEnd, ';')
		}
	}
	t.Fragment()
	return t.Parts
}

func canonicalXMPP(u uri.URI) string {
	l := layout.Of(u)
	j, ok := jidOf(&l)
	if !ok {
		return l.Text
	}
	return l.Text[:j.domain] + lowerRaw(l.Text[j.domain:j.domainEnd]) + l.Text[j.domainEnd:]
}
