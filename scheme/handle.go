package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var hdl = Scheme{
	Name: "hdl", Title: "Handle System", Kind: KindName,
	Reference:  "RFC 3651, 2",
	Example:    "hdl:2027/mdp.39015012345678",
	Note:       "not registered; the case of the prefix does not matter, that of the local name is for each service to say",
	Special:    []Special{{uri.ComponentPath, "/", "the first one separates prefix and local name"}},
	Properties: "unique among all handles; the prefix is given by the registry of handles",
	Rules:      RuleSet{Check: checkHandle, Parts: partsHandle, Canonical: canonicalHandle},
}

var doi = Scheme{
	Name: "doi", Kind: KindName,
	Reference:  "ISO 26324; RFC 3651, 2",
	Example:    "doi:10.1000/182",
	Note:       "letters of ASCII are equal in both cases",
	Special:    []Special{{uri.ComponentPath, "/", "the first one separates prefix and suffix"}},
	Properties: "unique and never given to anything else; the prefix is given by a registration agency",
	Rules:      RuleSet{Check: checkHandle, Parts: partsHandle, Canonical: canonicalDOI},
}

// The productions of handles.
const (
	ruleHandle = "RFC 3651, 2: Handle"
	rulePrefix = "RFC 3651, 2: NamingAuthority"
	ruleDOI    = "ISO 26324, 4.2.2: DOI prefix"
)

// checkHandle checks a handle, and that the prefix of a DOI begins with its
// directory indicator.
//
//	Handle          = NamingAuthority "/" LocalName
//	NamingAuthority = *( NAsegment "." ) NAsegment
func checkHandle(u uri.URI) []Finding {
	l := layoutOf(u)
	slash := until(l.s, l.path, l.pathEnd, '/')
	isDOI := l.rest == len("doi:") && l.s[0]|0x20 == 'd'
	switch {
	case l.authority:
		return []Finding{broken(l.rest, l.rest+2, ruleHandle, "the prefix comes without slashes").instead("")}
	case slash == l.path && l.hasPath():
		return []Finding{broken(l.path, l.path+1, ruleHandle, "the prefix comes without a slash").instead("")}
	case slash == l.path:
		return refuse(l.path, l.path, ruleHandle, "the prefix is missing")
	case slash == l.pathEnd:
		return refuse(slash, slash, ruleHandle, "a slash and a local name must follow the prefix")
	case slash+1 == l.pathEnd:
		return refuse(l.pathEnd, l.pathEnd, ruleHandle, "the local name is missing")
	}
	if dots := strings.Index("."+l.s[l.path:slash]+".", ".."); dots >= 0 {
		return refuse(l.path+dots, l.path+dots, rulePrefix, "a segment of the prefix is empty")
	}
	if isDOI {
		return l.checkDOIPrefix(slash)
	}
	return nil
}

// checkDOIPrefix checks "10." and a registrant code of digits.
func (l *layout) checkDOIPrefix(slash int) []Finding {
	prefix := l.s[l.path:slash]
	const indicator = "10."
	if !strings.HasPrefix(prefix, indicator) {
		return refuse(l.path, slash, ruleDOI, "the prefix of a DOI begins with 10. (another handle is written hdl:)")
	}
	for i := len(indicator); i < len(prefix); i++ {
		if !isDigit(prefix[i]) && prefix[i] != '.' {
			return refuse(l.path+i, l.path+i+1, ruleDOI, "a registrant code is digits, divided by dots")
		}
	}
	return nil
}

// partsHandle takes prefix and local name; what follows a question mark is said
// to a resolver.
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

// canonicalHandle folds the prefix.
func canonicalHandle(u uri.URI) string {
	l := layoutOf(u)
	slash := until(l.s, l.path, l.pathEnd, '/')
	return l.s[:l.path] + lowerRaw(l.s[l.path:slash]) + l.s[slash:]
}

// canonicalDOI folds all letters of the DOI, and decodes what can stand for
// itself: a DOI is what its escapes stand for. Only where a slash that appears
// would make a segment that the general syntax removes, slashes stay escaped.
func canonicalDOI(u uri.URI) string {
	l := layoutOf(u)
	s := l.foldDOI("-._~!$&'()*+,;=:@/")
	if path := "/" + s[l.path:] + "/"; strings.Contains(path, "/./") || strings.Contains(path, "/../") {
		s = l.foldDOI("-._~!$&'()*+,;=:@")
	}
	return s
}

// foldDOI decodes letters, digits and the characters given.
func (l *layout) foldDOI(bare string) string {
	b := append(make([]byte, 0, len(l.s)), l.s[:l.path]...)
	for i := l.path; i < l.pathEnd; i++ {
		c := l.s[i]
		if c != '%' {
			b = append(b, lower(c))
			continue
		}
		d := unhex(l.s[i+1])<<4 | unhex(l.s[i+2])
		if isAlnum(d) || strings.IndexByte(bare, d) >= 0 {
			b = append(b, lower(d))
		} else {
			b = append(b, l.s[i:i+3]...)
		}
		i += 2
	}
	return string(append(b, l.s[l.pathEnd:]...))
}

// lowerRaw lowers the letters of s that are not digits of escapes.
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
