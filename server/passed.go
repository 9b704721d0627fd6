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
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/urn"
)

// requestElsewhere returns the name of a reserved request that another resolver must answer. This
// is so if the authority is not served here, or if it delegates its names and no answer is
// configured here (draft of 1995, 3.5.1 and 4: Y95-55, Y95-63).
func (a parsedTarget) requestElsewhere(set *store.AuthoritySet, host string) (name.Name, bool) {
	of := a.authority
	switch {
	case a.reserved == urn.ReservedPrefix: // only looks like a reserved request, because of escapes
		return name.Name{}, false
	case of == nil:
		return a.name, !a.name.IsZero()
	case of.Delegation == nil, !isRequest(a.reserved), !strings.HasPrefix(of.Prefix.String(), "urn:"):
		return name.Name{}, false
	case a.name.IsZero() && set.Host(host) != of: // the authority of the host must be meant, not the default authority
		return name.Name{}, false
	case a.reserved == "urn+a" && of.List, a.reserved == "urn+c" && len(of.Children) > 0, a.reserved == "urn+p" && len(of.Parents) > 0:
		return name.Name{}, false
	}
	n, err := name.Parse(of.Prefix.Spell(a.reserved))
	return n, err == nil
}

// passedRequest passes a reserved request to the resolver and sends the answer. It returns nil if
// the resolver has no answer but this server serves the authority, and so can answer.
func (s *Server) passedRequest(ctx context.Context, r *request, a parsedTarget, set *store.AuthoritySet, n name.Name) *reply {
	a.name = n
	ans, err := s.askRequest(ctx, r, a)
	switch {
	case ans == nil && err == nil:
		return nil
	case err != nil:
		return s.problem(ctx, r, a, err)
	case ans.Redirect != "":
		return s.redirectElsewhere(ctx, r, a, ans)
	case ans.Raw != nil:
		return s.passThrough(r, ans)
	case a.listsAuthorities():
		return s.authorityAnswer(r, a, set, ans)
	}
	return s.reservedAnswer(r, a, ans)
}

func (a parsedTarget) listsAuthorities() bool { return a.reserved == "urn+c" || a.reserved == "urn+p" }

// askRequest asks the resolver about the name of a reserved request. Both results are nil if the
// resolver has no answer but this server serves the authority, and so can answer.
func (s *Server) askRequest(ctx context.Context, r *request, a parsedTarget) (*nomen.Answer, error) {
	q := nomen.Question{Name: a.name, Service: nomen.I2C, Default: nomen.I2C, Languages: r.languages, UserAgent: r.agent, Hops: r.hops}
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
	question.CloseResources(ans)
	return ans, nil
}

// maxPassed limits an unstructured result that is passed on, in bytes.
const maxPassed = 1 << 20

// passedPolicy is the Content-Security-Policy for a page from another server. It permits text,
// links and styles. The page has no origin, and cannot run scripts, load resources or send forms.
const passedPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// passThrough sends an unstructured result as its resolver has sent it, or as JSON (draft of 1995,
// 3.1.2: Y95-35, Y95-40). Because the server does not trust the content, browsers may show only
// some types, in a sandbox, and get everything else as an attachment.
func (s *Server) passThrough(r *request, ans *nomen.Answer) *reply {
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
		f = own // the client accepts neither format, so it gets the original (draft of 1995, 3.1.2)
	}
	body, err := written(func(w io.Writer) error { return f.Write(w, ans) })
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	p.add("Vary", "Accept")
	p.add("Last-Modified", validator.LastModified(changed(ans), s.now()))
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

// passedType removes all parameters except charset from a media type.
func passedType(given string) string {
	kind, params, err := mime.ParseMediaType(given)
	if err != nil || !strings.Contains(kind, "/") {
		return "application/octet-stream"
	}
	if charset := params["charset"]; charset != "" {
		return cmp.Or(mime.FormatMediaType(kind, map[string]string{"charset": charset}), kind)
	}
	return kind
}
