package scheme

import (
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

var info = Scheme{
	Name: "info", Kind: KindName,
	Reference:  "RFC 4452",
	Example:    "info:lccn/n78890351",
	Note:       "the registry of namespaces is closed; the rules of each namespace are not checked",
	Special:    []Special{{uri.ComponentPath, "/", "the first slash separates the namespace and the identifier"}},
	Properties: "identifiers from public namespaces; does not locate anything",
	Rules:      RuleSet{Check: checkPID, Parts: partsInfo, Canonical: canonicalInfo},
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

// canonicalInfo converts the namespace to lower case.
func canonicalInfo(u uri.URI) string {
	l := layoutOf(u)
	return l.s[:l.path] + pid.FoldInfo(l.pathText()) + l.s[l.pathEnd:]
}
