package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Accounts and mailboxes: acct, im and pres.

var acct = Scheme{
	Name: "acct", Title: "Accounts at service providers", Kind: KindName,
	Reference:  "RFC 7565",
	Example:    "acct:juliet%40capulet.example@shoppingsite.example",
	Note:       "an @ in the account name must be written %40",
	Security:   "may reveal that the account exists",
	Special:    []Special{{uri.ComponentPath, "@", "separates the account name from the host"}},
	Properties: "identifies an account at a host, whatever services the host offers for it; does not locate anything",
	Rules:      RuleSet{Check: withFragment(checkAcct, ruleAcct), Parts: partsAcct, Canonical: canonicalAcct},
}

var im = Scheme{
	Name: "im", Title: "Instant messaging", Kind: KindOther,
	Reference:  "RFC 3860, A",
	Example:    "im:fred@example.com",
	Note:       "identifies the person, not the protocol; the protocol is found through SRV records",
	Security:   "following it reveals that the user is online",
	Special:    []Special{{uri.ComponentPath, "@", "separates the local part from the domain"}, {uri.ComponentQuery, "&", "separates header fields"}},
	Properties: "identifies an inbox for instant messages; nothing is retrieved",
	Rules:      RuleSet{Check: checkIM, Parts: partsIM},
}

var pres = Scheme{
	Name: "pres", Title: "Presence", Kind: KindOther,
	Reference:  "RFC 3859, A",
	Example:    "pres:fred@example.com",
	Note:       im.Note,
	Security:   im.Security,
	Special:    im.Special,
	Properties: "identifies a source of presence information; nothing is retrieved",
	Rules:      RuleSet{Check: checkPres, Parts: partsIM},
}

// The grammar rules of account URIs.
const (
	ruleAcct = "RFC 7565, 7: acctURI"
	ruleIM   = "RFC 3860, A: IM-URI"
	rulePres = "RFC 3859, A: PRES-URI"
)

// checkAcct checks an acct URI.
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
		return refuse(l.path, l.path+3, "RFC 7565, 7: userpart", "the first character must not be percent-encoded")
	}
	return l.refuseQuery(ruleAcct)
}

// isAcct reports whether c is allowed in a userpart. It accepts the percent
// sign, which begins a percent-encoding.
func isAcct(c byte) bool { return isUnreserved(c) || strings.IndexByte("!$&'()*+,;=%", c) >= 0 }

// checkMailbox checks that s[from:to] is a local part, an at sign and a host.
// The characters of the local part must satisfy kind.
func (l *layout) checkMailbox(from, to int, rule string, kind func(byte) bool) []Finding {
	sign := until(l.s, from, to, '@')
	switch {
	case sign == to:
		return refuse(to, to, rule, "missing @ and host")
	case sign == from:
		return refuse(from, from+1, rule, "missing local part before the @")
	case sign+1 == to:
		return refuse(to, to, rule, "missing host after the @")
	}
	if i := firstNot(l.s, from, sign, kind); i >= 0 {
		return refuse(i, i+1, rule, "must be percent-encoded before the @")
	}
	if bad := l.refuseHeaderControls(from, to, rule); bad != nil {
		return bad
	}
	if strings.IndexByte(l.s[sign+1:to], '%') >= 0 {
		return nil // an internationalised domain name in UTF-8
	}
	if bad := badHost(l.s, sign+1, to); bad >= 0 {
		return refuse(bad, min(bad+1, to), rule, "the host must be a domain name or an IP address")
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

// mailbox adds the local part, under the given name, and the host.
func (t *taker) mailbox(name string, from, to int) {
	sign := until(t.s, from, to, '@')
	t.data(name, from, sign)
	if sign < to {
		t.part("host", sign+1, to)
	}
}

// canonicalAcct converts the host to lower case (RFC 7565, 4).
func canonicalAcct(u uri.URI) string {
	l := layoutOf(u)
	sign := until(l.s, l.path, l.pathEnd, '@')
	return l.s[:sign] + lowerRaw(l.s[sign:l.pathEnd]) + l.s[l.pathEnd:]
}

func checkIM(u uri.URI) []Finding { return checkPerson(u, ruleIM) }

func checkPres(u uri.URI) []Finding { return checkPerson(u, rulePres) }

// checkPerson checks a mailbox and its header fields.
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
			return refuse(f.name, f.end, rule, "a header field must have the form name=value")
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
