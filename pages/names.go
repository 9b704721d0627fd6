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

// pageSize is the number of rows of a page of a list.
const pageSize = 50

// A namesView is the page to find names.
type namesView struct {
	frame
	Query  string // what was looked for; "" to browse
	Prefix string
	Status string

	Bad     *badName               // Query is not a name
	Missing bool                   // Query is a name that does not exist
	MayNew  bool                   // and the user may create it
	Meant   []namespace.Suggestion // what Query may have meant
	Places  []store.Place          // locations that begin with Query

	Names       []*store.Record
	First, Next string // URLs of pages; "" if there is none
}

// A badName shows where a name is invalid.
type badName struct {
	Before, At, After string // parts of the input
	Offset            int
	Rule, Message     string
}

// names lists names by prefix, or finds one name or URL.
func (c *request) names() error {
	q := c.r.Form
	v := &namesView{Query: strings.TrimSpace(q.Get("q")), Prefix: strings.TrimSpace(q.Get("prefix")), Status: q.Get("status")}
	v.Title, v.Section, v.Notice = c.texts.text("names.title"), "names", c.notice()
	if v.Query != "" {
		return c.find(v)
	}
	return c.browse(v, q.Get("after"))
}

func (c *request) browse(v *namesView, after string) error {
	l := adminapi.Listing{Prefix: v.Prefix, After: after, Limit: pageSize}
	if canonical, err := name.CanonicalPrefix(v.Prefix); err == nil { // an invalid prefix can be the beginning of a scheme
		l.Prefix = canonical
	}
	if v.Status != "" {
		l.Statuses = []nomen.Status{nomen.Status(v.Status)}
	}
	page, err := c.api.List(c.ctx(), l)
	var bad *adminapi.RequestError
	if errors.As(err, &bad) {
		v.Faults = []problem{{bad.Field, bad.Message}}
		c.show(http.StatusUnprocessableEntity, "names", v)
		return nil
	}
	if err != nil {
		return err
	}
	v.Names = page.Names
	if after != "" {
		v.First = v.page("")
	}
	if page.Next != "" {
		v.Next = v.page(page.Next)
	}
	c.show(http.StatusOK, "names", v)
	return nil
}

// page returns the URL of the page after a key.
func (v *namesView) page(after string) string {
	q := url.Values{}
	for key, value := range map[string]string{"prefix": v.Prefix, "status": v.Status, "after": after} {
		if value != "" {
			q.Set(key, value)
		}
	}
	return Root + "names?" + q.Encode()
}

// find redirects to the name in the query. If the name does not exist, it says why, and lists the
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
	if location.IsLink(v.Query) { // which may also be a location
		if err := c.findPlaces(v); err != nil || len(v.Places) > 0 {
			return c.shown(err, http.StatusOK, "names", v)
		}
	}
	if errors.As(err, new(*registrar.DeniedError)) {
		return err
	}
	v.Missing, v.MayNew, v.Meant = true, c.session.Actor.MayName(n, registrar.Editor), name.Suggest(v.Query)
	c.show(http.StatusNotFound, "names", v)
	return nil
}

// isAbsent reports whether an error says that a name does not exist for the user.
func isAbsent(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.As(err, new(*registrar.DeniedError))
}

// findOther looks for locations, or explains why the query is not a name.
func (c *request) findOther(v *namesView, err error) error {
	if location.IsLink(v.Query) {
		if err := c.findPlaces(v); err != nil || len(v.Places) > 0 {
			return c.shown(err, http.StatusOK, "names", v)
		}
	}
	v.Bad, v.Meant = newBadName(v.Query, err), name.Suggest(v.Query)
	v.Faults = []problem{{"q", c.texts.text("names.bad")}}
	c.show(http.StatusUnprocessableEntity, "names", v)
	return nil
}

// shown shows a page unless there is an error.
func (c *request) shown(err error, status int, page string, v view) error {
	if err == nil {
		c.show(status, page, v)
	}
	return err
}

// findPlaces finds the first locations that begin with the query.
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
	return nil
}

// newBadName splits an input at the offset of an error.
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
