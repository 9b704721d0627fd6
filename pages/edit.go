package pages

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

type editView struct {
	frame
	*draft
	Action   string // path of the form
	New      bool
	Was      nomen.Status // status of the stored record
	Warnings []registrar.Warning
	Conflict *conflict
}

// Elements returns the elements of Dublin Core (RFC 5013).
func (*editView) Elements() []string {
	return []string{
		"title", "creator", "date", "publisher", "description", "subject", "contributor", "type", "format",
		"identifier", "source", "language", "relation", "coverage", "rights",
	}
}

// Opens reports whether to show the rarely needed fields of a location, which is the case if one of
// them has a value or an error.
func (v *editView) Opens(l locationRow) bool {
	rare := l
	rare.ID, rare.URL, rare.Type, rare.Lang = "", "", "", ""
	rare.Index, rare.Attributes = 0, "" // hidden fields
	for _, p := range v.Faults {
		field, ok := strings.CutPrefix(p.ID, l.ID+"-")
		if ok && field != "url" && field != "type" && field != "lang" {
			return true
		}
	}
	return rare != locationRow{}
}

// A conflict is a change that another user saved while this user edited the record.
type conflict struct {
	Now  adminapi.Revision
	Rows []threeVersions
}

// A threeVersions has the value of a field at the start of the edit, the current value, and the
// value in the form.
type threeVersions struct{ Field, Before, Now, Yours string }

func (c *request) edit() error {
	n, rec, err := c.editable()
	if err != nil {
		return err
	}
	v := &editView{draft: newDraft(rec)}
	c.showEdit(v, http.StatusOK, n, rec)
	return nil
}

func (c *request) editable() (name.Name, *store.Record, error) {
	n, err := c.subject()
	if err != nil {
		return n, nil, err
	}
	rec, err := c.api.Get(c.ctx(), n)
	if err != nil {
		return n, nil, err
	}
	if !c.session.Actor.MayName(rec.Name, registrar.Editor) {
		return n, nil, c.session.Actor.Denied(registrar.Editor, rec.Name, rec.Spelling)
	}
	if len(rec.Locations) > maxRows || countValues(rec.Metadata) > maxRows {
		return n, nil, &adminapi.StatusError{Status: http.StatusUnprocessableEntity, Detail: "the record has too many locations or values for a form; change it by an import"}
	}
	return n, rec, nil
}

func countValues(m nomen.Metadata) (n int) {
	for _, all := range m {
		n += len(all)
	}
	return n
}

func (c *request) showEdit(v *editView, status int, n name.Name, rec *store.Record) {
	v.Title, v.Section, v.Action = c.texts.text("edit.title", rec.Spelling), "names", namePath(n.Key())+"/edit"
	v.Was, v.Spelling = rec.Status, rec.Spelling
	c.show(status, "edit", v)
}

// save handles the buttons of the form, which save the record, or add or remove a row.
func (c *request) save() error {
	n, rec, err := c.editable()
	if err != nil {
		return err
	}
	v := &editView{}
	if v.draft, err = readDraft(c.r.PostForm); err != nil {
		return err
	}
	v.Spelling = rec.Spelling
	if v.do(c.r.PostForm.Get("do")) {
		c.showEdit(v, http.StatusOK, n, rec)
		return nil
	}
	entered, faults := v.record()
	if v.Faults = faults; len(faults) > 0 {
		c.showEdit(v, http.StatusUnprocessableEntity, n, rec)
		return nil
	}
	entered.Name = rec.Name
	req := registrar.Request{Record: entered, Fields: editFields, Expected: v.Revision}
	if rec.Status == nomen.Retired && entered.Status == nomen.Active {
		req.Fields |= registrar.FieldReason | registrar.FieldShowLocations
	}
	return c.apply(v, req, n, rec)
}

func (c *request) apply(v *editView, req registrar.Request, n name.Name, rec *store.Record) error {
	changed, err := c.put(v, req)
	var conflict *store.ConflictError
	switch fault, ok := c.entryFault(v.draft, err); {
	case err == nil && (changed || v.Warnings == nil && v.Revision != rec.Revision): // the second case is a form that was sent twice
		c.see(namePath(rec.Spelling) + "?done=saved")
	case err == nil && v.Warnings == nil:
		c.see(namePath(rec.Spelling) + "?done=unchanged")
	case err == nil:
		c.showEdit(v, http.StatusUnprocessableEntity, n, rec)
	case errors.As(err, &conflict):
		return c.conflict(v, req, n, rec)
	case ok:
		v.Faults = []problem{fault}
		c.showEdit(v, http.StatusUnprocessableEntity, n, rec)
	default:
		return err
	}
	return nil
}

// put makes a change and reports whether the record is different after it. If there are warnings
// that the user has not accepted, put does not make the change.
func (c *request) put(v *editView, req registrar.Request) (changed bool, err error) {
	if c.r.PostForm.Get("accept") == "" {
		outs, err := c.api.Preview(c.ctx(), []registrar.Request{req})
		if err == nil {
			err = outs[0].Err
		}
		if err != nil {
			return false, err
		}
		known := func(w registrar.Warning) bool { return !v.New && w.Code == registrar.WarnNoAuthority }
		if all := slices.DeleteFunc(outs[0].Warnings, known); len(all) > 0 {
			v.Warnings = all
			return false, nil
		}
	}
	out, err := c.api.Put(c.ctx(), req, v.Why)
	return out.Changed, err
}

