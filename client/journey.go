package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/guard"
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

// A journey follows redirections from one stop to the next until somebody
// answers (1995, 4: Y95-43, Y95-44).
type journey struct {
	client   *Client
	question nomen.Question
	have     Validators // of the answer that the asker has
	keys     []string   // of the stops so far
	labels   []string
	fragment string // of the last redirection that has one

	lead   *reply // the redirection to the page that is read next
	leader stop   // which was asked then
}

// travel returns the answer and the validators that came with it.
func (j *journey) travel(ctx context.Context, s stop) (*nomen.Answer, Validators, error) {
	for {
		if err := j.arrive(s); err != nil {
			return nil, Validators{}, err
		}
		r, err := j.ask(ctx, &s)
		switch {
		case err != nil:
			a, err := j.unreadable(ctx, s, err)
			if err != nil {
				return nil, Validators{}, err
			}
			return j.finish(a), Validators{}, nil
		case r.status == http.StatusNotModified && r.from == j.had().From && r.from != "":
			return nil, j.have.renewed(r), ErrUnchanged
		}
		next, a, err := j.read(s, r)
		j.fragment, next.fragment = cmp.Or(next.fragment, j.fragment), ""
		switch {
		case err != nil:
			return nil, Validators{}, err
		case a != nil:
			return j.finish(a), j.validators(r), nil
		case j.client.o.MaxRedirects < 0:
			return j.finish(&nomen.Answer{Service: j.question.Service, Name: s.name, Redirect: next.label()}), Validators{}, nil
		}
		j.client.tracef("redirected to %s", next.label())
		s = next
	}
}

// unreadable answers with the URL of a redirection when the page there cannot be read:
// the resolver has said where the resource is, whatever became of that place. Other
// failures stay what they are, and tell where the question had got to.
func (j *journey) unreadable(ctx context.Context, s stop, cause error) (*nomen.Answer, error) {
	p, isPage := s.way.(page)
	var private *guard.AddressError
	if isPage && j.lead != nil && ctx.Err() == nil && !errors.As(cause, &private) {
		if a, err := j.lead.located(j.leader, p.url, j.question, j.client.o.Now()); err == nil {
			j.client.tracef("%s cannot be read: %v", p.url, cause)
			a.Why = append(a.Why, p.url+" could not be read") // and not why: strangers see this
			return a, nil
		}
	}
	if len(j.labels) > 1 && ctx.Err() == nil && OnFailure(cause) {
		return nil, fmt.Errorf("client: redirected to %s: %w", s.label(), cause)
	}
	return nil, cause
}

// validators returns what r says for asking again: of an answer to which a fragment
// was added, for those who are led to the same one.
func (j *journey) validators(r *reply) Validators {
	v := r.validators()
	if v.From != "" {
		v.From += j.mark()
	}
	return v
}

// had returns what is known of an earlier answer, if the way to it was led by the same
// fragment as so far.
func (j *journey) had() Validators {
	v, ok := j.have, false
	if v.From, ok = strings.CutSuffix(v.From, j.mark()); !ok {
		return Validators{}
	}
	return v
}

// mark tells the fragment in the identity of a request.
func (j *journey) mark() string {
	if j.fragment == "" {
		return ""
	}
	return "\n#" + j.fragment
}

