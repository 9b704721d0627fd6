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
	"github.com/nomen-project/nomen/internal/problempage"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Methods allowed on the public listener (1995, Y95-31), and on the path for lists of
// names.
const (
	allowed      = "GET, HEAD, OPTIONS"
	allowedBatch = "GET, HEAD, POST, OPTIONS"
)

// decide answers a request.
func (s *Server) decide(ctx context.Context, r *request) *reply {
	stale := store.WithStaleness(ctx)
	p := s.answer(stale, r)
	p.private = p.private || gateway.ClientOf(ctx).Entered()
	now := s.now()
	s.addAge(p, stale.Age(now))
	p.finish(s.dates.of(now))
	return p
}

func (s *Server) answer(ctx context.Context, r *request) *reply {
	batch := isBatch(r.target)
	switch {
	case len(r.target) > maxTarget:
		return newReply(http.StatusRequestURITooLong).withText("The request target is longer than " + strconv.Itoa(maxTarget) + " bytes.")
	case r.method == http.MethodGet, r.method == http.MethodHead:
	case s.isForOthers(ctx, r):
		return s.problem(r, parsedTarget{form: formPage}, errForOthers)
	case r.method == http.MethodOptions:
		return options(batch)
	case r.method == http.MethodPost && batch:
		return s.batch(ctx, r)
	default:
		return methodNotAllowed(batch)
	}
	if path, _, _ := strings.Cut(r.target, "?"); path == health.LivePath || path == health.ReadyPath {
		return s.checkHealth(path)
	}
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return s.failure(r, err)
	}
	a, err := s.contextOf(r, set).read(r.target)
	out := s.answerAsked(ctx, r, a, set, err)
	if out.form == formOther {
		out.form = a.form
	}
	return out
}

// isForOthers reports whether the target is a URL of another server, as sent to a proxy.
func (s *Server) isForOthers(ctx context.Context, r *request) bool {
	if _, _, ok := absoluteForm(r.target); !ok {
		return false
	}
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return false
	}
	_, err = s.contextOf(r, set).read(r.target)
	return errors.Is(err, errForOthers)
}

func (s *Server) answerAsked(ctx context.Context, r *request, a parsedTarget, set *store.AuthoritySet, err error) *reply {
	switch {
	case err != nil:
		return s.problem(r, a, err)
	case a.form == formPage:
		return s.page(ctx, r, a, set)
	case a.reserved != "":
		return s.reservedRequest(ctx, r, a, set)
	case r.hops > maxVia:
		return s.problem(r, a, nomen.ErrLoop)
	}
	return s.resolve(ctx, r, a)
}

// options answers an OPTIONS request, including a CORS preflight.
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

// resolve answers a request about a name.
func (s *Server) resolve(ctx context.Context, r *request, a parsedTarget) *reply {
	if whole, err := s.isRegistered(ctx, a.whole); err != nil {
		return s.failure(r, err)
	} else if whole {
		a = a.withQuery()
	}
	if a.query.badAt != "" {
		return s.problem(r, a, badTime(r.target, a.query.badAt))
	}
	if a.unknownService != "" {
		return s.withoutService(ctx, r, a)
	}
	a = a.interpreted()
	if a.query.format != "" { // takes precedence over Accept
		f, _ := format.ByName(a.query.format)
		wanting := *r
		wanting.accept = f.MediaType
		r = &wanting
	}
	if !a.negotiable() {
		return s.resolveAt(ctx, r, a)
	}
	p := s.negotiate(ctx, r, a)
	if a.query.at.IsZero() { // a memento is not negotiated (RFC 7089, 4.1.1)
		p.vary("Accept-Datetime")
	}
	return p
}

// isRegistered reports whether exactly this name has a record.
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

// withQuery returns the target with the query as part of the name, and without directives.
func (a parsedTarget) withQuery() parsedTarget {
	service, other := a.query.service, a.query.other
	a.name, a.whole, a.query = a.whole, name.Name{}, query{}
	if a.form == formTHTTP { // has them in its path
		a.query.service, a.query.other = service, other
	}
	return a
}

