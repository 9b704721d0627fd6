package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/store"
)

// allowed are the methods of the public listener (1995, Y95-31).
const allowed = "GET, HEAD, OPTIONS"

// decide answers a request.
func (s *Server) decide(ctx context.Context, r *request) *reply {
	p := s.answer(ctx, r)
	p.finish(s.now())
	return p
}

func (s *Server) answer(ctx context.Context, r *request) *reply {
	switch r.method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		return options()
	default:
		return methodNotAllowed()
	}
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return s.failure(r, err)
	}
	p := place{set: set, host: r.host, local: r.local.Addr(), own: s.isOwnHost}
	a, err := p.read(r.target)
	out := s.answerAsked(ctx, r, a, set, err)
	if out.form == formOther {
		out.form = a.form
	}
	return out
}

func (s *Server) answerAsked(ctx context.Context, r *request, a asked, set *store.AuthoritySet, err error) *reply {
	switch {
	case err != nil:
		return s.problem(r, a, err)
	case a.form == formPage:
		return s.page(ctx, r, a, set)
	case a.reserved != "":
		return s.reservedRequest(ctx, r, a, set)
	}
	return s.resolve(ctx, r, a)
}

// options answers a client that asks what it may do, in its own name or in that
// of a script on another site.
func options() *reply {
	p := newReply(http.StatusNoContent)
	p.add("Allow", allowed)
	p.add("Access-Control-Allow-Methods", allowed)
	p.add("Access-Control-Allow-Headers", "Accept, Accept-Datetime, Accept-Language, If-Match, If-Modified-Since, If-None-Match, If-Unmodified-Since")
	p.add("Access-Control-Max-Age", "86400")
	return p
}

func methodNotAllowed() *reply {
	p := newReply(http.StatusMethodNotAllowed)
	p.add("Allow", allowed)
	return p.withText("Names are asked for with GET or HEAD.")
}

// resolve answers a request about a name.
func (s *Server) resolve(ctx context.Context, r *request, a asked) *reply {
	if a.query.badAt != "" {
		return s.problem(r, a, badTime(r.target, a.query.badAt))
	}
	if !a.negotiable() {
		return s.resolveAt(ctx, r, a)
	}
	p := s.negotiate(ctx, r, a)
	p.vary("Accept-Datetime")
	return p
}

// resolveAt answers as of the time that the target names, or as of now.
func (s *Server) resolveAt(ctx context.Context, r *request, a asked) *reply {
	service := a.service()
	if service == nomen.I2L {
		return s.locate(ctx, r, a)
	}
	return s.describe(ctx, r, a, service)
}

// service returns the service that is wanted: the one that was named, else that
// of the form.
func (a asked) service() nomen.Service {
	switch {
	case a.query.service != "":
		return a.query.service
	case a.form == formElement:
		return nomen.I2C
	case a.authority != nil && isOffered(a.authority.Service):
		return a.authority.Service
	}
	return nomen.I2L
}

// question makes the question that is put to the resolver.
func (a asked) question(service nomen.Service) nomen.Question {
	return nomen.Question{Name: a.name, Service: service, Component: a.query.component, R: a.query.r, Q: a.query.q, At: a.query.at}
}

// describe answers with a description, or a list, in a format by Accept.
func (s *Server) describe(ctx context.Context, r *request, a asked, service nomen.Service) *reply {
	q := a.question(service)
	q.Languages = r.languages
	ans, err := s.resolver.Resolve(ctx, q)
	if err != nil {
		return s.problem(r, a, err)
	}
	return s.described(ctx, r, a, ans)
}

func (s *Server) described(ctx context.Context, r *request, a asked, ans *nomen.Answer) *reply {
	return s.inFormat(r, ans, s.withPast(ctx, a, offersFor(ans.Service)), func(p *reply) {
		s.link(p, r, a, ans)
		p.add("Vary", "Accept, Accept-Language")
		p.add("Last-Modified", lastModified(ans.Modified, s.now()))
	})
}

