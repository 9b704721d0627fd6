package scheme

import (
	"strings"
	"time"

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

// The grammar rules of tag URIs.
const (
	ruleTag          = "RFC 4151, 2.1: tagURI"
	ruleTagAuthority = "RFC 4151, 2.1: authorityName"
	ruleTagDate      = "RFC 4151, 2.1: date"
	ruleTagSpecific  = "RFC 4151, 2.1: specific"
)

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

// checkTag checks a tag URI.
//
//	tagURI        = "tag:" taggingEntity ":" specific [ "#" fragment ]
//	taggingEntity = authorityName "," date
//	date          = year ["-" month ["-" day]]
func checkTag(u uri.URI) []Finding {
	l := layoutOf(u)
	comma, colon := l.entity()
	switch {
	case l.authority:
		return []Finding{instead(broken(l.rest, l.rest+2, ruleTag, "the authority name must not be preceded by slashes"), "")}
	case comma < 0:
		return refuse(l.pathEnd, l.pathEnd, ruleTag, "a comma and a date must follow the authority name")
	case colon < 0:
		return refuse(l.pathEnd, l.pathEnd, ruleTag, "a colon must follow the date")
	}
	if bad := checkTagAuthority(l.s, l.path, comma); bad != nil {
		return bad
	}
	if layout := tagDate(colon - comma - 1); layout == "" || !isDate(layout, l.s[comma+1:colon]) {
		return refuse(comma+1, colon, ruleTagDate, "the date must be valid and written YYYY, YYYY-MM or YYYY-MM-DD")
	}
	if end := run(l.s, colon+1, func(c byte) bool { return c != '[' && c != ']' }); end < l.end() {
		return refuse(end, end+1, ruleTagSpecific, "brackets must be percent-encoded")
	}
	if day := l.s[comma+1 : colon]; strings.HasSuffix(day, "-01") {
		return []Finding{remark(CodeForm, comma+1, colon, "RFC 4151, 2.1", "omit the first day of a month or year")}
	}
	return nil
}

// tagDate returns the time layout of a date with the given length.
func tagDate(length int) string {
	const day = "2006-01-02"
	switch length {
	case len("2006"), len("2006-01"), len(day):
		return day[:length]
	}
	return ""
}

// isDate reports whether s is a valid date in the given layout, written with
// digits only.
func isDate(layout, s string) bool {
	_, err := time.Parse(layout, s)
	return err == nil
}

// checkTagAuthority checks a domain name or a mail address.
//
//	authorityName = DNSname / emailAddress
//	DNSname       = DNScomp *( "." DNScomp )
//	DNScomp       = alphaNum [*(alphaNum /"-") alphaNum]
//	emailAddress  = 1*(alphaNum /"-"/"."/"_") "@" DNSname
func checkTagAuthority(s string, from, to int) []Finding {
	at := from
	if sign := until(s, from, to, '@'); sign < to {
		for i := from; i < sign; i++ {
			if !isAlnum(s[i]) && strings.IndexByte("-._", s[i]) < 0 {
				return refuse(i, i+1, ruleTagAuthority, "the local part of a mail address must consist of letters, digits and - . _")
			}
		}
		if sign == from {
			return refuse(from, from+1, ruleTagAuthority, "missing local part before the @")
		}
		at = sign + 1
	}
	if bad := badHostName(s, at, to); bad >= 0 {
		return refuse(bad, min(bad+1, to), ruleTagAuthority, "a domain name must consist of labels of letters, digits and inner hyphens, separated by dots")
	}
	for i := from; i < to; i++ {
		if lower(s[i]) != s[i] {
			return []Finding{instead(remark(CodeForm, from, to, "RFC 4151, 2.1", "write domain names in lower case"), strings.ToLower(s[from:to]))}
		}
	}
	return nil
}

// badHostName returns the offset of the first byte in s[from:to] that is not
// valid in a domain name, or -1.
func badHostName(s string, from, to int) int {
	start := from
	for i := from; i <= to; i++ {
		switch {
		case i == to || s[i] == '.':
			if i == start {
				return i
			}
			if s[i-1] == '-' {
				return i - 1
			}
			start = i + 1
		case isAlnum(s[i]), s[i] == '-' && i > start:
		default:
			return i
		}
	}
	return -1
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
