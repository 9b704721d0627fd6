package ark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/accept"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// Options configure a Handler. All fields are required.
type Options struct {
	Scope       dialect.Scope // names of the dialect: ARKs
	Store       store.Reader
	Resolver    nomen.Resolver // the resolver of the server
	Authorities *store.Table   // cache of the authorities in Store
}

// A Handler answers requests with inflections. It is safe for concurrent use.
type Handler struct{ Options }

var _ dialect.Handler = (*Handler)(nil)

// New returns a Handler. It returns an error if the scope contains names that are not ARKs.
func New(o Options) (*Handler, error) {
	if err := o.Scope.OnlyARKs(); err != nil {
		return nil, fmt.Errorf("ark: %w", err)
	}
	return &Handler{o}, nil
}

// wellKnown is the path by which a client finds the resolver (draft-kunze-ark, section 5.6).
const wellKnown = "/.well-known/ark"

type call struct {
	*dialect.Call
	spelling   string // spelling of the ARK
	w          http.ResponseWriter
	r          *http.Request
	inflection dialect.Inflection
}

// Serve implements [dialect.Handler].
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, d *dialect.Call) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	path, inflection := dialect.CutInflection(d.Target)
	c := &call{Call: d, w: w, r: r, inflection: inflection}
	switch spelling, ok := strings.CutPrefix(path, "/"); {
	case d.Target == wellKnown:
		c.sendRoot()
		return true
	case inflection == dialect.NoInflection || !ok:
		return false
	default:
		c.spelling = adminapi.UnescapeName(spelling)
		return h.inflect(c)
	}
}

// inflect answers a request for the description of an ARK or of an authority.
func (h *Handler) inflect(c *call) bool {
	ctx := c.r.Context()
	set, err := h.Authorities.Set(ctx, time.Time{})
	if err != nil {
		return false // the server itself reports failures of the store
	}
	n, err := name.Parse(c.spelling)
	if err != nil {
		n, err = name.Parse(strings.TrimSuffix(c.spelling, "/") + "/0") // the spelling may be only a NAAN
		return err == nil && h.sendAuthority(c, set.Of(n), n, strings.TrimSuffix(n.Key(), "/0"))
	}
	if !h.Scope.Covers(n) {
		return false
	}
	var failure *nomen.Error
	a, err := h.Resolver.Resolve(ctx, nomen.Question{Name: n, Service: nomen.I2C, Strict: true})
	switch {
	case err == nil:
		return h.sendName(c, set, a)
	case !errors.As(err, &failure):
		return false
	case failure.Kind == nomen.Gone && failure.Answer != nil:
		return h.sendName(c, set, failure.Answer)
	case failure.Kind == nomen.Unknown:
		return h.sendAuthority(c, set.Of(n), n, n.Key())
	}
	return false
}

// sendName sends the description of a name. If the name does not have a record in the store,
// sendName sends a redirect with the inflection instead.
func (h *Handler) sendName(c *call, set *store.AuthoritySet, a *nomen.Answer) bool {
	rec, err := h.Store.Get(c.r.Context(), a.Name, time.Time{})
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return false
	case err != nil && len(a.Metadata) == 0:
		return h.pass(c, a.Name)
	case err != nil:
		rec = nil
	}
	c.send(describe(c.Base, a, rec, set.Of(a.Name)), a.MaxAge)
	c.Counted(a.Name, counts.Of(nomen.I2C))
	return true
}

// sendAuthority sends the description of an authority if key is its prefix. The name n is equal to
// key or begins with it.
func (h *Handler) sendAuthority(c *call, a *store.Authority, n name.Name, key string) bool {
	if a == nil || a.Prefix.String() != key || !h.Scope.Covers(n) || a.Refuses(key) != nil {
		return false
	}
	c.send(describeAuthority(c.Base, a), time.Duration(a.MaxAge)*time.Second)
	return true
}

// pass redirects a request for a name without a record to the location of the name, with the
// inflection.
func (h *Handler) pass(c *call, n name.Name) bool {
	to := h.location(c.r.Context(), c, n)
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return false
	}
	header := c.w.Header()
	header.Set("Location", to+string(c.inflection))
	header.Set("Vary", "Accept, Accept-Language")
	header.Set("Content-Length", "0")
	c.w.WriteHeader(http.StatusFound)
	c.Counted(n, counts.Of(nomen.I2L))
	return true
}

func (h *Handler) location(ctx context.Context, c *call, n name.Name) string {
	subject, _ := uri.Parse(c.spelling)
	a, err := h.Resolver.Resolve(ctx, nomen.Question{
		Name: n, Subject: subject, Service: nomen.I2L, Strict: true, Country: c.Country,
		Accept:    strings.Join(c.r.Header.Values("Accept"), ", "),
		Languages: strings.Join(c.r.Header.Values("Accept-Language"), ", "),
	})
	switch {
	case err != nil:
		return ""
	case a.Redirect != "" || len(a.Locations) == 0:
		return a.Redirect
	}
	return a.Locations[0].URL
}

func (c *call) sendRoot() {
	root := "/"
	if u, err := url.Parse(c.Base); err == nil {
		root = u.EscapedPath() + "/"
	}
	c.sendBody("text/plain; charset=utf-8", []byte(root+"\n"))
}

// send sends a description as an ERC or as JSON. The response may be cached for maxAge.
func (c *call) send(d *description, maxAge time.Duration) {
	if c.inflection == dialect.Brief {
		d.support = nil
	}
	media, body := "text/plain; charset=utf-8", d.text()
	if c.prefersJSON() {
		object, err := json.MarshalIndent(d.object(), "", "  ")
		if err != nil {
			object = []byte("{}") // cannot happen: all values are texts
		}
		media, body = "application/json", append(object, '\n')
	}
	header := c.w.Header()
	header.Set("Vary", "Accept")
	header.Set("THUMP-Status", "0.6 200 OK")
	header.Set("Link", "<"+c.Base+"/"+d.id+`>; rel="describes"`)
	if !d.modified.IsZero() {
		header.Set("Last-Modified", d.modified.UTC().Format(http.TimeFormat))
	}
	if seconds := int(maxAge / time.Second); seconds > 0 {
		header.Set("Cache-Control", "max-age="+strconv.Itoa(seconds))
	}
	c.sendBody(media, body)
}

func (c *call) prefersJSON() bool {
	var f accept.Field
	f.ReadMedia(strings.Join(c.r.Header.Values("Accept"), ", "))
	q := f.Media("application/json", "", false).Q
	return q > 0 && q > f.Media("text/plain", "utf-8", false).Q
}

func (c *call) sendBody(media string, body []byte) {
	header := c.w.Header()
	header.Set("Content-Type", media)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Access-Control-Allow-Origin", "*")
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(body) // after an error, the client has disconnected
	}
}
