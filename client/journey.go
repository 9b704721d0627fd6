package client

import (
	"context"
	"errors"
	"slices"

	"github.com/nomen-project/nomen"
)

// A stop is one step of a journey: who is asked about what.
type stop struct {
	subject
	way     way  // nil for the one that leads to the name
	guarded bool // only public addresses may be connected to
}

// label is what people see of a stop.
func (s stop) label() string {
	if p, ok := s.way.(page); ok {
		return p.url
	}
	return s.spelling
}

// wayOn returns the way to names to which s leads: the same resolver if it
// answers for any name, else nil.
func (s stop) wayOn() way {
	switch s.way.(type) {
	case proxy, site:
		return s.way
	}
	return nil
}

// A journey follows redirections from one stop to the next until somebody
// answers (1995, 4: Y95-43, Y95-44).
type journey struct {
	client   *Client
	question nomen.Question
	keys     []string // of the stops so far
	labels   []string
}

func (j *journey) travel(ctx context.Context, s stop) (*nomen.Answer, error) {
	for {
		if err := j.arrive(&s); err != nil {
			return nil, err
		}
		r, err := s.way.ask(ctx, j.client, s, j.question)
		if err != nil {
			return nil, err
		}
		next, a, err := j.read(s, r)
		switch {
		case err != nil:
			return nil, err
		case a != nil:
			return j.finish(a), nil
		case j.client.o.MaxRedirects < 0:
			return j.finish(&nomen.Answer{Service: j.question.Service, Name: s.name, Redirect: next.label()}), nil
		}
		j.client.tracef("redirected to %s", next.label())
		s = next
	}
}

// arrive finds the way of s, and refuses to go in circles, or on and on.
func (j *journey) arrive(s *stop) (err error) {
	if s.way == nil {
		if s.way, err = j.client.wayTo(s.subject, j.question); err != nil {
			return err
		}
	}
	key := s.way.key(s.subject)
	loop := slices.Contains(j.keys, key)
	j.keys, j.labels = append(j.keys, key), append(j.labels, s.label())
	if loop || len(j.keys)-1 > max(j.client.o.MaxRedirects, 0) {
		return &RedirectError{Chain: j.labels, Loop: loop}
	}
	return nil
}

// read tells what a reply says: where to go on, the answer, or an error.
func (j *journey) read(s stop, r *reply) (next stop, a *nomen.Answer, err error) {
	if r.redirects() {
		return j.redirected(s, r)
	}
	a, err = j.answer(s, r)
	if to, ok := j.replacement(a, err); ok {
		return stop{subject: to, way: s.wayOn(), guarded: j.guards(r)}, nil, nil
	}
	return stop{}, a, err
}

// redirected tells where a redirection leads, or answers with its URL.
func (j *journey) redirected(s stop, r *reply) (next stop, a *nomen.Answer, err error) {
	to, err := r.destination(s)
	if err != nil {
		return stop{}, nil, err
	}
	next = stop{subject: s.subject, way: s.wayOn(), guarded: j.guards(r)}
	switch {
	case !to.subject.name.IsZero():
		next.subject = to.subject
	case to.site != "":
		next.way = site{to.site}
	case to.fetchable && !s.way.locates(j.question.Service):
		next.way = page{to.url}
	default:
		a, err = r.located(s, to.url, j.question)
	}
	return next, a, err
}

// replacement returns the name that takes the place of the one asked about: an
// answer says so, or a tombstone has one successor and a location is wanted.
func (j *journey) replacement(a *nomen.Answer, err error) (subject, bool) {
	var e *nomen.Error
	switch {
	case a != nil && a.Redirect != "":
		to, err := parseSubject(a.Redirect)
		return to, err == nil
	case j.question.Service == nomen.I2L && errors.As(err, &e) && e.Answer != nil && len(e.Answer.Successors) == 1:
		n := e.Answer.Successors[0]
		return subject{n, n.Key()}, true
	}
	return subject{}, false
}

// guards reports whether the step after r must not lead into private networks:
// one that the public Internet sent us on must not.
func (j *journey) guards(r *reply) bool { return j.client.o.Guard || r.public }

// finish adds how the answer came about.
func (j *journey) finish(a *nomen.Answer) *nomen.Answer {
	for _, label := range j.labels[1:] {
		a.Why = append(a.Why, "redirected to "+label)
	}
	return a
}
