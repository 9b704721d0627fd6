package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

var mailto = Scheme{
	Name: "mailto", Kind: KindOther,
	Reference: "RFC 6068",
	Example:   "mailto:infobot@example.com?subject=current-issue",
	Note:      "a line break in a body is %0D%0A; the order of header fields is not significant",
	Security:  "the author of the link writes the message: show it to the user before sending it",
	Special: []Special{
		{uri.ComponentPath, ",", "separates addresses"},
		{uri.ComponentPath, "@", "separates the local part from the domain"},
		{uri.ComponentQuery, "&", "separates header fields"},
		{uri.ComponentQuery, "=", "separates the name and value of a header field"},
	},
	Properties: "mail addresses; a message can be prepared, nothing is retrieved",
	Rules:      RuleSet{Check: checkMailto, Parts: partsMailto},
}

// The grammar rules of mailto URIs.
const (
	ruleMailto     = "RFC 6068, 2: mailtoURI"
	ruleMailtoAddr = "RFC 6068, 2: addr-spec"
	ruleHfields    = "RFC 6068, 2: hfields"
	ruleHfield     = "RFC 6068, 2: hfvalue"
	ruleUnsafe     = "RFC 6068, 4: unsafe headers"
)

// checkMailto checks a mailto URI.
//
//	mailtoURI = "mailto:" [ to ] [ hfields ]
//	to        = addr-spec *("," addr-spec )
//	hfields   = "?" hfield *( "&" hfield )
//	hfield    = hfname "=" hfvalue
func checkMailto(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.authority {
		return []Finding{instead(broken(l.rest, l.rest+2, ruleMailto, "slashes before the address are not allowed"), "")}
	}
	if bad := checkAddresses(l.s, l.path, l.pathEnd); bad != nil {
		return bad
	}
	if bad := l.refuseHeaderControls(l.path, l.pathEnd, ruleMailtoAddr); bad != nil {
		return bad
	}
	if l.query < 0 {
		return nil
	}
	return l.checkHfields()
}

// checkAddresses checks addresses separated by commas.
func checkAddresses(s string, from, to int) []Finding {
	for i := from; i < to; i++ {
		if strings.IndexByte("/&;=", s[i]) >= 0 {
			return refuse(i, i+1, ruleMailtoAddr, "must be percent-encoded in an address")
		}
	}
	for at := from; from < to && at <= to; {
		end := until(s, at, to, ',')
		sign := strings.LastIndexByte(s[at:end], '@')
		switch {
		case at == end:
			return refuse(at, end, ruleMailtoAddr, "missing address")
		case sign < 0:
			return refuse(end, end, ruleMailtoAddr, "an address needs an @ and a domain")
		case sign == 0:
			return refuse(at, at+1, ruleMailtoAddr, "missing local part before the @")
		case at+sign+1 == end:
			return refuse(end, end, ruleMailtoAddr, "missing domain after the @")
		}
		if bad := checkLocalPart(s, at, at+sign); bad != nil {
			return bad
		}
		domain := at + sign + 1
		if strings.IndexByte("[", s[domain]) < 0 && !strings.HasPrefix(s[domain:end], "%5B") && !strings.HasPrefix(s[domain:end], "%5b") {
			if bad := badDomain(s, domain, end); bad >= 0 {
				return refuse(bad, min(bad+1, end), "RFC 6068, 2: domain", "a domain name must consist of labels of letters, digits and hyphens, separated by dots")
			}
		}
		at = end + 1
	}
	return nil
}

// checkLocalPart checks the part of an address before the at sign. It allows
// non-ASCII characters (RFC 6532, 3.2).
//
//	local-part    = dot-atom-text / quoted-string
//	dot-atom-text = 1*atext *( "." 1*atext )
func checkLocalPart(s string, from, to int) []Finding {
	const rule = "RFC 6068, 2: local-part"
	if c, next := octet(s, from); c == '"' {
		return checkQuoted(s, from, next, to, rule)
	}
	dot := true
	for i := from; i < to; {
		c, next := octet(s, i)
		switch {
		case c == '.' && dot, c == '.' && next == to:
			return refuse(i, next, rule, "a dot must have characters on both sides")
		case c != '.' && !isAtext(c):
			if c < ' ' || c == 0x7F {
				return nil // see refuseHeaderControls
			}
			return refuse(i, next, rule, "the part before the @ must be enclosed in quotation marks, %22")
		}
		dot, i = c == '.', next
	}
	return nil
}

// checkQuoted checks a quoted-string that begins at from and whose text begins
// at i.
func checkQuoted(s string, from, i, to int, rule string) []Finding {
	for i < to {
		c, next := octet(s, i)
		switch {
		case c == '"' && next < to:
			return refuse(next, to, rule, "unexpected text after the closing quotation mark")
		case c == '"':
			return nil
		case c == '\\' && next < to:
			_, next = octet(s, next)
		}
		i = next
	}
	return refuse(from, to, rule, "missing closing quotation mark")
}

