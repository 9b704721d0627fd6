package admin

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/health"
	"github.com/nomen-project/nomen/internal/problempage"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/internal/trace"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

type call struct {
	w     http.ResponseWriter
	r     *http.Request
	actor registrar.Actor
	value string     // text of the path in place of the braces in the route
	q     url.Values // the query parameters, if the operation lists the known parameters
	async bool       // respond before the end of the job even if the client did not request it
}

// An operation is one route of the admin API.
type operation struct {
	method string
	path   string // path below adminapi.Root; a part in braces matches any text
	role   registrar.Role
	do     func(*call) error
	params string // the known parameters, separated by spaces
}

// unchecked means that the server does not check the parameters of an operation.
const unchecked = "*"

// operations returns all routes. The first route that matches a request applies.
func (s *API) operations() []operation {
	return []operation{
		{http.MethodGet, "version", registrar.Reader, s.getVersion, unchecked},
		{http.MethodGet, "names", registrar.Reader, s.listNames, "prefix after limit status only"},
		{http.MethodPost, "names", registrar.Editor, s.applyBatch, unchecked},
		{http.MethodPost, "names/{name}/retire", registrar.Editor, s.retireName, unchecked},
		{http.MethodGet, "names/{name}/history", registrar.Reader, s.nameHistory, unchecked},
		{http.MethodGet, "names/{name}/receipt", registrar.Reader, s.receipt, "at"},
		{http.MethodPost, "names/{name}/redact", registrar.Administrator, s.redactName, unchecked},
		{http.MethodGet, "names/{name}", registrar.Reader, s.getName, unchecked},
		{http.MethodPut, "names/{name}", registrar.Editor, s.putName, unchecked},
		{http.MethodDelete, "names/{name}", registrar.Editor, s.deleteName, unchecked},
		{http.MethodPost, "mint", registrar.Editor, s.mint, ""},
		{http.MethodPost, "import", registrar.Editor, s.importNames, "format on_conflict dry_run changes retired strict map_resolvers sheet encoding delimiter map split spreadsheet as why compression keep file filename"},
		{http.MethodGet, "export", registrar.Reader, s.exportNames, "format prefix status at revisions spreadsheet compression"},
		{http.MethodGet, "authorities", registrar.Reader, s.listAuthorities, unchecked},
		{http.MethodPost, "authorities/{prefix}/redact", registrar.Administrator, s.redactAuthority, unchecked},
		{http.MethodPost, "authorities/{prefix}/check", registrar.Owner, s.checkAuthority, ""},
		{http.MethodGet, "authorities/{prefix}/history", registrar.Reader, s.authorityHistory, unchecked},
		{http.MethodGet, "authorities/{prefix}", registrar.Reader, s.getAuthority, unchecked},
		{http.MethodPut, "authorities/{prefix}", registrar.Owner, s.putAuthority, unchecked},
		{http.MethodGet, "changes", registrar.Reader, s.changes, "after until limit wait who prefix kind batch"},
		{http.MethodGet, "changes/{seq}", registrar.Reader, s.prove, "size"},
		{http.MethodGet, "head", registrar.Reader, s.head, "size since at"},
		{http.MethodGet, "log/{path}", registrar.Reader, s.logFile, ""},
		{http.MethodGet, "find", registrar.Reader, s.find, "location after_url after_name limit"},
		{http.MethodGet, "search", registrar.Reader, s.search, "text prefix status after limit"},
		{http.MethodPost, "relocate", registrar.Editor, s.relocate, ""},
		{http.MethodPost, "undo", registrar.Editor, s.undo, ""},
		{http.MethodPost, "verify", registrar.Administrator, s.verify, "since"},
		{http.MethodPost, "backup", registrar.Administrator, s.backup, ""},
		{http.MethodGet, "jobs", registrar.Reader, s.listJobs, ""},
		{http.MethodGet, "jobs/{id}/rejects", registrar.Reader, s.getRejects, ""},
		{http.MethodPost, "jobs/{id}/apply", registrar.Editor, s.applyJob, ""},
		{http.MethodPost, "jobs/{id}/approve", registrar.Editor, s.approveJob, ""},
		{http.MethodPost, "jobs/{id}/reject", registrar.Editor, s.rejectJob, ""},
		{http.MethodGet, "jobs/{id}", registrar.Reader, s.getJob, ""},
		{http.MethodDelete, "jobs/{id}", registrar.Reader, s.cancelJob, ""},
		{http.MethodGet, "resolve", registrar.Reader, s.explain, "name s c r q query with accept languages user_agent country at explain"},
		{http.MethodPost, "reports/test", registrar.Administrator, s.testReports, ""},
		{http.MethodGet, "misses", registrar.Reader, s.listMisses, "prefix limit visible"},
		{http.MethodPost, "misses/{name}", registrar.Editor, s.hideMiss, ""},
		{http.MethodDelete, "misses", registrar.Administrator, s.clearMisses, unchecked},
		{http.MethodGet, "links", registrar.Reader, s.listLinks, "verdict after limit"},
		{http.MethodGet, "links/status", registrar.Reader, s.linkStatus, ""},
		{http.MethodGet, "links/changes", registrar.Reader, s.linkChanges, "since until"},
		{http.MethodGet, "links/{name}", registrar.Reader, s.nameLinks, ""},
		{http.MethodPost, "links/{name}", registrar.Editor, s.doLinks, ""},
		{http.MethodGet, "statistics", registrar.Reader, s.statistics, "fresh"},
		{http.MethodGet, "statistics/resolutions", registrar.Reader, s.resolutions, "name prefix from to top"},
		{http.MethodGet, "statistics/changes", registrar.Reader, s.activity, "month"},
		{http.MethodGet, "statistics/month", registrar.Reader, s.month, "prefix month"},
		{http.MethodGet, "config", registrar.Administrator, s.getConfig, ""},
		{http.MethodPost, "reload", registrar.Administrator, s.reload, ""},
		{http.MethodGet, "users", registrar.Owner, s.listUsers, ""},
		{http.MethodPost, "users", registrar.Administrator, s.addUser, unchecked},
		{http.MethodGet, "users/{id}/history", registrar.Administrator, s.userHistory, unchecked},
		{http.MethodPost, "users/{id}/grants", registrar.Owner, s.grantUser, unchecked},
		{http.MethodPost, "users/{id}/sign-in-link", registrar.Administrator, s.makeSignInLink, ""},
		{http.MethodDelete, "users/{id}/sessions", registrar.Administrator, s.signUserOut, ""},
		{http.MethodPost, "users/{id}/redact", registrar.Administrator, s.redactUser, unchecked},
		{http.MethodGet, "users/{id}", registrar.Reader, s.getUser, ""},
		{http.MethodPut, "users/{id}", registrar.Owner, s.replaceUser, unchecked},
		{http.MethodGet, "tokens", registrar.Administrator, s.listTokens, ""},
		{http.MethodPost, "tokens", registrar.Administrator, s.grantToken, unchecked},
		{http.MethodPost, "tokens/{id}/redact", registrar.Administrator, s.redactToken, unchecked},
		{http.MethodDelete, "tokens/{id}", registrar.Administrator, s.revokeToken, unchecked},
	}
}

