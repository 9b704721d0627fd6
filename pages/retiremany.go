package pages

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// maxRetired is the maximum number of names in the form. A file can contain more names.
const maxRetired = 1000

func retireHandlers() handlers {
	return handlers{
		"GET retire":  (*request).retireManyForm,
		"POST retire": (*request).retireMany,
		"GET merge":   (*request).mergeForm,
		"POST merge":  (*request).merge,
	}
}

type retireManyView struct {
	frame
	Key        string
	Names      string // one name per line; Successors likewise
	Successors string
	Reason     string
	Why        string
}

func (c *request) retireManyForm() error {
	return c.showRetireMany(c.newRetireManyView(), http.StatusOK)
}

func (c *request) newRetireManyView() *retireManyView {
	f := c.r.Form
	return &retireManyView{Key: formKey(f), Names: lines(f.Get("names")), Successors: lines(f.Get("successors")), Reason: lines(f.Get("reason")), Why: lines(f.Get("why"))}
}

func (c *request) showRetireMany(v *retireManyView, status int) error {
	v.Title, v.Section = c.texts.text("retire-many.title"), "upload"
	return c.showBulk(status, "retire-many", v)
}

func (c *request) showBulk(status int, page string, v view) error {
	if !c.session.Actor.MayAny(registrar.Editor) {
		return c.session.Actor.DeniedAny(registrar.Editor, page)
	}
	c.show(status, page, v)
	return nil
}

func (c *request) retireMany() error {
	v := c.newRetireManyView()
	names := strings.Fields(v.Names)
	var records []tombstone
	for _, n := range names {
		records = append(records, tombstone{Name: n, Status: nomen.Retired, Reason: v.Reason, Successors: strings.Fields(v.Successors)})
	}
	switch {
	case len(names) == 0:
		v.Faults = []problem{{"names", c.texts.text("retire-many.none")}}
	case len(names) > maxRetired:
		v.Faults = []problem{{"names", c.texts.text("retire-many.too-many", len(names), maxRetired)}}
	}
	if v.Reason == "" && len(entries(v.Successors)) == 0 {
		v.Faults = append(v.Faults, problem{"reason", c.texts.text("retire-many.no-reason")})
	}
	var j adminapi.Job
	if len(v.Faults) == 0 {
		var err error
		o := bulk.ImportOptions{DryRun: true, OnConflict: bulk.Replace, Retired: true, Why: v.Why}
		if j, v.Faults, err = c.startRecords(records, o, v.Key, "names"); err != nil {
			return err
		}
	}
	if len(v.Faults) > 0 {
		return c.showRetireMany(v, http.StatusUnprocessableEntity)
	}
	c.see(jobPath(c.settle(j).ID))
	return nil
}

// A tombstone is a line of the import file that is made from a form.
type tombstone struct {
	Name       string       `json:"name"`
	Status     nomen.Status `json:"status,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Successors []string     `json:"successors,omitempty"`
	SameAs     []string     `json:"same_as,omitempty"`
}

// startRecords starts a dry run of an import of records. All names must exist. The parameter field
// is the ID of the form field to which errors belong.
func (c *request) startRecords(records []tombstone, o bulk.ImportOptions, key, field string) (j adminapi.Job, faults []problem, err error) {
	if faults, err = c.missing(records, field); err != nil || len(faults) > 0 {
		return j, faults, err
	}
	var file bytes.Buffer
	out := json.NewEncoder(&file)
	for _, r := range records {
		if err := out.Encode(r); err != nil {
			return j, nil, err
		}
	}
	j, err = c.api.StartImport(c.ctx(), &file, o, adminapi.Background{Keep: true, Key: key, FileName: c.texts.text("retire-many.file")})
	if fault, ok := c.faultOf(err, onlyField(field)); ok {
		return j, []problem{fault}, nil
	}
	return j, nil, err
}

// missing returns a problem for each name that is invalid or does not exist. Otherwise, the import
// would create a tombstone for a misspelled name.
func (c *request) missing(records []tombstone, field string) (faults []problem, err error) {
	var reqs []registrar.Request
	for _, r := range records {
		n, err := name.Parse(r.Name)
		if err != nil {
			faults = append(faults, problem{field, r.Name + ": " + err.Error()})
			continue
		}
		rec := &store.Record{Name: n, Spelling: r.Name, Status: r.Status, Reason: r.Reason, Successors: r.Successors, SameAs: r.SameAs}
		req := registrar.Request{Record: rec, Fields: registrar.FieldStatus | registrar.FieldReason | registrar.FieldSuccessors, Expected: store.AnyRevision}
		if r.Status == "" {
			req.Fields, req.Add = registrar.FieldSameAs, true
		}
		reqs = append(reqs, req)
	}
	if len(faults) > 0 {
		return cutFaults(faults), nil
	}
	outs, err := c.api.Preview(c.ctx(), reqs)
	if err != nil {
		return nil, err
	}
	for i, out := range outs {
		switch fault, ok := c.faultOf(out.Err, onlyField(field)); {
		case ok:
			faults = append(faults, problem{field, records[i].Name + ": " + fault.Text})
		case out.Err != nil:
			faults = append(faults, problem{field, records[i].Name + ": " + out.Err.Error()})
		case out.Created:
			faults = append(faults, problem{field, c.texts.text("retire-many.missing", records[i].Name)})
		}
	}
	return cutFaults(faults), nil
}

func cutFaults(all []problem) []problem { return all[:min(len(all), pageSize)] }

type mergeView struct {
	frame
	Key        string
	Keep, Drop string
	Reason     string
	Why        string
}

func (c *request) mergeForm() error { return c.showMerge(c.newMergeView(), http.StatusOK) }

func (c *request) newMergeView() *mergeView {
	f := c.r.Form
	return &mergeView{Key: formKey(f), Keep: strings.TrimSpace(f.Get("keep")), Drop: strings.TrimSpace(f.Get("drop")), Reason: lines(f.Get("reason")), Why: lines(f.Get("why"))}
}

func (c *request) showMerge(v *mergeView, status int) error {
	v.Title, v.Section = c.texts.text("merge.title"), "upload"
	return c.showBulk(status, "merge", v)
}

// merge starts a dry run that retires a duplicate. The other name becomes the successor of the
// duplicate, and the duplicate becomes an alias of the other name.
func (c *request) merge() error {
	v := c.newMergeView()
	a, errA := name.Parse(v.Keep)
	b, errB := name.Parse(v.Drop)
	switch {
	case errA != nil:
		v.Faults = []problem{{"keep", errA.Error()}}
	case errB != nil:
		v.Faults = []problem{{"drop", errB.Error()}}
	case a == b:
		v.Faults = []problem{{"drop", c.texts.text("merge.same")}}
	}
	var j adminapi.Job
	if len(v.Faults) == 0 {
		records := []tombstone{{Name: v.Drop, Status: nomen.Retired, Reason: v.Reason, Successors: []string{v.Keep}}, {Name: v.Keep, SameAs: []string{v.Drop}}}
		var err error
		if j, v.Faults, err = c.startRecords(records, bulk.ImportOptions{DryRun: true, Why: v.Why}, v.Key, "drop"); err != nil {
			return err
		}
	}
	if len(v.Faults) > 0 {
		return c.showMerge(v, http.StatusUnprocessableEntity)
	}
	c.see(jobPath(c.settle(j).ID))
	return nil
}
