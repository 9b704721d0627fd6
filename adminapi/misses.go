package adminapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/nomen-project/nomen/misses"
)

// missesPath is where the names are that were asked for and are not known:
//
//	GET    misses   [Misses]; prefix, limit
//	DELETE misses   forgets them all; [Misses] with what was forgotten in Totals
const missesPath = "misses"

// Misses are names that were asked for and are not known, the most frequent
// first, as far as the rights of the token reach.
type Misses struct {
	misses.Totals
	Misses []misses.Miss `json:"misses"`
}

// Misses returns the most frequent of the names that begin with prefix, all of
// them if limit is 0.
func (c *Client) Misses(ctx context.Context, prefix string, limit int) (Misses, error) {
	q := url.Values{}
	setText(q, "prefix", prefix)
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	var m Misses
	_, err := c.call(ctx, http.MethodGet, missesPath, q, nil, &m)
	return m, err
}

// ClearMisses forgets all misses and returns the totals of what was forgotten.
func (c *Client) ClearMisses(ctx context.Context) (misses.Totals, error) {
	var m Misses
	_, err := c.call(ctx, http.MethodDelete, missesPath, nil, nil, &m)
	return m.Totals, err
}