// resolveAt answers as of the time given in the target, or as of now.
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
		return s.problem(r, a, err)
	}
	ans, err := s.resolver.Resolve(ctx, q)
	switch {
	case err == nil:
		return s.answered(ctx, r, a, service, ans)
	case a.mayBeLocation(service) && isNoName(err):
		return s.costly(ctx, func() *reply { return s.located(ctx, r, a, service) })
	}
	return s.problem(r, a, err)
}

// answered writes an answer. If the resolver does not offer the requested service, the
// answer is of another service (2012, N12-32). THTTP has no such default.
func (s *Server) answered(ctx context.Context, r *request, a parsedTarget, asked nomen.Service, ans *nomen.Answer) *reply {
	question.CloseResources(ans) // requested resources are served by fetch
	switch {
	case ans.Redirect != "":
		return s.redirectElsewhere(r, a, ans)
	case ans.Raw != nil:
		return s.passThrough(r, ans)
	case a.form == formTHTTP && ans.Service != asked:
		a.query.service = asked
		return s.problem(r, a, notOffered(a))
	case ans.Service != asked && a.query.service != "": // as if no service had been requested
		a.query.service, a.service = "", ans.Service
		return s.resolveAt(ctx, r, a)
	case ans.Service == nomen.I2L:
		return s.toLocation(ctx, r, a, ans)
	case (ans.Service == nomen.I2R || ans.Service == nomen.I2Rs) && asked != nomen.I2R && asked != nomen.I2Rs:
		return s.fetch(ctx, r, a, ans.Service) // as for all resources
	case ans.Service == nomen.I2R, ans.Service == nomen.I2Rs:
		return s.failure(r, fmt.Errorf("server: the resolver answered %s with %s", asked, ans.Service))
	}
	return s.described(ctx, r, a, ans)
}

// checkAccess returns an error if the authority denies access to the target. The error does
// not reveal whether the name exists.
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

// text returns the name or subject of the target, for people.
func (a parsedTarget) text() string {
	if a.name.IsZero() {
		return a.subject.String()
	}
	return a.name.Key()
}

// interpreted returns the target as the authority of the name interprets it, with the
// service that the answer will be of. How the request is handled depends on that; the
// answer itself says which service it is of.
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

// standard returns the default service of the form, or "" for that of the authority.
func (a parsedTarget) standard() nomen.Service {
	if a.form == formElement {
		return nomen.I2C
	}
	return ""
}

