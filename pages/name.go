package pages

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

type nameView struct {
	frame
	Record   *store.Record
	Spelling string
	At       string // as entered; "" for now
	Time     time.Time
	Leads    leads
	Gift     gift
	May      rights
	Omitted  int // number of values of Record that the page shortens or leaves out

	Resolutions *resolutionsView // nil if the page does not show them
	Checks      []*adminapi.Link // results of the checks of the locations of Record, nil for a location that is not checked; empty if the server does not check locations
}

// leads is the target to which a name redirects, and the reasons for it.
type leads struct {
	To      string // a location, or ""
	Why     []string
	Problem string // the reason for which there is no location
}

// rights are the changes that a user may make. They determine which links a page has. The API
// checks the permission for each change itself.
type rights struct{ Edit, Redact bool }

// name shows the current record of a name, or the record at the time in the query parameter "at".
func (c *request) name() error {
	n, err := c.subject()
	if err != nil {
		return err
	}
	v := &nameView{Spelling: c.r.PathValue("name"), At: c.r.Form.Get("at")}
	v.Title, v.Section, v.Notice = v.Spelling, "names", c.notice()
	status := http.StatusOK
	if v.At != "" {
		if v.Time, err = adminapi.ParseTime(v.At); err != nil {
			v.Faults, status = []problem{{"at", err.Error()}}, http.StatusUnprocessableEntity
		}
	}
	v.Record, err = c.api.GetAt(c.ctx(), n, v.Time)
	switch {
	case errors.Is(err, store.ErrNotFound) && !v.Time.IsZero(): // the page reports this
	case err != nil:
		return err
	default:
		v.Spelling, v.Title, v.May = v.Record.Spelling, v.Record.Spelling, c.rights(v.Record.Name)
	}
	if v.Leads, err = c.leads(n, v.Time); err != nil {
		return err
	}
	if v.Record != nil && v.At == "" {
		if v.Gift, err = c.gift(v.Record); err != nil {
			return err
		}
		if v.Resolutions, err = c.nameResolutions(v.Record.Name); err != nil {
			return err
		}
		if v.Checks, err = c.checksOf(v.Record); err != nil {
			return err
		}
	}
	few := newCutting(v.Spelling)
	v.Leads.Why = few.list(v.Leads.Why, few.most)
	few.omitted = 0 // from now on, count only the omitted values of the record
	v.Record, v.Title = few.record(v.Record), brief(v.Title)
	v.Omitted = few.omitted
	c.show(status, "name", v)
	return nil
}

// checksOf returns the results of the checks of the locations of a record, in the order of the
// locations.
func (c *request) checksOf(rec *store.Record) ([]*adminapi.Link, error) {
	found, err := c.api.LinksOf(c.ctx(), rec.Name)
	switch {
	case isKind(err, adminapi.KindNoLinks):
		return nil, nil
	case err != nil:
		return nil, err
	}
	byURL := map[string]*adminapi.Link{}
	for i := range found.Links {
		byURL[found.Links[i].URL] = &found.Links[i]
	}
	checks := make([]*adminapi.Link, len(rec.Locations))
	for i := range rec.Locations {
		checks[i] = byURL[rec.Locations[i].URL]
	}
	return checks, nil
}

func (c *request) subject() (name.Name, error) { return name.Parse(c.r.PathValue("name")) }

func (c *request) rights(n name.Name) rights {
	a := c.session.Actor
	return rights{Edit: a.MayName(n, registrar.Editor), Redact: a.MayName(n, registrar.Administrator)}
}

// notice returns the text that confirms the change on the next page.
func (c *request) notice() string {
	key := "done." + c.r.Form.Get("done")
	if !slices.Contains(notices(), key) {
		return ""
	}
	return c.texts.text(key)
}

func notices() []string {
	return []string{
		"done.alias", "done.alias-idle", "done.authority-created", "done.authority-restored", "done.copied", "done.created", "done.deleted", "done.disabled", "done.enabled", "done.erased", "done.granted", "done.last-administrator",
		"done.no-link", "done.redacted", "done.redacted-rest", "done.restored", "done.retired", "done.revoked", "done.revoked-role", "done.saved",
		"done.signed-out", "done.unchanged", "done.user-added",
	}
}

func (c *request) leads(n name.Name, at time.Time) (leads, error) {
	q := url.Values{"name": {n.Key()}, "s": {string(nomen.I2L)}, "explain": {"1"}}
	if !at.IsZero() {
		q.Set("at", at.Format(time.RFC3339Nano))
	}
	req, err := c.api.NewRequest(c.ctx(), http.MethodGet, "resolve?"+q.Encode(), nil)
	if err != nil {
		return leads{}, err
	}
	resp, err := c.api.HTTP.Do(req)
	if err != nil {
		return leads{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		p, err := format.ReadProblem(resp.Body)
		if err != nil {
			return leads{}, err
		}
		return leads{Why: p.Why, Problem: p.Detail}, nil
	}
	a, err := format.ReadJSON(resp.Body, nomen.I2L)
	if err != nil {
		return leads{}, err
	}
	l := leads{Why: a.Why, To: a.Redirect}
	if len(a.Locations) > 0 {
		l.To = a.Locations[0].URL
	}
	return l, nil
}
