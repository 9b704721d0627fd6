package client

import (
	"cmp"
	"errors"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// Parse parses a name as entered by a user. It returns a question about the name, without a
// service. It removes angle brackets around the name and white space in a URN (1995, 2: Y95-05,
// Y95-06). The r- and q-component of a URN go into their own fields. An f-component or fragment
// stays in Subject. The client does not send it, but adds it to the locations in the answer (2012,
// 2.4: N12-38). In a urn:dns name "#" is reserved, so a fragment is an error (Y95-08).
//
// The error is a [*nomen.Error] of kind Malformed, whose Name is s without brackets and white
// space.
func Parse(s string) (nomen.Question, error) { return ParseDialect(urn.Latest, s) }

// ParseDialect is [Parse] for URNs of another dialect. In [urn.Draft2012], the directives of the
// URN become fields of the question; see [nomen.Requested]. URIs other than URNs do not depend on
// the dialect.
func ParseDialect(d urn.Dialect, s string) (nomen.Question, error) {
	s = unfold(s)
	if !ascii.HasPrefix(s, "urn:") {
		spelling, _, _ := strings.Cut(s, "#")
		return question(spelling, s[len(spelling):])
	}
	u, err := parseURN(d, s)
	if err != nil {
		return nomen.Question{}, malformed(s, err)
	}
	about, err := question(u.Assigned().String(), fragmentOf(u))
	q := nomen.Requested(u)
	q.Name, q.Subject = about.Name, about.Subject
	return q, err
}

func fragmentOf(u urn.URN) string {
	if f, ok := u.FComponent(); ok {
		return "#" + f
	}
	return ""
}

func question(s, fragment string) (nomen.Question, error) {
	n, err := name.Parse(s)
	if err != nil {
		return nomen.Question{}, malformed(s, err)
	}
	subject, err := uri.Parse(s + fragment)
	if err != nil {
		return nomen.Question{}, malformed(s+fragment, err)
	}
	return nomen.Question{Name: n, Subject: subject}, nil
}

func spellingOf(u uri.URI) string {
	s, _, _ := strings.Cut(u.String(), "#")
	return s
}

// parseURN parses a URN of a dialect. A urn:dns name must also follow the rules of the draft of
// 1995, but may have the components of RFC 8141 and of the draft of 2012.
func parseURN(d urn.Dialect, s string) (urn.URN, error) {
	u, err := d.Parse(s)
	if d != urn.Latest || !ascii.HasPrefix(s, "urn:dns:") {
		return u, err
	}
	if _, fragment := u.FComponent(); err != nil || fragment {
		return urn.Draft1995.Parse(s)
	}
	return u, nil
}

// unfold removes angle brackets around a name, and white space in a URN.
func unfold(s string) string {
	s = strings.TrimSpace(s)
	if inner, delimited := uri.Undelimit(s); delimited {
		return inner
	}
	if !ascii.HasPrefix(s, "urn:") {
		return s
	}
	return strings.Join(strings.Fields(s), "")
}

// A subject is the name in a question, both as spelled and parsed.
type subject struct {
	name     name.Name
	spelling string // without components; ASCII without white space
	fragment string // from a redirect; may be ""
}

func parseSubject(s string) (subject, error) {
	q, err := Parse(s)
	if err != nil {
		return subject{}, err
	}
	fragment, _ := q.Subject.Fragment()
	return subject{q.Name, spellingOf(q.Subject), fragment}, nil
}

func subjectOf(q nomen.Question) (subject, nomen.Question, error) {
	typed, err := Parse(q.Subject.String())
	switch {
	case !q.Name.IsZero() && (err != nil || typed.Name != q.Name):
		return subject{name: q.Name, spelling: q.Name.Key()}, q, nil
	case err != nil:
		return subject{}, q, withService(malformed(q.Subject.String(), err), q.Service)
	}
	q.R, q.Q = cmp.Or(q.R, typed.R), cmp.Or(q.Q, typed.Q)
	return subject{name: typed.Name, spelling: spellingOf(typed.Subject)}, q, nil
}

func malformed(s string, err error) *nomen.Error {
	e := &nomen.Error{Kind: nomen.Malformed, Name: s, Rule: "name", Message: err.Error(), Err: err}
	var ready *nomen.Error
	var bad uri.InputError
	switch {
	case errors.As(err, &ready):
		return ready
	case errors.As(err, &bad):
		v := bad.Violation()
		e.Offset, e.Rule, e.Message = v.Offset, v.Rule, v.Message
	}
	return e
}

func withService(e *nomen.Error, s nomen.Service) *nomen.Error {
	e.Service = s
	return e
}
