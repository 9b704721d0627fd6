package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

var ark = Scheme{
	Name: "ark", Kind: KindName,
	Reference: "draft-kunze-ark",
	Example:   "ark:12148/btv1b8449691v",
	Note: "hyphens and a slash before the NAAN are not significant; the name is followed by components (/) and then variants (.); " +
		"an empty query asks for a description of the object, a double question mark for a statement of permanence",
	Special: []Special{
		{uri.ComponentPath, "/", "separates the NAAN, the name and components"},
		{uri.ComponentPath, ".", "precedes a variant"},
		{uri.ComponentPath, "-", "is ignored"},
	},
	Properties: "never reassigned; the name assigning authority (NAAN) states how long the object is kept",
	Rules:      RuleSet{Check: checkARK, Parts: partsARK, Canonical: canonicalARK},
}

// naan returns the range of the NAAN. It sets ok if a slash follows.
func (l *layout) naan() (from, to int, ok bool) {
	from = l.path
	if l.hasPath() && l.s[from] == '/' {
		from++
	}
	to = until(l.s, from, l.pathEnd, '/')
	return from, to, to < l.pathEnd
}

// checkARK checks an ARK, and adds remarks on spellings that are valid and not
// recommended.
func checkARK(u uri.URI) []Finding {
	const length = 5 // the length of all NAANs in use
	found := checkPID(u)
	if found != nil {
		return found
	}
	l := layoutOf(u)
	from, to, _ := l.naan()
	if from > l.path {
		found = append(found, instead(remark(CodeForm, l.path, from, pid.RuleARK, "the slash before the NAAN is obsolete"), ""))
	}
	if to-from != length || run(l.s, from, isBetanumeric) != to {
		found = append(found, remark(CodeForm, from, to, pid.RuleARKNAAN, "registered NAANs have five characters, digits or letters of the betanumeric alphabet, without hyphens"))
	}
	return found
}

// isBetanumeric reports whether c is a digit or a lower-case consonant other
// than l (draft-kunze-ark, 2.3).
func isBetanumeric(c byte) bool {
	return isDigit(c) || isAlpha(c) && strings.IndexByte("aeiouly", c) < 0 && c >= 'a'
}

// partsARK adds the NAAN, the name, components and variants. Everything after
// the first dot of the last path segment is a variant.
func partsARK(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	from, to, ok := t.naan()
	t.part("naan", from, to)
	if ok {
		part, at := "name", to+1
		for at <= t.pathEnd {
			end := at
			for end < t.pathEnd && t.s[end] != '/' && t.s[end] != '.' {
				end++
			}
			t.data(part, at, end)
			part = "component"
			if end < t.pathEnd && t.s[end] == '.' {
				part = "variant"
			}
			at = end + 1
		}
	}
	if t.query >= 0 {
		t.part("inflection", t.query, t.queryEnd)
	}
	t.fragment()
	return t.parts
}

// canonicalARK returns the canonical form of draft-kunze-ark, 2.7.
func canonicalARK(u uri.URI) string {
	l := layoutOf(u)
	from, to, _ := l.naan()
	return pid.FoldARK(l.s[from:to], l.s[to+1:l.pathEnd]) + l.s[l.pathEnd:]
}
