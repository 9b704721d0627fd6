package admin

import (
	"errors"
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// search returns a page of the names that have some words.
func (s *API) search(c *call) error {
	if s.searcher == nil {
		return noIndex("this server has no search index: set search = true in its configuration, or list the names by prefix")
	}
	q, err := c.searchQuery()
	if err != nil {
		return err
	}
	status := s.searcher.Status() // before the search, so that it does not promise too much
	page, err := s.searcher.Search(c.r.Context(), q)
	switch {
	case errors.Is(err, store.ErrNoWords):
		return &adminapi.RequestError{Field: "text", Message: "must have a letter or digit"}
	case errors.Is(err, store.ErrTooManyWords):
		return &adminapi.RequestError{Field: "text", Message: "must have at most 32 words"}
	case errors.Is(err, store.ErrNoIndex):
		return noIndex(shown.Error(err))
	case err != nil:
		return err
	}
	found := adminapi.Found{Names: page.Records, Next: page.Next, Index: adminapi.NewIndex(status, c.actor.MayAll(registrar.Reader))}
	if found.Names == nil {
		found.Names = []*store.Record{}
	}
	return writeJSON(c.w, http.StatusOK, found)
}

func noIndex(detail string) error {
	return &adminapi.StatusError{Kind: adminapi.KindNoIndex, Status: http.StatusServiceUnavailable, Detail: detail}
}

// searchQuery returns the query of a request, limited to the names that the actor may read.
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
		q.Spans = append([]string{}, spans(c.actor.Scope(), c.q.Get("prefix"))...) // not nil, which would stand for all keys
		q.May = c.actor.Reaches
	}
	return q, nil
}
