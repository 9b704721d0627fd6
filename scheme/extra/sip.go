package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var sip = scheme.Scheme{
	Name: "sip", Title: "Session Initiation Protocol", Kind: scheme.KindLocator,
	Reference: "RFC 3261, 19.1",
	Example:   "sip:alice@atlanta.example.com;transport=tcp?subject=project",
	Note: "bracketed IPv6 addresses are valid in this scheme, but the general syntax of RFC 3986 rejects them; " +
		"omitting the port is not the same as the default port, and some parameters are compared only if both URIs have them",
	Security:    "the author of the link writes the header fields and the body; a password is visible to all who see the locator",
	DefaultPort: "5060",
	Special:     sipSpecial,
	Retrieval:   "proposes a session with the user; nothing is retrieved",
	Rules:       scheme.RuleSet{Check: withFragment(checkSIP, ruleSIP), Parts: partsSIP, Canonical: canonicalSIP},
}

var sips = scheme.Scheme{
	Name: "sips", Title: "Session Initiation Protocol, secured up to the recipient's domain", Kind: scheme.KindLocator,
	Reference:   "RFC 3261, 19.1",
	Example:     "sips:bob@biloxi.example.com",
	Note:        sip.Note,
	Security:    sip.Security,
	DefaultPort: "5061",
	Special:     sipSpecial,
	Retrieval:   sip.Retrieval,
	Rules:       scheme.RuleSet{Check: withFragment(checkSIP, ruleSIP), Parts: partsSIP, Canonical: canonicalSIP},
}

var sipSpecial = []scheme.Special{
	inPath("@", "separates the user and host"),
	inPath(":", "separates the user and password, host and port"),
	inPath(";", "precedes a parameter"),
	inQuery("&", "separates header fields"),
}

const (
	ruleSIP       = "RFC 3261, 25.1: SIP-URI"
	ruleSIPUser   = "RFC 3261, 25.1: user"
	ruleSIPHost   = "RFC 3261, 25.1: hostport"
	ruleSIPParam  = "RFC 3261, 25.1: uri-parameter"
	ruleSIPHeader = "RFC 3261, 25.1: header"
)

// A sipAddress holds the offsets of the pieces of a SIP URI. The offset of an absent piece is -1.
type sipAddress struct {
	user, userEnd         int
	password, passwordEnd int
	host, hostEnd         int
	port, portEnd         int
	params, paramsEnd     int // start of the parameters, after the semicolon
	headers, end          int // start of the header fields, after the question mark
}

// sipOf finds the pieces of a SIP URI. It reads the path and the query as one text, because the
// user part may contain a question mark.
func sipOf(l *layout.Layout) sipAddress {
	a := sipAddress{user: -1, password: -1, port: -1, params: -1, headers: -1, end: l.End()}
	a.host = l.Rest
	if sign := ascii.Until(l.Text, l.Rest, a.end, '@'); sign < a.end {
		a.user, a.userEnd, a.host = l.Rest, sign, sign+1
		if colon := ascii.Until(l.Text, l.Rest, sign, ':'); colon < sign {
			a.userEnd, a.password, a.passwordEnd = colon, colon+1, sign
		}
	}
	at := ascii.Until(l.Text, a.host, a.end, '?')
	if at < a.end {
		a.headers = at + 1
	}
	if semicolon := ascii.Until(l.Text, a.host, at, ';'); semicolon < at {
		a.params, a.paramsEnd, at = semicolon+1, at, semicolon
	}
	a.hostEnd = at
	from := a.host
	if from < at && l.Text[from] == '[' {
		from = ascii.Until(l.Text, from, at, ']')
	}
	if colon := ascii.Until(l.Text, from, at, ':'); colon < at {
		a.hostEnd, a.port, a.portEnd = colon, colon+1, at
	}
	return a
}

// checkSIP checks a SIP URI.
//
//	SIP-URI  = "sip:" [ userinfo ] hostport uri-parameters [ headers ]
//	userinfo = ( user / telephone-subscriber ) [ ":" password ] "@"
func checkSIP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleSIP, "the user"); bad != nil {
		return bad
	}
	a := sipOf(&l)
	if bad := firstOf(checkSIPAddress(&l, &a), checkSIPParams(&l, &a)); bad != nil {
		return bad
	}
	found := checkSIPHeaders(&l, &a)
	if a.password >= 0 && !scheme.HasError(found) {
		found = append([]scheme.Finding{layout.Warn(scheme.CodeCredentials, a.password, a.passwordEnd, "RFC 3261, 19.1.1", "the password is visible to all who see the locator")}, found...)
	}
	return found
}

