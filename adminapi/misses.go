package adminapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
)

// missesPath is the path of the failed lookups:
//
//	GET    misses          [Misses]; prefix, limit, visible
//	DELETE misses          resets the failed lookups; returns [Misses] with their totals
//	POST   misses/{name}   [Hiding]
const missesPath = "misses"

// Misses are failed lookups in the scope of the token, the most frequent first.
type Misses struct {
	misses.Totals
	Misses []misses.Miss `json:"misses"`
}

// Misses returns the most frequent failed lookups of names that begin with prefix. A limit of 0
// stands for no limit.
func (c *Client) Misses(ctx context.Context, prefix string, limit int) (Misses, error) {
	q := url.Values{}
	setText(q, "prefix", prefix)
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return request[Misses](ctx, c, http.MethodGet, missesPath, q, nil)
}

// VisibleMisses is like [Client.Misses] without the hidden names.
func (c *Client) VisibleMisses(ctx context.Context, prefix string, limit int) (Misses, error) {
	q := url.Values{"visible": {"1"}}
	setText(q, "prefix", prefix)
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return request[Misses](ctx, c, http.MethodGet, missesPath, q, nil)
}

// A Hiding is the body of POST misses/{name}, and of the response.
type Hiding struct {
	Hidden bool `json:"hidden"` // leave the name out of lists of tasks
}

// HideMiss hides or shows a name whose lookup failed. It returns [store.ErrNotFound] if no lookup
// of the name has failed.
func (c *Client) HideMiss(ctx context.Context, n name.Name, hidden bool) error {
	_, err := request[Hiding](ctx, c, http.MethodPost, missesPath+"/"+EscapeName(n.Key()), nil, Hiding{hidden})
	return err
}

// ClearMisses resets all failed lookups and returns their totals.
func (c *Client) ClearMisses(ctx context.Context) (misses.Totals, error) {
	m, err := request[Misses](ctx, c, http.MethodDelete, missesPath, nil, nil)
	return m.Totals, err
}
