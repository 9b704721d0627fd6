package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var tag = Scheme{
	Name: "tag", Kind: KindName,
	Reference: "RFC 4151",
	Example:   "tag:example.org,2026-11:report/7",
	Note:      "equal only if spelled identically, including percent-encodings and case",
	Special: []Special{
		{uri.ComponentPath, ",", "separates the authority name and date"},
		{uri.ComponentPath, ":", "separates the tagging entity and the specific part"},
	},
	Properties: "unique, as guaranteed by the holder of the domain or mail address on the given date; does not locate anything",
	Rules:      RuleSet{Check: checkTag, Parts: partsTag},
}

// entity returns the offsets of the comma and the colon of a tagging entity, -1
// if missing.
func (l *layout) entity() (comma, colon int) {
	comma = until(l.s, l.path, l.pathEnd, ',')
	if comma == l.pathEnd {
		return -1, -1
	}
	if colon = until(l.s, comma, l.pathEnd, ':'); colon == l.pathEnd {
		return comma, -1
	}
	return comma, colon
}

// checkTag checks a tag URI, and adds remarks on spellings that are valid and not
// recommended.
func checkTag(u uri.URI) []Finding {
	const rule = "RFC 4151, 2.1"
	if found := checkPID(u); found != nil {
		return found
	}
	l := layoutOf(u)
	comma, colon := l.entity()
	if name := l.s[l.path:comma]; strings.ToLower(name) != name {
		return []Finding{instead(remark(CodeForm, l.path, comma, rule, "write domain names in lower case"), strings.ToLower(name))}
	}
	if strings.HasSuffix(l.s[comma+1:colon], "-01") {
		return []Finding{remark(CodeForm, comma+1, colon, rule, "omit the first day of a month or year")}
	}
	return nil
}

// partsTag adds the authority name, the date and the specific part.
func partsTag(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	comma, colon := t.entity()
	switch {
	case comma < 0:
		t.part("authority_name", t.path, t.pathEnd)
	case colon < 0:
		t.part("authority_name", t.path, comma)
		t.part("date", comma+1, t.pathEnd)
	default:
		t.part("authority_name", t.path, comma)
		t.part("date", comma+1, colon)
		t.part("specific", colon+1, t.end())
	}
	t.fragment()
	return t.parts
}