func checkSIPAddress(l *layout.Layout, a *sipAddress) []scheme.Finding {
	if a.user >= 0 {
		if a.user == a.userEnd {
			return layout.Refuse(a.user, a.userEnd, ruleSIPUser, "missing user before the @")
		}
		if i := firstNot(l.Text, a.user, a.userEnd, isSIPUser); i >= 0 {
			return layout.Refuse(i, i+1, ruleSIPUser, "must be percent-encoded in a user name")
		}
	}
	if a.password >= 0 {
		if i := firstNot(l.Text, a.password, a.passwordEnd, isSIPPassword); i >= 0 {
			return layout.Refuse(i, i+1, "RFC 3261, 25.1: password", "must be percent-encoded in a password")
		}
	}
	switch {
	case a.host == a.hostEnd:
		return layout.Refuse(a.host, a.host, ruleSIPHost, "missing host")
	case a.port >= 0 && (!isNumber(l.Text[a.port:a.portEnd], 0) || len(l.Text[a.port:a.portEnd]) > len("65535")):
		return layout.Refuse(a.port, a.portEnd, ruleSIPHost, "the port must be a number")
	}
	if bad := badSIPHost(l.Text, a.host, a.hostEnd); bad >= 0 {
		return layout.Refuse(bad, min(bad+1, a.end), ruleSIPHost, "the host must be an IP address, or a domain name whose last label begins with a letter")
	}
	return nil
}

// badSIPHost returns the offset of the first invalid byte of a host, or -1 if the host is valid.
//
//	host     = hostname / IPv4address / IPv6reference
//	hostname = *( domainlabel "." ) toplabel [ "." ]
func badSIPHost(s string, from, to int) int {
	if bad := badHost(s, from, to); bad >= 0 || s[from] == '[' || isIPv4(s[from:to]) {
		return bad
	}
	return badTopLabel(s, from, to)
}

// isSIPUser reports whether the user part may contain c. It accepts the percent sign, which begins
// a percent-encoding.
func isSIPUser(c byte) bool {
	return ascii.IsAlnum(c) || strings.IndexByte("-_.!~*'()&=+$,;?/%", c) >= 0
}

func isSIPPassword(c byte) bool { return c != ';' && c != '?' && c != '/' && isSIPUser(c) }

// isSIPHeader reports whether a header field may contain c. It accepts the percent sign, which
// begins a percent-encoding.
func isSIPHeader(c byte) bool {
	return ascii.IsAlnum(c) || strings.IndexByte("-_.!~*'()[]/?:+$%", c) >= 0
}

var (
	sipParams = fieldGrammar{
		rule: ruleSIPParam, form: "a parameter must have the form name or name=value", alone: true,
		name:  charset{isTelValue, ruleSIPParam, "must be percent-encoded in a parameter"},
		value: charset{isTelValue, ruleSIPParam, "must be percent-encoded in a parameter"},
	}
	sipHeaders = fieldGrammar{
		rule: ruleSIPHeader, form: "a header field must have the form name=value",
		name:  charset{isSIPHeader, ruleSIPHeader, "must be percent-encoded in a header field"},
		value: charset{isSIPHeader, ruleSIPHeader, "must be percent-encoded in a header field"},
	}
)

