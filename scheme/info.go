package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var info = Scheme{
	Name: "info", Kind: KindName,
	Reference:  "RFC 4452",
	Example:    "info:lccn/n78890351",
	Note:       "the registry of namespaces is closed; the rules of each namespace are not checked",
	Special:    []Special{{uri.ComponentPath, "/", "the first slash separates the namespace and the identifier"}},
	Properties: "identifiers from public namespaces; does not locate anything",
	Rules:      RuleSet{Check: checkInfo, Parts: partsInfo, Canonical: canonicalInfo},
}

const ruleInfo = "RFC 4452, 4.1: info-URI"

// checkInfo checks an info URI.
//
//	info-scheme = "info"
//	info-URI    = info-scheme ":" namespace "/" identifier [ "#" fragment ]
//	namespace   = ALPHA *( ALPHA / DIGIT / "." / "+" / "-" )
//	identifier  = path-rootless
func checkInfo(u uri.URI) []Finding {
	l := layoutOf(u)
	slash := until(l.s, l.path, l.pathEnd, '/')
	switch {
	case l.authority || slash == l.path && l.hasPath():
		return []Finding{instead(broken(l.rest, l.rest+run(l.s[l.rest:], 0, func(c byte) bool { return c == '/' }), ruleInfo, "the namespace must not be preceded by slashes"), "")}
	case !l.hasPath():
		return refuse(l.path, l.path, ruleInfo, "missing namespace")
	}
	for i := l.path; i < slash; i++ {
		if c := l.s[i]; !isAlpha(c) && (i == l.path || !isDigit(c) && strings.IndexByte(".+-", c) < 0) {
			return refuse(i, i+1, "RFC 4452, 4.1: namespace", "a namespace must begin with a letter, followed by letters, digits, . + -")
		}
	}
	switch {
	case slash == l.pathEnd:
		return refuse(slash, slash, ruleInfo, "a slash and an identifier must follow the namespace")
	case slash+1 == l.pathEnd || l.s[slash+1] == '/':
		return refuse(slash+1, min(slash+2, l.pathEnd), "RFC 4452, 4.1: identifier", "the identifier must not be empty or begin with a slash")
	case l.query >= 0:
		return []Finding{instead(broken(l.query-1, l.query, ruleInfo, "queries are not allowed; percent-encode a question mark as %3F"), "%3F")}
	}
	return nil
}

// partsInfo adds the namespace and the identifier.
func partsInfo(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	slash := until(t.s, t.path, t.pathEnd, '/')
	t.part("namespace", t.path, slash)
	if slash < t.pathEnd {
		t.data("identifier", slash+1, t.pathEnd)
	}
	t.fragment()
	return t.parts
}

// canonicalInfo converts the namespace to lower case (RFC 4452, 5).
func canonicalInfo(u uri.URI) string {
	l := layoutOf(u)
	slash := until(l.s, l.path, l.pathEnd, '/')
	return l.s[:l.path] + strings.ToLower(l.s[l.path:slash]) + l.s[slash:]
}
