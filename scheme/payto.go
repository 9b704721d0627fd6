package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var payto = Scheme{
	Name: "payto", Title: "Payments", Kind: KindOther,
	Reference: "RFC 8905",
	Example:   "payto://iban/DE75512108001245126199?amount=EUR:200.0&message=hello",
	Note:      "the target types iban, bic, ach and upi are checked, others are not",
	Security:  "the author of the link proposes the payment: show target and amount, and ask the user to confirm",
	Special:   []Special{{uri.ComponentPath, "/", "separates the segments of the target"}, {uri.ComponentQuery, "&", "separates options"}},

	Properties: "identifies a payment target, and proposes an amount and a purpose; nothing is retrieved",
	Rules:      RuleSet{Check: withFragment(checkPayto, rulePayto), Parts: partsPayto},
}

// The grammar rules of payto URIs.
const (
	rulePayto       = "RFC 8905, 2: payto-URI"
	rulePaytoOption = "RFC 8905, 2: opt"
	rulePaytoAmount = "RFC 8905, 5: amount"
)

// checkPayto checks a target and its options.
//
//	payto-URI = "payto://" authority path-abempty [ "?" opts ]
//	authority = ALPHA *( ALPHA / DIGIT / "-" / "." )
//	opts      = opt *( "&" opt )
//	opt       = opt-name "=" opt-value
func checkPayto(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(rulePayto); bad != nil {
		return bad
	}
	if bad := l.refuseUser("RFC 8905, 6"); bad != nil {
		return bad
	}
	if l.port >= 0 {
		return refuse(l.port-1, l.portEnd, rulePayto, "a target type has no port")
	}
	if i := firstNot(l.s, l.host, l.hostEnd, func(c byte) bool { return isTelName(c) || c == '.' }); i >= 0 || !isAlpha(l.s[l.host]) {
		return refuse(max(i, l.host), l.hostEnd, "RFC 8905, 2: authority", "a target type must be a letter followed by letters, digits, hyphens and dots")
	}
	amount, receiver, bad := l.checkPaytoOptions()
	if bad != nil {
		return bad
	}
	return l.checkTarget(amount && receiver)
}

// checkPaytoOptions checks the options, and reports whether both amount and
// receiver-name are present.
func (l *layout) checkPaytoOptions() (amount, receiver bool, bad []Finding) {
	for at := l.query; l.query >= 0 && at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, '&')
		if f.value < 0 || f.name == f.nameEnd {
			return amount, receiver, refuse(f.name, f.end, rulePaytoOption, "an option must have the form name=value")
		}
		if i := firstNot(l.s, f.name, f.nameEnd, func(c byte) bool { return isTelName(c) || c == '.' }); i >= 0 {
			return amount, receiver, refuse(i, i+1, rulePaytoOption, "an option name must consist of letters, digits, hyphens and dots")
		}
		if i := firstNot(l.s, f.value, f.end, func(c byte) bool { return c != '/' && c != '?' }); i >= 0 {
			return amount, receiver, refuse(i, i+1, "RFC 8905, 2: opt-value", "must be percent-encoded in an option value")
		}
		receiver = receiver || f.is(l.s, "receiver-name")
		if f.is(l.s, "amount") {
			if amount {
				return amount, receiver, refuse(f.name, f.end, rulePaytoAmount, "the amount may appear only once")
			}
			amount = true
			if message := checkAmount(l.s[f.value:f.end]); message != "" {
				return amount, receiver, refuse(f.value, f.end, rulePaytoAmount, message)
			}
		}
		at = f.end + 1
	}
	return amount, receiver, nil
}

// checkAmount returns a message if the amount is invalid, or "".
//
//	amount = currency ":" unit [ "." fraction ]
func checkAmount(raw string) string {
	const digits, most = 8, 1 << 53
	value, err := uri.Unescape(raw)
	currency, number, ok := strings.Cut(value, ":")
	if err != nil || !ok || !all(currency, isAlpha) {
		return "an amount must be a currency, a colon and a number"
	}
	unit, fraction, has := strings.Cut(number, ".")
	isPlace := func(c byte) bool { return isDigit(c) || c == ',' }
	if !all(unit, isPlace) || has && !all(fraction, isPlace) {
		return "the number must be digits, optionally with a dot and a fraction; commas are ignored"
	}
	n := 0
	for i := range len(unit) {
		if unit[i] == ',' {
			continue
		}
		if n = n*10 + int(unit[i]-'0'); n >= most {
			return "the number must be less than 2^53"
		}
	}
	if len(fraction)-strings.Count(fraction, ",") > digits {
		return "the fraction must not exceed eight digits"
	}
	return ""
}

// checkTarget checks the segments of a target by its type (RFC 8905, 7).
func (l *layout) checkTarget(full bool) []Finding {
	kind, from := l.s[l.host:l.hostEnd], min(l.path+1, l.pathEnd)
	slash := until(l.s, from, l.pathEnd, '/')
	first := l.s[from:slash]
	switch {
	case equalFold(kind, "iban"):
		at := from
		if slash < l.pathEnd {
			if !isBIC(first) {
				return refuse(from, slash, "RFC 8905, 7.3: iban", "only a BIC, 8 or 11 letters and digits, may precede the IBAN")
			}
			at = slash + 1
		}
		if !isIBAN(l.s[at:l.pathEnd]) {
			return refuse(at, l.pathEnd, "RFC 8905, 7.3: iban", "invalid IBAN: check the country code, the length and the check digits")
		}
	case equalFold(kind, "bic"):
		if !isBIC(l.s[from:l.pathEnd]) {
			return refuse(from, l.pathEnd, "RFC 8905, 7.2: bic", "a BIC must be 8 or 11 letters and digits")
		}
	case equalFold(kind, "ach"):
		if !all(first, isDigit) || slash == l.pathEnd || !all(l.s[slash+1:l.pathEnd], isAlnum) {
			return refuse(from, l.pathEnd, "RFC 8905, 7.1: ach", "the target must be a routing number, a slash and an account number")
		}
	case equalFold(kind, "upi"):
		switch {
		case first == "" || slash < l.pathEnd:
			return refuse(from, l.pathEnd, "RFC 8905, 7.4: upi", "the target must be the alias of an account")
		case !full:
			return refuse(l.pathEnd, l.end(), "RFC 8905, 7.4: upi", "amount and receiver-name are required")
		}
	}
	return nil
}

// isBIC reports whether s has the form of a business identifier code (ISO
// 9362).
func isBIC(s string) bool {
	return (len(s) == 8 || len(s) == 11) && all(s, isAlnum) && all(s[4:6], isAlpha)
}

// isIBAN reports whether s is an international bank account number with valid
// check digits (ISO 13616).
func isIBAN(s string) bool {
	const least, most, base = 15, 34, 97
	if len(s) < least || len(s) > most || !all(s, isAlnum) || !all(s[:2], isAlpha) || !all(s[2:4], isDigit) {
		return false
	}
	n := 0
	for i := range len(s) {
		c := s[(i+4)%len(s)]
		if isDigit(c) {
			n = (n*10 + int(c-'0')) % base
		} else {
			n = (n*100 + int(c|0x20-'a') + 10) % base
		}
	}
	return n == 1
}

func partsPayto(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	if t.host >= 0 {
		t.part("target_type", t.host, t.hostEnd)
	}
	if t.hasPath() {
		t.each("target", min(t.path+1, t.pathEnd), t.pathEnd, '/')
	}
	if t.query >= 0 {
		t.fields(t.query, t.queryEnd, '&')
	}
	t.fragment()
	return t.parts
}
