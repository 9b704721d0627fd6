package extra

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var tel = scheme.Scheme{
	Name: "tel", Title: "Telephone numbers", Kind: scheme.KindOther,
	Reference: "RFC 3966",
	Example:   "tel:+1-201-555-0123;ext=12",
	Note:      "hyphens, dots, parentheses and case are not significant; a number without + is valid only in its phone-context",
	Security:  "a call may cost money and reveals the caller's number: ask the user to confirm it",
	Special: []scheme.Special{
		inPath(";", "precedes a parameter"),
		inPath("=", "separates the name and value of a parameter"),
		inPath("-.()", "visual separators, ignored in comparison"),
	},
	Properties: "identifies a telephone number, not the digits to dial; nothing is retrieved",
	Rules:      scheme.RuleSet{Check: checkTel, Parts: partsTel, Canonical: canonicalTel},
}

const (
	ruleTel        = "RFC 3966, 3: telephone-uri"
	ruleTelGlobal  = "RFC 3966, 3: global-number-digits"
	ruleTelLocal   = "RFC 3966, 3: local-number-digits"
	ruleTelContext = "RFC 3966, 3: context"
	ruleTelParam   = "RFC 3966, 3: parameter"
)

// checkTel checks a telephone number.
//
//	telephone-uri        = "tel:" telephone-subscriber
//	telephone-subscriber = global-number / local-number
func checkTel(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleTel, "the number"); bad != nil {
		return bad
	}
	found := checkSubscriber(&l, l.Path, l.PathEnd)
	if scheme.HasError(found) {
		return found
	}
	if bad := firstOf(refuseQuery(&l, ruleTel), refuseFragment(&l, ruleTel)); bad != nil {
		return bad
	}
	return found
}

// checkSubscriber checks a number and its parameters.
//
//	global-number = global-number-digits *par
//	local-number  = local-number-digits *par context *par
func checkSubscriber(l *layout.Layout, from, to int) []scheme.Finding {
	end := ascii.Until(l.Text, from, to, ';')
	global := from < end && l.Text[from] == '+'
	if bad := checkDigits(l.Text, from, end, global); bad != nil {
		return bad
	}
	var found []scheme.Finding
	context, last := false, field{}
	for f := range fields(l.Text, end+1, to, ';') {
		if bad := checkTelParam(l, f); bad != nil {
			return bad
		}
		context = context || f.is(l.Text, "phone-context")
		if last.end > 0 && compareTelParams(l.Text, last, f) > 0 && found == nil {
			found = []scheme.Finding{layout.Warn(scheme.CodeForm, f.name, f.end, "RFC 3966, 3: order of parameters", "isub or ext must come first, then phone-context, then the others in alphabetical order")}
		}
		if name := l.Text[f.name:f.nameEnd]; len(name) > 2 && ascii.EqualFold(name[:2], "m-") {
			found = append(found, layout.Warn(scheme.CodeUndefined, f.name, f.nameEnd, "RFC 3966, 5.4", "mandatory parameter: a client that does not support it must not use the number"))
		}
		last = f
	}
	if !global && !context {
		return layout.Refuse(end, end, ruleTelContext, "a number without + needs a phone-context, as it is valid only there")
	}
	if end < to {
		if bad := checkTelRepeated(l, end+1, to); bad != nil {
			return bad
		}
	}
	return found
}

// checkTelRepeated checks that no parameter is repeated, and that isub and ext are not both present
// (RFC 3966, section 5.3).
func checkTelRepeated(l *layout.Layout, from, to int) []scheme.Finding {
	if f, again := repeatedField(l.Text, from, to, ';'); again {
		return layout.Refuse(f.name, f.end, ruleTelParam, "duplicate parameter")
	}
	other := ""
	for f := range fields(l.Text, from, to, ';') {
		name := l.Text[f.name:f.nameEnd]
		if ascii.EqualFold(name, "isub") || ascii.EqualFold(name, "ext") {
			if other != "" {
				return layout.Refuse(f.name, f.end, "RFC 3966, 5.3", "isub and ext must not appear together")
			}
			other = name
		}
	}
	return nil
}

// checkDigits checks a number without its parameters.
//
//	global-number-digits = "+" *phonedigit DIGIT *phonedigit
//	local-number-digits  = *phonedigit-hex (HEXDIG / "*" / "#") *phonedigit-hex
func checkDigits(s string, from, to int, global bool) []scheme.Finding {
	at, rule, digits := from, ruleTelLocal, 0
	if global {
		at, rule = from+1, ruleTelGlobal
	}
	for at < to {
		switch c := s[at]; {
		case ascii.IsDigit(c), !global && (ascii.IsHex(c) || c == '*'):
			digits++
		case !global && strings.HasPrefix(s[at:to], "%23"): // an encoded number sign
			digits++
			at += len("23")
		case isVisual(c):
		case strings.HasPrefix(s[at:to], "%20"):
			return []scheme.Finding{layout.Instead(layout.Broken(at, at+len("%20"), "RFC 3966, 5.1.1", "spaces are not allowed; use a hyphen"), "-")}
		case ascii.IsLetter(c):
			return layout.Refuse(at, at+1, "RFC 3966, 5.1.2", "letters cannot replace digits")
		default:
			return layout.Refuse(at, at+1, rule, "a number must consist of digits and the visual separators - . ( )")
		}
		at++
	}
	if digits == 0 {
		return layout.Refuse(from, to, rule, "missing number")
	}
	return nil
}

