package ezid

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/accept"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// Texts of errors in resolving identifiers.
const (
	invalidText  = "Invalid, unrecognized, or reserved identifier."
	notFoundText = "Not found."
)

// resolve answers a request for the path of an ARK or a DOI. It returns false if the server itself
// must answer. This is the case for other paths, for retired names, and for names outside the
// scope.
func (h *Handler) resolve(c *call) bool {
	target, ok := strings.CutPrefix(c.Target, "/")
	if !ok || c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return false
	}
	path, _, _ := strings.Cut(target, "?")
	if !h.covers(path) {
		return false
	}
	path = lowerLabel(path)
	switch _, inflection := dialect.CutInflection(target); inflection {
	case dialect.Full, dialect.Info:
		h.inflect(c, path)
		return true
	case dialect.Brief: // no effect
		target = path
	}
	return h.redirect(c, path, target)
}

// lowerLabel returns an identifier with its label in lower case. The letter case of a label is not
// significant.
func lowerLabel(id string) string {
	label, _, _ := strings.Cut(id, ":")
	return strings.ToLower(label) + id[len(label):]
}

func (h *Handler) covers(path string) bool {
	label, rest, ok := strings.Cut(path, ":")
	if label = strings.ToLower(label); !ok || label != "ark" && label != "doi" {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	n, ok := ezid.ParseID(label + ":" + first + "/0")
	return ok && h.covered(n)
}

// covered reports whether the scope has names with the same beginning as the name n, whose last
// character is ignored.
func (h *Handler) covered(n name.Name) bool {
	begin := strings.TrimSuffix(n.Key(), "0")
	for _, p := range h.Scope {
		if p.Covers(n) || strings.HasPrefix(p.String(), begin) {
			return true
		}
	}
	return false
}

// longest finds the record of the longest registered prefix of an identifier. It also returns the
// length of the prefix.
func (h *Handler) longest(ctx context.Context, id string) (*store.Record, int, error) {
	var names []name.Name
	var ends []int
	for end := strings.IndexByte(id, '/') + 2; end <= min(len(id), maxBegin); end++ {
		n, ok := ezid.ParseID(id[:end])
		if !ok || !h.Scope.Covers(n) {
			continue
		}
		kept, err := h.Registrar.Kept(ctx, n, time.Time{})
		if err != nil {
			return nil, 0, err
		}
		if last := len(names) - 1; last >= 0 && names[last] == kept {
			if id[end-1] == '-' { // hyphens are not significant
				ends[last] = end
			}
			continue
		}
		names, ends = append(names, kept), append(ends, end)
	}
	all, err := store.Records(ctx, h.Store, names, false)
	if err != nil {
		return nil, 0, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] != nil {
			return all[i], ends[i], nil
		}
	}
	return nil, 0, store.ErrNotFound
}

const maxBegin = 255

// A resolution is the body of the response to a request that resolves an identifier.
type resolution struct {
	Request   string `json:"request_id"`
	ID        string `json:"id,omitempty"`
	Extra     string `json:"extra,omitempty"`
	Location  string `json:"location,omitempty"`
	Modified  string `json:"modified,omitempty"`
	Error     string `json:"error,omitempty"`
	Alternate string `json:"alternate,omitempty"`
}

// redirect redirects to the target of an identifier. It appends the rest of the request to the
// target.
func (h *Handler) redirect(c *call, path, target string) bool {
	out := resolution{Request: target}
	rec, end, err := h.longest(c.r.Context(), path)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return h.unknown(c, path, out)
	case err != nil:
		return false // the server itself reports failures of the store
	case rec.Status == nomen.Reserved:
		out.Error = invalidText
		c.sendJSON(http.StatusNotFound, out)
		return true
	case h.hasTombstonePage(c, rec):
		h.redirectToTombstone(c, rec, out)
		return true
	case rec.Status != nomen.Active || rec.Redacted:
		return h.tombstone(c, rec, end == len(path), out)
	}
	out.ID, out.Extra = ezid.ID(rec.Name), target[end:]
	to, ok := h.location(c, rec)
	if !ok {
		return false
	}
	if out.Location, ok = appended(to, out.Extra); !ok {
		out = resolution{Request: target, Error: notFoundText}
		c.sendJSON(http.StatusNotFound, out)
		return true
	}
	c.sendLocation(rec.Modified, out)
	c.Counted(rec.Name, counts.Of(nomen.I2L))
	return true
}

// location returns the location to which the server would redirect. For a record without locations,
// this is the page with its elements. If there is no location, location returns false.
func (h *Handler) location(c *call, rec *store.Record) (string, bool) {
	a, err := h.Resolver.Resolve(c.r.Context(), h.question(c, rec.Name))
	switch {
	case errors.Is(err, &nomen.Error{Kind: nomen.NoResult}):
		return ezid.DefaultTarget(c.Base, ezid.ID(rec.Name)), true
	case err != nil || len(a.Locations) == 0:
		return "", false
	}
	return a.Locations[0].URL, true
}

