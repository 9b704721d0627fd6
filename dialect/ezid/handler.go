package ezid

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/anvl"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Options configure a Handler. All fields are required, except Downloads, Pacer,
// RedirectUnavailable and Log.
type Options struct {
	Scope      dialect.Scope       // names of the dialect
	Identities *dialect.Identities // users who may change names
	Store      store.Reader
	Registrar  *registrar.Registrar
	Resolver   nomen.Resolver // the resolver of the server

	Authorities *store.Table // cache of the authorities in Store

	// Downloads is the directory of batch downloads. The handler creates it, but not its parent. If
	// it is "", requests for downloads are forbidden.
	Downloads string
	Pacer     *pacer.Pacer // pauses downloads while requests are answered; may be nil

	// RedirectUnavailable makes the handler redirect requests for unavailable identifiers to their
	// tombstone pages, as EZID does. Otherwise, it responds with the status 410.
	RedirectUnavailable bool

	Version string // version of this program
	Now     func() time.Time
	Log     *slog.Logger // receives failures; may be nil
}

// A Handler answers requests in the protocol of EZID. It is safe for concurrent use.
type Handler struct {
	Options
	sessions sessions
	active   atomic.Int64 // number of changes in progress
	building building
}

var _ dialect.Handler = (*Handler)(nil)

// New returns a Handler.
func New(o Options) *Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Handler{Options: o, sessions: sessions{now: o.Now}}
}

type call struct {
	*dialect.Call
	w     http.ResponseWriter
	r     *http.Request
	rest  string // rest of the path after the part that selects the operation, unescaped once
	query string // without the question mark
}

// An operation is the action for a request path.
type operation struct {
	path   string // a path, or if it ends with a slash, a prefix of paths
	method string
	do     func(*call) reply
}

func (h *Handler) operations() []operation {
	return []operation{
		{"/id/", http.MethodGet, h.view},
		{"/id/", http.MethodPut, h.changing(h.create)},
		{"/id/", http.MethodPost, h.changing(h.modify)},
		{"/id/", http.MethodDelete, h.changing(h.remove)},
		{"/shoulder/", http.MethodPost, h.changing(h.mint)},
		{"/download_request", http.MethodPost, h.requestDownload},
		{"/login", http.MethodGet, h.login},
		{"/logout", http.MethodGet, h.logout},
		{"/status", http.MethodGet, h.status},
		{"/version", http.MethodGet, h.version},
	}
}

// Serve implements [dialect.Handler].
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, d *dialect.Call) bool {
	path, query, _ := strings.Cut(d.Target, "?")
	c := &call{Call: d, w: w, r: r, query: query}
	known := false
	for _, op := range h.operations() {
		rest, ok := strings.CutPrefix(path, op.path)
		if !ok || rest != "" && !strings.HasSuffix(op.path, "/") {
			continue
		}
		known = true
		if op.method != r.Method {
			continue
		}
		var err error
		if c.rest, err = url.PathUnescape(rest); err != nil {
			c.send(failed("bad request - invalid identifier"))
			return true
		}
		c.send(op.do(c))
		return true
	}
	if file, ok := strings.CutPrefix(path, "/download/"); ok && h.Downloads != "" {
		h.sendDownload(c, file)
		return true
	}
	if c.rest = path; h.tombstonePage(c) {
		return true
	}
	if known {
		c.send(failed("method not allowed"))
		return true
	}
	return h.resolve(c)
}

// A reply is a response. It consists of the status line and the elements or the body that follow.
type reply struct {
	text    string // begins with "success: " or "error: "
	created bool
	body    []byte // ANVL
	raw     bool   // the response is only the text, without the form of a status line
}

const errorMark = "error: "

func succeeded(text string) reply { return reply{text: "success: " + text} }

func failed(text string) reply { return reply{text: errorMark + text} }

func badRequest(why string) reply { return failed("bad request - " + why) }

func (r reply) ok() bool { return !strings.HasPrefix(r.text, errorMark) }

