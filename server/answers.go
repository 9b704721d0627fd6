package server

import (
	"context"
	"net/http"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/answercache"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/store"
)

// A lookup is a search for the answer to a request in the cache of answers. The key is set only if
// the answer is missing from the cache and may be added.
type lookup struct {
	key answercache.Key
	set *store.AuthoritySet // the authorities when the search began; nil if key is not set
}

// lookUp searches the cache for the answer to a request. If there is no answer but one may be added
// later, lookUp starts to record in ctx what the answer depends on. The method keep uses this
// record.
func (s *Server) lookUp(ctx *store.Staleness, r *request) (l lookup, a answercache.Answer, found bool) {
	ctx.Dependencies.Stop()
	if s.answers == nil || !r.isPlain() {
		return l, a, false
	}
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return l, a, false
	}
	key, ok := s.answers.Key(&answercache.Request{
		Head: r.method == http.MethodHead, Target: r.target, Mount: r.mount, Host: r.host,
		Accept: r.accept, Languages: r.languages, Encodings: r.encodings,
		Country: r.country, Local: r.local, Secure: r.secure, Proxied: r.proxied,
	}, set)
	if !ok {
		return l, a, false
	}
	if a, found = s.answers.Get(&key); !found && s.answers.Begin(&key, ctx.Dependencies) {
		l = lookup{key, set}
	}
	return l, a, found
}

// isPlain reports whether the answer to a request depends only on what an [answercache.Request]
// contains, and on the store.
func (r *request) isPlain() bool {
	switch {
	case r.method != http.MethodGet && r.method != http.MethodHead, !r.version.atLeast11(), r.hops > 0:
		return false
	case r.language != "", r.charsets != "", r.datetime != "", r.byteRange != "", r.ifRange != "":
		return false
	case r.ifMatch != "", r.ifUnmodifiedSince != "", r.ifNoneMatch != "", r.ifModifiedSince != "":
		return false
	}
	return mayBeLocal(r.target) && r.servedHere()
}

// keep adds a reply to the cache if other clients may get it too. The parameter start is the time
// at which the request arrived, and text is the complete HTTP/1.1 response.
func (s *Server) keep(l lookup, ctx *store.Staleness, p *reply, start time.Time, text []byte) {
	if l.set != nil && p.isCommon(start) && ctx.Since().IsZero() {
		s.answers.Put(&l.key, l.set, ctx.Dependencies, answercache.Answer{Status: p.status, Form: uint8(p.form), Name: []byte(p.subject.name), What: p.subject.what}, text)
	}
	ctx.Dependencies.Stop()
}

// isCommon reports whether a reply can be repeated for other clients and at other times. Errors
// cannot be repeated, because the server counts every failed lookup. Replies about something that
// has changed within the last second cannot be repeated either, because their Last-Modified would
// be later than Date.
func (p *reply) isCommon(start time.Time) bool {
	if p.status >= http.StatusBadRequest || p.reason != "" || p.private || p.stream != nil || p.release != nil {
		return false
	}
	modified := validator.ParseDate(p.get("Last-Modified"))
	return modified.IsZero() || modified.Before(start.Truncate(time.Second))
}

func (s *Server) keepDecided(l lookup, ctx *store.Staleness, r *request, p *reply, start time.Time) {
	if l.set == nil || r.parsed == nil || r.parsed.err != nil || !s.isLocal(r.parsed.target) {
		return
	}
	if text, _, ok := p.appendTo(nil, wire.Plain{Method: r.method}); ok {
		s.keep(l, ctx, p, start, text)
	}
}

// isLocal reports whether this server can answer a target from the store, without asking other
// servers (see [parsedTarget.isLocal]).
func (s *Server) isLocal(a parsedTarget) bool {
	return a.isLocal() && (a.authority != nil || !s.asksOthers())
}

func (s *Server) repeated(a *answercache.Answer, now time.Time) *reply {
	p := newReply(a.Status)
	p.form, p.body = form(a.Form), a.Body()
	for name, value := range a.Fields() {
		p.add(name, value)
	}
	p.add("Date", s.dates.of(now))
	return p
}

// AnswerCache returns the usage of the cache of answers, for metrics. The second result is false if
// the server has no such cache.
func (s *Server) AnswerCache() (store.CacheUsage, bool) { return s.answers.Usage() }

// A vouchedResolver wraps a resolver. If the resolver has not recorded what an answer depends on,
// the vouchedResolver keeps the answer out of the cache.
type vouchedResolver struct{ nomen.Resolver }

func (v vouchedResolver) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	d := store.DependenciesOf(ctx)
	before := d.Vouched()
	a, err := v.Resolver.Resolve(ctx, q)
	if d.Vouched() == before {
		d.Unknown()
	}
	return a, err
}
