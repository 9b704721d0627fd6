package pages

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

type retireView struct {
	frame
	Spelling      string
	Retired       bool // already retired
	Reason        string
	Successors    string // one name per line
	ShowLocations bool
	Why           string
	Revision      uint64
	Effect        string              // the answer that readers will get
	Warnings      []registrar.Warning // warnings that the user has not accepted
}

func (c *request) retireForm() error {
	_, rec, err := c.editable()
	if err != nil {
		return err
	}
	v := newRetireView(rec)
	c.showRetire(v, http.StatusOK, rec)
	return nil
}

func newRetireView(rec *store.Record) *retireView {
	return &retireView{
		Reason: rec.Reason, Successors: joined(rec.Successors), ShowLocations: rec.ShowLocations, Revision: rec.Revision,
	}
}

func (c *request) showRetire(v *retireView, status int, rec *store.Record) {
	v.Spelling, v.Retired = rec.Spelling, rec.Status == nomen.Retired
	v.Title, v.Section = c.texts.text("retire.title", rec.Spelling), "names"
	switch len(entries(v.Successors)) {
	case 0:
		v.Effect = c.texts.text("retire.effect-tombstone")
	case 1:
		v.Effect = c.texts.text("retire.effect-redirect")
	default:
		v.Effect = c.texts.text("retire.effect-choice")
	}
	c.show(status, "retire", v)
}

// retire retires a name. If a successor may be wrong, the user must confirm it first.
func (c *request) retire() error {
	n, rec, err := c.editable()
	if err != nil {
		return err
	}
	f := c.r.PostForm
	v := &retireView{
		Reason: lines(f.Get("reason")), Successors: lines(f.Get("successors")), ShowLocations: f.Get("show_locations") != "", Why: lines(f.Get("why")),
	}
	v.Revision, _ = strconv.ParseUint(f.Get("revision"), 10, 64) // malformed: 0, which leads to a conflict
	if v.Warnings = c.missingSuccessors(entries(v.Successors)); len(v.Warnings) > 0 && f.Get("accept") == "" {
		c.showRetire(v, http.StatusUnprocessableEntity, rec)
		return nil
	}
	v.Warnings = nil
	t := registrar.Retirement{Reason: v.Reason, Successors: orEmpty(entries(v.Successors)), ShowLocations: v.ShowLocations, Expected: v.Revision}
	_, err = c.api.Retire(c.ctx(), n, t, v.Why)
	return c.retired(v, rec, err)
}

func (c *request) retired(v *retireView, rec *store.Record, err error) error {
	switch fault, ok := c.faultOf(err, firstField); {
	case err == nil:
		c.see(namePath(rec.Spelling) + "?done=retired")
	case errors.As(err, new(*store.ConflictError)):
		v.Revision = rec.Revision
		v.Faults = []problem{{"", c.texts.text("retire.conflict")}}
		c.showRetire(v, http.StatusConflict, rec)
	case ok:
		v.Faults = []problem{fault}
		c.showRetire(v, http.StatusUnprocessableEntity, rec)
	default:
		return err
	}
	return nil
}

