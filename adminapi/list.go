package adminapi

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// firstPage is the size of the first page of keys; each further page is twice as large.
const firstPage = 16

// Keys yields the names of a scan, sorted by key. It requests them in pages that start small,
// so that stopping early costs little. A change between two pages may show in the later one.
// Keys does not support the At of a scan.
func (c *Client) Keys(ctx context.Context, s store.Scan) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		if !s.At.IsZero() {
			yield(name.Name{}, errors.New("adminapi: listing names as of a time is not supported"))
			return
		}
		after := s.After
		for limit := firstPage; ; limit = min(2*limit, MaxPage) {
			q := url.Values{"only": {"keys"}, "limit": {strconv.Itoa(limit)}}
			setText(q, "prefix", s.Prefix)
			setText(q, "after", after)
			var page Page
			if _, err := c.call(ctx, http.MethodGet, "names", q, nil, &page); err != nil {
				yield(name.Name{}, err)
				return
			}
			for _, key := range page.Keys {
				if !yield(name.FromKey(key), nil) {
					return
				}
			}
			if after = page.Next; after == "" {
				return
			}
		}
	}
}