// inFormat writes an answer in one of the formats, the first by default; dress
// adds the fields that depend on what is answered.
func (s *Server) inFormat(r *request, ans *nomen.Answer, offers []format.Format, dress func(*reply)) *reply {
	f, ok := format.Negotiate(r.accept, offers, offers[0])
	if !ok {
		return notAcceptable(r, offers)
	}
	body, err := written(func(w io.Writer) error { return f.Write(w, ans) })
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	dress(p)
	p.add("Cache-Control", "no-cache")
	p.add("ETag", tagOf(f.ContentType(), body))
	return conditional(r, p.withBody(f.ContentType(), body))
}

// problem answers a request that has no answer.
func (s *Server) problem(r *request, a asked, err error) *reply {
	var e *nomen.Error
	if !errors.As(err, &e) {
		return s.failure(r, err)
	}
	p := s.withProblem(r, a, format.NewProblem(e, statusOf(e)))
	p.reason = phraseOf(e)
	return p
}

func (s *Server) withProblem(r *request, a asked, problem *format.Problem) *reply {
	accept := r.accept
	if accept == "" && a.form == formElement { // Y95-45
		accept = format.TypeURC
	}
	f := format.ProblemFormat(accept)
	body, err := written(func(w io.Writer) error { return f.Write(w, problem) })
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(problem.Status)
	if problem.Answer != nil {
		s.link(p, r, a, problem.Answer)
	}
	p.add("Vary", "Accept")
	p.add("Cache-Control", "no-cache")
	return p.withBody(f.ContentType(), body)
}

// statusOf is the table of statuses for the kinds of errors.
func statusOf(e *nomen.Error) int {
	switch e.Kind {
	case nomen.Malformed:
		return http.StatusBadRequest
	case nomen.Unknown, nomen.NoResult:
		return http.StatusNotFound
	case nomen.Gone:
		return http.StatusGone
	case nomen.Denied:
		if e.Legal {
			return http.StatusUnavailableForLegalReasons
		}
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

// phraseOf returns a useful reason phrase (1995, Y95-42); "" for the usual one.
// It holds nothing that a stranger chose.
func phraseOf(e *nomen.Error) string {
	switch e.Kind {
	case nomen.Malformed:
		return "Malformed name"
	case nomen.Unknown:
		return "Unknown name"
	case nomen.NoResult:
		return "No result for this service"
	case nomen.Gone:
		return "Retired name"
	}
	return ""
}

// failure answers when the server could not do its work. The cause is logged and
// not told.
func (s *Server) failure(r *request, err error) *reply {
	status, said := http.StatusInternalServerError, "The resolver failed. Please try again later."
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, store.ErrClosed):
		status, said = http.StatusServiceUnavailable, "The resolver is busy or closing down. Please try again later."
	}
	s.log.Error("no answer", "target", printable(r.target), "err", err)
	p := newReply(status)
	p.add("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable {
		p.add("Retry-After", "5")
	}
	return p.withText(said)
}

// notAcceptable answers when the client excludes all there is, and lists it.
func notAcceptable(r *request, offers []format.Format) *reply {
	problem := &format.Problem{
		Title: "None of the formats is acceptable", Status: http.StatusNotAcceptable,
		Detail: "The Accept field excludes every format that this answer can be written in.",
	}
	for _, f := range offers {
		problem.Available = append(problem.Available, f.MediaType)
	}
	f := format.ProblemFormat(r.accept)
	body, err := written(func(w io.Writer) error { return f.Write(w, problem) })
	if err != nil {
		return newReply(http.StatusNotAcceptable).withText("Available: " + strings.Join(problem.Available, ", "))
	}
	p := newReply(http.StatusNotAcceptable)
	p.add("Vary", "Accept")
	return p.withBody(f.ContentType(), body)
}
