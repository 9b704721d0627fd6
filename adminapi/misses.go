package adminapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/nomen-project/nomen/misses"
)

// missesPath is the path of the failed lookups:
//
//	GET    misses   [Misses]; prefix, limit
//	DELETE misses   resets the failed lookups; returns [Misses] with their totals
const missesPath = "misses"

// Misses are failed lookups, most frequent first, limited to the scope of the token.
type Misses struct {
	misses.Totals
	Misses []misses.Miss `json:"misses"`
}

// Misses returns the most frequent failed lookups of names that begin with prefix. A limit
// of 0 means all.
func (c *Client) Misses(ctx context.Context, prefix string, limit int) (Misses, error) {
	q := url.Values{}
	setText(q, "prefix", prefix)
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return request[Misses](ctx, c, http.MethodGet, missesPath, q, nil)
}

// ClearMisses resets all failed lookups and returns their totals.
func (c *Client) ClearMisses(ctx context.Context) (misses.Totals, error) {
	m, err := request[Misses](ctx, c, http.MethodDelete, missesPath, nil, nil)
	return m.Totals, err
}