func (o operation) match(path string) (string, bool) {
	before, rest, braces := strings.Cut(o.path, "{")
	if !braces {
		return "", path == o.path
	}
	_, after, _ := strings.Cut(rest, "}")
	value, ok := strings.CutPrefix(path, before)
	if ok {
		value, ok = strings.CutSuffix(value, after)
	}
	return adminapi.UnescapeName(value), ok && value != ""
}

// protected returns the handler of the API. It rejects requests from other sites.
func (s *API) protected() http.Handler {
	var crossOrigin http.CrossOriginProtection
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.problem(w, &adminapi.StatusError{Kind: adminapi.KindCrossSite, Status: http.StatusForbidden, Detail: "requests from other sites are not allowed"})
	}))
	api := crossOrigin.Handler(http.HandlerFunc(s.serve))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.isPage(r) { // the handler of the pages rejects requests from other sites
			s.serve(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

func (s *API) isPage(r *http.Request) bool {
	return s.pages != nil && strings.HasPrefix(r.RequestURI, PagesRoot)
}

func (s *API) serve(w http.ResponseWriter, r *http.Request) {
	defer requestlog.Panic(s.log)
	start := s.now()
	if endsConnection(r) || s.health.Closing() {
		w.Header().Set("Connection", "close")
	}
	if parent, ok := trace.Of(r.Header); ok {
		r = r.WithContext(trace.With(r.Context(), parent))
	}
	counted := &statusWriter{ResponseWriter: w, role: noRole}
	if err := s.answer(counted, r); err != nil {
		s.problem(counted, err)
	}
	s.count(counted)
	if _, ok := insideActor(r.Context()); ok {
		return // the request for the page is logged instead
	}
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	requestlog.Of(r, loggedTarget(r.RequestURI), remote.Addr()).Log(r.Context(), s.settings.Load().access, counted.status, counted.n, s.now().Sub(start))
}

const signInPath = PagesRoot + "sign-in"

// loggedTarget returns the target of a request for the access log. It removes the query from
// requests to sign in, because the query may contain a secret.
func loggedTarget(target string) string {
	path, _, found := strings.Cut(target, "?")
	if found && strings.Contains(path, signInPath) { // the request target may also be a complete URL
		return path + "?..."
	}
	return target
}

// endsConnection reports whether HTTP implementations may disagree about the end of the body of r.
// The connection must then be closed, because a part of the body could be read as another request
// (request smuggling). If a request has both Transfer-Encoding and Content-Length, net/http ignores
// Content-Length. In HTTP/1.0, it ignores Transfer-Encoding (RFC 9112, section 6.1). The public
// listener rejects such requests (see package wire).
func endsConnection(r *http.Request) bool {
	return r.ProtoMajor == 1 && (r.ProtoMinor == 0 || r.TransferEncoding != nil)
}

func (s *API) answer(w *statusWriter, r *http.Request) error {
	if !s.isOwnHost(r.Host) {
		return &adminapi.StatusError{Kind: adminapi.KindHost, Status: http.StatusMisdirectedRequest, Detail: "the Host field does not name the admin API of this server; use an IP address or localhost"}
	}
	if s.isPage(r) {
		s.pages.ServeHTTP(w, r)
		return nil
	}
	target, _, _ := strings.Cut(r.RequestURI, "?")
	path, ok := strings.CutPrefix(target, adminapi.Root)
	if !ok {
		return s.page(w, r, target)
	}
	op, value, err := s.operation(r.Method, path)
	if err != nil {
		var status *adminapi.StatusError
		if errors.As(err, &status) && status.Status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", value)
		}
		return err
	}
	actor, err := s.authenticate(r)
	if err != nil {
		return err
	}
	w.role = actor.Role().String()
	c := &call{w: w, r: r, actor: actor, value: value}
	if err := s.checkRate(c); err != nil {
		return err
	}
	if !actor.MayAny(op.role) {
		return actor.DeniedAny(op.role, value)
	}
	if op.params != unchecked {
		if c.q, err = c.query(strings.Fields(op.params)...); err != nil {
			return err
		}
	}
	return op.do(c)
}

// operation returns the route for a method and a path, and the text of the path in place of the
// braces. If no route for the path has the method, operation returns an error and the list of
// allowed methods.
func (s *API) operation(method, path string) (operation, string, error) {
	var methods []string
	for _, op := range s.operations() {
		value, ok := op.match(path)
		switch {
		case !ok:
		case op.method == method, op.method == http.MethodGet && method == http.MethodHead:
			return op, value, nil
		default:
			methods = append(methods, op.method)
		}
	}
	if methods == nil {
		return operation{}, "", store.ErrNotFound
	}
	return operation{}, strings.Join(methods, ", "), &adminapi.StatusError{Kind: adminapi.KindMethod, Status: http.StatusMethodNotAllowed, Detail: "method " + method + " not allowed"}
}

func (s *API) page(w *statusWriter, r *http.Request, path string) error {
	kind, isProblem := strings.CutPrefix(path, adminapi.ProblemPath)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
	case isProblem:
		return problemPage(w, r, kind)
	case s.pages != nil && (path == "/" || path == strings.TrimSuffix(PagesRoot, "/")):
		w.Header().Set("Location", PagesRoot)
		w.WriteHeader(http.StatusSeeOther)
		return nil
	case path == health.LivePath, path == health.ReadyPath:
		report := s.health.Check(path)
		return writeJSON(w, report.Status, report)
	case path == metricsPath && s.metrics != nil:
		return s.showMetrics(w, r)
	case path == "/-/openapi.json":
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write(adminapi.OpenAPI)
		return ignored(err)
	}
	return store.ErrNotFound
}

