package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Accounts of people at hosts.

var acct = Scheme{
	Name: "acct", Title: "Accounts at service providers", Kind: KindName,
	Reference:  "RFC 7565",
	Example:    "acct:juliet%40capulet.example@shoppingsite.example",
	Note:       "an at-sign in the name of the account is %40",
	Security:   "proves that the account exists",
	Special:    []Special{{uri.ComponentPath, "@", "separates the name of the account and the host"}},
	Properties: "an account at a host, whatever it is good for; nothing is located",
	Rules:      RuleSet{Check: withFragment(checkAcct, ruleAcct), Parts: partsAcct, Canonical: canonicalAcct},
}

var im = Scheme{
	Name: "im", Title: "Instant messaging", Kind: KindOther,
	Reference:  "RFC 3860, A",
	Example:    "im:fred@example.com",
	Note:       "names the person, not the protocol: that is looked up by SRV records",
	Security:   "who follows it tells that they are there",
	Special:    []Special{{uri.ComponentPath, "@", "separates local part and domain"}, {uri.ComponentQuery, "&", "separates header fields"}},
	Properties: "an inbox for instant messages; nothing is retrieved",
	Rules:      RuleSet{Check: checkIM, Parts: partsIM},
}

var pres = Scheme{
	Name: "pres", Title: "Presence", Kind: KindOther,
	Reference:  "RFC 3859, A",
	Example:    "pres:fred@example.com",
	Note:       im.Note,
	Security:   im.Security,
	Special:    im.Special,
	Properties: "whether somebody is there; nothing is retrieved",
	Rules:      RuleSet{Check: checkPres, Parts: partsIM},
}

// The productions of accounts.
const (
	ruleAcct = "RFC 7565, 7: acctURI"
	ruleIM   = "RFC 3860, A: IM-URI"
	rulePres = "RFC 3859, A: PRES-URI"
)

// checkAcct checks an account.
//
//	acctURI  = "acct" ":" userpart "@" host
//	userpart = unreserved / sub-delims 0*( unreserved / pct-encoded / sub-delims )
func checkAcct(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleAcct, "the account"); bad != nil {
		return bad
	}
	if bad := l.checkMailbox(l.path, l.pathEnd, ruleAcct, isAcct); bad != nil {
		return bad
	}
	if l.s[l.path] == '%' {
		return refuse(l.path, l.path+3, "RFC 7565, 7: userpart", "the first character is not an escape")
	}
	return l.refuseQuery(ruleAcct)
}

// isAcct reports whether c may stand in a userpart; a percent sign begins an
// escape.
func isAcct(c byte) bool { return isUnreserved(c) || strings.IndexByte("!$&'()*+,;=%", c) >= 0 }

// checkMailbox checks a name of characters of a kind, an at-sign and a host
// between two offsets.
func (l *layout) checkMailbox(from, to int, rule string, kind func(byte) bool) []Finding {
	sign := until(l.s, from, to, '@')
	switch {
	case sign == to:
		return refuse(to, to, rule, "an @ and a host must follow")
	case sign == from:
		return refuse(from, from+1, rule, "nothing stands before the @")
	case sign+1 == to:
		return refuse(to, to, rule, "nothing stands behind the @")
	}
	if i := firstNot(l.s, from, sign, kind); i >= 0 {
		return refuse(i, i+1, rule, "must be escaped before the @")
	}
	if bad := l.refuseHeaderControls(from, to, rule); bad != nil {
		return bad
	}
	if strings.IndexByte(l.s[sign+1:to], '%') >= 0 {
		return nil // an internationalised domain, in UTF-8
	}
	if bad := badHost(l.s, sign+1, to); bad >= 0 {
		return refuse(bad, min(bad+1, to), rule, "a host is a domain name or an address")
	}
	return nil
}

func partsAcct(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.mailbox("userpart", t.path, t.pathEnd)
	t.search()
	t.fragment()
	return t.parts
}

// mailbox takes a name, under a name of its own, and a host.
func (t *taker) mailbox(name string, from, to int) {
	sign := until(t.s, from, to, '@')
	t.data(name, from, sign)
	if sign < to {
		t.part("host", sign+1, to)
	}
}

// canonicalAcct folds the host (RFC 7565, 4).
func canonicalAcct(u uri.URI) string {
	l := layoutOf(u)
	sign := until(l.s, l.path, l.pathEnd, '@')
	return l.s[:sign] + lowerRaw(l.s[sign:l.pathEnd]) + l.s[l.pathEnd:]
}

func checkIM(u uri.URI) []Finding { return checkPerson(u, ruleIM) }

func checkPres(u uri.URI) []Finding { return checkPerson(u, rulePres) }

// checkPerson checks a mailbox and header fields.
//
//	IM-URI  = "im:" [ to ] [ headers ]
//	to      = mailbox
//	headers = "?" header *( "&" header )
func checkPerson(u uri.URI, rule string) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(rule, "the mailbox"); bad != nil {
		return bad
	}
	if l.hasPath() {
		if bad := l.checkMailbox(l.path, l.pathEnd, rule, isAcct); bad != nil {
			return bad
		}
	}
	for at := l.query; l.query >= 0 && at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, '&')
		if f.value < 0 || f.name == f.nameEnd {
			return refuse(f.name, f.end, rule, "a header field is name=value")
		}
		if !f.is(l.s, "body") {
			if bad := l.refuseHeaderControls(f.name, f.end, rule); bad != nil {
				return bad
			}
		}
		at = f.end + 1
	}
	return nil
}

func partsIM(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.hasPath() {
		t.mailbox("to", t.path, t.pathEnd)
	}
	if t.query >= 0 {
		t.fields(t.query, t.queryEnd, '&')
	}
	t.fragment()
	return t.parts
}
