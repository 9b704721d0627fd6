package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme/internal/layout"
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
	l := layout.Of(u)
	if l.Authority {
		return []Finding{layout.Instead(layout.Broken(l.Rest, l.Rest+2, ruleMailto, "slashes before the address are not allowed"), "")}
	}
	if bad := checkAddresses(l.Text, l.Path, l.PathEnd); bad != nil {
		return bad
	}
	if bad := l.RefuseHeaderControls(l.Path, l.PathEnd, ruleMailtoAddr); bad != nil {
		return bad
	}
	if l.Query < 0 {
		return nil
	}
	return checkHfields(&l)
}

func checkAddresses(s string, from, to int) []Finding {
	for i := from; i < to; i++ {
		if strings.IndexByte("/&;=", s[i]) >= 0 {
			return layout.Refuse(i, i+1, ruleMailtoAddr, "must be percent-encoded in an address")
		}
	}
	for at := from; from < to && at <= to; {
		end := ascii.Until(s, at, to, ',')
		sign := strings.LastIndexByte(s[at:end], '@')
		switch {
		case at == end:
			return layout.Refuse(at, end, ruleMailtoAddr, "missing address")
		case sign < 0:
			return layout.Refuse(end, end, ruleMailtoAddr, "an address needs an @ and a domain")
		case sign == 0:
			return layout.Refuse(at, at+1, ruleMailtoAddr, "missing local part before the @")
		case at+sign+1 == end:
			return layout.Refuse(end, end, ruleMailtoAddr, "missing domain after the @")
		}
		if bad := checkLocalPart(s, at, at+sign); bad != nil {
			return bad
		}
		domain := at + sign + 1
		if strings.IndexByte("[", s[domain]) < 0 && !strings.HasPrefix(s[domain:end], "%5B") && !strings.HasPrefix(s[domain:end], "%5b") {
			if bad := badDomain(s, domain, end); bad >= 0 {
				return layout.Refuse(bad, min(bad+1, end), "RFC 6068, 2: domain", "a domain name must consist of labels of letters, digits and hyphens, separated by dots")
			}
		}
		at = end + 1
	}
	return nil
}

// checkLocalPart checks the part of an address before the at sign. It accepts non-ASCII characters
// (RFC 6532, section 3.2).
//
//	local-part    = dot-atom-text / quoted-string
//	dot-atom-text = 1*atext *( "." 1*atext )
func checkLocalPart(s string, from, to int) []Finding {
	const rule = "RFC 6068, 2: local-part"
	if c, next := layout.Octet(s, from); c == '"' {
		return checkQuoted(s, from, next, to, rule)
	}
	dot := true
	for i := from; i < to; {
		c, next := layout.Octet(s, i)
		switch {
		case c == '.' && dot, c == '.' && next == to:
			return layout.Refuse(i, next, rule, "a dot must have characters on both sides")
		case c != '.' && !isAtext(c):
			if c < ' ' || c == 0x7F {
				return nil // RefuseHeaderControls reports the control character
			}
			return layout.Refuse(i, next, rule, "the part before the @ must be enclosed in quotation marks, %22")
		}
		dot, i = c == '.', next
	}
	return nil
}

func checkQuoted(s string, start, i, to int, rule string) []Finding {
	for i < to {
		c, next := layout.Octet(s, i)
		switch {
		case c == '"' && next < to:
			return layout.Refuse(next, to, rule, "unexpected text after the closing quotation mark")
		case c == '"':
			return nil
		case c == '\\' && next < to:
			_, next = layout.Octet(s, next)
		}
		i = next
	}
	return layout.Refuse(start, to, rule, "missing closing quotation mark")
}

// isAtext reports whether an atom may contain c (RFC 5322, section 3.2.3; RFC 6532, section 3.2).
func isAtext(c byte) bool {
	return ascii.IsAlnum(c) || c >= 0x80 || strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}

// badDomain is like [pid.BadHostName], but allows percent-encoded non-ASCII letters.
func badDomain(s string, from, to int) int {
	if strings.IndexByte(s[from:to], '%') >= 0 {
		return -1 // the domain is an internationalised domain name in UTF-8
	}
	return pid.BadHostName(s, from, to)
}

// checkHfields returns the first error in the header fields. If they are valid, it returns a warning
// for each field that a client should not use without showing it to the user.
func checkHfields(l *layout.Layout) []Finding {
	var found []Finding
	for at := l.Query; at <= l.QueryEnd; {
		end := ascii.Until(l.Text, at, l.QueryEnd, '&')
		equals := ascii.Until(l.Text, at, end, '=')
		switch {
		case equals == end:
			return layout.Refuse(at, end, ruleHfields, "a header field must have the form name=value")
		case equals == at:
			return layout.Refuse(at, equals, ruleHfields, "missing header field name")
		}
		if i := ascii.Run(l.Text, at, isQchar); i < equals {
			return layout.Refuse(i, i+1, "RFC 6068, 2: hfname", "must be percent-encoded in a header field name")
		}
		if i := ascii.Run(l.Text, equals+1, isQchar); i < end {
			return layout.Refuse(i, i+1, ruleHfield, "must be percent-encoded in a header field")
		}
		if bad := checkHfname(l, at, equals); bad != nil {
			return bad
		}
		list := checkHfvalue(l, at, equals, end)
		if HasError(list) {
			return list
		}
		found = append(found, list...)
		at = end + 1
	}
	return found
}

func checkHfvalue(l *layout.Layout, at, equals, end int) []Finding {
	name := l.Text[at:equals]
	if ascii.EqualFold(name, "body") { // only a body may contain line breaks
		return nil
	}
	if bad := l.RefuseHeaderControls(equals, end, ruleHfield); bad != nil {
		return bad
	}
	isTo := ascii.EqualFold(name, "to")
	if isTo || ascii.EqualFold(name, "cc") || ascii.EqualFold(name, "bcc") {
		if bad := checkAddresses(l.Text, equals+1, end); bad != nil || isTo {
			return bad
		}
		return []Finding{layout.Warn(CodeDanger, at, end, ruleUnsafe, "sends the message to recipients that the reader may not see")}
	}
	if !isSafeHeader(name) {
		return []Finding{layout.Warn(CodeDanger, at, end, ruleUnsafe, "should be ignored: only subject, keywords, in-reply-to, references and body are safe")}
	}
	return nil
}

func checkHfname(l *layout.Layout, from, to int) []Finding {
	if bad := l.RefuseHeaderControls(from, to, "RFC 6068, 2: hfname"); bad != nil {
		return bad
	}
	for i := from; i < to; {
		c, next := layout.Octet(l.Text, i)
		if c <= ' ' || c >= 0x7F || c == ':' {
			return layout.Refuse(i, next, "RFC 5322, 3.6.8: field-name", "not allowed in the name of a header field")
		}
		i = next
	}
	return nil
}

// isQchar reports whether a header field may contain c. It accepts the percent sign, which begins a
// percent-encoding.
func isQchar(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-._~%!$'()*+,;:@", c) >= 0 }

func isSafeHeader(name string) bool {
	return ascii.IsOneOf(name, "subject", "keywords", "in-reply-to", "references")
}

func partsMailto(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	if t.HasPath() {
		t.Each("to", t.Path, t.PathEnd, ',')
	}
	for at := t.Query; t.Query >= 0 && at <= t.QueryEnd; {
		end := ascii.Until(t.Text, at, t.QueryEnd, '&')
		equals := ascii.Until(t.Text, at, end, '=')
		t.Pair("header", t.Text[at:equals], min(equals+1, end), end)
		at = end + 1
	}
	t.Fragment()
	return t.Parts
}
