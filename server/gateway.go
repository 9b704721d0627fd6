package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the pages
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/store"
)

//go:embed explain.html
var explainPage string

//go:embed handler.js
var handlerScript string

// Paths of the gateway.
const (
	handlerPath = "/-/handler"   // for web+urn links
	pacPath     = "/-/proxy.pac" // for clients that use a proxy auto-config file
)

// hashed returns the hash of a script or style for Content-Security-Policy.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// newPage parses the template of a page. In it {{link URL}} returns the URL if it may be
// a link, or else ""; html/template itself allows only http, https and mailto.
func newPage(name, text string) (*template.Template, error) {
	page, err := template.New(name).Funcs(template.FuncMap{"link": func(s string) template.URL {
		if !location.IsLink(s) {
			return ""
		}
		return template.URL(s)
	}}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return page, nil
}

// forwardRequest forwards a request for another host, if forwarding is enabled and the client is
// allowed to use it. Otherwise it returns false and does nothing.
func (s *Server) forwardRequest(w http.ResponseWriter, r *http.Request, in *request, c client) bool {
	asker := &gateway.Client{Addr: c.addr} // a web page cannot make a browser send proxy requests
	if s.forward == nil || !s.forward.Admits(asker, r.Method) || wire.Simple(r) {
		return false
	}
	if r.Method != http.MethodConnect && !s.isForOthers(r.Context(), in) {
		return false
	}
	start := s.now()
	counted := &countedWriter{ResponseWriter: w, out: paced.NewWriter(w, s.limits.Timeout)}
	u, err := url.Parse(in.target)
	if err != nil || r.Method == http.MethodConnect {
		u = r.URL
	}
	out := r.WithContext(gateway.WithClient(r.Context(), asker))
	out.URL, out.RequestURI = u, in.target
	if hasBody(r) {
		out.Body = struct {
			*paced.Reader
			io.Closer
		}{paced.NewReader(r.Body, w, s.limits.Timeout), r.Body}
	}
	defer func() {
		took := s.now().Sub(start)
		s.metrics.Observe(formOther.String(), counted.status, took)
		requestlog.Of(r, in.target, c.addr).Log(r.Context(), s.access, counted.status, counted.out.Written(), took)
	}()
	s.forward.ServeHTTP(counted, out)
	return true
}

// A countedWriter gives each write its own deadline and counts the bytes.
type countedWriter struct {
	http.ResponseWriter
	out    *paced.Writer
	status int
}

// WriteHeader records the status.
func (w *countedWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (w *countedWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.out.Write(b)
}

// Hijack hands over the connection to a tunnel, which sends status 200 itself.
func (w *countedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, early, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusOK
	}
	return c, early, err
}

// Unwrap implements the interface of [http.ResponseController].
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// gatewayPage answers the pages of the gateway, or returns nil for other paths.
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

// proxyConfig serves the proxy auto-config file.
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

// explainInput explains what a user entered, and what it resolves to. For a link that a browser
// handed over (lead) it redirects to the name if the name is resolved here; anything else
// is only shown, so that this is not an open redirect.
func (s *Server) explainInput(ctx context.Context, r *request, entered string, lead bool) *reply {
	if p := s.checkRate(ctx); p != nil {
		return p
	}
	x, err := s.explainer.Explain(ctx, entered)
	if err != nil {
		return s.failure(r, err)
	}
	page := explanationPage{Explanation: x, Root: s.root(r), Style: template.CSS(homeStyle), Version: s.version}
	if x.Leads() {
		page.Here = s.root(r) + herePath(x.Text)
	}
	if lead && page.Here != "" {
		p := uncached(newReply(http.StatusSeeOther))
		return redirectTo(r, p, page.Here)
	}
	html := format.Format{Name: "html", MediaType: format.TypeHTML, Charset: "utf-8"}
	text := format.Format{Name: "text", MediaType: format.TypeText, Charset: "utf-8"}
	p := uncached(newReply(http.StatusOK))
	p.add("Vary", "Accept")
	if f, ok := format.Negotiate(r.accept, []format.Format{html, text}, html); ok && f.Name == text.Name {
		return p.withText(page.lines()...)
	}
	var b bytes.Buffer
	if err := s.explained.Execute(&b, page); err != nil {
		return s.failure(r, err)
	}
	p.add("Content-Security-Policy", s.home.policy)
	return p.withBody(html.ContentType(), b.Bytes())
}

// herePath returns the path of a name on this server, with the query and fragment after
// the name.
func herePath(text string) string {
	text, fragment, hasFragment := strings.Cut(text, "#")
	text, q, hasQuery := strings.Cut(text, "?")
	path := format.NamePath(text)
	if hasQuery {
		path += "?" + question.EscapeExcluded(q)
	}
	if hasFragment {
		path += "#" + question.EscapeExcluded(fragment)
	}
	return path
}

// An explanationPage holds the data of the page about an explanation.
type explanationPage struct {
	*gateway.Explanation
	Root    string // path of this server
	Here    string // path on this server that resolves the name; "" for none
	Style   template.CSS
	Version string
}

// Ask returns the path of the description of the name, or "".
func (e explanationPage) Ask() string {
	path, _, _ := strings.Cut(e.Here, "#")
	path, _, _ = strings.Cut(path, "?")
	if path == "" {
		return ""
	}
	return path + "?s=I2C"
}

// Served returns the prefix of the naming authority of the name, if it is known here.
func (e explanationPage) Served() string {
	if e.Authority == nil {
		return ""
	}
	return e.Authority.Prefix.String()
}

// Key returns the key of the name, or "" if it is not a name.
func (e explanationPage) Key() string { return e.Name.Key() }

// lines returns the page for clients that prefer plain text.
func (e explanationPage) lines() []string {
	all := []string{requestlog.Printable(e.Given), ""}
	add := func(name, value string) {
		if value != "" {
			all = append(all, fmt.Sprintf("%-18s %s", name, requestlog.Printable(value)))
		}
	}
	if e.Fault != nil {
		add("error", fmt.Sprintf("%s (offset %d, rule %s)", e.Fault.Message, e.Fault.Offset, e.Fault.Rule))
	}
	add("kind", e.Kind)
	for _, p := range e.Parts {
		add(p.Name, p.Value)
	}
	add("canonical name", e.Key())
	for _, s := range e.Remarks {
		add("note", s)
	}
	for _, f := range e.Meant {
		add("did you mean", f.Name+" ("+f.Value+")")
	}
	add("naming authority", e.Served())
	for _, w := range e.Ways {
		add("looked up at", w.Name+" ("+w.Value+")")
	}
	add("discovery failed", e.NoWay)
	add("path here", e.Here)
	add("external link", e.Link)
	return all
}
