package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const pageSize = 50

type namesView struct {
	frame
	Query  string // text to search for; "" to list names
	Prefix string
	Status string

	Bad     *badName               // Query is not a name
	Missing bool                   // Query is a name that does not exist
	MayNew  bool                   // the user may create the missing name
	Meant   []namespace.Suggestion // suggestions for Query
	Places  []store.Place          // names with locations that begin with Query

	Words       bool            // Names contain the words of Query
	NoIndex     bool            // the server cannot search for words
	Index       *adminapi.Index // state of the index that a search for words has used; nil for other pages
	Names       []*store.Record
	First, Next string // URLs of pages, or ""
}

type badName struct {
	Before, At, After string // parts of the query around the error
	Offset            int
	Rule, Message     string
}

// names lists names by prefix, or searches for a name, a URL or words.
func (c *request) names() error {
	q := c.r.Form
	v := &namesView{Query: strings.TrimSpace(q.Get("q")), Prefix: strings.TrimSpace(q.Get("prefix")), Status: q.Get("status")}
	v.Title, v.Section, v.Notice = c.texts.text("names.title"), "names", c.notice()
	switch after := q.Get("after"); {
	case v.Query != "" && after != "":
		return c.showNames(c.searchWords(v, after), http.StatusOK, v)
	case v.Query != "":
		return c.find(v)
	}
	return c.browse(v, q.Get("after"))
}

func (c *request) browse(v *namesView, after string) error {
	list := adminapi.Listing{Prefix: name.Beginning(v.Prefix), After: after, Limit: pageSize, Statuses: v.statuses()}
	page, err := c.api.List(c.ctx(), list)
	if n := fittingNames(page.Names); err == nil && n < len(page.Names) {
		list.Limit = n
		page, err = c.api.List(c.ctx(), list)
	}
	if err == nil {
		v.fill(page.Names, after, page.Next)
	}
	return c.showNames(err, http.StatusOK, v)
}

func (v *namesView) statuses() []nomen.Status {
	if v.Status == "" {
		return nil
	}
	return []nomen.Status{nomen.Status(v.Status)}
}

// fittingNames returns how many of the names fit on a page. If not all of them fit, the caller must
// request fewer names from the API, which then returns the key for the next page.
func fittingNames(names []*store.Record) int {
	return fitting(names, pageSize, func(r *store.Record) int { return len(namePath(r.Spelling)) })
}

// fill sets the names of a page and the URLs of the first and the next page.
func (v *namesView) fill(names []*store.Record, after, next string) {
	v.Names = names
	if after != "" {
		v.First = v.page("")
	}
	if next != "" {
		v.Next = v.page(next)
	}
}

// searchWords lists the names with the words of the query whose keys follow the given key. A query
// without words, such as a single colon, has no results.
func (c *request) searchWords(v *namesView, after string) error {
	q := adminapi.Search{Text: v.Query, Prefix: name.Beginning(v.Prefix), After: after, Limit: pageSize, Statuses: v.statuses()}
	found, err := c.api.SearchNames(c.ctx(), q)
	if n := fittingNames(found.Names); err == nil && n < len(found.Names) {
		q.Limit = n
		found, err = c.api.SearchNames(c.ctx(), q)
	}
	var bad *adminapi.RequestError
	switch {
	case isNoIndex(err):
		v.NoIndex = true
	case errors.As(err, &bad) && bad.Field == "text":
	case err != nil:
		return err
	default:
		v.Words, v.Index = true, &found.Index
		v.fill(found.Names, after, found.Next)
	}
	return nil
}

func isNoIndex(err error) bool {
	var status *adminapi.StatusError
	return errors.As(err, &status) && status.Kind == adminapi.KindNoIndex
}

func (v *namesView) page(after string) string {
	q := url.Values{}
	for key, value := range map[string]string{"q": v.Query, "prefix": v.Prefix, "status": v.Status, "after": after} {
		if value != "" {
			q.Set(key, value)
		}
	}
	return Root + "names?" + q.Encode()
}

// find redirects to the name in the query. If the name does not exist, the page shows this, and the
// names with a location that begins with the query.
func (c *request) find(v *namesView) error {
	n, err := name.Parse(v.Query)
	if err != nil {
		return c.findOther(v, err)
	}
	switch _, err = c.api.Get(c.ctx(), n); {
	case err == nil:
		c.see(namePath(v.Query))
		return nil
	case !isAbsent(err):
		return err
	}
	if location.IsLink(v.Query) { // a URL that is a valid name may also be a location
		if err := c.findPlaces(v); err != nil || len(v.Places) > 0 {
			return c.showNames(err, http.StatusOK, v)
		}
	}
	if errors.As(err, new(*registrar.DeniedError)) {
		return err
	}
	v.Missing, v.MayNew, v.Meant = true, c.session.Actor.MayName(n, registrar.Editor), name.Suggest(v.Query)
	return c.showNames(c.searchWords(v, ""), http.StatusNotFound, v)
}

func isAbsent(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.As(err, new(*registrar.DeniedError))
}

// findOther searches for locations and words. If there are no results, the page explains why the
// query is not a name.
func (c *request) findOther(v *namesView, err error) error {
	if location.IsLink(v.Query) {
		if err := c.findPlaces(v); err != nil || len(v.Places) > 0 {
			return c.showNames(err, http.StatusOK, v)
		}
	}
	if failed := c.searchWords(v, ""); failed != nil || len(v.Names) > 0 || v.Next != "" || v.Words && !strings.Contains(v.Query, ":") {
		return c.showNames(failed, http.StatusOK, v)
	}
	v.Bad, v.Meant = newBadName(v.Query, err), name.Suggest(v.Query)
	v.Faults = []problem{{"q", c.texts.text("names.bad")}}
	c.show(http.StatusUnprocessableEntity, "names", v)
	return nil
}

func (c *request) shown(err error, status int, page string, v view) error {
	if err == nil {
		c.show(status, page, v)
	}
	return err
}

// showNames shows the page of names. If err is about a field, the page shows the error. Otherwise,
// showNames returns err.
func (c *request) showNames(err error, status int, v *namesView) error {
	var bad *adminapi.RequestError
	if errors.As(err, &bad) {
		v.Faults, status, err = []problem{{bad.Field, bad.Message}}, http.StatusUnprocessableEntity, nil
	}
	return c.shown(err, status, "names", v)
}

func (c *request) findPlaces(v *namesView) error {
	for p, err := range c.api.Find(c.ctx(), v.Query, store.Place{}) {
		if err != nil {
			if isUnsupported(err) {
				err = nil
			}
			return err
		}
		if v.Places = append(v.Places, p); len(v.Places) == pageSize {
			break
		}
	}
	v.Places = v.Places[:fitting(v.Places, pageSize, func(p store.Place) int { return len(namePath(p.Name.Key())) })]
	return nil
}

func newBadName(input string, err error) *badName {
	var e *name.Error
	if !errors.As(err, &e) {
		return &badName{Before: input, Message: err.Error()}
	}
	b := &badName{Offset: e.Offset, Rule: e.Rule, Message: e.Message}
	at := min(max(e.Offset, 0), len(input))
	_, size := utf8.DecodeRuneInString(input[at:])
	end := at + size
	b.Before, b.At, b.After = input[:at], input[at:end], input[end:]
	return b
}