func (h *Handler) question(c *call, n name.Name) nomen.Question {
	return nomen.Question{
		Name: n, Service: nomen.I2L, Strict: true, Country: c.Country,
		Accept:    strings.Join(c.r.Header.Values("Accept"), ", "),
		Languages: strings.Join(c.r.Header.Values("Accept-Language"), ", "),
	}
}

// unknown answers a request for a name without a record. Rules of the authority may have a location
// for the name.
func (h *Handler) unknown(c *call, path string, out resolution) bool {
	n, ok := ezid.ParseID(path)
	if !ok || !h.Scope.Covers(n) {
		out.Error = invalidText
		c.sendJSON(http.StatusNotFound, out)
		return true
	}
	a, err := h.Resolver.Resolve(c.r.Context(), h.question(c, n))
	switch {
	case errors.Is(err, &nomen.Error{Kind: nomen.Unknown}):
		out.Error, out.Alternate = notFoundText, "https://n2t.net/"+out.Request
		c.sendJSON(http.StatusNotFound, out)
		c.Counted(n, counts.Failed)
		return true
	case err != nil || len(a.Locations) == 0:
		return false // for example, the name is delegated or not public
	}
	out.ID, out.Location = ezid.ID(n), a.Locations[0].URL
	c.sendLocation(a.Modified, out)
	c.Counted(n, counts.Of(nomen.I2L))
	return true
}

// tombstone answers a request that consists of an unavailable identifier and further text. The
// server itself has a page for the identifier alone.
func (h *Handler) tombstone(c *call, rec *store.Record, exact bool, out resolution) bool {
	if exact {
		return false
	}
	out.ID, out.Error = ezid.ID(rec.Name), "Gone."
	c.sendJSON(http.StatusGone, out)
	c.Counted(rec.Name, counts.Gone)
	return true
}

// appended appends the rest of a request to a location. If the result would be at another host, or
// at a path above the location, ok is false.
func appended(to, extra string) (longer string, ok bool) {
	if extra == "" {
		return to, true
	}
	u, err := uri.Parse(to)
	if err != nil {
		return "", false
	}
	longer = to + extra
	v, err := uri.Parse(longer)
	if err != nil || location.CheckURI(v) != nil {
		return "", false
	}
	was, ok := u.Authority()
	is, _ := v.Authority()
	_, hasQuery := u.Query()
	return longer, ok && was == is && (hasQuery || !rule.Climbs(v.Path()))
}

// sendLocation sends a redirect. With the header field No-Redirect, the status is 200.
func (c *call) sendLocation(modified time.Time, out resolution) {
	status := http.StatusFound
	if strings.EqualFold(c.r.Header.Get("No-Redirect"), "true") {
		status = http.StatusOK
	}
	header := c.w.Header()
	header.Set("Location", out.Location)
	header.Set("Vary", "Accept, No-Redirect")
	if modified = modified.UTC(); !modified.IsZero() {
		header.Set("Last-Modified", modified.Format(http.TimeFormat))
	}
	if c.wantsJSON() {
		if !modified.IsZero() {
			out.Modified = modified.Format("2006-01-02T15:04:05Z")
		}
		c.sendJSON(status, out)
		return
	}
	e := []struct{ label, value string }{
		{"request_id", out.Request}, {"id", out.ID}, {"extra", out.Extra}, {"location", out.Location},
	}
	if !modified.IsZero() {
		e = append(e, struct{ label, value string }{"modified", modified.Format("2006-01-02T15:04:05+00:00")})
	}
	var body []byte
	for _, el := range e {
		body = appendElement(body, el.label, el.value)
	}
	c.sendBody(status, "text/plain; charset=utf-8", body)
}

// wantsJSON reports whether a client prefers JSON to ANVL. A client that accepts everything gets
// JSON.
func (c *call) wantsJSON() bool {
	field := strings.Join(c.r.Header.Values("Accept"), ", ")
	if field == "" {
		return false
	}
	var f accept.Field
	f.ReadMedia(field)
	return f.Media("application/json", "", false).Q >= f.Media("text/plain", "utf-8", false).Q
}

func (c *call) sendJSON(status int, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		body = []byte("{}") // cannot happen: all bodies are texts
	}
	c.sendBody(status, "application/json; charset=utf-8", body)
}

func (c *call) sendBody(status int, media string, body []byte) {
	header := c.w.Header()
	header.Set("Content-Type", media)
	header.Set("X-Content-Type-Options", "nosniff")
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(body) // after an error, the client has disconnected
	}
}