// conflict shows the three versions of the record. The input stays in the form.
func (c *request) conflict(v *editView, req registrar.Request, n name.Name, rec *store.Record) error {
	yours := *rec
	yours.Status, yours.Locations, yours.Metadata, yours.SameAs = req.Record.Status, req.Record.Locations, req.Record.Metadata, req.Record.SameAs
	before, now, err := c.versions(n, v.Revision)
	if err != nil {
		return err
	}
	v.Conflict = &conflict{Now: now, Rows: compare(before.Record, now.Record, &yours)}
	v.Revision = now.Revision
	v.Faults = []problem{{"", c.texts.text("edit.conflict")}}
	c.showEdit(v, http.StatusConflict, n, rec)
	return nil
}

// versions returns the given revision of a name and the newest revision. If the given revision is
// unknown, the first result is empty.
func (c *request) versions(n name.Name, revision uint64) (before, now adminapi.Revision, err error) {
	for r, err := range c.api.Revisions(c.ctx(), n) {
		if err != nil {
			return before, now, err
		}
		if now.Revision == 0 {
			now = r
		}
		if r.Revision == revision {
			return r, now, nil
		}
	}
	return before, now, nil
}

// compare returns the fields that differ between three versions of a record. These are the version
// at the start of the edit, the current version, and the version in the form. Fields that are not
// in the form count as unchanged.
func compare(before, now, yours *store.Record) []threeVersions {
	return threeWays(adminapi.Differences(before, now), adminapi.Differences(before, yours))
}

// threeWays returns the values that differ between three versions. The parameter changes has the
// differences between the earlier and the current version. The parameter ours has the differences
// between the earlier version and the form.
func threeWays(changes, ours []adminapi.Difference) []threeVersions {
	var rows []threeVersions
	for _, d := range changes {
		rows = append(rows, threeVersions{d.Field, d.Before, d.After, d.Before})
	}
	theirs := len(rows)
	for _, d := range ours {
		i := slices.IndexFunc(rows[:theirs], func(r threeVersions) bool {
			return r.Field == d.Field && r.Before == d.Before && (d.Before != "" || r.Now == d.After)
		})
		if i >= 0 {
			rows[i].Yours = d.After
			continue
		}
		rows = append(rows, threeVersions{d.Field, d.Before, d.Before, d.After})
	}
	return rows
}

type newView struct {
	editView
	Name string
}

func (c *request) newName() error {
	v := &newView{Name: c.r.Form.Get("name")}
	v.draft = &draft{Status: string(nomen.Active), Locations: []locationRow{{}}, Metadata: []metadataRow{{Element: "title"}}}
	v.number()
	c.showNew(v, http.StatusOK)
	return nil
}

func (c *request) showNew(v *newView, status int) {
	v.Title, v.Section, v.Action, v.New = c.texts.text("new.title"), "new", Root+"new", true
	c.show(status, "new", v)
}

func (c *request) create() error {
	v := &newView{Name: strings.TrimSpace(c.r.PostForm.Get("name"))}
	v.New = true
	var err error
	if v.draft, err = readDraft(c.r.PostForm); err != nil {
		return err
	}
	if v.Spelling = v.Name; v.do(c.r.PostForm.Get("do")) {
		c.showNew(v, http.StatusOK)
		return nil
	}
	rec, faults := v.record()
	n, err := name.Parse(v.Name)
	if err != nil {
		fault := newBadName(v.Name, err)
		faults = append([]problem{{"name", c.texts.text("new.bad", fault.Offset, fault.Message)}}, faults...)
	}
	if v.Faults = faults; len(faults) > 0 {
		c.showNew(v, http.StatusUnprocessableEntity)
		return nil
	}
	rec.Name = n
	return c.applyNew(v, registrar.Request{Record: rec, Expected: 0})
}

// entryFault converts an error of the API to an entry of the error summary. For an address without
// https://, which is the most frequent error, it uses a simpler text.
func (c *request) entryFault(d *draft, err error) (problem, bool) {
	fault, ok := c.faultOf(err, d.fieldID)
	if ok && strings.HasSuffix(fault.ID, "-url") {
		if p := adminapi.NewProblem(err); p.Rule == "scheme" && p.Offset > 0 {
			fault.Text = c.texts.text("edit.no-scheme")
		}
	}
	return fault, ok
}

func (c *request) applyNew(v *newView, req registrar.Request) error {
	_, err := c.put(&v.editView, req)
	switch fault, ok := c.entryFault(v.draft, err); {
	case err == nil && v.Warnings == nil:
		c.see(namePath(v.Name) + "?done=created")
	case err == nil:
		c.showNew(v, http.StatusUnprocessableEntity)
	case errors.As(err, new(*store.ConflictError)):
		return c.exists(v, req)
	case ok:
		v.Faults = []problem{fault}
		c.showNew(v, http.StatusUnprocessableEntity)
	default:
		return err
	}
	return nil
}

// exists handles a new name that already exists. If the stored record is the same as the input, the
// form was probably sent twice.
func (c *request) exists(v *newView, req registrar.Request) error {
	there, err := c.api.Get(c.ctx(), req.Record.Name)
	if err != nil {
		return err
	}
	entered := req.Record.Clone()
	entered.Spelling = there.Spelling
	if there.Revision == 1 && len(adminapi.Differences(there, entered)) == 0 {
		c.see(namePath(v.Name) + "?done=created")
		return nil
	}
	v.Faults = []problem{{"name", c.texts.text("new.exists")}}
	c.showNew(v, http.StatusConflict)
	return nil
}
