package store

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/uri"
)

// A Meaning is the interpretation of a question under the policy of an authority.
type Meaning struct {
	Service    nomen.Service // the service to answer
	Offered    bool          // false only if the question is strict and its service is not offered
	Directives string        // the directives that the r-component stands for, or ""
	Ignored    string        // the component, if it was dropped because the authority does not know it
	Country    bool          // the country comes from the r-component, and not from the client
}

// Interpret applies the policy of an authority to the question q. The receiver is the authority of
// the name in the question, or nil for a name without an authority. No other function applies
// policies to questions. Interpret is idempotent. It changes q as follows:
//
//   - Directives in the r-component set the service and the component, unless q already has them.
//     Directives for the language, the media type and the country replace the preferences of the
//     client.
//   - A component that the authority does not know is dropped (N12-30, N12-31, N12-35).
//   - A service that is unknown, not offered, or not listed for the directive s in the policy is
//     replaced by the default service (N12-31, N12-32). The default is the default of q, otherwise
//     the default of the authority, and otherwise I2L. If the authority does not permit I2L, the
//     first service that it offers takes the place of I2L. In a strict question, the service is not
//     replaced.
//
// A service that sends resources is offered only if the authority allows it and the parameter
// fetches is true.
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

// noAuthority has no policy. It is never modified.
var noAuthority Authority

// follow sets the fields of q for directives. It reports whether one of the directives is for a
// country.
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

// knowsComponent reports whether the keywords of the authority permit the component c.
func (a *Authority) knowsComponent(c string) bool {
	if len(a.Keywords) == 0 {
		return true
	}
	values, ok := a.Keywords["c"]
	return ok && allows(values, c)
}

// allows reports whether a list of values in a policy contains s. An empty list allows everything.
func allows(values []string, s string) bool { return len(values) == 0 || slices.Contains(values, s) }

func (a *Authority) permits(s nomen.Service) bool {
	return len(a.Services) == 0 || slices.Contains(a.Services, s)
}

func (a *Authority) offers(s nomen.Service, fetches bool) bool {
	if !s.Known() || (s == nomen.I2R || s == nomen.I2Rs) && !(a.Fetch && fetches) {
		return false
	}
	return a.permits(s)
}

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

// PassesQuery reports whether the query of a request is appended to the location. It does not apply
// to q-components.
func (p *Policy) PassesQuery() bool { return p.Query == PassAppend }

// Refuses returns the error for a question about the name n if the names of the authority are not
// public. Otherwise it returns nil. The error does not reveal whether n exists.
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