// isAtext reports whether c is an atext character (RFC 5322, 3.2.3; RFC 6532,
// 3.2).
func isAtext(c byte) bool {
	return isAlnum(c) || c >= 0x80 || strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}

// badDomain is like [pid.BadHostName] and allows percent-encoded non-ASCII letters.
func badDomain(s string, from, to int) int {
	if strings.IndexByte(s[from:to], '%') >= 0 {
		return -1 // an internationalised domain name in UTF-8
	}
	return pid.BadHostName(s, from, to)
}

// refuseHeaderControls returns an error about a percent-encoded line break or
// other control character, which could inject a header field.
func (l *layout) refuseHeaderControls(from, to int, rule string) []Finding {
	at := escapedControl(l.s, from, to)
	if at < 0 {
		return nil
	}
	f := broken(at, at+3, rule, "a control character here would end the header field and begin another")
	f.Code = CodeInjection
	return []Finding{f}
}

// checkHfields checks the header fields. It returns the first error, or
// warnings about all fields that a client should not apply without showing
// them.
func (l *layout) checkHfields() []Finding {
	var found []Finding
	for at := l.query; at <= l.queryEnd; {
		end := until(l.s, at, l.queryEnd, '&')
		equals := until(l.s, at, end, '=')
		switch {
		case equals == end:
			return refuse(at, end, ruleHfields, "a header field must have the form name=value")
		case equals == at:
			return refuse(at, equals, ruleHfields, "missing header field name")
		}
		if i := run(l.s, at, isQchar); i < equals {
			return refuse(i, i+1, "RFC 6068, 2: hfname", "must be percent-encoded in a header field name")
		}
		if i := run(l.s, equals+1, isQchar); i < end {
			return refuse(i, i+1, ruleHfield, "must be percent-encoded in a header field")
		}
		if bad := l.checkHfname(at, equals); bad != nil {
			return bad
		}
		name := l.s[at:equals]
		switch {
		case equalFold(name, "body"): // a body may contain line breaks
		case equalFold(name, "to"), equalFold(name, "cc"), equalFold(name, "bcc"):
			if bad := l.refuseHeaderControls(equals, end, ruleHfield); bad != nil {
				return bad
			}
			if bad := checkAddresses(l.s, equals+1, end); bad != nil {
				return bad
			}
			if !equalFold(name, "to") {
				found = append(found, warn(CodeDanger, at, end, ruleUnsafe, "sends the message to recipients that the reader may not see"))
			}
		default:
			if bad := l.refuseHeaderControls(equals, end, ruleHfield); bad != nil {
				return bad
			}
			if !isSafeHeader(name) {
				found = append(found, warn(CodeDanger, at, end, ruleUnsafe, "should be ignored: only subject, keywords, in-reply-to and body are safe"))
			}
		}
		at = end + 1
	}
	return found
}

// checkHfname checks the decoded name of a header field, because a line break
// in it would inject further fields.
//
//	field-name = 1*( %d33-57 / %d59-126 )
func (l *layout) checkHfname(from, to int) []Finding {
	if bad := l.refuseHeaderControls(from, to, "RFC 6068, 2: hfname"); bad != nil {
		return bad
	}
	for i := from; i < to; {
		c, next := octet(l.s, i)
		if c <= ' ' || c >= 0x7F || c == ':' {
			return refuse(i, next, "RFC 5322, 3.6.8: field-name", "not allowed in the name of a header field")
		}
		i = next
	}
	return nil
}

// isQchar reports whether c is allowed in a header field. It accepts the
// percent sign, which begins a percent-encoding.
func isQchar(c byte) bool { return isAlnum(c) || strings.IndexByte("-._~%!$'()*+,;:@", c) >= 0 }

func isSafeHeader(name string) bool {
	for _, safe := range [...]string{"subject", "keywords", "in-reply-to", "references"} {
		if equalFold(name, safe) {
			return true
		}
	}
	return false
}

// partsMailto adds addresses and header fields, the latter by their names in
// lower case.
func partsMailto(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.hasPath() {
		t.each("to", t.path, t.pathEnd, ',')
	}
	for at := t.query; t.query >= 0 && at <= t.queryEnd; {
		end := until(t.s, at, t.queryEnd, '&')
		equals := until(t.s, at, end, '=')
		t.data(strings.ToLower(t.s[at:equals]), min(equals+1, end), end)
		if t.parts[len(t.parts)-1].Name == "" {
			t.parts[len(t.parts)-1].Name = "hfield"
		}
		at = end + 1
	}
	t.fragment()
	return t.parts
}
