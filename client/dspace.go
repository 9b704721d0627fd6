package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/hdl"
)

// dspaceLabel is the prefix of the address of a DSpace repository, which is
// dspace:https://HOST/PATH.
const dspaceLabel = "dspace:"

// A dspace is a DSpace repository, which has handles and their URLs. Its plug-in for Handle servers
// answers a request for /resolve/HANDLE with a JSON list of one URL, or with null if the handle
// does not exist.
type dspace struct{ base string } // base is an http or https URL that ends in a slash

func parseDSpace(via string) (way, error) {
	w, err := parseURL(strings.TrimPrefix(via, dspaceLabel))
	if err != nil {
		return nil, err
	}
	s, ok := w.(site)
	if !ok {
		return nil, fmt.Errorf("client: invalid resolver %q: must be %shttps://HOST/PATH, the URL of a DSpace server", via, dspaceLabel)
	}
	return dspace(s), nil
}

func (d dspace) key(about subject) string { return d.base + about.name.Key() }

func (d dspace) locates(nomen.Service) bool { return true }

func (d dspace) asked(nomen.Service) nomen.Service { return nomen.I2L }

func (d dspace) ask(ctx context.Context, c *Client, at hop, q inquiry) (*reply, error) {
	handle, ok := hdl.Of(at.spelling)
	switch {
	case !ok:
		return nil, &RouteError{Name: at.spelling, Reason: "a DSpace repository resolves only handles"}
	case !q.At.IsZero():
		return nil, &TimeError{Name: at.spelling, At: q.At}
	}
	target := d.base + "resolve/" + hdl.Escape(handle)
	q.Question = nomen.Question{Name: q.Name, Service: nomen.I2L, Accept: "application/json", Hops: q.Hops}
	r, err := c.getAbout(ctx, at, q, target, target)
	if err != nil || r.status == http.StatusNotModified {
		return r, err
	}
	return r.ofDSpace()
}

func (r *reply) ofDSpace() (*reply, error) {
	if r.status != http.StatusOK {
		return nil, &StatusError{Code: r.status, Reason: r.reason + " (a DSpace server resolves handles if handle.remote-resolver.enabled is set)"}
	}
	var urls []*string
	if err := json.Unmarshal(r.body, &urls); err != nil {
		return nil, &FormatError{Type: r.mediaType(), Body: r.body}
	}
	own := *r
	own.body, own.header = nil, r.header.Clone()
	own.header.Del("Content-Type")
	if len(urls) == 0 || urls[0] == nil {
		own.status, own.reason = http.StatusNotFound, "the repository does not have the handle"
		return &own, nil
	}
	own.status, own.reason = http.StatusSeeOther, http.StatusText(http.StatusSeeOther)
	own.header.Set("Location", *urls[0])
	return &own, nil
}
