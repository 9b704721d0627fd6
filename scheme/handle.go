package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

var hdl = Scheme{
	Name: "hdl", Title: "Handle System", Kind: KindName,
	Reference:  "RFC 3651, 2",
	Example:    "hdl:2027/mdp.39015012345678",
	Note:       "not registered; the prefix is case-insensitive, and each service decides about the local name",
	Special:    []Special{{uri.ComponentPath, "/", "the first slash separates the prefix and the local name"}},
	Properties: "unique among all handles; the handle registry assigns the prefix",
	Rules:      RuleSet{Check: checkPID, Parts: partsHandle, Canonical: canonicalHandle},
}

var doi = Scheme{
	Name: "doi", Kind: KindName,
	Reference:  "ISO 26324; RFC 3651, 2",
	Example:    "doi:10.1000/182",
	Note:       "ASCII letters are case-insensitive",
	Special:    []Special{{uri.ComponentPath, "/", "the first slash separates the prefix and the suffix"}},
	Properties: "unique and never reassigned; a registration agency assigns the prefix",
	Rules:      RuleSet{Check: checkPID, Parts: partsHandle, Canonical: canonicalDOI},
}

// partsHandle adds the prefix and the local name. A query is addressed to the
// resolver.
func partsHandle(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	slash := until(t.s, t.path, t.pathEnd, '/')
	t.data("prefix", t.path, slash)
	if slash < t.pathEnd {
		t.data("local_name", slash+1, t.pathEnd)
	}
	if t.query >= 0 {
		t.part("query", t.query, t.queryEnd)
	}
	t.fragment()
	return t.parts
}

// canonicalHandle converts the prefix to lower case.
func canonicalHandle(u uri.URI) string {
	l := layoutOf(u)
	return l.s[:l.path] + pid.FoldHandle(l.pathText()) + l.s[l.pathEnd:]
}

// canonicalDOI converts all letters of the DOI to lower case and decodes
// percent-encodings. It keeps percent-encoded slashes if decoding them would
// create a dot segment, which the general syntax removes.
func canonicalDOI(u uri.URI) string {
	l := layoutOf(u)
	doi := pid.FoldDOI(l.pathText())
	if path := "/" + doi + "/"; strings.Contains(path, "/./") || strings.Contains(path, "/../") {
		doi = pid.FoldDOIKeepingSlashes(l.pathText())
	}
	return l.s[:l.path] + doi + l.s[l.pathEnd:]
}

// lowerRaw converts s to lower case, except for percent-encodings.
func lowerRaw(s string) string {
	b := []byte(s)
	for i := 0; i < len(b); i++ {
		if b[i] == '%' {
			i += 2
			continue
		}
		b[i] = lower(b[i])
	}
	return string(b)
}

// checkPID checks the URI of a scheme of package pid.
func checkPID(u uri.URI) []Finding {
	if f := pid.Check(u); f != nil {
		return []Finding{*f}
	}
	return nil
}
