package server

import (
	"net/http"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/internal/answercache"
	"github.com/nomen-project/nomen/name"
)

// A subject says how a reply is counted: the name, and what the client received.
type subject struct {
	name string // key of a name; "" if the reply is not counted
	what counts.What
}

// note sets the subject of the reply to a request for a name. It does not count requests for an
// earlier time, requests about locations, and requests for names of other servers. It does not
// count HEAD either, because clients such as link checkers send HEAD without retrieving anything.
func (s *Server) note(p *reply, r *request, a parsedTarget) *reply {
	switch {
	case s.counts == nil, p.located, r.method != http.MethodGet, a.byLocation, a.name.IsZero(), !a.query.at.IsZero(), r.datetime != "":
	case p.status == http.StatusPartialContent: // COUNTER counts the statuses 200 and 304
	case a.authority == nil && s.asksOthers(), p.status >= http.StatusBadRequest && p.status != http.StatusGone:
	case p.status == http.StatusGone:
		p.subject = subject{a.kept().Key(), counts.Gone}
	default:
		p.subject = subject{a.kept().Key(), delivered(p.status, a.service)}
	}
	return p
}

// delivered returns what the client received. A redirect counts as I2L. The response to a request
// for a location can also be a description, for example because of the Accept field.
func delivered(status int, asked nomen.Service) counts.What {
	switch {
	case isRedirect(status):
		return counts.Of(nomen.I2L)
	case asked == nomen.I2L:
		return counts.Of(nomen.I2C)
	}
	return counts.Of(asked)
}

func (s *Server) countReply(by *counts.Client, p *reply, now time.Time) {
	if p.subject.name != "" {
		s.counts.Resolved(by, p.subject.name, p.subject.what, now)
	}
}

func (s *Server) countRepeated(by *counts.Client, a *answercache.Answer, now time.Time) {
	if len(a.Name) > 0 {
		s.counts.Repeated(a.Hash, a.Last, by, a.Name, a.What, now)
	}
}

func (r *request) client() *counts.Client {
	by := new(counts.Client)
	by.Set(r.from, r.agent)
	return by
}

func (s *Server) countItem(r *request, a parsedTarget, ans *nomen.Answer, e *nomen.Error) {
	if s.counts == nil || a.name.IsZero() || !a.query.at.IsZero() || a.authority == nil && s.asksOthers() {
		return
	}
	now := s.now()
	switch {
	case ans != nil && ans.Redirect != "":
		s.counts.Resolved(r.client(), a.kept().Key(), counts.Of(nomen.I2L), now)
	case ans != nil:
		s.counts.Resolved(r.client(), a.kept().Key(), counts.Of(ans.Service), now)
	case e != nil && e.Kind == nomen.Gone:
		s.counts.Resolved(r.client(), a.kept().Key(), counts.Gone, now)
	}
}

// counting returns the function with which a dialect counts its answers, or nil.
func (s *Server) counting(method string, in *request) func(name.Name, counts.What) {
	if s.counts == nil || method == http.MethodHead {
		return nil
	}
	return func(n name.Name, w counts.What) { s.counts.Resolved(in.client(), n.Key(), w, s.now()) }
}
