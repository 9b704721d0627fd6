package arklet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Options configure a Handler. All fields are required, except Log.
type Options struct {
	Scope      dialect.Scope       // names of the dialect: ARKs
	Identities *dialect.Identities // users who may change ARKs
	Store      store.Reader
	Registrar  *registrar.Registrar
	Resolver   nomen.Resolver // the resolver of the server

	Authorities *store.Table // cache of the authorities in Store

	Now func() time.Time
	Log *slog.Logger // receives failures; may be nil
}

// A Handler answers requests in the protocol of arklet. It is safe for concurrent use.
type Handler struct{ Options }

var _ dialect.Handler = (*Handler)(nil)

// New returns a Handler. It returns an error if the scope contains names that are not ARKs.
func New(o Options) (*Handler, error) {
	if err := o.Scope.OnlyARKs(); err != nil {
		return nil, fmt.Errorf("arklet: %w", err)
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Handler{o}, nil
}

const (
	mintPath    = "/mint"
	updatePath  = "/update"
	resolvePath = "/resolve/"
)

type call struct {
	*dialect.Call
	w     http.ResponseWriter
	r     *http.Request
	actor registrar.Actor
}

// Serve implements [dialect.Handler].
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, d *dialect.Call) bool {
	c := &call{Call: d, w: w, r: r}
	path, query, _ := strings.Cut(d.Target, "?")
	switch path {
	case mintPath:
		h.change(c, http.MethodPost, h.mint)
		return true
	case updatePath:
		h.change(c, http.MethodPut, h.update)
		return true
	}
	return query == "" && !strings.HasSuffix(d.Target, "?") && h.resolve(c, path)
}

func (h *Handler) change(c *call, method string, do func(*call) error) {
	if c.r.Method != method {
		c.w.Header().Set("Allow", method)
		c.send(http.StatusMethodNotAllowed, "", "")
		return
	}
	err := h.authenticate(c)
	if err == nil {
		err = do(c)
	}
	if err != nil {
		h.fail(c, err)
	}
}

// maxKey is the maximum length of a key, in bytes.
const maxKey = 4 << 10

// authenticate sets the actor of a request. The key of the client is the last word of the
// Authorization field.
func (h *Handler) authenticate(c *call) (err error) {
	words := strings.Fields(c.r.Header.Get("Authorization"))
	if !c.Private || len(words) == 0 || len(words[len(words)-1]) > maxKey {
		return adminapi.ErrUnauthorized
	}
	c.actor, err = h.Identities.Key(c.r.Context(), c.Client, words[len(words)-1])
	return err
}

// An invalidError reports an invalid request. The form has the errors by member. It is empty if the
// request does not have a form.
type invalidError struct{ form formErrors }

func (e *invalidError) Error() string { return "arklet: invalid request" }

func (h *Handler) fail(c *call, err error) {
	var (
		invalid  *invalidError
		refused  *registrar.RefusalError
		attempts *dialect.AttemptsError
		rate     *adminapi.RateError
		away     *store.AwayError
	)
	after := ""
	switch {
	case errors.As(err, &invalid):
		c.sendErrors(invalid.form)
		return
	case errors.As(err, &refused):
		c.sendErrors(formErrors{{fieldOf(refused.Field), refused.Why()}})
		return
	case errors.As(err, new(*store.LimitError)), errors.As(err, new(*store.StateError)):
		c.sendErrors(formErrors{{"ark", strings.TrimPrefix(err.Error(), "store: ")}})
		return
	case errors.Is(err, store.ErrNotFound):
		c.send(http.StatusNotFound, "", "")
		return
	case errors.Is(err, adminapi.ErrUnauthorized), errors.As(err, new(*registrar.DeniedError)), errors.Is(err, store.ErrReadOnly):
		c.send(http.StatusForbidden, "", "")
		return
	case errors.As(err, &attempts):
		after = attempts.RetryAfter()
	case errors.As(err, &rate):
		after = retryafter.Format(rate.After)
	case errors.As(err, &away):
		after = away.RetryAfter()
	case errors.As(err, new(*store.ConflictError)):
		after = "1"
	case reserve.CannotMint(err):
		c.send(http.StatusInternalServerError, plainText, "Gave up creating ark: "+err.Error())
		return
	default:
		h.Log.Error("request of arklet failed", "err", err)
		c.send(http.StatusInternalServerError, "", "")
		return
	}
	c.w.Header().Set("Retry-After", after)
	c.send(http.StatusServiceUnavailable, "", "")
}

func fieldOf(field string) string {
	switch first, _, _ := strings.Cut(field, "["); first {
	case "locations":
		return memberURL
	case "metadata", "values":
		return memberMetadata
	}
	return memberARK
}

const (
	jsonType  = "application/json"
	plainText = "text/plain; charset=utf-8"
)

// send sends a response. Without a body, it has no Content-Type.
func (c *call) send(status int, media, body string) {
	header := c.w.Header()
	if media != "" {
		header.Set("Content-Type", media)
	}
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_, _ = io.WriteString(c.w, body) // after an error, the client has disconnected
	}
}

func (c *call) sendErrors(all formErrors) {
	if len(all) == 0 {
		c.send(http.StatusBadRequest, "", "")
		return
	}
	c.send(http.StatusBadRequest, jsonType, all.text())
}

// resolve redirects to the URL of an ARK. It returns false if the server itself must answer.
func (h *Handler) resolve(c *call, path string) bool {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return false
	}
	spelling, below := strings.CutPrefix(path, resolvePath)
	if !below {
		spelling = strings.TrimPrefix(path, "/")
	}
	n, err := name.Parse(adminapi.UnescapeName(spelling))
	if err != nil || !h.Scope.Covers(n) {
		return false
	}
	if to := h.location(c.r.Context(), c, n); to != "" {
		c.Counted(n, counts.Of(nomen.I2L))
		c.w.Header().Set("Location", to)
		c.w.Header().Set("Vary", "Accept, Accept-Language")
		c.send(http.StatusFound, "", "")
		return true
	}
	if below { // the server itself answers the request, for the path without /resolve
		c.w.Header().Set("Location", c.Base+"/"+spelling)
		c.send(http.StatusFound, "", "")
	}
	return below
}

func (h *Handler) location(ctx context.Context, c *call, n name.Name) string {
	rec, err := h.Registrar.Get(ctx, n)
	if err != nil || rec.Status != nomen.Active || rec.Redacted {
		return ""
	}
	a, err := h.Resolver.Resolve(ctx, nomen.Question{
		Name: rec.Name, Service: nomen.I2L, Strict: true, Country: c.Country,
		Accept:    strings.Join(c.r.Header.Values("Accept"), ", "),
		Languages: strings.Join(c.r.Header.Values("Accept-Language"), ", "),
	})
	if err != nil || len(a.Locations) == 0 {
		return ""
	}
	return a.Locations[0].URL
}