// checkSIPParams checks the parameters.
//
//	uri-parameters = *( ";" uri-parameter )
//	other-param    = pname [ "=" pvalue ]
func checkSIPParams(l *layout.Layout, a *sipAddress) []scheme.Finding {
	if a.params < 0 {
		return nil
	}
	for f := range fields(l.Text, a.params, a.paramsEnd, ';') {
		if bad := sipParams.check(l.Text, f); bad != nil {
			return bad
		}
		value := l.Text[max(f.value, f.nameEnd):f.end]
		switch {
		case f.is(l.Text, "ttl"):
			const most = "255"
			if !isNumber(value, 0) || len(value) > len(most) || len(value) == len(most) && value > most {
				return layout.Refuse(f.name, f.end, "RFC 3261, 25.1: ttl-param", "ttl must be a number from 0 to 255")
			}
		case f.is(l.Text, "maddr"):
			if value == "" || badSIPHost(l.Text, f.value, f.end) >= 0 {
				return layout.Refuse(f.name, f.end, "RFC 3261, 25.1: maddr-param", "the host must be a domain name or an IP address")
			}
		case value == "" && (f.is(l.Text, "transport") || f.is(l.Text, "user") || f.is(l.Text, "method")):
			return layout.Refuse(f.name, f.end, ruleSIPParam, "this parameter needs a value")
		}
	}
	if f, again := repeatedField(l.Text, a.params, a.paramsEnd, ';'); again {
		return layout.Refuse(f.name, f.end, "RFC 3261, 19.1.1", "duplicate parameter")
	}
	return nil
}

// checkSIPHeaders checks the header fields. It warns of fields that a client should not use without
// showing them to the user.
//
//	headers = "?" header *( "&" header )
//	header  = hname "=" hvalue
func checkSIPHeaders(l *layout.Layout, a *sipAddress) []scheme.Finding {
	if a.headers < 0 {
		return nil
	}
	var found []scheme.Finding
	for f := range fields(l.Text, a.headers, a.end, '&') {
		if bad := sipHeaders.check(l.Text, f); bad != nil {
			return bad
		}
		if !f.is(l.Text, "body") { // only a body may contain line breaks
			if bad := l.RefuseHeaderControls(f.name, f.end, ruleSIPHeader); bad != nil {
				return bad
			}
		}
		if isUnsafeSIPHeader(l.Text[f.name:f.nameEnd]) {
			found = append(found, layout.Warn(scheme.CodeDanger, f.name, f.end, "RFC 3261, 19.1.5", "should be ignored: this field could impersonate another caller or redirect the call"))
		}
	}
	return found
}

// isUnsafeSIPHeader reports whether a client should ignore a header field in a URI.
func isUnsafeSIPHeader(name string) bool {
	return ascii.IsOneOf(name,
		"from", "call-id", "cseq", "via", "record-route", "route", "accept", "accept-encoding",
		"accept-language", "allow", "contact", "organization", "supported", "user-agent")
}

func partsSIP(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	a := sipOf(&t.Layout)
	t.Data("user", a.user, a.userEnd)
	t.Data("password", a.password, a.passwordEnd)
	t.Part("host", a.host, a.hostEnd)
	t.Part("port", a.port, a.portEnd)
	appendFields(&t, "parameter", a.params, a.paramsEnd, ';')
	appendFields(&t, "header", a.headers, a.end, '&')
	t.Fragment()
	return t.Parts
}

// canonicalSIP converts case-insensitive parts to lower case, and sorts parts whose order has no
// meaning (RFC 3261, section 19.1.4). It does not omit parameters. RFC 3261 ignores some parameters
// if only one of two URIs has them. This equivalence is not transitive, so a canonical form cannot
// express it.
func canonicalSIP(u uri.URI) string {
	l := layout.Of(u)
	a := sipOf(&l)
	b := append(make([]byte, 0, len(l.Text)), l.Text[:a.host]...)
	end := a.end
	switch {
	case a.params >= 0:
		end = a.params - 1
	case a.headers >= 0:
		end = a.headers - 1
	}
	b = append(b, strings.ToLower(l.Text[a.host:end])...)
	if a.params >= 0 {
		for _, param := range sortedFields(l.Text, a.params, a.paramsEnd, ';', func(b []byte, f field) []byte {
			if f.is(l.Text, "method") { // method names are case-sensitive
				return append(append(b, "method"...), l.Text[f.nameEnd:f.end]...)
			}
			return append(b, lowerRaw(l.Text[f.name:f.end])...)
		}) {
			b = append(append(b, ';'), param...)
		}
	}
	if a.headers >= 0 {
		for i, header := range sortedFields(l.Text, a.headers, a.end, '&', func(b []byte, f field) []byte {
			return append(append(b, lowerRaw(l.Text[f.name:f.nameEnd])...), l.Text[f.nameEnd:f.end]...)
		}) {
			b = append(append(b, "?&"[min(i, 1)]), header...)
		}
	}
	return string(append(b, l.Text[a.end:]...))
}