// missingSuccessors warns about successors that do not exist. It leaves out names outside the
// user's scope.
func (c *request) missingSuccessors(successors []string) (all []registrar.Warning) {
	for _, s := range successors {
		n, err := name.Parse(s)
		if err != nil {
			continue // not a name; the API rejects it
		}
		if _, err := c.api.Get(c.ctx(), n); errors.Is(err, store.ErrNotFound) {
			all = append(all, registrar.Warning{Code: registrar.WarnSuccessor, Message: c.texts.text("retire.missing", s)})
		}
	}
	return all
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

type deleteView struct {
	frame
	Spelling string
	Revision uint64
	Why      string
}

func (c *request) deleteForm() error {
	_, rec, err := c.editable()
	if err != nil {
		return err
	}
	c.showDelete(&deleteView{Revision: rec.Revision}, http.StatusOK, rec)
	return nil
}

func (c *request) showDelete(v *deleteView, status int, rec *store.Record) {
	v.Spelling, v.Title, v.Section = rec.Spelling, c.texts.text("delete.title", rec.Spelling), "names"
	c.show(status, "delete", v)
}

// delete deletes a reserved name. The API rejects names in other states.
func (c *request) delete() error {
	n, rec, err := c.editable()
	if errors.Is(err, store.ErrNotFound) && c.wasDeleted(n) {
		c.see(Root + "names?done=deleted") // the form was sent twice
		return nil
	}
	if err != nil {
		return err
	}
	v := &deleteView{Why: lines(c.r.PostForm.Get("why"))}
	v.Revision, _ = strconv.ParseUint(c.r.PostForm.Get("revision"), 10, 64) // malformed: 0, which leads to a conflict
	_, err = c.api.Delete(c.ctx(), n, v.Revision, v.Why)
	switch fault, ok := c.faultOf(err, firstField); {
	case err == nil:
		c.see(Root + "names?done=deleted")
	case errors.As(err, new(*store.ConflictError)):
		v.Revision, v.Faults = rec.Revision, []problem{{"", c.texts.text("delete.conflict")}}
		c.showDelete(v, http.StatusConflict, rec)
	case ok:
		v.Faults = []problem{fault}
		c.showDelete(v, http.StatusUnprocessableEntity, rec)
	default:
		return err
	}
	return nil
}

func (c *request) wasDeleted(n name.Name) bool {
	last, err := c.revisions(n, 0, 1)
	return err == nil && last[0].Record == nil
}

// A restoreView is the page that undoes a change or restores an earlier revision.
type restoreView struct {
	frame
	Spelling    string
	To          adminapi.Revision // the revision whose content is restored
	Undo        uint64            // the revision to undo; 0 to restore To
	Revision    uint64            // current revision
	Differences []adminapi.Difference
	Why         string
}

func (c *request) restoreForm() error {
	v, _, err := c.restoreView()
	if err != nil {
		return err
	}
	c.showRestore(v, http.StatusOK)
	return nil
}

func (c *request) showRestore(v *restoreView, status int) {
	v.Title, v.Section = c.texts.text("restore.title", v.Spelling), "names"
	c.show(status, "restore", v)
}

// restoreView returns the page and the current record. The revision to restore is in the query
// parameter "to". If the parameter "undo" is set instead, it names the following revision, whose
// change is undone.
func (c *request) restoreView() (*restoreView, *store.Record, error) {
	n, rec, err := c.editable()
	if err != nil {
		return nil, nil, err
	}
	v := &restoreView{Spelling: rec.Spelling, Revision: rec.Revision}
	to := c.r.Form.Get("to")
	if text := c.r.Form.Get("undo"); text != "" {
		if v.Undo, err = strconv.ParseUint(text, 10, 64); err != nil || v.Undo < 2 {
			return nil, nil, errNoRevision
		}
		to = strconv.FormatUint(v.Undo-1, 10)
	}
	found, err := c.findRevisions(n, to)
	if err != nil {
		return nil, nil, err
	}
	if v.To = found[0]; v.To.Redacted || v.To.Record == nil {
		return nil, nil, &adminapi.StatusError{Status: http.StatusConflict, Detail: "this revision has no content that could be restored"}
	}
	v.Differences = adminapi.Differences(rec, v.To.Record)
	return v, rec, nil
}

func (c *request) restore() error {
	v, rec, err := c.restoreView()
	if err != nil {
		return err
	}
	f := c.r.PostForm
	v.Why = lines(f.Get("why"))
	expected, _ := strconv.ParseUint(f.Get("revision"), 10, 64) // malformed: 0, which leads to a conflict
	content := v.To.Record.Clone()
	content.Name, content.Spelling = rec.Name, rec.Spelling
	all := editFields | registrar.FieldSuccessors | registrar.FieldReason | registrar.FieldShowLocations | registrar.FieldValues
	_, err = c.api.Put(c.ctx(), registrar.Request{Record: content, Fields: all, Expected: expected}, v.Why)
	switch fault, ok := c.faultOf(err, firstField); {
	case err == nil:
		c.see(namePath(rec.Spelling) + "?done=restored")
	case errors.As(err, new(*store.ConflictError)):
		v.Faults = []problem{{"", c.texts.text("restore.conflict")}}
		c.showRestore(v, http.StatusConflict)
	case ok:
		v.Faults = []problem{fault}
		c.showRestore(v, http.StatusUnprocessableEntity)
	default:
		return err
	}
	return nil
}