func problemPage(w http.ResponseWriter, r *http.Request, kind string) error {
	status, contentType, body := problempage.Page(strings.Join(r.Header.Values("Accept"), ", "), kind, format.Page{})
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", format.ContentSecurityPolicy())
	if status == http.StatusOK {
		h.Set("Vary", "Accept")
		h.Set("Cache-Control", "max-age=86400")
	}
	w.WriteHeader(status)
	_, err := w.Write(body)
	return ignored(err)
}

// isOwnHost reports whether a Host field is an address, localhost or one of [Options].Hosts. Other
// host names are rejected, because an attacker can make them resolve to the address of this server
// (DNS rebinding).
func (s *API) isOwnHost(host string) bool {
	h := store.CanonicalHost(host)
	_, err := netip.ParseAddr(strings.Trim(h, "[]"))
	return err == nil || store.IsLoopbackHost(h) || s.settings.Load().hosts[h]
}

// authenticate returns the actor for the token in a request. Neither the error nor the response
// time discloses whether the ID or the secret is wrong.
func (s *API) authenticate(r *http.Request) (registrar.Actor, error) {
	if a, ok := insideActor(r.Context()); ok {
		return a, nil
	}
	const scheme = "bearer "
	field := r.Header.Get("Authorization")
	if len(field) < len(scheme) || !strings.EqualFold(field[:len(scheme)], scheme) {
		return registrar.Actor{}, adminapi.ErrUnauthorized
	}
	return s.bearer(r.Context(), strings.TrimSpace(field[len(scheme):]))
}

// A statusWriter records the status of a response, the number of bytes sent, and the role of the
// client.
type statusWriter struct {
	http.ResponseWriter
	status int
	n      int64
	role   string // role of the token; noRole without a valid token
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.n += int64(n)
	return n, err
}

// Unwrap makes the methods of http.ResponseController work.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
