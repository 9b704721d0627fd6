package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var sms = scheme.Scheme{
	Name: "sms", Title: "Short Message Service", Kind: scheme.KindOther,
	Reference: "RFC 5724",
	Example:   "sms:+15105550101,+15105550102?body=hello%20there",
	Note:      "many links write the body after & or ;, which no document allows; a number without + needs a phone-context",
	Security:  "the author of the link writes the message, and sending it may cost money: show it to the user first",
	Special: []scheme.Special{
		inPath(",", "separates recipients"),
		inPath(";", "precedes a parameter of a number"),
		inQuery("&", "separates fields"),
		inQuery("=", "separates the name and value of a field"),
	},
	Properties: "telephone numbers of recipients; a message can be prepared, nothing is retrieved",
	Rules:      scheme.RuleSet{Check: checkSMS, Parts: partsSMS, Canonical: canonicalSMS},
}

const (
	ruleSMS      = "RFC 5724, 2.2: sms-uri"
	ruleSMSField = "RFC 5724, 2.2: sms-field"
)

// checkSMS checks the recipients and the fields.
//
//	sms-uri        = scheme ":" sms-hier-part [ "?" sms-fields ]
//	sms-hier-part  = sms-recipient *( "," sms-recipient )
//	sms-recipient  = telephone-subscriber
//	sms-fields     = sms-field *( "&" sms-field )
//	sms-field      = sms-field-name "=" escaped-value
func checkSMS(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleSMS, "the number"); bad != nil {
		return bad
	}
	var found []scheme.Finding
	for at := l.Path; at <= l.PathEnd; {
		end := ascii.Until(l.Text, at, l.PathEnd, ',')
		bad := checkSubscriber(&l, at, end)
		if scheme.HasError(bad) {
			return bad
		}
		found = append(found, bad...)
		at = end + 1
	}
	if bad := firstOf(checkSMSFields(&l), refuseFragment(&l, ruleSMS)); bad != nil {
		return bad
	}
	return found
}

var smsFields = fieldGrammar{
	rule: ruleSMSField, form: "a field must have the form name=value",
	name:  charset{isUnreserved, "RFC 5724, 2.2: sms-field-name", "a field name must consist of letters, digits and - . _ ~"},
	value: charset{isEscaped, "RFC 5724, 2.2: escaped-value", "must be percent-encoded in a field value"},
}

func checkSMSFields(l *layout.Layout) []scheme.Finding {
	body := false
	for f := range queryFields(l, '&') {
		if bad := smsFields.check(l.Text, f); bad != nil {
			return bad
		}
		if f.is(l.Text, "body") {
			if body {
				return layout.Refuse(f.name, f.end, ruleSMSField, "the body may appear only once")
			}
			body = true
		}
	}
	return nil
}

// isUnreserved reports whether c is an unreserved character (RFC 3986, section 2.3).
func isUnreserved(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-._~", c) >= 0 }

func isEscaped(c byte) bool { return c == '%' || isUnreserved(c) }

func partsSMS(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	for at := t.Path; at <= t.PathEnd; {
		end := ascii.Until(t.Text, at, t.PathEnd, ',')
		appendSubscriberParts(&t, at, end, "recipient")
		at = end + 1
	}
	appendFields(&t, "field", t.Query, t.QueryEnd, '&')
	t.Fragment()
	return t.Parts
}

// canonicalSMS normalises the telephone numbers for comparison by RFC 3966, section 4.
func canonicalSMS(u uri.URI) string {
	l := layout.Of(u)
	b := []byte("sms:")
	for at := l.Path; at <= l.PathEnd; {
		end := ascii.Until(l.Text, at, l.PathEnd, ',')
		b = appendSubscriber(b, l.Text, at, end)
		if end < l.PathEnd {
			b = append(b, ',')
		}
		at = end + 1
	}
	return string(append(b, l.Text[l.PathEnd:]...))
}
