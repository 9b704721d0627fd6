package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var ark = Scheme{
	Name: "ark", Kind: KindName,
	Reference: "draft-kunze-ark",
	Example:   "ark:12148/btv1b8449691v",
	Note: "hyphens mean nothing, and neither does a slash before the NAAN; what follows the name is a hierarchy of components (/) and then variants (.); " +
		"an empty query asks for a description, two for a statement of permanence",
	Special: []Special{
		{uri.ComponentPath, "/", "separates NAAN, name and components"},
		{uri.ComponentPath, ".", "precedes a variant"},
		{uri.ComponentPath, "-", "is ignored"},
	},
	Properties: "never given to anything else; the name assigning authority (NAAN) says how long the object is kept",
	Rules:      RuleSet{Check: checkARK, Parts: partsARK, Canonical: canonicalARK},
}

// The rules of ARKs.
const (
	ruleARK     = "draft-kunze-ark, 2: ARK"
	ruleARKNAAN = "draft-kunze-ark, 2.3: NAAN"
	ruleARKName = "draft-kunze-ark, 2.4: Name"
)

// naan returns where the NAAN begins and ends, and ok only if a slash follows.
func (l *layout) naan() (from, to int, ok bool) {
	from = l.path
	if l.hasPath() && l.s[from] == '/' {
		from++
	}
	to = until(l.s, from, l.pathEnd, '/')
	return from, to, to < l.pathEnd
}

// checkARK checks the core of an ARK, without the host of a resolver.
//
//	ARK = "ark:" [ "/" ] NAAN "/" Name [ Qualifier ]
func checkARK(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.authority {
		return refuse(l.rest, l.path, ruleARK, "the NAAN comes after at most one slash: the host of a resolver stands before ark:")
	}
	from, to, ok := l.naan()
	digits := 0
	for i := from; i < to; i++ {
		switch c := l.s[i]; {
		case c == '-':
		case isAlnum(c):
			digits++
		default:
			return refuse(i, i+1, ruleARKNAAN, "a NAAN is letters and digits")
		}
	}
	switch {
	case digits == 0:
		return refuse(from, to, ruleARKNAAN, "the NAAN, the number of who assigns names, is missing")
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
			return refuse(i, i+1, ruleARKName, "only letters, digits, = ~ * + @ _ $ and, as separators, - . / stand here")
		}
	}
	if name == 0 {
		return refuse(to+1, l.pathEnd, ruleARKName, "the name is missing")
	}
	return l.remarkARK(from, to, digits)
}

// remarkARK tells what could be written better.
func (l *layout) remarkARK(from, to, digits int) []Finding {
	const length = 5 // of all NAANs in use
	var found []Finding
	if from > l.path {
		found = append(found, remark(CodeForm, l.path, from, ruleARK, "the slash before the NAAN is no longer written").instead(""))
	}
	if digits != length || run(l.s, from, isBetanumeric) != to {
		found = append(found, remark(CodeForm, from, to, ruleARKNAAN, "registered NAANs are five digits or letters of the betanumeric alphabet, without hyphens"))
	}
	return found
}

// isBetanumeric reports whether c is a digit or a consonant other than l, in
// lower case (draft-kunze-ark, 2.3).
func isBetanumeric(c byte) bool {
	return isDigit(c) || isAlpha(c) && strings.IndexByte("aeiouly", c) < 0 && c >= 'a'
}

// partsARK takes NAAN, name, components and variants. What comes after the first
// dot behind the last slash is variants.
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

// canonicalARK is the normal form of draft-kunze-ark, 2.7: without the old
// slash, NAAN in lower case, no hyphens, structural characters single and not at
// the end, escapes in upper case.
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
