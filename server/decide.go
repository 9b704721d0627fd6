package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/health"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// The methods that the public listener allows on most paths, and on [batchPath] (draft of 1995:
// Y95-31).
const (
	allowed      = "GET, HEAD, OPTIONS"
	allowedBatch = "GET, HEAD, POST, OPTIONS"
)

func (s *Server) decide(ctx context.Context, r *request) *reply {
	stale, start := store.WithStaleness(ctx), s.now()
	stale.Dependencies = new(store.Dependencies)
	l, known, found := s.lookUp(stale, r)
	if found {
		if r.method == http.MethodGet {
			s.countRepeated(r.client(), &known, start)
		}
		return s.repeated(&known, start)
	}
	p := s.forPeople(r, s.answer(stale, r))
	p.private = p.private || gateway.ClientOf(ctx).Entered()
	now := s.now()
	s.addAge(p, stale.Age(now))
	s.finish(p, now)
	s.keepDecided(l, stale, r, p, start)
	if p.subject.name != "" {
		s.countReply(r.client(), p, start)
	}
	return p
}

// finish adds the header fields that all responses of this server have.
func (s *Server) finish(p *reply, now time.Time) {
	p.finish(s.dates.of(now), s.pagePolicy)
	if s.sameOrigin {
		p.withoutCORS()
	}
}

func (s *Server) answer(ctx context.Context, r *request) *reply {
	batch := isBatch(r.target)
	switch {
	case len(r.target) > maxTarget:
		return newReply(http.StatusRequestURITooLong).withText("The request target is longer than " + strconv.Itoa(maxTarget) + " bytes.")
	case !r.servedHere():
		return s.wrongProtocol(ctx, r)
	case r.method == http.MethodGet, r.method == http.MethodHead:
	case s.isForOthers(ctx, r):
		return s.problem(ctx, r, parsedTarget{form: formPage}, errForOthers)
	case r.method == http.MethodOptions:
		return options(batch)
	case r.method == http.MethodPost && batch:
		return s.batch(ctx, r)
	default:
		return methodNotAllowed(batch)
	}
	if path, _, _ := strings.Cut(r.target, "?"); path == health.LivePath || path == health.ReadyPath {
		return s.checkHealth(r, path)
	}
	asked, err := s.parse(ctx, r)
	if err != nil {
		return s.failure(r, err)
	}
	return s.answerAsked(ctx, r, asked)
}

// isForOthers reports whether a target is the URL of another server. Clients send such targets to
// proxies.
func (s *Server) isForOthers(ctx context.Context, r *request) bool {
	if _, _, ok := absoluteForm(r.target); !ok {
		return false
	}
	asked, err := s.parse(ctx, r)
	return err == nil && errors.Is(asked.err, errForOthers)
}

func (s *Server) answerAsked(ctx context.Context, r *request, asked *parsedRequest) *reply {
	p := s.replyTo(ctx, r, asked)
	if p.form == formOther {
		p.form = asked.target.form
	}
	return p
}

func (s *Server) replyTo(ctx context.Context, r *request, asked *parsedRequest) *reply {
	a := asked.target
	switch {
	case asked.err != nil:
		return s.problem(ctx, r, a, asked.err)
	case a.form == formPage:
		return s.page(ctx, r, a, asked.set)
	case a.reserved != "":
		return s.reservedRequest(ctx, r, a, asked.set)
	case r.hops > maxVia:
		return s.problem(ctx, r, a, nomen.ErrLoop)
	}
	return s.resolve(ctx, r, a)
}

// options answers OPTIONS, including the preflight requests of CORS.
func options(batch bool) *reply {
	p := newReply(http.StatusNoContent)
	methods := allowed
	if batch {
		methods = allowedBatch
		p.add("Accept-Post", typeURIList+", "+typeJSONLines)
	}
	p.add("Allow", methods)
	p.add("Access-Control-Allow-Methods", methods)
	p.add("Access-Control-Allow-Headers", "Accept, Accept-Datetime, Accept-Language, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range")
	p.add("Access-Control-Max-Age", "86400")
	return p
}

func methodNotAllowed(batch bool) *reply {
	p := newReply(http.StatusMethodNotAllowed)
	if batch {
		p.add("Allow", allowedBatch)
	} else {
		p.add("Allow", allowed)
	}
	return p.withText("Use GET or HEAD to resolve a name.")
}

func (s *Server) resolve(ctx context.Context, r *request, a parsedTarget) *reply {
	if whole, err := s.isRegistered(ctx, a.whole); err != nil {
		return s.failure(r, err)
	} else if whole {
		a = a.withQuery()
	}
	if a.query.badAt != "" {
		return s.problem(ctx, r, a, badTime(r.target, a.query.badAt))
	}
	if a.unknownService != "" {
		return s.withoutService(ctx, r, a)
	}
	a = a.interpreted()
	if a.query.format != "" { // format= precedes Accept
		f, _ := format.ByName(a.query.format)
		wanting := *r
		wanting.accept = f.MediaType
		r = &wanting
	}
	if !a.negotiable() {
		return s.note(s.resolveAt(ctx, r, a), r, a)
	}
	p := s.negotiate(ctx, r, a)
	if a.query.at.IsZero() { // a memento is not negotiated (RFC 7089, 4.1.1)
		p.vary("Accept-Datetime")
	}
	return s.note(p, r, a)
}

