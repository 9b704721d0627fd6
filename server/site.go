package server

import (
	"context"
	"errors"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/problempage"
	"github.com/nomen-project/nomen/internal/qrcode"
	"github.com/nomen-project/nomen/site"
	"github.com/nomen-project/nomen/store"
)

func (s *Server) sitePage(r *request) *site.Page {
	if r.parsed != nil && errors.Is(r.parsed.err, errForOthers) { // paths on another host lead elsewhere
		return s.site.Page(s.public).WithoutLogo().In(s.textsFor(r))
	}
	return s.localized(r, s.site.Page(s.root(r)))
}

func (s *Server) bare(r *request) format.Page {
	return format.Page{Root: s.root(r), Site: s.sitePage(r)}
}

func ownerOf(a *store.Authority) format.Owner {
	if a == nil {
		return format.Owner{}
	}
	return format.Owner{Prefix: a.Prefix.String(), Description: a.Description, Contact: a.Contact}
}

// onProblem returns the page for a problem. For a retired name, the page also shows the history of
// the name.
func (s *Server) onProblem(ctx context.Context, r *request, a parsedTarget, problem *format.Problem) format.Page {
	page := s.bare(r)
	page.Owner = ownerOf(a.authority)
	kind := problem.Kind()
	switch {
	case kind == nomen.Unknown && a.form == formPage && a.path != "":
		page.Other = true
	case kind == nomen.Unknown && !a.name.IsZero() && a.reserved == "":
		page.Past.At = a.query.at
	case problem.Answer != nil && a.negotiable():
		a.query.service = nomen.I2C // makes the links of the history lead to pages
		// If the store fails, the page lacks the history.
		if past, err := s.past(ctx, s.root(r), a, problem.Answer); err == nil {
			page.Past = past
		}
	}
	return page
}

func qrOf(page format.Page, ans *nomen.Answer) template.HTML {
	url := page.Base + format.NamePath(ans.Name.Key())
	if page.Base == "" || len(url) > qrcode.MaxReadable || ans.Service != nomen.I2C && ans.Service != nomen.I2Cs {
		return ""
	}
	code, err := qrcode.SVG(url, page.Site.Plain("page.qr", url))
	if err != nil {
		return ""
	}
	return code
}

// forPeople converts an error in plain text to a page, if the client is a browser.
func (s *Server) forPeople(r *request, p *reply) *reply {
	if p.status < http.StatusBadRequest || p.text == nil || r.method != http.MethodGet && r.method != http.MethodHead || !problempage.PrefersHTML(r.accept) {
		return p
	}
	body, err := s.statusPage(r, p.status, strings.Join(p.text, " "))
	if err != nil {
		s.log.Error("page failed", "err", err)
		return p
	}
	p.fields = slices.DeleteFunc(p.fields, func(f field) bool { return f.name == "Content-Type" })
	p.vary("Accept")
	s.describeLanguage(r, p, format.TypeHTML)
	return p.withBody(htmlPage.ContentType(), body)
}

func (s *Server) statusPage(r *request, status int, detail string) ([]byte, error) {
	p := format.Problem{Type: "#" + kindOfStatus(status), Title: problempage.TitleOf(status), Status: status, Detail: detail, On: s.bare(r)}
	p.On.Other = status == http.StatusNotFound
	return written(func(w io.Writer) error { return format.WriteProblemHTML(w, &p) })
}

func kindOfStatus(status int) string {
	switch status {
	case http.StatusTooManyRequests:
		return "too-many-requests"
	case http.StatusServiceUnavailable:
		return problempage.KindBusy
	}
	return ""
}

func (s *Server) showRefusal(r *request, h http.Header, status int, why string) []byte {
	body, err := s.statusPage(r, status, why)
	if err != nil {
		s.log.Error("page failed", "err", err)
		return []byte(why + "\r\n")
	}
	h.Set("Content-Type", htmlPage.ContentType())
	h.Set("Content-Language", s.textsFor(r).Tag())
	h.Set("Content-Security-Policy", s.pagePolicy)
	return body
}

// logo serves the logo of the site. The policy of the response lets browsers show it only as a
// picture.
func (s *Server) logo(r *request, name string) *reply {
	l := s.site.Logo()
	if !l.Is(name) {
		return newReply(http.StatusNotFound).withText("Picture not found.")
	}
	p := newReply(http.StatusOK)
	p.add("Cache-Control", "public, max-age=31536000, immutable")
	p.add("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	p.add("Cross-Origin-Resource-Policy", "same-origin")
	return s.represent(r, p, l.Type, l.Content)
}
