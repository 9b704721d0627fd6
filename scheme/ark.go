package scheme

import (
	"strings"

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

// The grammar rules of ARKs.
const (
	ruleARK     = "draft-kunze-ark, 2: ARK"
	ruleARKNAAN = "draft-kunze-ark, 2.3: NAAN"
	ruleARKName = "draft-kunze-ark, 2.4: Name"
)

// naan returns the range of the NAAN. It sets ok if a slash follows.
func (l *layout) naan() (from, to int, ok bool) {
	from = l.path
	if l.hasPath() && l.s[from] == '/' {
		from++
	}
	to = until(l.s, from, l.pathEnd, '/')
	return from, to, to < l.pathEnd
}

// checkARK checks the core of an ARK, which does not include the host of a
// resolver.
//
//	ARK = "ark:" [ "/" ] NAAN "/" Name [ Qualifier ]
func checkARK(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.authority {
		return refuse(l.rest, l.path, ruleARK, "at most one slash may precede the NAAN; the host of a resolver goes before ark:")
	}
	from, to, ok := l.naan()
	digits := 0
	for i := from; i < to; i++ {
		switch c := l.s[i]; {
		case c == '-':
		case isAlnum(c):
			digits++
		default:
			return refuse(i, i+1, ruleARKNAAN, "the NAAN must consist of letters and digits")
		}
	}
	switch {
	case digits == 0:
		return refuse(from, to, ruleARKNAAN, "missing NAAN (name assigning authority number)")
	case !ok:
		return refuse(to, to, ruleARK, "a slash and a name must follow the NAAN")
	}
	name := 0
	for i := to + 1; i < l.pathEnd; i++ {
		switch c := l.s[i]; {
		case isAlnum(c), c == '%':
			name++
		case strings.IndexByte("=~*+@_$", c) >= 0:
			name++
		case c == '-', c == '.', c == '/':
		default:
			return refuse(i, i+1, ruleARKName, "allowed are letters, digits, = ~ * + @ _ $ and the separators - . /")
		}
	}
	if name == 0 {
		return refuse(to+1, l.pathEnd, ruleARKName, "missing name")
	}
	return l.remarkARK(from, to, digits)
}

// remarkARK returns remarks on spellings that are valid and not recommended.
func (l *layout) remarkARK(from, to, digits int) []Finding {
	const length = 5 // the length of all NAANs in use
	var found []Finding
	if from > l.path {
		found = append(found, instead(remark(CodeForm, l.path, from, ruleARK, "the slash before the NAAN is obsolete"), ""))
	}
	if digits != length || run(l.s, from, isBetanumeric) != to {
		found = append(found, remark(CodeForm, from, to, ruleARKNAAN, "registered NAANs have five characters, digits or letters of the betanumeric alphabet, without hyphens"))
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

// canonicalARK returns the canonical form of draft-kunze-ark, 2.7: no slash
// before the NAAN, the NAAN in lower case, no hyphens, no repeated or trailing
// structural characters, percent-encodings in upper case.
func canonicalARK(u uri.URI) string {
	l := layoutOf(u)
	from, to, _ := l.naan()
	b := append(make([]byte, 0, len(l.s)), "ark:"...)
	for _, c := range []byte(l.s[from:to]) {
		if c != '-' {
			b = append(b, lower(c))
		}
	}
	b = append(b, '/')
	start := len(b)
	for i := to + 1; i < l.pathEnd; i++ {
		c := l.s[i]
		structural := c == '/' || c == '.'
		if c == '-' || structural && (len(b) == start || isStructural(b[len(b)-1])) {
			continue
		}
		b = append(b, c)
	}
	for len(b) > start && isStructural(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return string(append(b, l.s[l.pathEnd:]...))
}

func isStructural(c byte) bool { return c == '/' || c == '.' }