func (r reply) status() int {
	for _, s := range []struct {
		begin  string
		status int
	}{
		{errorMark + "bad request", http.StatusBadRequest},
		{errorMark + "unable to parse", http.StatusBadRequest},
		{errorMark + "unauthorized", http.StatusUnauthorized},
		{errorMark + "forbidden", http.StatusForbidden},
		{errorMark + "method not allowed", http.StatusMethodNotAllowed},
		{errorMark + "concurrency limit exceeded", http.StatusServiceUnavailable},
		{errorMark, http.StatusInternalServerError},
	} {
		if strings.HasPrefix(r.text, s.begin) {
			return s.status
		}
	}
	if r.created {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (c *call) send(r reply) {
	label, value, _ := strings.Cut(r.text, ":")
	text := anvl.AppendElement(nil, label, strings.TrimSpace(value))
	if text = append(text, r.body...); r.body == nil {
		text = text[:len(text)-1]
	}
	if r.raw {
		text = []byte(r.text)
	}
	header := c.w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Length", strconv.Itoa(len(text)))
	status := r.status()
	if status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", `Basic realm="EZID"`)
	}
	c.w.WriteHeader(status)
	_, _ = c.w.Write(text) // after an error, the client has disconnected
}

// options returns the set of parameters with the value "yes". The reply is an error if a parameter
// is unknown, or if a value is neither "yes" nor "no".
func (c *call) options(known ...string) (map[string]bool, reply) {
	q, err := url.ParseQuery(c.query)
	if err != nil {
		return nil, badRequest("unrecognized URL query parameter '" + oneLine(c.query) + "'")
	}
	on := map[string]bool{}
	for _, key := range sortedKeys(q) {
		switch value := strings.ToLower(q.Get(key)); {
		case !contains(known, key):
			return nil, badRequest("unrecognized URL query parameter '" + oneLine(key) + "'")
		case value != "yes" && value != "no":
			return nil, badRequest("invalid value for URL query parameter '%s'") // like EZID, which does not insert the name
		default:
			on[key] = value == "yes"
		}
	}
	return on, reply{}
}

// changing wraps an operation that changes records. The operation counts as active while it runs.
func (h *Handler) changing(do func(*call) reply) func(*call) reply {
	return func(c *call) reply {
		h.active.Add(1)
		defer h.active.Add(-1)
		return do(c)
	}
}

func (h *Handler) failure(c *call, err error) reply {
	var refused *registrar.RefusalError
	var limit *store.LimitError
	var state *store.StateError
	var away *store.AwayError
	var rate *adminapi.RateError
	var attempts *dialect.AttemptsError
	switch {
	case errors.As(err, &attempts):
		c.w.Header().Set("Retry-After", attempts.RetryAfter())
		return failed("concurrency limit exceeded")
	case errors.As(err, &rate):
		c.w.Header().Set("Retry-After", retryafter.Format(rate.After))
		return failed("concurrency limit exceeded")
	case errors.As(err, new(*registrar.DeniedError)), errors.Is(err, store.ErrReadOnly):
		return failed("forbidden")
	case errors.As(err, &refused):
		return badRequest(oneLine(labelOf(refused.Field) + ": " + refused.Why()))
	case errors.As(err, &limit):
		return badRequest(oneLine(limit.What + ": too large"))
	case errors.As(err, &state):
		return badRequest(oneLine(state.Rule))
	case errors.As(err, new(*store.ConflictError)):
		return failed("concurrency limit exceeded")
	case errors.As(err, &away):
		c.w.Header().Set("Retry-After", away.RetryAfter())
		return failed("concurrency limit exceeded")
	}
	h.Log.Error("request of EZID failed", "err", err)
	return failed("internal server error")
}

func labelOf(field string) string {
	switch first, _, _ := strings.Cut(field, "["); {
	case first == "locations":
		return "_target"
	case field == "status", field == "reason":
		return "_status"
	}
	return field
}
