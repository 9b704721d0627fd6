package adminapi

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/nomen-project/nomen/name"
)

// firstPage is the size of the first page of keys; each further page is twice as large.
const firstPage = 16

// Keys yields the names whose keys begin with prefix, sorted by key. It requests them in pages
// that start small, so that stopping early costs little. A change made between the requests
// for two pages may appear in the later page.
func (c *Client) Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		after := ""
		for limit := firstPage; ; limit = min(2*limit, MaxPage) {
			q := url.Values{"only": {"keys"}, "limit": {strconv.Itoa(limit)}}
			setText(q, "prefix", prefix)
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
