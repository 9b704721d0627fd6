package adminapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// A Search selects a page of the names that contain certain words.
type Search struct {
	Text     string         // words in any order; the last word may be incomplete
	Prefix   string         // prefix of the keys
	After    string         // [Found].Next of the previous page; "" for the first page
	Limit    int            // maximum number of names on the page; MaxPage if 0
	Statuses []nomen.Status // all if empty
}

// Found is the response to GET search.
type Found struct {
	Names []*store.Record `json:"names"`          // sorted by key
	Next  string          `json:"next,omitempty"` // value of "after" for the next page; "" at the end
	Index Index           `json:"index"`
}

// An Index is the state of the search index. Names and Behind are 0 for a token that is limited to
// prefixes.
type Index struct {
	Complete bool   `json:"complete"`         // all names and changes were indexed when the log was last read
	Building bool   `json:"building"`         // the index is being built, so many names may be missing
	Names    int64  `json:"names,omitempty"`  // while the index is being built: names indexed so far
	Behind   uint64 `json:"behind,omitempty"` // changes that are not indexed yet
}

// SearchNames returns a page of the names in the scope of the token sorted by key, whose records
// contain the words of s in any field. If [Found].Next is set, the page may have fewer names than
// the limit, or none. If the server has no index, the error is a [*StatusError] of [KindNoIndex].
func (c *Client) SearchNames(ctx context.Context, s Search) (Found, error) {
	q := url.Values{"text": {s.Text}}
	setText(q, "prefix", s.Prefix)
	setText(q, "after", s.After)
	if s.Limit > 0 {
		q.Set("limit", strconv.Itoa(s.Limit))
	}
	for _, st := range s.Statuses {
		q.Add("status", string(st))
	}
	return request[Found](ctx, c, http.MethodGet, "search", q, nil)
}

// SearchError converts an error of a [store.Searcher] to the error that [Client.SearchNames]
// returns.
func SearchError(err error) error {
	switch {
	case errors.Is(err, store.ErrNoWords):
		return &RequestError{Field: "text", Message: "must have a letter or digit"}
	case errors.Is(err, store.ErrTooManyWords):
		return &RequestError{Field: "text", Message: fmt.Sprintf("must have at most %d words", store.MaxQueryWords)}
	case errors.Is(err, store.ErrNoIndex):
		return &StatusError{Kind: KindNoIndex, Status: http.StatusServiceUnavailable, Detail: strings.TrimPrefix(err.Error(), "store: ")}
	}
	return err
}

// NewIndex returns the status of an index for a client. If whole is false, the result does not
// disclose the numbers of names and changes.
func NewIndex(s store.IndexStatus, whole bool) Index {
	i := Index{Complete: s.Built && s.Err == nil && s.Behind() == 0, Building: !s.Built}
	if whole {
		i.Behind = s.Behind()
		if i.Building {
			i.Names = s.Names
		}
	}
	return i
}
