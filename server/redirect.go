package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/uri"
)

// locate leads to the best location of a name.
func (s *Server) locate(ctx context.Context, r *request, a asked) *reply {
	if types := descriptive(r.accept); types != nil {
		if ans, err := s.resolver.Resolve(ctx, a.question(nomen.I2C)); err == nil && !carried(ans.Locations, types) {
			return s.described(ctx, r, a, ans)
		}
	}
	q := a.question(nomen.I2L)
	q.Accept, q.Languages = r.accept, r.languages
	ans, err := s.resolver.Resolve(ctx, q)
	switch {
	case err != nil:
		return s.problem(r, a, err)
	case ans.Redirect != "":
		return s.successor(r, a, ans)
	case len(ans.Locations) == 0:
		return s.failure(r, fmt.Errorf("server: the resolver answered I2L of %s with no location", a.name))
	}
	target, err := withQuery(ans.Locations[0].URL, a.query.q)
	if err != nil {
		return s.failure(r, err)
	}
	if a.form == formTHTTP && onlyPlain(r.accept) {
		return s.locatedList(ctx, r, a, target)
	}
	p := newReply(a.redirectStatus(r))
	s.link(p, r, a, ans)
	p.add("Vary", "Accept, Accept-Language")
	p.add("Cache-Control", "no-cache")
	return s.toward(r, p, target)
}

// redirectStatus returns the status of a redirection to a location: 303, which
// HTTP/1.0 does not know, or what the authority wants.
func (a asked) redirectStatus(r *request) int {
	switch {
	case !r.version.atLeast11():
		return http.StatusFound
	case a.authority != nil && isRedirect(a.authority.Redirect):
		return a.authority.Redirect
	}
	return http.StatusSeeOther
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// withQuery returns a location with a q-component appended to its query: after
// "&" if it has one, before its fragment. The result is a URI without anything
// that could end a line.
func withQuery(location, q string) (string, error) {
	u, err := uri.Parse(location)
	if err != nil {
		return "", fmt.Errorf("server: a stored location: %w", err)
	}
	if q == "" {
		return u.String(), nil
	}
	before, fragment, hasFragment := strings.Cut(u.String(), "#")
	sep := "?"
	if old, has := u.Query(); has {
		if sep = "&"; old == "" {
			sep = ""
		}
	}
	out := before + sep + q
	if hasFragment {
		out += "#" + fragment
	}
	if u, err = uri.Parse(out); err != nil {
		return "", fmt.Errorf("server: a location with a q-component: %w", err)
	}
	return u.String(), nil
}

// toward completes a redirection with Location and a body for those who cannot
// follow it.
func (s *Server) toward(r *request, p *reply, target string) *reply {
	p.add("Location", target)
	f := format.ProblemFormat(r.accept)
	if f.MediaType != format.TypeHTML {
		return p.withText(target)
	}
	body, err := written(func(w io.Writer) error {
		return format.WriteHTML(w, &nomen.Answer{Service: nomen.I2L, Locations: []nomen.Location{{URL: target}}})
	})
	if err != nil {
		return s.failure(r, err)
	}
	return p.withBody(f.ContentType(), body)
}

// maxSuccessorAge bounds how long a client may remember that a name was
// replaced.
const maxSuccessorAge = 30 * 24 * time.Hour

// successor leads to the name that took the place of a retired one. To a target
// without a slash that is the URN itself, to a path it is a path; the protocol of
// 1995 has the URN in the reason phrase too (Y95-42, Y95-43).
func (s *Server) successor(r *request, a asked, ans *nomen.Answer) *reply {
	u, err := uri.Parse(ans.Redirect)
	if err != nil {
		return s.failure(r, fmt.Errorf("server: a successor: %w", err))
	}
	p := newReply(http.StatusMovedPermanently)
	p.add("Vary", "Accept")
	target := u.String()
	if a.form == formElement {
		p.reason = target
	}
	if !a.bare {
		target = format.NamePath(target)
		if q := a.query.String(); q != "" && a.form != formTHTTP {
			target += "?" + q
		}
	}
	if age := min(ans.MaxAge, maxSuccessorAge); age > 0 {
		p.add("Cache-Control", "max-age="+strconv.Itoa(int(age/time.Second)))
	} else {
		p.add("Cache-Control", "no-cache")
	}
	s.link(p, r, a, ans)
	return s.toward(r, p, target)
}

// maxPlainList bounds the list that a client gets who takes text/plain alone:
// such a client reads no more.
const maxPlainList = 4095

// locatedList answers N2L with a list beside Location.
func (s *Server) locatedList(ctx context.Context, r *request, a asked, best string) *reply {
	q := a.question(nomen.I2Ls)
	q.Languages = r.languages
	ans, err := s.resolver.Resolve(ctx, q)
	if err != nil {
		return s.problem(r, a, err)
	}
	list := best + "\r\n"
	for _, l := range ans.Locations {
		u, err := withQuery(l.URL, a.query.q)
		if err != nil || u == best || len(list)+len(u)+2 > maxPlainList {
			continue
		}
		list += u + "\r\n"
	}
	p := newReply(http.StatusOK)
	s.link(p, r, a, ans)
	p.add("Location", best)
	p.add("Vary", "Accept, Accept-Language")
	p.add("Cache-Control", "no-cache")
	p.add("Last-Modified", lastModified(ans.Modified, s.now()))
	p.add("ETag", tagOf(format.TypeText, []byte(list)))
	return conditional(r, p.withBody("text/plain; charset=utf-8", []byte(list)))
}