// question returns the question for the resolver: about the service in the query, or else
// the expected one. The error is a [*nomen.Error] about the second identifier of I=I.
func (a parsedTarget) question(r *request, expected nomen.Service) (nomen.Question, error) {
	q := nomen.Question{
		Name: a.name, Service: expected, Default: expected, Strict: a.form == formTHTTP, Component: a.query.component,
		Succeed: a.form == formElement && a.query.service == "", // Y95-43
		R:       a.query.r, Q: a.query.q, Query: a.query.plain, At: a.query.at,
		Languages: r.languages, Country: r.country, Hops: r.hops,
	}
	if a.query.service != "" {
		q.Service = a.query.service
	}
	if a.name.IsZero() {
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

// questionFor returns a question about the same name for exactly this service. The service
// must not be I=I.
func (a parsedTarget) questionFor(r *request, service nomen.Service) nomen.Question {
	a.query.service = service
	q, _ := a.question(r, service)
	q.Strict = true
	return q
}

// described writes a description or a list in a format chosen by Accept.
func (s *Server) described(ctx context.Context, r *request, a parsedTarget, ans *nomen.Answer) *reply {
	return s.describedIn(r, a, ans, s.onPage(ctx, r, a, ans, offersFor(ans.Service)))
}

func (s *Server) describedIn(r *request, a parsedTarget, ans *nomen.Answer, offers []format.Format) *reply {
	return s.inFormat(r, ans, offers, func(p *reply) {
		s.link(p, r, a, ans)
		p.add("Vary", "Accept, Accept-Language")
		p.add("Last-Modified", validator.LastModified(changed(ans), s.now()))
		p.add("Cache-Control", cacheControl(ans))
	})
}

// inFormat writes an answer in one of the formats, by default the first; dress adds the
// header fields that depend on the answer.
func (s *Server) inFormat(r *request, ans *nomen.Answer, offers []format.Format, dress func(*reply)) *reply {
	f, ok := format.Negotiate(r.accept, offers, offers[0])
	if !ok || onlyCitations(r.accept) {
		return notAcceptable(r, offers)
	}
	f = r.answerFormat(f)
	body, err := written(func(w io.Writer) error { return f.Write(w, ans) })
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	dress(p)
	varyCharset(p, f.MediaType)
	return s.represent(r, p, f.ContentType(), body)
}

// problem writes an error.
func (s *Server) problem(r *request, a parsedTarget, err error) *reply {
	var e *nomen.Error
	switch {
	case errors.As(err, &e):
		if e.Answer != nil && e.Answer.Raw != nil {
			if a.query.service == "" && a.form != formTHTTP {
				return s.passThrough(r, e.Answer)
			}
			plain := *e
			plain.Answer, e = nil, &plain
		}
	case errors.Is(err, nomen.ErrLoop):
		return s.loop(r, a)
	case errors.Is(err, errMisdirected):
		return s.misdirected(r, a, "The Host field names neither this server nor a naming authority here. Use the full name, including its scheme, such as urn:. "+
			"If the host is this server, add it to the hosts of the server or to its public URL; if it belongs to a naming authority, add it to the hosts of the authority.")
	case errors.Is(err, errForOthers) && s.forward != nil:
		return s.problem(r, a, &nomen.Error{Kind: nomen.Denied, Name: r.target, Message: "this server is a proxy for its own users only"})
	case errors.Is(err, errForOthers):
		return s.misdirected(r, a, "The request target is a URL of another server, and this server is not a proxy for other hosts. "+
			"If the host is this server, add it to the hosts of the server or to its public URL.")
	default:
		return s.failure(r, err)
	}
	s.countMiss(a, e)
	e = a.unknown(e)
	said := format.NewProblem(e, format.StatusOf(e))
	p := s.withProblem(r, a, said)
	p.reason = e.Kind.Phrase()
	return p
}

func (s *Server) withProblem(r *request, a parsedTarget, problem *format.Problem) *reply {
	f, body, err := s.problemBody(r, a, problem)
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(problem.Status)
	if problem.Answer != nil {
		s.link(p, r, a, problem.Answer)
	}
	p.add("Vary", "Accept")
	varyCharset(p, f.MediaType)
	p.add("Cache-Control", "no-cache")
	return p.withBody(f.ContentType(), body)
}

// problemBody writes a problem in a format chosen by Accept.
func (s *Server) problemBody(r *request, a parsedTarget, problem *format.Problem) (f format.ProblemForm, body []byte, err error) {
	accept := r.accept
	if accept == "" && a.form == formElement { // Y95-45
		accept = format.TypeURC
	}
	f = r.problemFormat(problempage.Form(accept))
	shown := *problem
	if shown.Root = s.root(r); strings.HasPrefix(shown.Type, "/") {
		shown.Type = shown.Root + shown.Type
	}
	if problem.Answer != nil { // the full description, whatever the service
		ans := *problem.Answer
		ans.Service = nomen.I2C
		shown.Answer = &ans
	}
	body, err = written(func(w io.Writer) error { return f.Write(w, &shown) })
	return f, body, err
}

// unknown returns the error about an unknown name with a suggestion and the time of the
// lookup; other errors are returned unchanged.
func (a parsedTarget) unknown(e *nomen.Error) *nomen.Error {
	request := a.similarRequest()
	if e.Kind != nomen.Unknown || a.query.at.IsZero() && request == "" {
		return e
	}
	said := *e
	if request != "" {
		said.Suggestions = append([]string{request}, e.Suggestions...)
	}
	if at := a.query.at; !at.IsZero() {
		said.Message = strings.TrimSuffix("as of "+at.UTC().Format(time.RFC3339)+": "+e.Message, ": ")
	}
	return &said
}

// countMiss counts a failed lookup, without the client.
func (s *Server) countMiss(a parsedTarget, err error) {
	var e *nomen.Error
	if a.name.IsZero() || a.reserved != "" || !a.query.at.IsZero() || !errors.As(err, &e) || e.Kind != nomen.Unknown || a.similarRequest() != "" {
		return
	}
	s.misses.Add(a.kept().Key(), e.Suggestions)
}

// The errors of requests for other servers.
var (
	errMisdirected = errors.New("server: the Host field names another host")      // neither this server nor an authority
	errForOthers   = errors.New("server: the request target is another server's") // in absolute form
)

// misdirected answers a request for a host that is not served here (RFC 9110, 15.5.20;
// RFC 9112, 3.2.2). The authority of an element is that of the Host field (Y95-21).
func (s *Server) misdirected(r *request, a parsedTarget, detail string) *reply {
	return s.withProblem(r, a, problempage.New(problempage.KindHost, detail))
}

// loop answers a request that resolvers keep forwarding to each other.
func (s *Server) loop(r *request, a parsedTarget) *reply {
	s.log.Warn("delegation loop", "target", requestlog.Printable(r.target), "hops", r.hops)
	p := problempage.New(problempage.KindLoop, "The name is delegated from one resolver to the next until it reaches this server again. Its owners need to fix the delegation.")
	p.Name = a.text()
	return s.withProblem(r, a, p)
}

// failure answers a request that the server failed to process. The cause is logged but
// not sent.
func (s *Server) failure(r *request, err error) *reply {
	var limit *gateway.LimitError
	if errors.As(err, &limit) {
		return s.tooMany(limit)
	}
	kind, retry := problempage.KindFailed, "5"
	var away *store.AwayError
	isAway := errors.As(err, &away)
	switch {
	case isAway: // the store logs when it becomes unavailable and available
		kind, retry = problempage.KindAway, away.RetryAfter()
	case errors.Is(err, nomen.ErrUpstream):
		kind = problempage.KindUpstream
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, store.ErrClosed):
		kind = problempage.KindBusy
	}
	said := problempage.New(kind, "Please try again later.")
	if kind == problempage.KindUpstream && errors.Is(err, context.DeadlineExceeded) {
		said.Status = http.StatusGatewayTimeout
	}
	if !isAway {
		s.log.Error("request failed", "target", requestlog.Printable(r.target), "err", err)
	}
	p := newReply(said.Status)
	p.add("Cache-Control", "no-store")
	if said.Status != http.StatusInternalServerError {
		p.add("Retry-After", retry)
	}
	f := problempage.Form(r.accept)
	body, err := written(func(w io.Writer) error { return f.Write(w, said) })
	if err != nil {
		return p.withText(said.Title + ". " + said.Detail)
	}
	p.add("Vary", "Accept")
	return p.withBody(f.ContentType(), body)
}

// notAcceptable answers a client that accepts none of the available formats, and lists
// them.
func notAcceptable(r *request, offers []format.Format) *reply {
	problem := problempage.New(problempage.KindFormat, "The Accept field excludes every format that is available for this answer.")
	for _, f := range offers {
		problem.Available = append(problem.Available, f.MediaType)
	}
	f := problempage.Form(r.accept)
	body, err := written(func(w io.Writer) error { return f.Write(w, problem) })
	if err != nil {
		return newReply(http.StatusNotAcceptable).withText("Available: " + strings.Join(problem.Available, ", "))
	}
	p := newReply(http.StatusNotAcceptable)
	p.add("Vary", "Accept")
	return p.withBody(f.ContentType(), body)
}
