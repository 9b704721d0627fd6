package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var sms = Scheme{
	Name: "sms", Title: "Short Message Service", Kind: KindOther,
	Reference: "RFC 5724",
	Example:   "sms:+15105550101,+15105550102?body=hello%20there",
	Note:      "many links write the body after & or ;, which no document allows; a number without + needs a phone-context",
	Security:  "the author of the link writes the message, and sending it may cost money: show it to the user first",
	Special: []Special{
		{uri.ComponentPath, ",", "separates recipients"},
		{uri.ComponentPath, ";", "precedes a parameter of a number"},
		{uri.ComponentQuery, "&", "separates fields"},
		{uri.ComponentQuery, "=", "separates the name and value of a field"},
	},
	Properties: "telephone numbers of recipients; a message can be prepared, nothing is retrieved",
	Rules:      RuleSet{Check: checkSMS, Parts: partsSMS, Canonical: canonicalSMS},
}

// The grammar rules of sms URIs.
const (
	ruleSMS      = "RFC 5724, 2.2: sms-uri"
	ruleSMSField = "RFC 5724, 2.2: sms-field"
)

// checkSMS checks recipients and fields.
//
//	sms-uri        = scheme ":" sms-hier-part [ "?" sms-fields ]
//	sms-hier-part  = sms-recipient *( "," sms-recipient )
//	sms-recipient  = telephone-subscriber
//	sms-fields     = sms-field *( "&" sms-field )
//	sms-field      = sms-field-name "=" escaped-value
func checkSMS(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleSMS, "the number"); bad != nil {
		return bad
	}
	var found []Finding
	for at := l.path; at <= l.pathEnd; {
		end := until(l.s, at, l.pathEnd, ',')
		bad := l.checkSubscriber(at, end)
		if HasError(bad) {
			return bad
		}
		found = append(found, bad...)
		at = end + 1
	}
	if bad := l.checkSMSFields(); bad != nil {
		return bad
	}
	if bad := l.refuseFragment(ruleSMS); bad != nil {
		return bad
	}
	return found
}

// checkSMSFields checks the fields.
func (l *layout) checkSMSFields() []Finding {
	body := false
	for at := l.query; l.query >= 0 && at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, '&')
		if f.value < 0 || f.name == f.nameEnd {
			return refuse(f.name, f.end, ruleSMSField, "a field must have the form name=value")
		}
		if i := firstNot(l.s, f.name, f.nameEnd, isUnreserved); i >= 0 {
			return refuse(i, i+1, "RFC 5724, 2.2: sms-field-name", "a field name must consist of letters, digits and - . _ ~")
		}
		if i := firstNot(l.s, f.value, f.end, func(c byte) bool { return c == '%' || isUnreserved(c) }); i >= 0 {
			return refuse(i, i+1, "RFC 5724, 2.2: escaped-value", "must be percent-encoded in a field value")
		}
		if f.is(l.s, "body") {
			if body {
				return refuse(f.name, f.end, ruleSMSField, "the body may appear only once")
			}
			body = true
		}
		at = f.end + 1
	}
	return nil
}

// isUnreserved reports whether c is an unreserved character (RFC 3986, 2.3).
func isUnreserved(c byte) bool { return isAlnum(c) || strings.IndexByte("-._~", c) >= 0 }

func partsSMS(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	for at := t.path; at <= t.pathEnd; {
		end := until(t.s, at, t.pathEnd, ',')
		t.subscriber(at, end, "recipient")
		at = end + 1
	}
	if t.query >= 0 {
		t.fields(t.query, t.queryEnd, '&')
	}
	t.fragment()
	return t.parts
}

// canonicalSMS writes the numbers in the form that RFC 3966, 4 compares.
func canonicalSMS(u uri.URI) string {
	l := layoutOf(u)
	b := []byte("sms:")
	for at := l.path; at <= l.pathEnd; {
		end := until(l.s, at, l.pathEnd, ',')
		b = appendSubscriber(b, l.s, at, end)
		if end < l.pathEnd {
			b = append(b, ',')
		}
		at = end + 1
	}
	return string(append(b, l.s[l.pathEnd:]...))
}
