package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/messages"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/site"
)

const languagePath = "/-/language"

func (s *Server) textsFor(r *request) *messages.Catalogue {
	if r.texts == nil {
		r.texts = s.site.Texts().Choose(r.language, r.languages)
	}
	return r.texts
}

// describeLanguage adds the header fields about the language of a page for people. Responses for
// programs are the same in every language.
func (s *Server) describeLanguage(r *request, p *reply, mediaType string) {
	if mediaType != format.TypeHTML {
		return
	}
	if !strings.Contains(p.get("Vary"), "Accept-Language") {
		p.vary("Accept-Language")
	}
	p.vary("Cookie")
	p.add("Content-Language", s.textsFor(r).Tag())
}

// targetOfPage returns the target to which a user is redirected after choosing a language on a
// page. It is "" if the page is not below a path of this server.
func targetOfPage(r *request) string {
	if r.method != http.MethodGet && r.method != http.MethodHead || !strings.HasPrefix(r.target, "/") {
		return ""
	}
	return question.EscapeExcluded(r.target)
}

func (s *Server) chooseLanguage(r *request, q string) *reply {
	values, _ := url.ParseQuery(q) // invalid parameters are ignored
	// Without "//" at its beginning, browsers cannot take this path for the URL of another host.
	path := s.root(r) + "/" + strings.TrimLeft(question.EscapeExcluded(values.Get("next")), "/")
	p := uncached(newReply(http.StatusSeeOther))
	if texts := s.site.Texts().In(values.Get("lang")); texts != nil { // otherwise nothing was chosen
		p.add("Set-Cookie", messages.NewCookie(texts.Tag(), s.root(r)+"/").String())
	}
	p.add("Location", path)
	return p.withText(path)
}

// inEnglish returns a page in English, for content that exists only in English.
func inEnglish(page format.Page) format.Page {
	page.Site = page.Site.In(page.Site.Site.Texts().In("en"))
	page.Site.Target = ""
	return page
}

// localized returns a page in the language of the client, with links to the other languages.
func (s *Server) localized(r *request, page *site.Page) *site.Page {
	page.Target = targetOfPage(r)
	return page.In(s.textsFor(r))
}