func isVisual(c byte) bool { return c == '-' || c == '.' || c == '(' || c == ')' }

func isPhoneDigit(c byte) bool { return ascii.IsDigit(c) || isVisual(c) }

func isTelName(c byte) bool { return ascii.IsAlnum(c) || c == '-' }

// isTelValue reports whether c is a paramchar. It accepts the percent sign,
// which begins a percent-encoding.
func isTelValue(c byte) bool {
	return ascii.IsAlnum(c) || strings.IndexByte("-_.!~*'()[]/:&+$%", c) >= 0
}

func checkTelParam(l *layout.Layout, f field) []scheme.Finding {
	if bad := checkParamName(l.Text, f, ruleTelParam); bad != nil {
		return bad
	}
	switch {
	case f.is(l.Text, "ext"):
		if f.empty() || firstNot(l.Text, f.value, f.end, isPhoneDigit) >= 0 {
			return layout.Refuse(f.name, f.end, "RFC 3966, 3: extension", "an extension must consist of digits")
		}
	case f.is(l.Text, "isub"):
		if f.empty() {
			return layout.Refuse(f.name, f.end, "RFC 3966, 3: isdn-subaddress", "missing subaddress")
		}
	case f.is(l.Text, "phone-context"):
		return checkPhoneContext(l, f)
	default:
		return checkParamValue(l.Text, f, ruleTelParam, charset{isTelValue, ruleTelParam, "must be percent-encoded in a parameter value"})
	}
	return nil
}

func checkParamName(s string, f field, rule string) []scheme.Finding {
	if f.name == f.nameEnd {
		return layout.Refuse(f.name, f.end, rule, "missing parameter name")
	}
	name := charset{isTelName, rule, "a parameter name must consist of letters, digits and hyphens"}
	return name.check(s, f.name, f.nameEnd)
}

func checkParamValue(s string, f field, rule string, value charset) []scheme.Finding {
	switch {
	case f.value < 0:
		return nil
	case f.value == f.end:
		return layout.Refuse(f.name, f.end, rule, "missing parameter value")
	}
	return value.check(s, f.value, f.end)
}

// checkPhoneContext checks the context of a local number.
//
//	context    = ";phone-context=" descriptor
//	descriptor = domainname / global-number-digits
func checkPhoneContext(l *layout.Layout, f field) []scheme.Finding {
	switch {
	case f.empty():
		return layout.Refuse(f.name, f.end, ruleTelContext, "missing context")
	case l.Text[f.value] == '+':
		return checkDigits(l.Text, f.value, f.end, true)
	}
	bad := badHost(l.Text, f.value, f.end)
	if bad < 0 {
		bad = badTopLabel(l.Text, f.value, f.end)
	}
	if bad >= 0 {
		return layout.Refuse(bad, f.end, "RFC 3966, 3: descriptor", "the context must be + and digits, or a domain name whose last label begins with a letter")
	}
	return nil
}

// compareTelParams compares two parameters by their order in RFC 3966.
func compareTelParams(s string, a, b field) int {
	rank := func(f field) int {
		switch {
		case f.is(s, "ext"), f.is(s, "isub"):
			return 0
		case f.is(s, "phone-context"):
			return 1
		}
		return 2
	}
	if r := rank(a) - rank(b); r != 0 || rank(a) < 2 {
		return r
	}
	return ascii.Compare(s[a.name:a.nameEnd], s[b.name:b.nameEnd])
}

func partsTel(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	appendSubscriberParts(&t, t.Path, t.PathEnd, "number")
	t.Fragment()
	return t.Parts
}

// appendSubscriberParts adds the number, as a part with the given name, and its parameters.
func appendSubscriberParts(t *layout.Taker, from, to int, name string) {
	end := ascii.Until(t.Text, from, to, ';')
	t.Data(name, from, end)
	if end < to {
		appendFields(t, "parameter", end+1, to, ';')
	}
}

// canonicalTel normalises a telephone number for comparison by RFC 3966, section 4. The result is
// in lower case, without visual separators, and with sorted parameters.
func canonicalTel(u uri.URI) string {
	l := layout.Of(u)
	return string(appendSubscriber([]byte("tel:"), l.Text, l.Path, l.PathEnd))
}

func appendSubscriber(b []byte, s string, from, to int) []byte {
	end := ascii.Until(s, from, to, ';')
	b = appendDigits(b, s[from:end])
	params := slices.SortedStableFunc(fields(s, end+1, to, ';'), func(a, b field) int { return compareTelParams(s, a, b) })
	for _, f := range params {
		b = append(b, ';')
		b = append(b, strings.ToLower(s[f.name:f.nameEnd])...)
		if f.value < 0 {
			continue
		}
		b = append(b, '=')
		if value := s[f.value:f.end]; f.is(s, "ext") || f.is(s, "phone-context") && value[0] == '+' {
			b = appendDigits(b, value)
		} else {
			b = append(b, lowerRaw(value)...)
		}
	}
	return b
}

func appendDigits(b []byte, s string) []byte {
	for i := range len(s) {
		if !isVisual(s[i]) {
			b = append(b, ascii.Lower(s[i]))
		}
	}
	return b
}
