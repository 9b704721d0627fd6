package server

import (
	"context"
	_ "embed" // for the pages
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/health"
	"github.com/nomen-project/nomen/internal/problempage"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/site"
	"github.com/nomen-project/nomen/store"
)

//go:embed home.html
var homePage string

var (
	textPage = format.Format{Name: "text", MediaType: format.TypeText, Charset: "utf-8"}
	htmlPage = format.Format{Name: "html", MediaType: format.TypeHTML, Charset: "utf-8"}
)

type home struct {
	page   *template.Template
	policy string // Content-Security-Policy
}

func newHome(of *site.Site) (home, error) {
	page, err := gateway.ParsePage("home", homePage)
	return home{page, of.Policy(handlerScript)}, err
}

const shownAuthorities = 100

type homeView struct {
	*site.Page
	Script      template.JS
	Authorities []*store.Authority
	More        int // authorities that are left out
}

// page answers requests for pages. Pages are neither names nor elements.
func (s *Server) page(ctx context.Context, r *request, a parsedTarget, set *store.AuthoritySet) *reply {
	if p := s.pageBelow(ctx, r, a.path, set); p != nil {
		return p
	}
	path, q, _ := strings.Cut(a.path, "?")
	if p := s.gatewayPage(ctx, r, path, q, set); p != nil {
		return p
	}
	if name, ok := strings.CutPrefix(path, site.LogoPath); ok {
		return s.logo(r, name)
	}
	switch path {
	case "/":
		return s.homePage(r, set)
	case privacyPath:
		return s.privacy(r)
	case CheckerPath:
		return s.checker(r)
	case languagePath:
		return s.chooseLanguage(r, q)
	case "/-/resolve":
		return resolveForm(r, s.root(r), q)
	case health.LivePath, health.ReadyPath:
		return s.checkHealth(r, path)
	case "/-/openapi.json":
		p := newReply(http.StatusOK)
		p.add("Cache-Control", "no-cache")
		return s.represent(r, p, "application/json", adminapi.OpenAPI)
	case "/robots.txt":
		return newReply(http.StatusOK).withText("User-agent: *", "Disallow: "+s.root(r)+"/-/")
	case "/favicon.ico":
		p := newReply(http.StatusNoContent)
		p.add("Cache-Control", "max-age=86400")
		return p
	}
	return s.problem(ctx, r, a, &nomen.Error{Kind: nomen.Unknown, Name: path, Message: "page not found"})
}

// pageBelow answers requests for pages below a fixed prefix. For other targets it returns nil.
func (s *Server) pageBelow(ctx context.Context, r *request, target string, set *store.AuthoritySet) *reply {
	path, q, _ := strings.Cut(target, "?")
	if prefix, ok := strings.CutPrefix(path, listPath); ok {
		return s.costly(ctx, func() *reply { return s.list(ctx, r, adminapi.UnescapeName(prefix), set) })
	}
	if original, ok := strings.CutPrefix(target, timeGatePrefix); ok {
		return s.timeGate(ctx, r, original, set)
	}
	if original, ok := strings.CutPrefix(target, timeMapPrefix); ok {
		return s.costly(ctx, func() *reply { return s.prefixTimeMap(ctx, r, original, set) })
	}
	if spelling, ok := strings.CutPrefix(path, timeMapPath); ok {
		return s.costly(ctx, func() *reply { return s.timeMap(ctx, r, adminapi.UnescapeName(spelling), q, set) })
	}
	if p := s.published(ctx, r, path, q, set); p != nil {
		return p
	}
	if kind, ok := strings.CutPrefix(path, format.ProblemPath); ok {
		return s.problemPage(r, kind)
	}
	if path, ok := strings.CutPrefix(path, registryPath); ok {
		return s.registryPage(r, path)
	}
	return nil
}

func (s *Server) problemPage(r *request, kind string) *reply {
	status, contentType, body := problempage.Page(r.accept, kind, inEnglish(s.bare(r)))
	if status != http.StatusOK {
		return newReply(status).withText("Problem type not found.")
	}
	p := newReply(status)
	p.add("Vary", "Accept")
	p.add("Cache-Control", "max-age=86400")
	return p.withBody(contentType, body)
}

