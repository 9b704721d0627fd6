package ezid

import (
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/anvl"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/store"
)

func appendElement(b []byte, label, value string) []byte { return anvl.AppendElement(b, label, value) }

// An unresolved is the body of the response to an inflection if the identifier does not have
// elements.
type unresolved struct {
	Error      string `json:"error"`
	Identifier string `json:"identifier"`
	Alternate  string `json:"alternate,omitempty"`
}

// inflect sends the elements of an identifier, or a description of its shoulder.
func (h *Handler) inflect(c *call, path string) {
	out := unresolved{Identifier: path}
	n, ok := ezid.ParseID(path)
	if !ok {
		out.Error = "invalid identifier"
		c.sendJSON(http.StatusBadRequest, out)
		return
	}
	out.Identifier = ezid.ID(n)
	actor, _, _ := h.authenticate(c)
	rec, err := h.find(c.r.Context(), n, false)
	var hidden bool
	if err == nil {
		hidden, err = h.hidden(c.r.Context(), actor, rec)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		h.describe(c, out)
	case err != nil:
		c.send(h.failure(c, err))
	case hidden:
		out.Error = "unauthorized"
		c.sendJSON(http.StatusUnauthorized, out)
	default:
		h.sendElements(c, rec)
	}
}

// sendElements sends the elements of a record, with times in the format of ISO 8601.
func (h *Handler) sendElements(c *call, rec *store.Record) {
	e, err := h.elements(c.r.Context(), c.Base, rec)
	if err != nil {
		c.send(h.failure(c, err))
		return
	}
	for label, shown := range map[string]string{ezid.Created: "id created", ezid.Updated: "id updated"} {
		if seconds, err := strconv.ParseInt(e[label], 10, 64); err == nil {
			e[shown] = time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05")
			delete(e, label)
		}
	}
	c.w.Header().Set("Vary", "Accept")
	if c.wantsJSON() {
		c.sendJSON(http.StatusOK, nested(e))
		return
	}
	c.sendBody(http.StatusOK, "text/plain; charset=utf-8", e.Append(nil))
}

// nested returns elements as an object for JSON. The elements of each profile are in a nested
// object.
func nested(e ezid.Elements) map[string]any {
	all := map[string]any{}
	for label, value := range maps.All(e) {
		all[label] = value
	}
	for label, value := range e {
		profile, field, ok := strings.Cut(label, ".")
		_, whole := e[profile]
		if !ok || whole || profile != "erc" && profile != "dc" && profile != "datacite" {
			continue
		}
		if all[profile] == nil {
			all[profile] = map[string]string{}
		}
		all[profile].(map[string]string)[field] = value
		delete(all, label)
	}
	return all
}

// describe sends a description of the authority for an identifier that does not exist.
func (h *Handler) describe(c *call, out unresolved) {
	n, _ := ezid.ParseID(out.Identifier)
	set, err := h.Authorities.Set(c.r.Context(), time.Time{})
	if err != nil {
		c.send(h.failure(c, err))
		return
	}
	a := set.Of(n)
	if a == nil || !h.Scope.Covers(n) {
		out.Error, out.Alternate = "not found", "https://n2t.net/"+out.Identifier
		c.sendJSON(http.StatusNotFound, out)
		return
	}
	label, rest, _ := strings.Cut(a.Prefix.String(), ":")
	if label == "ark" {
		rest = "/" + rest
	}
	c.sendJSON(http.StatusOK, map[string]string{
		"id": label + ":" + rest, "erc.who": strings.Join(a.Owners, "; "), "erc.what": a.Description,
		"erc.when": a.Modified.UTC().Format("2006-01-02T15:04:05"), "agency": "nomen",
	})
}
