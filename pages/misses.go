package pages

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const missesPath = Root + "misses"

func missHandlers() handlers {
	return handlers{
		"GET misses":        (*request).misses,
		"POST misses":       (*request).hideMiss,
		"GET misses/alias":  (*request).aliasForm,
		"POST misses/alias": (*request).alias,
	}
}

type missesView struct {
	frame
	Prefix      string
	Hidden      bool // show hidden names
	Rare        bool // also show names that were requested only once and are similar to no existing name
	Since       time.Time
	Asked       uint64 // number of requests for all names
	Misses      []missRow
	Folded      int // number of rare names that are left out
	First, Next string
}

type missRow struct {
	misses.Miss
	MayEdit bool
	Seen    int    // number of months, of the last 12, in which the name was requested
	Back    string // path of the page to return to, with its query
}

func (c *request) misses() error {
	q := c.r.Form
	v := &missesView{Prefix: strings.TrimSpace(q.Get("prefix")), Hidden: q.Get("hidden") != "", Rare: q.Get("rare") != ""}
	v.Title, v.Section, v.Notice = c.texts.text("misses.title"), "misses", c.missNotice()
	all, err := c.api.Misses(c.ctx(), name.Beginning(v.Prefix), 0) // the server keeps at most 10,000
	if err != nil {
		return err
	}
	v.Since, v.Asked = all.Since, all.Asked
	list := slices.DeleteFunc(all.Misses, func(m misses.Miss) bool { return m.Hidden != v.Hidden })
	if !v.Rare {
		n := len(list)
		list = slices.DeleteFunc(list, misses.Miss.IsRare)
		v.Folded = n - len(list)
	}
	skip, _ := strconv.Atoi(q.Get("skip"))
	skip = min(max(skip, 0), len(list))
	n := fitting(list[skip:], pageSize, missSize)
	v.rows(c, list[skip:skip+n], skip)
	if skip > 0 {
		v.First = v.page(0)
	}
	if skip+n < len(list) {
		v.Next = v.page(skip + n)
	}
	c.show(http.StatusOK, "misses", v)
	return nil
}

func missSize(m misses.Miss) int {
	size := 4 * len(namePath(m.Name))
	for _, s := range m.Suggestions {
		size += 2 * len(namePath(s))
	}
	return size
}

func (v *missesView) rows(c *request, list []misses.Miss, skip int) {
	for _, m := range list {
		row := missRow{Miss: m, Back: v.page(skip), Seen: m.MonthsSeen(c.now())}
		if n, err := name.Parse(m.Name); err == nil {
			row.MayEdit = c.session.Actor.MayName(n, registrar.Editor)
		}
		v.Misses = append(v.Misses, row)
	}
}

func (v *missesView) page(skip int) string {
	q := url.Values{}
	if v.Prefix != "" {
		q.Set("prefix", v.Prefix)
	}
	if v.Hidden {
		q.Set("hidden", "1")
	}
	if v.Rare {
		q.Set("rare", "1")
	}
	if skip > 0 {
		q.Set("skip", strconv.Itoa(skip))
	}
	if len(q) == 0 {
		return missesPath
	}
	return missesPath + "?" + q.Encode()
}

func (c *request) missNotice() string {
	switch c.r.Form.Get("done") {
	case "hidden":
		return c.texts.text("misses.done-hidden")
	case "shown":
		return c.texts.text("misses.done-shown")
	}
	return ""
}

func (c *request) hideMiss() error {
	f := c.r.PostForm
	n, err := name.Parse(f.Get("name"))
	if err != nil {
		return err
	}
	hidden := f.Get("hidden") != ""
	if err := c.api.HideMiss(c.ctx(), n, hidden); err != nil && !errors.Is(err, store.ErrNotFound) { // not found: the name has already left the list
		return err
	}
	done := "shown"
	if hidden {
		done = "hidden"
	}
	c.see(withDone(f.Get("back"), done))
	return nil
}

func withDone(back, done string) string {
	q := url.Values{}
	if u, err := url.Parse(back); err == nil && u.Scheme == "" && u.Host == "" && u.Path == missesPath {
		q = u.Query()
	}
	q.Set("done", done)
	return missesPath + "?" + q.Encode()
}

