package server

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/accept"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/problempage"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

func (s *Server) locate(ctx context.Context, r *request, a parsedTarget) *reply {
	if types := preferredDescriptions(r.accept); types != nil {
		ans, err := s.resolver.Resolve(ctx, a.questionFor(r, nomen.I2C))
		if err == nil && !question.CloseResources(ans) && ans.Redirect == "" && !ans.Direct && !hasType(ans.Locations, types) {
			return s.described(ctx, r, a, ans)
		}
	}
	q, _ := a.question(r, nomen.I2L)
	ans, err := s.resolver.Resolve(ctx, q)
	if err != nil {
		return s.problem(ctx, r, a, err)
	}
	if onlyCitations(r.accept) && ans.Service == nomen.I2L && ans.Redirect == "" && !hasType(ans.Locations, []string{"text/x-bibliography", "text/bibliography"}) {
		return s.notAcceptable(r, offersFor(nomen.I2C))
	}
	return s.answered(ctx, r, a, nomen.I2L, ans)
}

func (s *Server) toLocation(ctx context.Context, r *request, a parsedTarget, ans *nomen.Answer) *reply {
	if len(ans.Locations) == 0 {
		return s.failure(r, fmt.Errorf("server: the resolver returned no location for I2L of %s", a.text()))
	}
	target, err := uri.Parse(ans.Locations[0].URL)
	if err != nil {
		return s.failure(r, fmt.Errorf("server: invalid location: %w", err))
	}
	if err := location.CheckURI(target); err != nil {
		return s.failure(r, fmt.Errorf("server: invalid location of %s: %w", a.text(), err))
	}
	if a.form == formTHTTP && onlyPlain(r.accept) {
		return s.locatedList(ctx, r, a, ans, target.String())
	}
	p := newReply(redirectStatus(r, ans))
	s.link(p, r, a, ans)
	p.varyWith(ans)
	p.add("Cache-Control", cacheControl(ans))
	p.setRedirectPhrase(r, a.form, target.String())
	return redirectTo(r, p, target.String())
}

// redirectStatus returns the status of a redirect to a location: 303, or what the authority has
// set. For HTTP/1.0, whose only redirects are 301 and 302, it returns one of these.
func redirectStatus(r *request, ans *nomen.Answer) int {
	status := http.StatusSeeOther
	if isRedirect(ans.RedirectStatus) {
		status = ans.RedirectStatus
	}
	switch {
	case r.version.atLeast11():
		return status
	case status == http.StatusMovedPermanently, status == http.StatusPermanentRedirect:
		return http.StatusMovedPermanently
	}
	return http.StatusFound
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

const redirectPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// redirectTo adds Location to a redirect, and a body for clients that do not follow redirects. The
// target is a URI, or a path on this server.
func redirectTo(r *request, p *reply, target string) *reply {
	p.add("Location", target)
	if !takesPage(r) {
		return p.withBody("text/plain; charset=utf-8", []byte(target+"\r\n"))
	}
	return p.withLink(target)
}

// takesPage reports whether a client asks for HTML, as browsers do.
func takesPage(r *request) bool {
	return accept.Mentions(r.accept, "html") && problempage.Form(r.accept).MediaType == format.TypeHTML
}

func (p *reply) withLink(target string) *reply {
	to := html.EscapeString(target)
	p.add("Content-Security-Policy", redirectPolicy)
	return p.withBody("text/html; charset=utf-8", []byte("<!DOCTYPE html>\n<title>Found</title>\n<p><A HREF=\""+to+"\">"+to+"</A>\n"))
}

// maxSuccessorAge is how long a client may cache a redirect to a successor.
const maxSuccessorAge = 30 * 24 * time.Hour

// redirectElsewhere redirects to the destination in ans.Redirect. This is the successor of a retired
// name, or a URI at the resolver to which a name is delegated.
//
// If the destination is a name, such as urn:x:2, the Location field depends on the target of the
// request. For "GET urn:x:1", without a leading slash, Location is urn:x:2. Otherwise Location is
// the path of urn:x:2 on this server. Where the protocol of 1995 requires it, the reason phrase
// contains the destination too (draft of 1995: Y95-42, Y95-43).
func (s *Server) redirectElsewhere(ctx context.Context, r *request, a parsedTarget, ans *nomen.Answer) *reply {
	u, err := uri.Parse(ans.Redirect)
	if err != nil {
		return s.failure(r, fmt.Errorf("server: redirect to another identifier: %w", err))
	}
	p := newReply(http.StatusMovedPermanently)
	age := ans.MaxAge
	if ans.Status == nomen.Retired {
		age = min(age, maxSuccessorAge)
	} else {
		p.status = redirectStatus(r, ans)
	}
	p.add("Vary", "Accept")
	p.add("Cache-Control", cacheFor(age, ans.Private))
	s.link(p, r, a, ans)
	target := s.otherName(p, r, a, u.String(), ans.Status == nomen.Retired)
	if err := location.CheckURI(u); err != nil && (target == u.String() || ans.Status != nomen.Retired) {
		return s.failure(r, fmt.Errorf("server: redirect to another identifier: %w", err))
	}
	p.setRedirectPhrase(r, a.form, target)
	if ans.Status != nomen.Retired || a.form != formElement {
		return redirectTo(r, p, target)
	}
	f, body, err := s.problemBody(ctx, r, a, retiredProblem(ans, p.status))
	if err != nil {
		return s.failure(r, err)
	}
	s.describeLanguage(r, p, f.MediaType)
	varyCharset(p, f.MediaType)
	p.add("Location", target)
	return p.withBody(f.ContentType(), body)
}

// retiredProblem returns the body of a redirect from a retired name. Clients of 1995 need it
// because they cannot follow a redirect. The response to a Simple-Request does not even have a
// status line (draft of 1995: Y95-25, Y95-32).
func retiredProblem(ans *nomen.Answer, status int) *format.Problem {
	e := &nomen.Error{Kind: nomen.Gone, Name: ans.Name.Key(), Service: ans.Service, Message: ans.Reason, Answer: ans}
	if e.Message == "" {
		e.Message = "retired"
	}
	return format.NewProblem(e, status)
}

// maxPhrase is the maximum length of a reason phrase in bytes.
const maxPhrase = 256

// setRedirectPhrase writes the target of a redirect into the reason phrase, as the protocol of 1995
// requires (3.4.1: Y95-42), unless the reply already has a reason phrase. If the target is a URL
// that contains a URN, the phrase contains only the scheme and host of the URL. Otherwise a client
// of 1995 would resolve the URN in the phrase instead of the URN that it requested (Y95-43).
func (p *reply) setRedirectPhrase(r *request, f form, target string) {
	if p.reason != "" || f != formElement && r.version.atLeast11() || strings.HasPrefix(target, "/") {
		return
	}
	if len(target) > maxPhrase || accept.Mentions(target, "urn:") {
		scheme, rest, ok := strings.Cut(target, "://")
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			rest = rest[:i]
		}
		if target = scheme + "://" + rest; !ok || len(target) > maxPhrase || accept.Mentions(target, "urn:") {
			return
		}
	}
	p.reason = "Found at " + target
	if p.status == http.StatusMovedPermanently || p.status == http.StatusPermanentRedirect {
		p.reason = "Moved to " + target
	}
}

