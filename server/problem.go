package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/problempage"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/store"
)

func (s *Server) problem(ctx context.Context, r *request, a parsedTarget, err error) *reply {
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
		return s.loop(ctx, r, a)
	case errors.Is(err, errMisdirected):
		return s.misdirected(ctx, r, a, "The Host field names neither this server nor a naming authority here. Use the full name, including its scheme, such as urn:. "+
			"If the host is this server, add it to the hosts of the server or to its public URL; if it belongs to a naming authority, add it to the hosts of the authority.")
	case errors.Is(err, errForOthers) && s.forward != nil:
		return s.problem(ctx, r, a, &nomen.Error{Kind: nomen.Denied, Name: r.target, Message: "this server is a proxy for its own users only"})
	case errors.Is(err, errForOthers):
		return s.misdirected(ctx, r, a, "The request target is a URL of another server, and this server is not a proxy for other hosts. "+
			"If the host is this server, add it to the hosts of the server or to its public URL.")
	default:
		return s.failure(r, err)
	}
	s.countMiss(r, a, e)
	e = a.unknown(e)
	said := format.NewProblem(e, format.StatusOf(e))
	p := s.withProblem(ctx, r, a, said)
	p.reason = e.Kind.Phrase()
	return p
}

func (s *Server) withProblem(ctx context.Context, r *request, a parsedTarget, problem *format.Problem) *reply {
	f, body, err := s.problemBody(ctx, r, a, problem)
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(problem.Status)
	if problem.Answer != nil {
		s.link(p, r, a, problem.Answer)
	}
	p.add("Vary", "Accept")
	s.describeLanguage(r, p, f.MediaType)
	varyCharset(p, f.MediaType)
	p.add("Cache-Control", "no-cache")
	return p.withBody(f.ContentType(), body)
}

func (s *Server) problemBody(ctx context.Context, r *request, a parsedTarget, problem *format.Problem) (f format.ProblemForm, body []byte, err error) {
	accept := r.accept
	if accept == "" && a.form == formElement { // clients of the protocol of 1995 get text/urc-0 (draft of 1995: Y95-45)
		accept = format.TypeURC
	}
	f = readable(r, problempage.Form(accept))
	shown := *problem
	if strings.HasPrefix(shown.Type, "/") {
		shown.Type = s.root(r) + shown.Type
	}
	if f.MediaType == format.TypeHTML {
		shown.On = s.onProblem(ctx, r, a, &shown)
	}
	if problem.Answer != nil { // write the full description of the tombstone, whatever service was requested
		ans := *problem.Answer
		ans.Service = nomen.I2C
		shown.Answer = &ans
	}
	body, err = written(func(w io.Writer) error { return f.Write(w, &shown) })
	return f, body, err
}

// unknown adds details to the error about an unknown name: the reserved request that the client may
// have meant, and the time in the request. It returns other errors unchanged.
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

// countMiss counts the failed lookup of an unknown name. It records nothing about the client.
func (s *Server) countMiss(r *request, a parsedTarget, err error) {
	var e *nomen.Error
	if a.name.IsZero() || a.reserved != "" || !a.query.at.IsZero() || !errors.As(err, &e) || e.Kind != nomen.Unknown || a.similarRequest() != "" {
		return
	}
	key := a.kept().Key()
	s.misses.AddFrom(key, e.Suggestions, s.counts.ClassOf(r.agent) == counts.Bot)
	if s.counts != nil && r.method != http.MethodHead {
		s.counts.Failed(r.client(), key, s.now())
	}
}

// The errors for requests that are meant for other servers.
var (
	errMisdirected = errors.New("server: the Host field names another host")      // the host belongs neither to this server nor to an authority
	errForOthers   = errors.New("server: the request target is another server's") // the target is in absolute form
)

// misdirected answers a request for a host that is not served here (RFC 9110, 15.5.20; RFC 9112,
// 3.2.2). The server cannot resolve an element in such a request, because the authority of the
// element depends on the Host field (draft of 1995: Y95-21).
func (s *Server) misdirected(ctx context.Context, r *request, a parsedTarget, detail string) *reply {
	return s.withProblem(ctx, r, a, problempage.New(problempage.KindHost, detail))
}

// loop answers a request that resolvers forward to each other again and again.
func (s *Server) loop(ctx context.Context, r *request, a parsedTarget) *reply {
	s.log.Warn("delegation loop", "target", requestlog.Printable(r.target), "hops", r.hops)
	p := problempage.New(problempage.KindLoop, "The name is delegated from one resolver to the next until it reaches this server again. Its owners need to fix the delegation.")
	p.Name = a.text()
	return s.withProblem(ctx, r, a, p)
}

// failure answers a request after a failure of the server. It logs the cause, which the client does
// not see.
func (s *Server) failure(r *request, err error) *reply {
	var limit *gateway.LimitError
	if errors.As(err, &limit) {
		return s.tooMany(limit)
	}
	kind, retry := problempage.KindFailed, "5"
	var away *store.AwayError
	isAway := errors.As(err, &away)
	switch {
	case isAway: // the store logs when it becomes unavailable and available again
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
	said.On = s.bare(r)
	p := newReply(said.Status)
	p.add("Cache-Control", "no-store")
	if said.Status != http.StatusInternalServerError {
		p.add("Retry-After", retry)
	}
	return s.dressProblem(r, p, said)
}

func (s *Server) dressProblem(r *request, p *reply, problem *format.Problem) *reply {
	f := problempage.Form(r.accept)
	body, err := written(func(w io.Writer) error { return f.Write(w, problem) })
	if err != nil {
		return p.withText(problem.Title + ". " + problem.Detail)
	}
	p.add("Vary", "Accept")
	s.describeLanguage(r, p, f.MediaType)
	return p.withBody(f.ContentType(), body)
}

// notAcceptable answers a client that accepts none of the available formats. The response lists
// these formats.
func (s *Server) notAcceptable(r *request, offers []format.Format) *reply {
	problem := problempage.New(problempage.KindFormat, "The Accept field excludes every format that is available for this answer.")
	problem.On = s.bare(r)
	for _, f := range offers {
		problem.Available = append(problem.Available, f.MediaType)
	}
	return s.dressProblem(r, newReply(http.StatusNotAcceptable), problem)
}