type aliasView struct {
	frame
	Name     string // the name whose lookup failed
	Of       string // the name that was meant
	Why      string
	Revision uint64 // revision of Of when it was chosen; 0 before
	MayNew   bool   // the user may create Name
}

func (c *request) aliasForm() error {
	v, _, err := c.aliasView()
	if err != nil {
		return err
	}
	c.show(http.StatusOK, "alias", v)
	return nil
}

// aliasView returns the page with the form that makes one name an alias of another. The names are
// in the query parameters "name" (the alias) and "of". aliasView also returns the record of the
// second name, or nil.
func (c *request) aliasView() (*aliasView, *store.Record, error) {
	v := &aliasView{Name: strings.TrimSpace(c.r.Form.Get("name")), Of: strings.TrimSpace(c.r.Form.Get("of")), Why: lines(c.r.Form.Get("why"))}
	v.Title, v.Section = c.texts.text("alias.title", v.Name), "misses"
	failed, err := name.Parse(v.Name)
	if err != nil {
		return nil, nil, err
	}
	v.MayNew = c.session.Actor.MayName(failed, registrar.Editor)
	if v.Why == "" {
		v.Why = c.texts.text("alias.why", v.Name)
	}
	if v.Of == "" {
		return v, nil, nil
	}
	meant, err := name.Parse(v.Of)
	if err != nil {
		v.Faults = []problem{{"of", c.texts.text("new.bad", newBadName(v.Of, err).Offset, newBadName(v.Of, err).Message)}}
		return v, nil, nil
	}
	rec, err := c.api.Get(c.ctx(), meant)
	switch {
	case errors.Is(err, store.ErrNotFound):
		v.Faults = []problem{{"of", c.texts.text("alias.missing", v.Of)}}
		return v, nil, nil
	case err != nil:
		return nil, nil, err
	case !c.session.Actor.MayName(rec.Name, registrar.Editor):
		return nil, nil, c.session.Actor.Denied(registrar.Editor, rec.Name, rec.Spelling)
	}
	v.Revision = rec.Revision
	return v, rec, nil
}

// alias adds a name whose lookup failed to the aliases of the name that users probably meant.
func (c *request) alias() error {
	v, rec, err := c.aliasView()
	if err != nil {
		return err
	}
	if v.Of == "" {
		v.Faults = []problem{{"of", c.texts.text("alias.none")}}
	}
	if len(v.Faults) > 0 {
		c.show(http.StatusUnprocessableEntity, "alias", v)
		return nil
	}
	if slices.Contains(rec.SameAs, v.Name) { // as after the form was sent twice
		return c.finishAlias(v)
	}
	expected, _ := strconv.ParseUint(c.r.PostForm.Get("revision"), 10, 64)
	if expected == 0 {
		expected = rec.Revision // the user has entered the name, and the form does not have a revision
	}
	next := rec.Clone()
	next.SameAs = append(next.SameAs, v.Name)
	_, err = c.api.Put(c.ctx(), registrar.Request{Record: next, Fields: registrar.FieldSameAs, Expected: expected}, v.Why)
	switch fault, ok := c.faultOf(err, firstField); {
	case err == nil:
		return c.finishAlias(v)
	case errors.As(err, new(*store.ConflictError)):
		v.Faults = []problem{{"", c.texts.text("alias.conflict")}}
		c.show(http.StatusConflict, "alias", v)
	case ok:
		v.Faults = []problem{{"of", fault.Text}}
		c.show(http.StatusUnprocessableEntity, "alias", v)
	default:
		return err
	}
	return nil
}

// finishAlias redirects to the page of the record to which an alias was added. If the alias
// resolves to this record and the user has the right to do so, finishAlias also hides the failed
// lookups of the alias.
func (c *request) finishAlias(v *aliasView) error {
	failed, err := name.Parse(v.Name)
	if err != nil {
		return err
	}
	to, err := c.leads(failed, time.Time{})
	if err != nil {
		return err
	}
	if to.Problem != "" {
		c.see(namePath(v.Of) + "?done=alias-idle")
		return nil
	}
	var denied *registrar.DeniedError
	if err := c.api.HideMiss(c.ctx(), failed, true); err != nil && !errors.Is(err, store.ErrNotFound) && !errors.As(err, &denied) {
		return err
	}
	c.see(namePath(v.Of) + "?done=alias")
	return nil
}
