package store

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/uri"
)

// A Meaning is the interpretation of a question under an authority's policy.
type Meaning struct {
	Service    nomen.Service // the service to answer
	Offered    bool          // false only for a strict question whose service is not offered
	Directives string        // the directives of the r-component; "" for none
	Ignored    string        // the component, if the authority does not know it
	Country    bool          // the country comes from the r-component, not from the client
}

// Interpret returns the meaning of q under the policy of authority a, to which its name belongs; a
// nil authority has no policy. No other function applies policies to questions. Interpret changes
// q as follows:
//
//   - The directives of the r-component set the service and the component unless q has
//     them already. Their language, media type and country replace those of the client.
//   - A component that the authority does not know is dropped (2012, 2.3: N12-30,
//     N12-31, N12-35).
//   - A service that is unknown, not offered, or not a value of the directive s is replaced by
//     a default (N12-31, N12-32): the default of q, else that of the authority, else I2L. For
//     a strict question it is not replaced.
//
// A service that sends resources is answered only if the authority allows it and
// fetches is true. Interpret is idempotent.
func (a *Authority) Interpret(q *nomen.Question, fetches bool) Meaning {
	if a == nil {
		a = &noAuthority
	}
	var m Meaning
	if q.R != "" && len(a.RComponent) > 0 {
		m.Directives = a.RComponent[q.R]
		m.Country = follow(m.Directives, q)
	}
	if q.Component != "" && !a.knowsComponent(q.Component) {
		m.Ignored, q.Component = q.Component, ""
	}
	named := q.Service
	if !a.permits(named) || len(a.Keywords) > 0 && !q.Strict && !allows(a.Keywords["s"], string(named)) || !named.Known() {
		q.Service = ""
	}
	if q.Strict {
		m.Service, m.Offered = named, a.offers(q.Service, fetches)
		return m
	}
	m.Service, m.Offered = a.choose(q, fetches), true
	return m
}

// noAuthority stands for the authority of names that have none. It is never modified.
var noAuthority Authority

// follow applies directives to q, and reports whether they name a country.
func follow(directives string, q *nomen.Question) (country bool) {
	for directives != "" {
		var directive string
		directive, directives, _ = strings.Cut(directives, "&")
		keyword, value, _ := strings.Cut(directive, "=")
		switch {
		case keyword == "s" && q.Service == "":
			q.Service = nomen.Service(unescaped(value))
		case keyword == "c" && q.Component == "":
			q.Component = unescaped(value)
		case keyword == "lang":
			q.Languages = value
		case keyword == "type":
			q.Accept = unescaped(value)
		case keyword == "country":
			q.Country, country = value, true
		}
	}
	return country
}

func unescaped(value string) string {
	s, err := uri.Unescape(value)
	if err != nil {
		return value
	}
	return s
}

// knowsComponent reports whether the directive c has a meaning with this value.
func (a *Authority) knowsComponent(c string) bool {
	if len(a.Keywords) == 0 {
		return true
	}
	values, ok := a.Keywords["c"]
	return ok && allows(values, c)
}

// allows reports whether values contains s. Empty values allow everything.
func allows(values []string, s string) bool { return len(values) == 0 || slices.Contains(values, s) }

// permits reports whether the authority allows requests for a service.
func (a *Authority) permits(s nomen.Service) bool {
	return len(a.Services) == 0 || slices.Contains(a.Services, s)
}

// offers reports whether a service is permitted and can be answered.
func (a *Authority) offers(s nomen.Service, fetches bool) bool {
	if !s.Known() || (s == nomen.I2R || s == nomen.I2Rs) && !(a.Fetch && fetches) {
		return false
	}
	return a.permits(s)
}

// choose returns the service to answer, out of those offered.
func (a *Authority) choose(q *nomen.Question, fetches bool) nomen.Service {
	switch {
	case a.offers(q.Service, fetches):
		return q.Service
	case a.offers(q.Default, fetches):
		return q.Default
	case a.offers(a.Service, fetches):
		return a.Service
	}
	if !a.permits(nomen.I2L) {
		for _, s := range a.Services {
			if a.offers(s, fetches) {
				return s
			}
		}
	}
	return nomen.I2L
}

// PassesQuery reports whether a plain query is appended to the location.
func (p *Policy) PassesQuery() bool { return p.Query == PassAppend }

// Refuses returns the error for a question about a name if the names of its authority are not
// public. The answer then reveals nothing about them, not even whether they exist. Otherwise it
// returns nil.
func (a *Authority) Refuses(n string) *nomen.Error {
	if a == nil || a.Access == "" {
		return nil
	}
	message := a.AccessNote
	if message == "" {
		message = "the names of this authority are not public"
	}
	return &nomen.Error{Kind: nomen.Denied, Name: n, Message: message, Legal: a.Access == AccessLegal}
}
