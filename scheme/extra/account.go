package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// Schemes for accounts and mailboxes: acct, im and pres.

var acct = scheme.Scheme{
	Name: "acct", Title: "Accounts at service providers", Kind: scheme.KindName,
	Reference:  "RFC 7565",
	Example:    "acct:juliet%40capulet.example@shoppingsite.example",
	Note:       "an @ in the account name must be written %40",
	Security:   "may reveal that the account exists",
	Special:    []scheme.Special{inPath("@", "separates the account name from the host")},
	Properties: "identifies an account at a host, whatever services the host offers for it; does not locate anything",
	Rules:      scheme.RuleSet{Check: withFragment(checkAcct, ruleAcct), Parts: partsAcct, Canonical: canonicalAcct},
}

var im = scheme.Scheme{
	Name: "im", Title: "Instant messaging", Kind: scheme.KindOther,
	Reference:  "RFC 3860, A",
	Example:    "im:fred@example.com",
	Note:       "identifies the person, not the protocol; the protocol is found through SRV records",
	Security:   "following it reveals that the user is online",
	Special:    []scheme.Special{inPath("@", "separates the local part from the domain"), inQuery("&", "separates header fields")},
	Properties: "identifies an inbox for instant messages; nothing is retrieved",
	Rules:      scheme.RuleSet{Check: checkIM, Parts: partsIM},
}

var pres = scheme.Scheme{
	Name: "pres", Title: "Presence", Kind: scheme.KindOther,
	Reference:  "RFC 3859, A",
	Example:    "pres:fred@example.com",
	Note:       im.Note,
	Security:   im.Security,
	Special:    im.Special,
	Properties: "identifies a source of presence information; nothing is retrieved",
	Rules:      scheme.RuleSet{Check: checkPres, Parts: partsIM},
}

const (
	ruleAcct = "RFC 7565, 7: acctURI"
	ruleIM   = "RFC 3860, A: IM-URI"
	rulePres = "RFC 3859, A: PRES-URI"
)

// checkAcct checks an acct URI.
//
//	acctURI  = "acct" ":" userpart "@" host
//	userpart = unreserved / sub-delims 0*( unreserved / pct-encoded / sub-delims )
func checkAcct(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := firstOf(refuseAuthority(&l, ruleAcct, "the account"), checkMailbox(&l, l.Path, l.PathEnd, ruleAcct, isAcct)); bad != nil {
		return bad
	}
	if l.Text[l.Path] == '%' {
		return layout.Refuse(l.Path, l.Path+3, "RFC 7565, 7: userpart", "the first character must not be percent-encoded")
	}
	return refuseQuery(&l, ruleAcct)
}

// isAcct reports whether a userpart may contain c. It accepts the percent sign, which begins a
// percent-encoding.
func isAcct(c byte) bool { return isUnreserved(c) || strings.IndexByte("!$&'()*+,;=%", c) >= 0 }

// checkMailbox checks that s[from:to] consists of a local part, an at sign and a host. The function
// kind reports which characters the local part may contain.
func checkMailbox(l *layout.Layout, from, to int, rule string, kind func(byte) bool) []scheme.Finding {
	sign := ascii.Until(l.Text, from, to, '@')
	switch {
	case sign == to:
		return layout.Refuse(to, to, rule, "missing @ and host")
	case sign == from:
		return layout.Refuse(from, from+1, rule, "missing local part before the @")
	case sign+1 == to:
		return layout.Refuse(to, to, rule, "missing host after the @")
	}
	if i := firstNot(l.Text, from, sign, kind); i >= 0 {
		return layout.Refuse(i, i+1, rule, "must be percent-encoded before the @")
	}
	if bad := l.RefuseHeaderControls(from, to, rule); bad != nil {
		return bad
	}
	if strings.IndexByte(l.Text[sign+1:to], '%') >= 0 {
		return nil // the host is an internationalized domain name in UTF-8
	}
	if bad := badHost(l.Text, sign+1, to); bad >= 0 {
		return layout.Refuse(bad, min(bad+1, to), rule, "the host must be a domain name or an IP address")
	}
	return nil
}

func partsAcct(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	appendMailbox(&t, "userpart", t.Path, t.PathEnd)
	t.Search()
	t.Fragment()
	return t.Parts
}

func appendMailbox(t *layout.Taker, name string, from, to int) {
	sign := ascii.Until(t.Text, from, to, '@')
	t.Data(name, from, sign)
	t.Part("host", sign+1, to)
}

// canonicalAcct converts the host to lower case (RFC 7565, section 4).
func canonicalAcct(u uri.URI) string {
	l := layout.Of(u)
	sign := ascii.Until(l.Text, l.Path, l.PathEnd, '@')
	return l.Text[:sign] + lowerRaw(l.Text[sign:l.PathEnd]) + l.Text[l.PathEnd:]
}

func checkIM(u uri.URI) []scheme.Finding { return checkPerson(u, ruleIM) }

func checkPres(u uri.URI) []scheme.Finding { return checkPerson(u, rulePres) }

// checkPerson checks a mailbox and its header fields.
//
//	IM-URI  = "im:" [ to ] [ headers ]
//	to      = mailbox
//	headers = "?" header *( "&" header )
func checkPerson(u uri.URI, rule string) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, rule, "the mailbox"); bad != nil {
		return bad
	}
	if l.HasPath() {
		if bad := checkMailbox(&l, l.Path, l.PathEnd, rule, isAcct); bad != nil {
			return bad
		}
	}
	headers := fieldGrammar{rule: rule, form: "a header field must have the form name=value"}
	for f := range queryFields(&l, '&') {
		if bad := headers.check(l.Text, f); bad != nil {
			return bad
		}
		if !f.is(l.Text, "body") {
			if bad := l.RefuseHeaderControls(f.name, f.end, rule); bad != nil {
				return bad
			}
		}
	}
	return nil
}

func partsIM(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	if t.HasPath() {
		appendMailbox(&t, "to", t.Path, t.PathEnd)
	}
	appendFields(&t, "header", t.Query, t.QueryEnd, '&')
	t.Fragment()
	return t.Parts
}
