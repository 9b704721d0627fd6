package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var hdl = Scheme{
	Name: "hdl", Title: "Handle System", Kind: KindName,
	Reference:  "RFC 3651, 2",
	Example:    "hdl:2027/mdp.39015012345678",
	Note:       "not registered; the prefix is case-insensitive, and each service decides about the local name",
	Special:    []Special{{uri.ComponentPath, "/", "the first slash separates the prefix and the local name"}},
	Properties: "unique among all handles; the handle registry assigns the prefix",
	Rules:      RuleSet{Check: checkHandle, Parts: partsHandle, Canonical: canonicalHandle},
}

var doi = Scheme{
	Name: "doi", Kind: KindName,
	Reference:  "ISO 26324; RFC 3651, 2",
	Example:    "doi:10.1000/182",
	Note:       "ASCII letters are case-insensitive",
	Special:    []Special{{uri.ComponentPath, "/", "the first slash separates the prefix and the suffix"}},
	Properties: "unique and never reassigned; a registration agency assigns the prefix",
	Rules:      RuleSet{Check: checkHandle, Parts: partsHandle, Canonical: canonicalDOI},
}

// The grammar rules of handles.
const (
	ruleHandle = "RFC 3651, 2: Handle"
	rulePrefix = "RFC 3651, 2: NamingAuthority"
	ruleDOI    = "ISO 26324, 4.2.2: DOI prefix"
)

// checkHandle checks a handle. The prefix of a DOI must begin with the
// directory indicator 10.
//
//	Handle          = NamingAuthority "/" LocalName
//	NamingAuthority = *( NAsegment "." ) NAsegment
func checkHandle(u uri.URI) []Finding {
	l := layoutOf(u)
	slash := until(l.s, l.path, l.pathEnd, '/')
	isDOI := l.rest == len("doi:") && l.s[0]|0x20 == 'd'
	switch {
	case l.authority:
		return []Finding{instead(broken(l.rest, l.rest+2, ruleHandle, "the prefix must not be preceded by slashes"), "")}
	case slash == l.path && l.hasPath():
		return []Finding{instead(broken(l.path, l.path+1, ruleHandle, "the prefix must not be preceded by a slash"), "")}
	case slash == l.path:
		return refuse(l.path, l.path, ruleHandle, "missing prefix")
	case slash == l.pathEnd:
		return refuse(slash, slash, ruleHandle, "a slash and a local name must follow the prefix")
	case slash+1 == l.pathEnd:
		return refuse(l.pathEnd, l.pathEnd, ruleHandle, "missing local name")
	}
	if dots := strings.Index("."+l.s[l.path:slash]+".", ".."); dots >= 0 {
		return refuse(l.path+dots, l.path+dots, rulePrefix, "empty segment in the prefix")
	}
	if isDOI {
		return l.checkDOIPrefix(slash)
	}
	return nil
}

// checkDOIPrefix checks that the prefix is "10." and a numeric registrant code.
func (l *layout) checkDOIPrefix(slash int) []Finding {
	prefix := l.s[l.path:slash]
	const indicator = "10."
	if !strings.HasPrefix(prefix, indicator) {
		return refuse(l.path, slash, ruleDOI, "a DOI prefix must begin with 10. (write other handles as hdl:)")
	}
	for i := len(indicator); i < len(prefix); i++ {
		if !isDigit(prefix[i]) && prefix[i] != '.' {
			return refuse(l.path+i, l.path+i+1, ruleDOI, "a registrant code must consist of digits and dots")
		}
	}
	return nil
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
	slash := until(l.s, l.path, l.pathEnd, '/')
	return l.s[:l.path] + lowerRaw(l.s[l.path:slash]) + l.s[slash:]
}

// canonicalDOI converts all letters of the DOI to lower case and decodes
// percent-encodings, as a DOI is a string of decoded characters. It keeps
// percent-encoded slashes if decoding them would create a dot segment, which
// the general syntax removes.
func canonicalDOI(u uri.URI) string {
	l := layoutOf(u)
	s := l.foldDOI("-._~!$&'()*+,;=:@/")
	if path := "/" + s[l.path:] + "/"; strings.Contains(path, "/./") || strings.Contains(path, "/../") {
		s = l.foldDOI("-._~!$&'()*+,;=:@")
	}
	return s
}

// foldDOI decodes letters, digits and the characters in bare, and converts
// letters to lower case.
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
