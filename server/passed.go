package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/urn"
)

// requestElsewhere returns the name of a reserved request that the resolver of another
// authority answers: of one that is not served here, or of one that delegates its names
// and of which nothing is configured here that would answer the request. The resolver
// that answers is that of the authority named, through whatever the request came (1995,
// 3.5.1 and 4: Y95-55, Y95-63).
func (a asked) requestElsewhere(set *store.AuthoritySet, host string) (name.Name, bool) {
	of := a.authority
	switch {
	case a.reserved == urn.ReservedPrefix: // in another spelling than that of a request
		return name.Name{}, false
	case of == nil:
		return a.name, !a.name.IsZero()
	case of.Delegation == nil, !isRequest(a.reserved), !strings.HasPrefix(of.Prefix.String(), "urn:"):
		return name.Name{}, false
	case a.name.IsZero() && set.Host(host) != of: // of this host, whoever is asked here by default
		return name.Name{}, false
	case a.reserved == "urn+a" && of.List, a.reserved == "urn+c" && len(of.Children) > 0, a.reserved == "urn+p" && len(of.Parents) > 0:
		return name.Name{}, false
	}
	n, err := name.Parse(of.Prefix.Spell(a.reserved))
	return n, err == nil
}

// passedRequest answers a reserved request by the resolver, which asks another one; nil
// if that knows nothing of it and there is an authority here that can be told about.
func (s *Server) passedRequest(ctx context.Context, r *request, a asked, set *store.AuthoritySet, n name.Name) *reply {
	a.name = n
	ans, err := s.askRequest(ctx, r, a)
	switch {
	case ans == nil && err == nil:
		return nil
	case err != nil:
		return s.problem(r, a, err)
	case ans.Redirect != "":
		return s.elsewhere(r, a, ans)
	case ans.Raw != nil:
		return s.passed(r, ans)
	case a.listsAuthorities():
		return s.authorityAnswer(r, a, set, ans)
	}
	return s.reservedAnswer(r, a, ans)
}

// listsAuthorities reports whether a reserved request is answered with names.
func (a asked) listsAuthorities() bool { return a.reserved == "urn+c" || a.reserved == "urn+p" }

// askRequest asks the resolver about the name of a reserved request. Without answer and
// error it knows nothing of it, and there is an authority here that can be told about.
func (s *Server) askRequest(ctx context.Context, r *request, a asked) (*nomen.Answer, error) {
	q := nomen.Question{Name: a.name, Service: nomen.I2C, Default: nomen.I2C, Languages: r.languages, Hops: r.hops}
	if a.listsAuthorities() {
		q.Service = nomen.I2Ns
	}
	ans, err := s.resolver.Resolve(ctx, q)
	var no *nomen.Error
	switch {
	case errors.As(err, &no) && no.Kind == nomen.NoResult && no.Answer != nil && no.Answer.Raw != nil:
		ans = no.Answer
	case errors.As(err, &no) && a.authority != nil && no.Kind != nomen.Gone && no.Kind != nomen.Denied:
		return nil, nil
	case err != nil:
		return nil, err
	}
	closeResources(ans)
	return ans, nil
}

// maxPassed bounds a result without structure that is passed on, in bytes.
const maxPassed = 1 << 20

// passedPolicy lets a page of a stranger show its text and be left by its links, and
// nothing else: it has no origin, runs nothing, loads nothing and sends no forms.
const passedPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// passed answers with a result without structure as its resolver sent it, or as JSON
// (1995, 3.1.2: Y95-35, Y95-40). It comes from a stranger: what a browser may show of it
// has no rights here, and all else is to be saved.
func (s *Server) passed(r *request, ans *nomen.Answer) *reply {
	if len(ans.Raw.Body) > maxPassed {
		return s.failure(r, fmt.Errorf("server: %w: %s: more than %d bytes", nomen.ErrUpstream, ans.Raw, maxPassed))
	}
	own := format.Format{Name: "raw", Write: func(w io.Writer, ans *nomen.Answer) error {
		_, err := w.Write(ans.Raw.Body)
		return err
	}}
	contentType := passedType(ans.Raw.Type)
	own.MediaType, _, _ = strings.Cut(contentType, ";")
	f, ok := format.Negotiate(r.accept, []format.Format{own, {Name: "json", MediaType: format.TypeJSON, Write: format.WriteJSON}}, own)
	if !ok {
		f = own // there is nothing better (1995, 3.1.2)
	}
	body, err := written(func(w io.Writer) error { return f.Write(w, ans) })
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	p.add("Vary", "Accept")
	p.add("Last-Modified", lastModified(changed(ans), s.now()))
	p.add("Cache-Control", cacheControl(ans))
	if f.Name != own.Name {
		return s.represent(r, p, f.ContentType(), body)
	}
	p.add("Content-Security-Policy", passedPolicy)
	p.add("Referrer-Policy", "no-referrer")
	if own.MediaType != format.TypeText && own.MediaType != format.TypeHTML {
		p.add("Content-Disposition", "attachment")
	}
	return s.represent(r, p, contentType, body)
}

// passedType returns a media type as it can be passed on, with its charset alone.
func passedType(told string) string {
	kind, params, err := mime.ParseMediaType(told)
	if err != nil || !strings.Contains(kind, "/") {
		return "application/octet-stream"
	}
	if charset := params["charset"]; charset != "" {
		return cmp.Or(mime.FormatMediaType(kind, map[string]string{"charset": charset}), kind)
	}
	return kind
}