// otherName returns the Location for a redirect to another identifier. For a successor, Location is
// a URL on this server. For a delegation, it is the unchanged URL of the other resolver.
func (s *Server) otherName(p *reply, r *request, a parsedTarget, target string, successor bool) string {
	_, err := name.Parse(target)
	isName := err == nil && (successor || !strings.Contains(target, "://"))
	if isName && a.form == formElement {
		p.reason = target
	}
	if !isName || a.bare && location.Check(target) == nil {
		return target
	}
	target = s.root(r) + format.NamePath(target)
	q := a.query
	if a.authority == nil || !a.authority.PassesQuery() {
		q.plain = ""
	}
	if a.form == formTHTTP && q.service == a.authority.Interpret(&nomen.Question{}, true).Service { // paths omit the default service
		q.service = ""
	}
	if text := q.String(); text != "" {
		target += "?" + text
	}
	return target
}

// maxPlainList limits a list for clients that accept nothing but text/plain, in bytes. Such clients
// do not read longer lists.
const maxPlainList = 4095

// locatedList answers N2L with a Location field and a list of the locations.
func (s *Server) locatedList(ctx context.Context, r *request, a parsedTarget, ans *nomen.Answer, best string) *reply {
	all, err := s.resolver.Resolve(ctx, a.questionFor(r, nomen.I2Ls))
	switch {
	case err == nil:
		ans = all
	case !errors.Is(err, &nomen.Error{Kind: nomen.NoResult}): // otherwise the authority does not offer the list, and ans stays
		return s.problem(ctx, r, a, err)
	}
	list := best + "\r\n"
	for _, l := range ans.Locations {
		u, err := uri.Parse(l.URL)
		if err != nil || u.String() == best || len(list)+len(u.String())+2 > maxPlainList {
			continue
		}
		list += u.String() + "\r\n"
	}
	p := newReply(http.StatusOK)
	s.link(p, r, a, ans)
	p.add("Location", best)
	p.varyWith(ans)
	p.add("Cache-Control", cacheControl(ans))
	p.add("Last-Modified", validator.LastModified(changed(ans), s.now()))
	return s.represent(r, p, "text/plain; charset=utf-8", []byte(list))
}
