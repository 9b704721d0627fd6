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

// A hop is a step of a resolution: a question about a name, and the way to ask it.
type hop struct {
	subject
	way     way  // nil if unknown
	guarded bool // connect only to public addresses
}

func (s hop) label() string {
	if p, ok := s.way.(page); ok {
		return p.url
	}
	return s.spelling
}

type resolution struct {
	client   *Client
	question nomen.Question
	have     Validators // validators of the caller's answer
	keys     []string   // keys of the hops so far
	labels   []string
	fragment string // fragment of the last redirect that had one

	lead   *reply // the redirect to the current page
	leader hop
}

// travel follows the resolution from the hop s to an answer. It returns the answer and its
// validators.
func (j *resolution) travel(ctx context.Context, s hop) (*nomen.Answer, Validators, error) {
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

// unreadable handles a failed hop. If the hop is a page to which a resolver redirected, the URL of
// the page is the answer, because the redirect has shown that the resource is there. Otherwise,
// unreadable returns the error, with the target of the last redirect.
func (j *resolution) unreadable(ctx context.Context, s hop, cause error) (*nomen.Answer, error) {
	p, isPage := s.way.(page)
	var private *guard.AddressError
	if isPage && j.lead != nil && ctx.Err() == nil && !errors.As(cause, &private) {
		if a, err := j.lead.located(j.leader, p.url, j.question, j.client.o.Now()); err == nil {
			j.client.tracef("%s cannot be read: %v", p.url, cause)
			a.Why = append(a.Why, p.url+" could not be read") // without the cause, because clients of this server can read this
			return a, nil
		}
	}
	if len(j.labels) > 1 && ctx.Err() == nil && OnFailure(cause) {
		return nil, fmt.Errorf("client: redirected to %s: %w", s.label(), cause)
	}
	return nil, cause
}

// validators returns the validators of r. If a redirect has added a fragment to the answer, the
// validators apply only to requests that get the same fragment.
func (j *resolution) validators(r *reply) Validators {
	v := r.validators()
	if v.From != "" {
		v.From += j.mark()
	}
	return v
}

// had returns the validators of the caller's answer. It returns none if that answer has another
// fragment.
func (j *resolution) had() Validators {
	v, ok := j.have, false
	if v.From, ok = strings.CutSuffix(v.From, j.mark()); !ok {
		return Validators{}
	}
	return v
}

// mark returns the suffix of [Validators.From] for the fragment.
func (j *resolution) mark() string {
	if j.fragment == "" {
		return ""
	}
	return "\n#" + j.fragment
}

// ask tries the ways of a hop until a resolver answers, and records the way of this resolver in s.
// If no resolver answers, ask retries the ways whose resolvers were busy.
func (j *resolution) ask(ctx context.Context, s *hop) (*reply, error) {
	var failed []error
	var late busyWays
	for w, err := range j.client.ways(ctx, *s, j.question) {
		if err == nil {
			var r *reply
			if r, err = j.put(ctx, s, w, &late); err == nil {
				return r, nil
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failed = append(failed, err)
	}
	if r := j.retry(ctx, s, &late); r != nil {
		return r, nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(failed) == 1:
		return nil, failed[0]
	}
	return nil, &WaysError{Name: s.spelling, Errs: failed}
}

type busyWays struct {
	ways  []way
	pause time.Duration
}

func (j *resolution) retry(ctx context.Context, s *hop, late *busyWays) *reply {
	for n := range max(j.client.o.Retries, 0) {
		if len(late.ways) == 0 || pause(ctx, n, late.pause) != nil {
			break
		}
		ways := late.ways
		late.ways = nil
		for _, w := range ways {
			j.client.tracef("retrying")
			if r, err := j.put(ctx, s, w, late); err == nil {
				return r
			}
		}
	}
	return nil
}

// put asks the question in the way w. If the server answers, put records the way in s. If the
// server is busy, put adds the way to the parameter late.
func (j *resolution) put(ctx context.Context, s *hop, w way, late *busyWays) (*reply, error) {
	at := hop{s.subject, w, s.guarded}
	r, err := w.ask(ctx, j.client, at, inquiry{j.question, j.had()})
	if err == nil {
		*s = at
	} else if after, ok := busy(err); ok { // if busy returns false, a retry makes no sense
		late.ways, late.pause = append(late.ways, w), max(late.pause, after)
	}
	return r, err
}

// arrive returns an error if redirects form a loop, or if there are too many redirects.
func (j *resolution) arrive(s hop) error {
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

// wayOn returns the way to ask about a name to which the hop s redirects. If the user has chosen
// the resolver of s, and s does not read a page, this is the way of s. Otherwise, wayOn returns
// nil, and the client looks up the resolver of the name (1995, 4: Y95-43).
func (j *resolution) wayOn(s hop) way {
	if _, isPage := s.way.(page); j.client.via == nil || isPage {
		return nil
	}
	return s.way
}

func (j *resolution) read(s hop, r *reply) (next hop, a *nomen.Answer, err error) {
	if r.redirects() {
		return j.redirected(s, r)
	}
	a, err = j.answer(s, r)
	if _, ok := s.way.(page); ok && r.refuses() {
		a, err = j.unreadable(context.Background(), s, err)
		return hop{}, a, err
	}
	if p, ok := s.way.(page); ok && isUnread(err) && (j.question.Service == nomen.I2C || j.question.Service == nomen.I2Cs || j.question.Service == nomen.I2Ls) {
		a, err = r.located(s, p.url, j.question, j.client.o.Now()) // without a description, the URL of the page is the location
	}
	if to, ok := j.replacement(a, err); ok {
		return hop{subject: to, way: j.wayOn(s), guarded: j.guards(r)}, nil, nil
	}
	return hop{}, a, err
}

func (j *resolution) redirected(s hop, r *reply) (next hop, a *nomen.Answer, err error) {
	to, err := r.destination(s)
	if err != nil {
		return hop{}, nil, err
	}
	next = hop{subject: s.subject, way: j.wayOn(s), guarded: j.guards(r)}
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

// asksForList reports whether a URL is a request to a resolver for all locations (2012, 2.3). Such
// a URL is not itself a location.
func asksForList(locator string) bool {
	u, err := url.Parse(locator)
	return err == nil && strings.EqualFold(u.Query().Get("s"), string(nomen.I2Ls))
}

// replacement returns the name with which to continue, if there is one (1995, 4). This is one of
// the following:
//
//   - the name to which the answer redirects;
//   - the only successor of a retired name, if a location was requested or [nomen.Question.Succeed]
//     is set.
func (j *resolution) replacement(a *nomen.Answer, err error) (subject, bool) {
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

// guards reports whether the hop after the reply r must connect only to public addresses. This is
// the case if [Options.Guard] is set or if r came from a public address.
func (j *resolution) guards(r *reply) bool { return j.client.o.Guard || r.public }

// finish adds the redirects to the explanation of the answer. It also adds the fragment of the last
// redirect, which takes precedence over the fragment in the question (RFC 9110, 10.2.2).
func (j *resolution) finish(a *nomen.Answer) *nomen.Answer {
	addFragment(a, j.fragment)
	for _, label := range j.labels[1:] {
		a.Why = append(a.Why, "redirected to "+label)
	}
	return a
}
