package admin

import (
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// search sends a page of the names that contain the given words.
func (s *API) search(c *call) error {
	if s.searcher == nil {
		return &adminapi.StatusError{Kind: adminapi.KindNoIndex, Status: http.StatusServiceUnavailable, Detail: "this server has no search index: set search = true in its configuration, or list the names by prefix"}
	}
	q, err := c.searchQuery()
	if err != nil {
		return err
	}
	status := s.searcher.Status() // read before the search, so that it does not claim changes that the search missed
	page, err := s.searcher.Search(c.r.Context(), q)
	if err != nil {
		return adminapi.SearchError(err)
	}
	found := adminapi.Found{Names: page.Records, Next: page.Next, Index: adminapi.NewIndex(status, c.actor.MayAll(registrar.Reader))}
	if found.Names == nil {
		found.Names = []*store.Record{}
	}
	return writeJSON(c.w, http.StatusOK, found)
}

// searchQuery returns the query of a request, limited to names that the caller may read.
func (c *call) searchQuery() (q store.Query, err error) {
	if !c.q.Has("text") {
		return q, &adminapi.RequestError{Field: "text", Message: "missing; must be words to find"}
	}
	q.Text, q.After = c.q.Get("text"), c.q.Get("after")
	if q.Status, err = statuses(c.q); err != nil {
		return q, err
	}
	if q.Limit, err = pageLimit(c.q); err != nil {
		return q, err
	}
	q.Spans = []string{c.q.Get("prefix")}
	if !c.actor.MayAll(registrar.Reader) {
		q.Spans = append([]string{}, spans(c.actor.Scope(), c.q.Get("prefix"))...) // not nil, which would mean all keys
		q.May = c.actor.Reaches
	}
	return q, nil
}
