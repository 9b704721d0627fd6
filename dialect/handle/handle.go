// Package handle implements HTTP interfaces of the Handle System: the JSON REST API (version 8) of
// Handle.Net servers, the ePIC API (version 2) with its search, and the redirects of the web proxy.
// It can also be the repository of Handle.Net servers that have the plug-in for remote
// repositories. It does not support the native protocol of the Handle System.
//
// The name of a handle PREFIX/SUFFIX is hdl:PREFIX/SUFFIX, or doi:PREFIX/SUFFIX if the dialect is
// enabled for that DOI prefix. A client has the rights of a nomen token or user. Values of the type
// HS_ADMIN are stored, but do not give rights.
package handle

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Options configure a Server.
type Options struct {
	Store       store.Reader         // required
	Registrar   *registrar.Registrar // required
	Resolver    nomen.Resolver       // answers for names without records; required
	Authorities *store.Table         // cache of the authorities in Store; if nil, the server makes one
	Identities  *dialect.Identities  // authenticates clients; required
	Scope       dialect.Scope        // handles for which the server answers
	Now         func() time.Time     // the clock; time.Now if nil
	Log         *slog.Logger         // receives failures; discarded if nil
}

// A Server is the [dialect.Handler] of the Handle System.
type Server struct {
	store       store.Reader
	registrar   *registrar.Registrar
	resolver    nomen.Resolver
	authorities *store.Table
	identities  *dialect.Identities
	scope       dialect.Scope
	now         func() time.Time
	log         *slog.Logger
	sessions    *sessions
	lists       chan struct{} // holds an element for each list that is being read
}

const maxLists = 4

// authorityLife limits how long a server may use a cached authority after another process has
// changed it.
const authorityLife = time.Second

// New returns a server. It returns an error if a required option is missing.
func New(o Options) (*Server, error) {
	if o.Store == nil || o.Registrar == nil || o.Resolver == nil || o.Identities == nil {
		return nil, errors.New("handle: options: Store, Registrar, Resolver and Identities are required")
	}
	s := &Server{
		store: o.Store, registrar: o.Registrar, resolver: o.Resolver, authorities: o.Authorities,
		identities: o.Identities, scope: o.Scope, now: o.Now, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		lists: make(chan struct{}, maxLists),
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.sessions = newSessions(s.now)
	if s.authorities == nil {
		s.authorities = store.NewTable(o.Store, s.now, authorityLife)
	}
	return s, nil
}

const (
	apiPath     = "/api/"
	handlesPath = "/api/handles"
)

// Serve implements [dialect.Handler].
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, c *dialect.Call) bool {
	path, query, _ := strings.Cut(c.Target, "?")
	q := &request{Server: s, w: w, r: r, call: c, path: path, query: parseQuery(query)}
	if strings.TrimSuffix(path, "/") == searchPath {
		q.cors()
		q.run(q.reverse)
		return true
	}
	if rest, ok := strings.CutPrefix(path, epicPath); ok {
		q.epic(rest)
		return true
	}
	if !strings.HasPrefix(path, apiPath) {
		return q.remote() || q.proxy()
	}
	q.cors()
	switch rest, ok := strings.CutPrefix(path, handlesPath); {
	case r.Method == http.MethodOptions:
		q.options()
	case ok && (rest == "" || rest[0] == '/'):
		q.handles(strings.TrimPrefix(rest, "/"))
	case path == sessionsPath || strings.HasPrefix(path, sessionsPath+"/"):
		q.sessionRequest(strings.TrimPrefix(path, sessionsPath))
	default:
		q.answer(http.StatusMethodNotAllowed, codeProtocol, "Unknown HTTP API endpoint "+r.Method+" "+path)
	}
	return true
}

type request struct {
	*Server
	w     http.ResponseWriter
	r     *http.Request
	call  *dialect.Call
	path  string // encoded path of the target
	query query

	handle string          // the handle in the request as spelled, or ""
	actor  registrar.Actor // the client
	known  bool            // the client is authenticated

	problem string // reason for which the answer to a challenge was rejected, or ""
}

const allowedMethods = "GET, HEAD, POST, PUT, DELETE, TRACE, OPTIONS"

// options answers OPTIONS requests, including CORS preflight requests.
func (q *request) options() {
	h := q.w.Header()
	h.Set("Allow", allowedMethods)
	if q.r.Header.Get("Origin") != "" {
		h.Set("Access-Control-Allow-Methods", allowedMethods)
		h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, X-Requested-With")
		h.Set("Access-Control-Max-Age", "1800")
	}
	q.w.WriteHeader(http.StatusOK)
}

// cors permits scripts of all sites to read the response. Browsers do not send credentials with
// such requests.
func (q *request) cors() {
	if q.r.Header.Get("Origin") == "" {
		return
	}
	h := q.w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "Content-Length, WWW-Authenticate, Location")
	h.Add("Vary", "Origin")
}

func (q *request) handles(rest string) {
	q.handle = hdl.Unescape(rest)
	switch q.r.Method {
	case http.MethodGet, http.MethodHead:
		q.run(q.get)
	case http.MethodPost:
		q.run(q.post)
	case http.MethodPut:
		q.run(q.put)
	case http.MethodDelete:
		q.run(q.remove)
	default:
		q.answer(http.StatusNotImplemented, codeProtocol, "Unknown method "+q.r.Method)
	}
}

// run authenticates the client and calls do. If either fails, run sends the error.
func (q *request) run(do func() error) {
	err := q.authenticate()
	if err == nil {
		err = do()
	}
	if err != nil {
		q.fail(err)
	}
}
