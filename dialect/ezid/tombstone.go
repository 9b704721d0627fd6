package ezid

import (
	"errors"
	"html"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// tombstonePath is the prefix of the paths of pages for unavailable identifiers, as in EZID.
const tombstonePath = "/tombstone/id/"

// hasTombstonePage reports whether requests for a record are redirected to its tombstone page. The
// record must be unavailable and public.
func (h *Handler) hasTombstonePage(c *call, rec *store.Record) bool {
	if !h.RedirectUnavailable || rec.Status != nomen.Retired || rec.Redacted {
		return false
	}
	hidden, err := h.hidden(c.r.Context(), registrar.Actor{}, rec)
	return err == nil && !hidden
}

func (h *Handler) redirectToTombstone(c *call, rec *store.Record, out resolution) {
	out.ID = ezid.ID(rec.Name)
	out.Location = c.Base + tombstonePath + out.ID
	c.sendLocation(rec.Modified, out)
	c.Counted(rec.Name, counts.Gone)
}

// tombstonePage sends the page of an unavailable identifier. It returns false if there is no such
// page.
func (h *Handler) tombstonePage(c *call) bool {
	id, ok := strings.CutPrefix(c.rest, tombstonePath)
	if !ok || c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return false
	}
	n, ok := ezid.ParseID(id)
	if !ok {
		return false
	}
	rec, err := h.find(c.r.Context(), n, false)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false
	case err != nil:
		c.send(h.failure(c, err))
		return true
	case !h.hasTombstonePage(c, rec):
		return false
	}
	title := html.EscapeString(ezid.ID(rec.Name))
	text := "<!DOCTYPE html>\n<html lang=\"en\"><head><title>" + title + "</title></head>\n<body><h1>" + title + "</h1>\n<p>This identifier is unavailable.</p>\n"
	if rec.Reason != "" {
		text += "<p>" + html.EscapeString(rec.Reason) + "</p>\n"
	}
	header := c.w.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	c.sendBody(http.StatusOK, "text/html; charset=utf-8", []byte(text+"</body></html>\n"))
	return true
}
