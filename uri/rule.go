package uri

// A rule is a production as the dialects have it in common. Its name differs.
type rule uint8

const (
	ruleReference rule = iota
	ruleScheme
	ruleAuthority
	ruleUserinfo
	ruleHost
	ruleLiteral
	rulePort
	ruleFirstSegment
	rulePath
	ruleQuery
	ruleFragment
	ruleEscape
	ruleCount
)

// ruleNames has the words of each document.
var ruleNames = [...][ruleCount]string{
	Draft1993: {
		"fragmentaddress", "scheme", "hostport", "user", "host", "host", "port",
		"scheme", "path", "search", "fragmentid", "escape",
	},
	Draft1997: {
		"URL-reference", "scheme", "site", "user", "host", "host", "port",
		"rel_path", "path", "query", "fragment", "escaped",
	},
	Draft2003: {
		"URI-reference", "scheme", "authority", "userinfo", "host", "IPv6reference", "port",
		"rel-segment", "path", "query", "fragment", "escaped",
	},
	RFC3986: {
		"URI-reference", "scheme", "authority", "userinfo", "reg-name", "IP-literal", "port",
		"segment-nz-nc", "pchar", "query", "fragment", "pct-encoded",
	},
}

// name returns the name of r in the document of d.
func (r rule) name(d Dialect) string {
	if int(d) >= len(ruleNames) {
		d = Latest
	}
	return ruleNames[d][r]
}
