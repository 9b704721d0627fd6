package server

import (
	"context"
	_ "embed" // for the pages
	"net/http"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/problempage"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/store"
)

//go:embed handler.js
var handlerScript string

// Paths of the gateway.
const (
	handlerPath = "/-/handler"   // for web+urn links
	pacPath     = "/-/proxy.pac" // for clients that use a proxy auto-config file
)

// forwardRequest forwards a request for another host. It returns false if forwarding is off, or if
// the client is not permitted to use this server as a proxy.
func (s *Server) forwardRequest(w http.ResponseWriter, r *http.Request, in *request, c client) bool {
	asker := &gateway.Client{Addr: c.addr} // Misled is not set, because a web page cannot make a browser send a request to a proxy
	if s.forward == nil || !s.forward.Admits(asker, r.Method) || wire.Simple(r) {
		return false
	}
	// Stale authorities do not make the response of the other server stale, so they are read in a
	// context of their own.
	if r.Method != http.MethodConnect && !s.isForOthers(store.WithStaleness(r.Context()), in) {
		return false
	}
	start := s.now()
	relay := s.forward.Relay(w, r.WithContext(gateway.WithClient(r.Context(), asker)), in.target, s.limits.Timeout)
	if problempage.PrefersHTML(in.accept) {
		relay.Show = func(h http.Header, status int, why string) []byte { return s.showRefusal(in, h, status, why) }
	}
	defer func() {
		took := s.now().Sub(start)
		s.metrics.Observe(formOther.String(), relay.Status(), took)
		requestlog.Of(r, in.target, c.addr).Log(r.Context(), s.access, relay.Status(), relay.Sent(), took)
	}()
	relay.Run()
	return true
}

// gatewayPage answers requests for the pages of the gateway. For other paths it returns nil.
func (s *Server) gatewayPage(ctx context.Context, r *request, path, q string, set *store.AuthoritySet) *reply {
	switch path {
	case "/":
		if values, _ := url.ParseQuery(q); values.Has("name") {
			return s.explainInput(ctx, r, values.Get("name"), false)
		}
	case handlerPath:
		values, _ := url.ParseQuery(q) // invalid parameters are ignored
		return s.explainInput(ctx, r, values.Get("uri"), true)
	case pacPath:
		return s.proxyConfig(r, set)
	}
	return nil
}

// proxyConfig serves the configuration file for proxies (PAC).
func (s *Server) proxyConfig(r *request, set *store.AuthoritySet) *reply {
	var hosts []string
	for _, a := range set.All() {
		for _, h := range a.Hosts {
			hosts = append(hosts, store.CanonicalHost(h))
		}
		if host, ok := strings.CutPrefix(a.Prefix.String(), "urn:dns:"); ok {
			hosts = append(hosts, host)
		}
	}
	scheme, host, _ := strings.Cut(s.base(r), "://")
	host, _, _ = strings.Cut(host, "/")
	if !hasPort(host) {
		host += map[string]string{"http": ":80", "https": ":443"}[scheme]
	}
	p := newReply(http.StatusOK)
	p.add("Cache-Control", "max-age=3600")
	if s.public == "" {
		p.add("Vary", "Host")
	}
	return s.represent(r, p, gateway.TypePAC, gateway.PAC(host, scheme == "https", hosts))
}

// explainInput shows a page that explains a text from a user, and says where the text leads. If
// lead is true, the text is a web+urn link that a browser has passed to this server. If this server
// resolves that link as a name, explainInput redirects to the name instead. It never redirects to
// another URL, because that would be an open redirect.
func (s *Server) explainInput(ctx context.Context, r *request, entered string, lead bool) *reply {
	if p := s.checkRate(ctx); p != nil {
		return p
	}
	x, err := s.explainer.Explain(ctx, entered)
	if err != nil {
		return s.failure(r, err)
	}
	page := gateway.Page{Explanation: x, Page: s.sitePage(r)}
	if lead && page.Here() != "" {
		p := uncached(newReply(http.StatusSeeOther))
		return redirectTo(r, p, page.Here())
	}
	p := uncached(newReply(http.StatusOK))
	p.add("Vary", "Accept")
	if f, ok := format.Negotiate(r.accept, []format.Format{htmlPage, textPage}, htmlPage); ok && f.Name == textPage.Name {
		return p.withText(page.Lines()...)
	}
	return s.withHTML(r, p, s.pagePolicy, page.WriteHTML)
}
