package registrar

import (
	"errors"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// maxRank bounds priority and weight, as in the SRV records they are taken from
// (RFC 2782).
const maxRank = 65535

// checkLocation returns the first field of l that is at fault.
func (r *Registrar) checkLocation(l *nomen.Location) (string, fault) {
	if f := r.checkPlace(l.URL); f.bad() {
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
	return checkInterval(l)
}

func checkRank(n int) fault {
	if n < 0 || n > maxRank {
		return faultf(0, "range", "%d is not between 0 and %d", n, maxRank)
	}
	return fault{}
}

// checkInterval checks the times of l and that the first comes before the
// second.
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
		return "valid_until", faultf(0, "interval", "is not after valid_from")
	}
	return "", fault{}
}

// checkPlace accepts an absolute URI of an allowed scheme that can be sent in a
// header, followed by a client and shown to anybody.
func (r *Registrar) checkPlace(s string) fault {
	if f := checkText(s, false); f.bad() {
		return f
	}
	u, f := parseURI(s)
	if f.bad() {
		return f
	}
	scheme, _ := u.Scheme()
	rule, ok := r.schemes[strings.ToLower(scheme)]
	if !ok {
		return faultf(0, "scheme", "%s is not among the schemes that a location may have", strconv.Quote(scheme))
	}
	if host, _ := u.Host(); rule.host && host == "" {
		return faultf(len(scheme)+1, "host", "a location of the scheme %s names a host", strings.ToLower(scheme))
	}
	if user, _ := u.Userinfo(); strings.IndexByte(user, ':') >= 0 {
		return faultf(strings.Index(s, "//")+len("//"), "userinfo", "a location holds no password")
	}
	if i := escapedControl(s); rule.line && i >= 0 {
		return faultf(i, "pct-encoded", "an escaped control character would break the line in which a client sends it")
	}
	return fault{}
}

// parseURI reads a URI whose scheme runs nothing.
func parseURI(s string) (uri.URI, fault) {
	u, err := uri.Parse(s)
	if err != nil {
		return u, faultOf(err)
	}
	if scheme, _ := u.Scheme(); store.Runs(strings.ToLower(scheme)) {
		return u, faultf(0, "scheme", "%s: makes a browser run or show what the link itself holds", scheme)
	}
	return u, fault{}
}

// faultOf takes place and rule from the error of a parser.
func faultOf(err error) fault {
	var u *uri.Error
	var n *name.Error
	switch {
	case errors.As(err, &n):
		return fault{offset: n.Offset, rule: n.Rule, message: n.Message, err: err}
	case errors.As(err, &u):
		return fault{offset: u.Offset, rule: u.Rule, message: u.Code.String(), err: err}
	}
	return fault{rule: "name", message: err.Error(), err: err}
}

// escapedControl returns the offset of the first escape of a control character,
// or -1. The escapes of s are well formed.
func escapedControl(s string) int {
	for i := 0; i+2 < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		if s[i+1] == '0' || s[i+1] == '1' || s[i+1] == '7' && s[i+2]|0x20 == 'f' {
			return i
		}
		i += 2
	}
	return -1
}
