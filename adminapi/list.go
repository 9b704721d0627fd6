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

// firstPage is how many keys are asked for at first; who goes on gets twice as many
// each time.
const firstPage = 16

// Keys yields the names that a scan asks for, in the order of their keys, page by
// page: who stops early has asked for little. Each page is as of its own moment.
// The At of the scan cannot be asked for.
func (c *Client) Keys(ctx context.Context, s store.Scan) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		if !s.At.IsZero() {
			yield(name.Name{}, errors.New("adminapi: lists are of the present"))
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