func (s *Server) isRegistered(ctx context.Context, n name.Name) (bool, error) {
	if n.IsZero() {
		return false, nil
	}
	_, err := s.store.Get(ctx, n, time.Time{})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// withQuery returns the target with its query as a part of the name, and without directives.
func (a parsedTarget) withQuery() parsedTarget {
	service, other := a.query.service, a.query.other
	a.name, a.whole, a.query = a.whole, name.Name{}, query{}
	if a.form == formTHTTP { // the service in a THTTP path stays
		a.query.service, a.query.other = service, other
	}
	return a
}

// resolveAt answers a request for a name at the time in the target. If the target has no time,
// resolveAt uses the current time.
func (s *Server) resolveAt(ctx context.Context, r *request, a parsedTarget) *reply {
	service := a.service
	switch {
	case a.byLocation:
		return s.costly(ctx, func() *reply { return s.located(ctx, r, a, service) })
	case service == nomen.I2L:
		return s.locate(ctx, r, a)
	case service == nomen.I2R, service == nomen.I2Rs:
		return s.fetch(ctx, r, a, service)
	}
	q, err := a.question(r, service)
	if err != nil {
		return s.problem(ctx, r, a, err)
	}
	ans, err := s.resolver.Resolve(ctx, q)
	switch {
	case err == nil:
		return s.answered(ctx, r, a, service, ans)
	case a.mayBeLocation(service) && isNoName(err):
		p := s.costly(ctx, func() *reply { return s.located(ctx, r, a, service) })
		p.located = true
		return p
	}
	return s.problem(ctx, r, a, err)
}

// answered sends an answer to the client. If the requested service is not available for the name,
// the answer is for another service (draft of 2012: N12-32). In THTTP this is an error.
func (s *Server) answered(ctx context.Context, r *request, a parsedTarget, asked nomen.Service, ans *nomen.Answer) *reply {
	question.CloseResources(ans) // only fetch passes on resources, so they are not needed
	switch {
	case ans.Redirect != "":
		return s.redirectElsewhere(ctx, r, a, ans)
	case ans.Raw != nil:
		return s.passThrough(r, ans)
	case a.form == formTHTTP && ans.Service != asked:
		a.query.service = asked
		return s.problem(ctx, r, a, notOffered(a))
	case ans.Service != asked && a.query.service != "": // answer as if the client had requested no service
		a.query.service, a.service = "", ans.Service
		return s.resolveAt(ctx, r, a)
	case ans.Service == nomen.I2L:
		return s.toLocation(ctx, r, a, ans)
	case (ans.Service == nomen.I2R || ans.Service == nomen.I2Rs) && asked != nomen.I2R && asked != nomen.I2Rs:
		return s.fetch(ctx, r, a, ans.Service) // only fetch passes on resources
	case ans.Service == nomen.I2R, ans.Service == nomen.I2Rs:
		return s.failure(r, fmt.Errorf("server: the resolver answered %s with %s", asked, ans.Service))
	}
	return s.described(ctx, r, a, ans)
}

// described sends a description or a list, in the format that Accept selects.
func (s *Server) described(ctx context.Context, r *request, a parsedTarget, ans *nomen.Answer) *reply {
	return s.describedIn(r, a, ans, s.onPage(ctx, r, a, ans, offersFor(ans.Service)))
}

func (s *Server) describedIn(r *request, a parsedTarget, ans *nomen.Answer, offers []format.Format) *reply {
	return s.inFormat(r, ans, offers, func(p *reply) {
		s.link(p, r, a, ans)
		p.varyWith(ans)
		p.add("Last-Modified", validator.LastModified(changed(ans), s.now()))
		p.add("Cache-Control", cacheControl(ans))
	})
}

// inFormat sends an answer in the format that Accept selects from offers. The first offer is the
// default. It calls dress to add the header fields for the answer.
func (s *Server) inFormat(r *request, ans *nomen.Answer, offers []format.Format, dress func(*reply)) *reply {
	f, ok := format.Negotiate(r.accept, offers, offers[0])
	if !ok || onlyCitations(r.accept) {
		return s.notAcceptable(r, offers)
	}
	f = readable(r, f)
	body, err := written(func(w io.Writer) error { return f.Write(w, ans) })
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	dress(p)
	s.describeLanguage(r, p, f.MediaType)
	varyCharset(p, f.MediaType)
	return s.represent(r, p, f.ContentType(), body)
}
