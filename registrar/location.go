package registrar

import (
	"errors"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/uri"
)

// maxRank limits priority and weight, as in SRV records (RFC 2782).
const maxRank = 65535

func checkLocation(l *nomen.Location) (string, fault) {
	if f := checkPlace(l.URL); f.bad() {
		return "url", f
	}
	for _, c := range [...]struct {
		field, value string
		check        func(string) fault
	}{
		{"type", l.Type, checkType},
		{"lang", l.Lang, checkLang},
		{"rel", l.Rel, checkRel},
		{"country", l.Country, checkCountry},
		{"component", l.Component, func(s string) fault { return checkText(s, false) }},
		{"charset", l.Charset, checkCharset},
		{"note", l.Note, func(s string) fault { return checkText(s, true) }},
	} {
		if c.value == "" {
			continue
		}
		if f := c.check(c.value); f.bad() {
			return c.field, f
		}
	}
	if f := checkRank(l.Priority); f.bad() {
		return "priority", f
	}
	if f := checkRank(l.Weight); f.bad() {
		return "weight", f
	}
	if field, f := checkView(l); f.bad() {
		return field, f
	}
	return checkInterval(l)
}

func checkRank(n int) fault {
	if n < 0 || n > maxRank {
		return faultf(0, "range", "%d must be between 0 and %d", n, maxRank)
	}
	return fault{}
}

// checkInterval checks the times of l. The first must be before the second.
func checkInterval(l *nomen.Location) (string, fault) {
	from, f := checkTime(l.ValidFrom)
	if f.bad() {
		return "valid_from", f
	}
	until, f := checkTime(l.ValidUntil)
	switch {
	case f.bad():
		return "valid_until", f
	case l.ValidFrom != "" && l.ValidUntil != "" && !from.Before(until):
		return "valid_until", faultf(0, "interval", "must be after valid_from")
	}
	return "", fault{}
}

// checkPlace checks the URL of a location. It must be an absolute URI with a permitted scheme that
// is safe in a header, as a redirect and on a page.
func checkPlace(s string) fault {
	if f := checkText(s, false); f.bad() {
		return f
	}
	u, f := parseURI(s)
	if f.bad() {
		return f
	}
	if err := location.CheckURI(u); err != nil {
		return faultOf(err)
	}
	return fault{}
}

// parseURI parses a URI. It rejects schemes whose content a browser would execute.
func parseURI(s string) (uri.URI, fault) {
	u, err := uri.Parse(s)
	if err != nil {
		return u, faultOf(err)
	}
	if scheme, _ := u.Scheme(); location.Runs(scheme) {
		return u, faultf(0, "scheme", "%s: makes a browser execute or display the content of the link itself", scheme)
	}
	return u, fault{}
}

func faultOf(err error) fault {
	var bad uri.InputError
	if errors.As(err, &bad) {
		v := bad.Violation()
		return fault{offset: v.Offset, rule: v.Rule, message: v.Message, err: err}
	}
	return fault{rule: "name", message: err.Error(), err: err}
}
