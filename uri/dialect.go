package uri

// A Dialect is one version of the URI syntax, as a draft or an RFC defines it. The zero Dialect is
// not valid.
//
// All dialects share one parser. They differ in a table, which lists the octets that each component
// may contain, and in a few flags.
type Dialect uint8

// The dialects, by year. RFC6874 is [RFC3986] with zone identifiers in IPv6 addresses, such as
// http://[fe80::1%25en0]/. It is not the default, and must be chosen explicitly.
const (
	Draft1993 Dialect = iota + 1 // draft-ietf-uri-url, July 1993
	Draft1997                    // draft-fielding-url-syntax-05, May 1997
	Draft2003                    // draft-fielding-uri-rfc2396bis-01, March 2003
	RFC3986                      // RFC 3986, January 2005
	RFC6874                      // RFC 6874, February 2013

	// Latest is the dialect that functions without a dialect parameter use.
	Latest = RFC3986

	dialects = int(RFC6874) + 1
)

// String returns the name that the command line uses for the dialect: 1993, 1997, 2003, rfc3986 or
// rfc6874.
func (d Dialect) String() string {
	if !d.IsValid() {
		return "invalid"
	}
	return grammars[d].name
}

// IsValid reports whether d is one of the dialects.
func (d Dialect) IsValid() bool { return d != 0 && int(d) < dialects }

// ParseDialect returns the dialect with the name s; see [Dialect.String].
func ParseDialect(s string) (Dialect, bool) {
	for d := Draft1993; d.IsValid(); d++ {
		if d.String() == s {
			return d, true
		}
	}
	return 0, false
}

// A grammar holds the differences between a dialect and the others, except for the allowed
// characters. A flag is set if the document of the dialect has the feature.
type grammar struct {
	name  string
	rules [ruleCount]string // the names of the common productions in the document

	// Syntax.
	anySchemeStart bool // a scheme may begin with a digit, + - . (draft of 1997, section 4.1)
	schemeForms    bool // known schemes have their own forms (draft of 1993, BNF)
	domainHosts    bool // a host is an address or a domain name; any other authority is not a server (draft of 1997, section 4.3.1; draft of 2003, section 3.2.2)
	labels2003     bool // labels have at most 63 characters, and a final dot is allowed (draft of 2003, section 3.2.2)
	hostNumbers    bool // the numbers of an IPv4 address have no upper limit (draft of 1993, BNF; draft of 1997, section 4.3.1)
	ipv6           bool // addresses in brackets (draft of 2003, section 3.2.2)
	future         bool // later address versions in brackets (RFC 3986, section 3.2.2)
	zones          bool // zones in IPv6 addresses (RFC 6874, section 2)
	params         bool // segments have parameters (draft of 1997, section 4.3.2; draft of 2003, section 3.3)

	// Resolution.
	sameDocument  bool // an empty reference means the current document, which is not a URI (draft of 1997, section 3; draft of 2003, section 4.2)
	queryKeeps    bool // a reference that is only a query keeps the path of the base (draft of 2003, section 5.2)
	schemeLoose   bool // on request, a scheme that the reference shares with the base is ignored (draft of 2003, section 5.2; RFC 3986, section 5.2.2)
	cleanAbsolute bool // dot segments are also removed from absolute references (RFC 3986, section 5.2.2)
	mergesQuery   bool // dot segments are also removed from the query (draft of 1997, section 5.2)
	rootedMerge   bool // an empty path of the base counts as "/", even without an authority (draft of 2003, section 5.2)
	refusesOpaque bool // an opaque base is an error (draft of 2003, section 5)
	excess        Excess

	// Normalisation.
	foldHost     bool  // hosts are case-insensitive (draft of 1997, section 6; draft of 2003, section 6.2.2.1)
	hexLevel     Level // the level at which hexadecimal digits of escapes become upper case
	cleanDots    bool  // dot segments are removed (draft of 2003, section 6.2.2.3)
	emptyPort    bool  // an empty port is removed (draft of 2003, section 6.2.3)
	rootPath     bool  // an empty path may be equivalent to "/" (RFC 3986, section 6.2.3)
	voidFragment bool  // an empty fragment is removed (draft of 1993, Fragment-id)
}

var grammars = [dialects]grammar{
	Draft1993: {
		name: "1993",
		rules: [ruleCount]string{
			"fragmentaddress", "scheme", "hostport", "user", "host", "host", "port",
			"scheme", "path", "search", "fragmentid", "escape",
		},
		schemeForms: true, hostNumbers: true,
		sameDocument: true, excess: ExcessKeep,
		hexLevel: LevelPercent, voidFragment: true,
	},
	Draft1997: {
		name: "1997",
		rules: [ruleCount]string{
			"URL-reference", "scheme", "site", "user", "host", "host", "port",
			"rel_path", "path", "query", "fragment", "escaped",
		},
		anySchemeStart: true, domainHosts: true, hostNumbers: true, params: true,
		sameDocument: true, mergesQuery: true, excess: ExcessKeep,
		foldHost: true, hexLevel: LevelPercent,
	},
	Draft2003: {
		name: "2003",
		rules: [ruleCount]string{
			"URI-reference", "scheme", "authority", "userinfo", "host", "IPv6reference", "port",
			"rel-segment", "path", "query", "fragment", "escaped",
		},
		domainHosts: true, labels2003: true, ipv6: true, params: true,
		sameDocument: true, queryKeeps: true, schemeLoose: true, rootedMerge: true, refusesOpaque: true, excess: ExcessKeep,
		foldHost: true, hexLevel: LevelPercent, cleanDots: true, emptyPort: true,
	},
	RFC3986: latest("rfc3986", false),
	RFC6874: latest("rfc6874", true),
}

func latest(name string, zones bool) grammar {
	return grammar{
		name: name,
		rules: [ruleCount]string{
			"URI-reference", "scheme", "authority", "userinfo", "reg-name", "IP-literal", "port",
			"segment-nz-nc", "pchar", "query", "fragment", "pct-encoded",
		},
		ipv6: true, future: true, zones: zones,
		queryKeeps: true, schemeLoose: true, cleanAbsolute: true, excess: ExcessDrop,
		foldHost: true, hexLevel: LevelCase, cleanDots: true, emptyPort: true, rootPath: true,
	}
}