func uncached(p *reply) *reply {
	p.add("Cache-Control", "no-store")
	return p
}

// checkHealth answers a health check, as JSON if Accept asks for that. The response names the
// server, and shows the request as it arrived and the address from which it came. This lets a
// client find out what a proxy has changed in the request.
func (s *Server) checkHealth(r *request, path string) *reply {
	report := s.health.Check(path)
	p := uncached(newReply(report.Status))
	p.add("Vary", "Accept")
	if s.instance != "" {
		p.add(health.InstanceHeader, s.instance)
		p.add(health.RequestHeader, health.RequestLine(r.method, r.target, r.version.major, r.version.minor))
		p.add(health.ClientHeader, health.ClientLine(r.from, knownHost(r.host)))
	}
	if body, err := json.Marshal(report); err == nil && health.WantsJSON(r.accept) {
		return p.withBody("application/json", append(body, '\n'))
	}
	p = p.withText(report.Lines...)
	p.text = nil // monitors show the text as it is
	return p
}

func knownHost(field string) string {
	if !validHost(field) {
		return ""
	}
	return field
}

// Ready reports whether this server is ready, as /-/readyz does.
func (s *Server) Ready() bool { return s.health.Ready() }

func (s *Server) homePage(r *request, set *store.AuthoritySet) *reply {
	f, ok := format.Negotiate(r.accept, []format.Format{textPage, htmlPage}, textPage)
	p := newReply(http.StatusOK)
	p.add("Vary", "Accept")
	if !ok || f.Name == textPage.Name && !problempage.PrefersHTML(r.accept) {
		return p.withText(s.homeText(r, set)...)
	}
	return s.withHTML(r, p, s.home.policy, func(w io.Writer) error {
		all := set.All()
		view := homeView{Page: s.sitePage(r), Script: template.JS(handlerScript), Authorities: all[:min(len(all), shownAuthorities)]}
		view.Version, view.More = s.version, len(all)-len(view.Authorities)
		return s.home.page.Execute(w, view)
	})
}

func (s *Server) withHTML(r *request, p *reply, policy string, write func(io.Writer) error) *reply {
	body, err := written(write)
	if err != nil {
		return s.failure(r, err)
	}
	p.add("Content-Security-Policy", policy)
	s.describeLanguage(r, p, format.TypeHTML)
	return p.withBody(htmlPage.ContentType(), body)
}

func (s *Server) homeText(r *request, set *store.AuthoritySet) []string {
	lines := []string{
		"nomen " + s.version + " resolves persistent names.", "",
		"Resolve a name:          " + s.base(r) + "/urn:...",
		"Describe a name:         " + s.base(r) + "/urn:...?s=I2C", "",
		"Naming authorities:",
	}
	for _, a := range set.All() {
		lines = append(lines, "  "+strings.TrimRight(fmt.Sprintf("%-30s %s", a.Prefix, requestlog.Printable(a.Description)), " "))
	}
	return lines
}

// resolveForm answers the form on the home page, in which a user enters a name or an element. White
// space and angle brackets around the input are ignored (draft of 1995, 2). A client that is not a
// browser gets a redirect to the path of the name. A browser gets a page that opens this path at
// once, because browsers apply the form-action of the policy to all redirects after a form, even to
// redirects by another server.
func resolveForm(r *request, root, q string) *reply {
	values, _ := url.ParseQuery(q) // invalid parameters are ignored
	path := root + formPath(values.Get("name"))
	p := newReply(http.StatusSeeOther)
	p.add("Cache-Control", "no-store")
	p.vary("Accept")
	if takesPage(r) {
		p.status = http.StatusOK
		p.add("Refresh", "0;url="+path)
		return p.withLink(path)
	}
	p.add("Location", path)
	return p.withText(path)
}

func formPath(entered string) string {
	s := strings.Join(strings.Fields(entered), "")
	if inner, ok := strings.CutPrefix(s, "<"); ok {
		s = strings.TrimSuffix(inner, ">")
	}
	if _, ok := schemeOf(s); ok {
		return "/" + adminapi.EscapeName(s)
	}
	s = strings.NewReplacer("?", "%3F", "#", "%23").Replace(question.EscapeExcluded(s))
	return "/" + strings.TrimLeft(s, "/")
}
