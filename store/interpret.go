package store

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/uri"
)

// A Meaning is what a question means to the authority of its name.
type Meaning struct {
	Service    nomen.Service // the service that is answered
	Offered    bool          // false only for a strict question whose service is not offered
	Directives string        // what the r-component stands for; "" for nothing
	Ignored    string        // the component, if it has no meaning there
	Country    bool          // the country is that of the r-component, not of the client
}

// Interpret finds out what q means under the policy of a, which decides about its
// name; a nil authority has no policy. It is the only place where a policy is applied
// to a question. It changes q to what is asked for:
//
//   - The directives that the r-component stands for count where q does not name a
//     service or a component itself. Their language, media type and country replace
//     those of the client.
//   - A component that the authority does not know is dropped (2012, 2.3: N12-30,
//     N12-31, N12-35).
//   - A service that is unknown, not offered, or no value of the directive s is
//     dropped, and a default takes its place (N12-31, N12-32): that of q, else that
//     of the authority, else I2L. For a strict question none does.
//
// A service that sends resources is answered only if the authority allows it and
// fetches is true. Interpreting a question twice is the same as once.
func (a *Authority) Interpret(q *nomen.Question, fetches bool) Meaning {
	if a == nil {
		a = &anybody
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

// anybody is the authority of names that have none. It is never changed.
var anybody Authority

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

// allows reports whether s is among the values, of which none means any.
func allows(values []string, s string) bool { return len(values) == 0 || slices.Contains(values, s) }

// permits reports whether the authority lets a service be asked for.
func (a *Authority) permits(s nomen.Service) bool {
	return len(a.Services) == 0 || slices.Contains(a.Services, s)
}

// offers reports whether a service is answered.
func (a *Authority) offers(s nomen.Service, fetches bool) bool {
	if !s.Known() || (s == nomen.I2R || s == nomen.I2Rs) && !(a.Fetch && fetches) {
		return false
	}
	return a.permits(s)
}

// choose returns the service that is answered, among those that there are.
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

// PassesQuery reports whether a plain query is passed on to where a name leads.
func (p *Policy) PassesQuery() bool { return p.Query == PassAppend }

// Refuses returns the error for a question about n, if nobody may ask for the names
// of a: nothing is told of them, not even whether they exist. Otherwise it is nil.
func (a *Authority) Refuses(n string) *nomen.Error {
	if a == nil || a.Access == "" {
		return nil
	}
	message := a.AccessNote
	if message == "" {
		message = "the names of this authority are not open to the public"
	}
	return &nomen.Error{Kind: nomen.Denied, Name: n, Message: message, Legal: a.Access == AccessLegal}
}
