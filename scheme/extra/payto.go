package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var payto = scheme.Scheme{
	Name: "payto", Title: "Payments", Kind: scheme.KindOther,
	Reference: "RFC 8905",
	Example:   "payto://iban/DE75512108001245126199?amount=EUR:200.0&message=hello",
	Note:      "the target types iban, bic, ach and upi are checked, others are not",
	Security:  "the author of the link proposes the payment: show target and amount, and ask the user to confirm",
	Special:   []scheme.Special{inPath("/", "separates the segments of the target"), inQuery("&", "separates options")},

	Properties: "identifies a payment target, and proposes an amount and a purpose; nothing is retrieved",
	Rules:      scheme.RuleSet{Check: withFragment(checkPayto, rulePayto), Parts: partsPayto},
}

const (
	rulePayto       = "RFC 8905, 2: payto-URI"
	rulePaytoOption = "RFC 8905, 2: opt"
	rulePaytoAmount = "RFC 8905, 5: amount"
)

// checkPayto checks a payto URI.
//
//	payto-URI = "payto://" authority path-abempty [ "?" opts ]
//	authority = ALPHA *( ALPHA / DIGIT / "-" / "." )
//	opts      = opt *( "&" opt )
//	opt       = opt-name "=" opt-value
func checkPayto(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := firstOf(l.NeedServer(rulePayto), l.RefuseUser("RFC 8905, 6")); bad != nil {
		return bad
	}
	if l.Port >= 0 {
		return layout.Refuse(l.Port-1, l.PortEnd, rulePayto, "a target type has no port")
	}
	if i := firstNot(l.Text, l.Host, l.HostEnd, isNameOrDot); i >= 0 || !ascii.IsLetter(l.Text[l.Host]) {
		return layout.Refuse(max(i, l.Host), l.HostEnd, "RFC 8905, 2: authority", "a target type must be a letter followed by letters, digits, hyphens and dots")
	}
	amount, receiver, bad := checkPaytoOptions(&l)
	if bad != nil {
		return bad
	}
	return checkTarget(&l, amount && receiver)
}

var paytoOptions = fieldGrammar{
	rule: rulePaytoOption, form: "an option must have the form name=value",
	name:  charset{isNameOrDot, rulePaytoOption, "an option name must consist of letters, digits, hyphens and dots"},
	value: charset{func(c byte) bool { return c != '/' && c != '?' }, "RFC 8905, 2: opt-value", "must be percent-encoded in an option value"},
}

func isNameOrDot(c byte) bool { return isTelName(c) || c == '.' }

func checkPaytoOptions(l *layout.Layout) (amount, receiver bool, bad []scheme.Finding) {
	for f := range queryFields(l, '&') {
		if bad := paytoOptions.check(l.Text, f); bad != nil {
			return amount, receiver, bad
		}
		receiver = receiver || f.is(l.Text, "receiver-name")
		if f.is(l.Text, "amount") {
			if amount {
				return amount, receiver, layout.Refuse(f.name, f.end, rulePaytoAmount, "the amount may appear only once")
			}
			amount = true
			if message := checkAmount(l.Text[f.value:f.end]); message != "" {
				return amount, receiver, layout.Refuse(f.value, f.end, rulePaytoAmount, message)
			}
		}
	}
	return amount, receiver, nil
}

func checkAmount(raw string) string {
	const digits, most = 8, 1 << 53
	value, err := uri.Unescape(raw)
	currency, number, ok := strings.Cut(value, ":")
	if err != nil || !ok || !ascii.All(currency, ascii.IsLetter) {
		return "an amount must be a currency, a colon and a number"
	}
	unit, fraction, has := strings.Cut(number, ".")
	isPlace := func(c byte) bool { return ascii.IsDigit(c) || c == ',' }
	if !ascii.All(unit, isPlace) || has && !ascii.All(fraction, isPlace) {
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

// checkTarget checks the segments of a payment target by the rules for its type (RFC 8905, section
// 7).
func checkTarget(l *layout.Layout, full bool) []scheme.Finding {
	kind, from := l.Text[l.Host:l.HostEnd], min(l.Path+1, l.PathEnd)
	slash := ascii.Until(l.Text, from, l.PathEnd, '/')
	first := l.Text[from:slash]
	switch {
	case ascii.EqualFold(kind, "iban"):
		at := from
		if slash < l.PathEnd {
			if !isBIC(first) {
				return layout.Refuse(from, slash, "RFC 8905, 7.3: iban", "only a BIC, 8 or 11 letters and digits, may precede the IBAN")
			}
			at = slash + 1
		}
		if !isIBAN(l.Text[at:l.PathEnd]) {
			return layout.Refuse(at, l.PathEnd, "RFC 8905, 7.3: iban", "invalid IBAN: check the country code, the length and the check digits")
		}
	case ascii.EqualFold(kind, "bic"):
		if !isBIC(l.Text[from:l.PathEnd]) {
			return layout.Refuse(from, l.PathEnd, "RFC 8905, 7.2: bic", "a BIC must be 8 or 11 letters and digits")
		}
	case ascii.EqualFold(kind, "ach"):
		if !ascii.All(first, ascii.IsDigit) || slash == l.PathEnd || !ascii.All(l.Text[slash+1:l.PathEnd], ascii.IsAlnum) {
			return layout.Refuse(from, l.PathEnd, "RFC 8905, 7.1: ach", "the target must be a routing number, a slash and an account number")
		}
	case ascii.EqualFold(kind, "upi"):
		switch {
		case first == "" || slash < l.PathEnd:
			return layout.Refuse(from, l.PathEnd, "RFC 8905, 7.4: upi", "the target must be the alias of an account")
		case !full:
			return layout.Refuse(l.PathEnd, l.End(), "RFC 8905, 7.4: upi", "amount and receiver-name are required")
		}
	}
	return nil
}

// isBIC reports whether s has the form of a business identifier code (ISO
// 9362).
func isBIC(s string) bool {
	return (len(s) == 8 || len(s) == 11) && ascii.All(s, ascii.IsAlnum) && ascii.All(s[4:6], ascii.IsLetter)
}

// isIBAN reports whether s is an international bank account number with valid
// check digits (ISO 13616).
func isIBAN(s string) bool {
	const least, most, base = 15, 34, 97
	if len(s) < least || len(s) > most || !ascii.All(s, ascii.IsAlnum) || !ascii.All(s[:2], ascii.IsLetter) || !ascii.All(s[2:4], ascii.IsDigit) {
		return false
	}
	n := 0
	for i := range len(s) {
		c := s[(i+4)%len(s)]
		if ascii.IsDigit(c) {
			n = (n*10 + int(c-'0')) % base
		} else {
			n = (n*100 + int(c|0x20-'a') + 10) % base
		}
	}
	return n == 1
}

func partsPayto(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Part("target_type", t.Host, t.HostEnd)
	if t.HasPath() {
		t.Each("target", min(t.Path+1, t.PathEnd), t.PathEnd, '/')
	}
	appendFields(&t, "option", t.Query, t.QueryEnd, '&')
	t.Fragment()
	return t.Parts
}
