package adminapi

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// firstPage is the number of keys that the first request asks for. Each further request asks for
// twice as many.
const firstPage = 16

// Keys yields the names whose keys begin with prefix, sorted by key. The first page that it
// requests is small, so stopping early costs little. If a name changes between two requests, the
// later page may show the change.
func (c *Client) Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		after := ""
		for limit := firstPage; ; limit = min(2*limit, MaxPage) {
			page, err := c.List(ctx, Listing{Prefix: prefix, After: after, Limit: limit, Keys: true})
			if err != nil {
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

// A Listing selects a page of names.
type Listing struct {
	Prefix   string         // prefix of the keys
	After    string         // [Page].Next of the previous page; "" for the first page
	Limit    int            // maximum number of names on the page; MaxPage if 0
	Statuses []nomen.Status // all if empty
	Keys     bool           // return only the keys
}

// List returns a page of names in the scope of the token, sorted by key. If [Page].Next is set, the
// page may have fewer names than the limit, or none.
func (c *Client) List(ctx context.Context, l Listing) (Page, error) {
	q := url.Values{}
	setText(q, "prefix", l.Prefix)
	setText(q, "after", l.After)
	if l.Limit > 0 {
		q.Set("limit", strconv.Itoa(l.Limit))
	}
	for _, s := range l.Statuses {
		q.Add("status", string(s))
	}
	if l.Keys {
		q.Set("only", "keys")
	}
	return request[Page](ctx, c, http.MethodGet, "names", q, nil)
}
