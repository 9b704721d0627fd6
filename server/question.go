package server

import (
	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/question"
)

// checkAccess returns an error if the authority denies access to the name in the target. The error
// does not reveal whether the name exists.
func (a parsedTarget) checkAccess() error {
	about := a.name.Key()
	if about == "" && a.authority != nil {
		about = a.authority.Prefix.String()
	}
	if e := a.authority.Refuses(about); e != nil {
		return e
	}
	return nil
}

// text returns the name or the URI of the target for people.
func (a parsedTarget) text() string {
	if a.name.IsZero() {
		return a.subject.String()
	}
	return a.name.Key()
}

// interpreted applies the policy of the authority to the query of the target. It also sets the
// service of the expected answer, which determines how the request is handled. The resolver may
// still answer for another service. The answer then contains that service.
func (a parsedTarget) interpreted() parsedTarget {
	q := nomen.Question{
		Service: a.query.service, Default: a.standard(), Strict: a.form == formTHTTP, Component: a.query.component, R: a.query.r,
	}
	a.service = a.authority.Interpret(&q, true).Service
	a.query.service, a.query.component = q.Service, q.Component
	if q.Service == "" { // format= is valid only together with s=
		a.query.format = ""
	}
	if a.service != nomen.IisI {
		a.query.other = ""
	}
	return a
}

// standard returns the default service for a target of this form, or "" if the authority determines
// the default.
func (a parsedTarget) standard() nomen.Service {
	if a.form == formElement {
		return nomen.I2C
	}
	return ""
}

// question returns the question for the resolver. It asks for the service in the query, or
// otherwise for the expected service. The error, a [*nomen.Error], is about the second identifier
// of I=I.
func (a parsedTarget) question(r *request, expected nomen.Service) (nomen.Question, error) {
	q := nomen.Question{
		Name: a.name, Service: expected, Default: expected, Strict: a.form == formTHTTP, Component: a.query.component,
		Succeed: a.form == formElement && a.query.service == "", // draft of 1995: Y95-43
		R:       a.query.r, Q: a.query.q, Query: a.query.plain, At: a.query.at,
		Languages: r.languages, UserAgent: r.agent, Country: r.country, Hops: r.hops,
	}
	if a.query.service != "" {
		q.Service = a.query.service
	}
	if a.name.IsZero() || a.passesRest() {
		q.Subject = a.subject
	}
	switch expected {
	case nomen.I2L, nomen.I2R, nomen.I2Rs:
		q.Accept = r.accept
	case nomen.IisI:
		var err error
		q.Other, err = question.Subject(a.query.other, expected)
		return q, err
	}
	return q, nil
}

// questionFor is like question, but always asks for the given service, which must not be I=I.
func (a parsedTarget) questionFor(r *request, service nomen.Service) nomen.Question {
	a.query.service = service
	q, _ := a.question(r, service)
	q.Strict = true
	return q
}