// ask puts the question of a stop to each of the ways until there is an answer,
// and notes in s which it was. A way on which somebody answers, whatever he says,
// is the last one. Who is only busy is asked again when all have been tried.
func (j *journey) ask(ctx context.Context, s *stop) (*reply, error) {
	var failed []error
	var again []way
	least := time.Duration(0)
	for w, err := range j.client.ways(ctx, *s, j.question) {
		if err == nil {
			var r *reply
			if r, err = j.put(ctx, s, w); err == nil {
				return r, nil
			}
			if after, ok := busy(err); ok {
				again, least = append(again, w), max(least, after)
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failed = append(failed, err)
	}
	for n := range max(j.client.o.Retries, 0) {
		if len(again) == 0 || pause(ctx, n, least) != nil {
			break
		}
		ways := again
		again = nil
		for _, w := range ways {
			j.client.tracef("asking again")
			r, err := j.put(ctx, s, w)
			if err == nil {
				return r, nil
			}
			if after, ok := busy(err); ok { // else he wants to be left alone now
				again, least = append(again, w), max(least, after)
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(failed) == 1:
		return nil, failed[0]
	}
	return nil, &WaysError{Name: s.spelling, Errs: failed}
}

// put asks on one way, and notes it in s if there is an answer.
func (j *journey) put(ctx context.Context, s *stop, w way) (*reply, error) {
	at := stop{s.subject, w, s.guarded}
	r, err := w.ask(ctx, j.client, at, inquiry{j.question, j.had()})
	if err == nil {
		*s = at
	}
	return r, err
}

// arrive refuses to go in circles, or on and on.
func (j *journey) arrive(s stop) error {
	key := s.name.Key()
	switch {
	case s.way != nil:
		key = s.way.key(s.subject)
	case j.client.via != nil:
		key = j.client.via.key(s.subject)
	}
	loop := slices.Contains(j.keys, key)
	j.keys, j.labels = append(j.keys, key), append(j.labels, s.label())
	if loop || len(j.keys)-1 > max(j.client.o.MaxRedirects, 0) {
		return &RedirectError{Chain: j.labels, Loop: loop}
	}
	return nil
}

// wayOn returns the way to names to which s leads: the same resolver if the user
// named one, else nil, so that it is found anew (1995, 4: Y95-43).
func (j *journey) wayOn(s stop) way {
	if _, isPage := s.way.(page); j.client.via == nil || isPage {
		return nil
	}
	return s.way
}

// read tells what a reply says: where to go on, the answer, or an error.
func (j *journey) read(s stop, r *reply) (next stop, a *nomen.Answer, err error) {
	if r.redirects() {
		return j.redirected(s, r)
	}
	a, err = j.answer(s, r)
	if _, ok := s.way.(page); ok && r.refuses() {
		a, err = j.unreadable(context.Background(), s, err)
		return stop{}, a, err
	}
	if p, ok := s.way.(page); ok && isUnread(err) && (j.question.Service == nomen.I2C || j.question.Service == nomen.I2Cs || j.question.Service == nomen.I2Ls) {
		a, err = r.located(s, p.url, j.question, j.client.o.Now()) // no description, but where something is
	}
	if to, ok := j.replacement(a, err); ok {
		return stop{subject: to, way: j.wayOn(s), guarded: j.guards(r)}, nil, nil
	}
	return stop{}, a, err
}

// redirected tells where a redirection leads, or answers with its URL.
func (j *journey) redirected(s stop, r *reply) (next stop, a *nomen.Answer, err error) {
	to, err := r.destination(s)
	if err != nil {
		return stop{}, nil, err
	}
	next = stop{subject: s.subject, way: j.wayOn(s), guarded: j.guards(r)}
	switch {
	case !to.subject.name.IsZero():
		next.subject = to.subject
	case to.site != "":
		next.way = site{to.site}
	case !s.way.locates(j.question.Service) && r.isItem(to.url):
		a, err = r.inPlace(s, to.url, j.question, j.client.o.Now())
	case to.fetchable && (!s.way.locates(j.question.Service) || isRequest(s.subject) || j.question.Service == nomen.I2Ls && asksForList(to.url)):
		next.way = page{to.url}
		j.lead, j.leader = r, s
	default:
		a, err = r.located(s, to.url, j.question, j.client.o.Now())
	}
	return next, a, err
}

// asksForList reports whether a URL has a directive that asks for all locations (2012,
// 2.3): it is that of a resolver, and no location.
func asksForList(locator string) bool {
	u, err := url.Parse(locator)
	return err == nil && strings.EqualFold(u.Query().Get("s"), string(nomen.I2Ls))
}

// replacement returns the name that takes the place of the one asked about: an
// answer says so, or a tombstone has one successor and a location is wanted, or the
// successor whatever the service (1995, 4).
func (j *journey) replacement(a *nomen.Answer, err error) (subject, bool) {
	var e *nomen.Error
	switch {
	case a != nil && a.Redirect != "":
		to, err := parseSubject(a.Redirect)
		return to, err == nil && isNameScheme(to.name.Scheme())
	case (j.question.Service == nomen.I2L || j.question.Succeed) && errors.As(err, &e) && e.Answer != nil && len(e.Answer.Successors) == 1:
		n := e.Answer.Successors[0]
		return subject{name: n, spelling: n.Key()}, true
	}
	return subject{}, false
}

// guards reports whether the step after r must not lead into private networks:
// one that the public Internet sent us on must not.
func (j *journey) guards(r *reply) bool { return j.client.o.Guard || r.public }

// finish adds how the answer came about, and the fragment to which a redirection
// leads: it is nearer than that of the question (RFC 9110, 10.2.2).
func (j *journey) finish(a *nomen.Answer) *nomen.Answer {
	addFragment(a, j.fragment)
	for _, label := range j.labels[1:] {
		a.Why = append(a.Why, "redirected to "+label)
	}
	return a
}
