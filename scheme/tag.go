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
	Note:      "equal only if spelled alike, escapes and case included",
	Special: []Special{
		{uri.ComponentPath, ",", "separates authority name and date"},
		{uri.ComponentPath, ":", "separates tagging entity and specific part"},
	},
	Properties: "unique, as whoever had the domain or mail address at the beginning of the date says; nothing is located",
	Rules:      RuleSet{Check: checkTag, Parts: partsTag},
}

// The productions of tag URIs.
const (
	ruleTag          = "RFC 4151, 2.1: tagURI"
	ruleTagAuthority = "RFC 4151, 2.1: authorityName"
	ruleTagDate      = "RFC 4151, 2.1: date"
	ruleTagSpecific  = "RFC 4151, 2.1: specific"
)

// entity returns where the comma of a tagging entity is and where its colon is,
// each -1 if missing.
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
		return []Finding{broken(l.rest, l.rest+2, ruleTag, "the authority name comes without slashes").instead("")}
	case comma < 0:
		return refuse(l.pathEnd, l.pathEnd, ruleTag, "a comma and a date must follow the authority name")
	case colon < 0:
		return refuse(l.pathEnd, l.pathEnd, ruleTag, "a colon must follow the date")
	}
	if bad := checkTagAuthority(l.s, l.path, comma); bad != nil {
		return bad
	}
	if layout := tagDate(colon - comma - 1); layout == "" || !isDate(layout, l.s[comma+1:colon]) {
		return refuse(comma+1, colon, ruleTagDate, "the date is a day of the calendar, YYYY, YYYY-MM or YYYY-MM-DD")
	}
	if end := run(l.s, colon+1, func(c byte) bool { return c != '[' && c != ']' }); end < l.end() {
		return refuse(end, end+1, ruleTagSpecific, "brackets must be escaped")
	}
	if day := l.s[comma+1 : colon]; strings.HasSuffix(day, "-01") {
		return []Finding{remark(CodeForm, comma+1, colon, "RFC 4151, 2.1", "the first day of a month or year is better left out")}
	}
	return nil
}

// tagDate returns the layout of a date of so many characters.
func tagDate(length int) string {
	const day = "2006-01-02"
	switch length {
	case len("2006"), len("2006-01"), len(day):
		return day[:length]
	}
	return ""
}

// isDate reports whether s is a date of a layout. It reads digits only.
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
				return refuse(i, i+1, ruleTagAuthority, "a mail address is letters, digits, - . _ before its @")
			}
		}
		if sign == from {
			return refuse(from, from+1, ruleTagAuthority, "nothing stands before the @")
		}
		at = sign + 1
	}
	if bad := badHostName(s, at, to); bad >= 0 {
		return refuse(bad, min(bad+1, to), ruleTagAuthority, "a domain name is labels of letters, digits and inner hyphens, divided by dots")
	}
	for i := from; i < to; i++ {
		if lower(s[i]) != s[i] {
			return []Finding{remark(CodeForm, from, to, "RFC 4151, 2.1", "domain names are better written in lower case").instead(strings.ToLower(s[from:to]))}
		}
	}
	return nil
}

// badHostName returns the offset of what no domain name has between two offsets,
// -1 if it is one.
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

// partsTag takes authority name, date and the specific part.
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
