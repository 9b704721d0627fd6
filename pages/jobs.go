package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func jobHandlers() handlers {
	return handlers{
		"GET jobs":               (*request).jobs,
		"GET jobs/{id}":          (*request).job,
		"GET jobs/{id}/rejects":  (*request).rejects,
		"POST jobs/{id}/cancel":  (*request).cancelJob,
		"POST jobs/{id}/approve": (*request).approveJob,
		"POST jobs/{id}/reject":  (*request).rejectJob,
		"POST jobs/{id}/apply":   (*request).applyJob,
		"POST jobs/{id}/undo":    (*request).undoJob,
	}
}

func jobPath(id string) string { return Root + "jobs/" + url.PathEscape(id) }

type jobsView struct {
	frame
	Jobs []adminapi.Job
}

func (c *request) jobs() error {
	v := &jobsView{}
	v.Title, v.Section = c.texts.text("jobs.title"), "upload"
	var err error
	v.Jobs, err = c.api.Jobs(c.ctx())
	return c.shown(err, http.StatusOK, "jobs", v)
}

type jobView struct {
	frame
	Job     adminapi.Job
	Own     bool   // the user has started the job
	Key     string // key of the form, so that sending it twice starts only one undo
	Running bool
	Waiting bool   // a second person must decide
	Reason  string // reason for rejecting the job, as entered
	Paused  bool   // the browser does not reload the page
	Minutes int    // estimated time until the end, if it is at least a minute
	Seconds int    // estimated time until the end, if it is less than a minute

	Again    string // URL of a form that starts a job like this one, or ""
	Correct  string // URL of the form for the corrected lines; "" if no lines were rejected
	Rejects  string // ID of the dry run with the rejected lines, if Correct is set
	Cut      bool   // the dry run contains only the first rejected lines
	Applying bool   // the dry run can be applied
	Changes  int64  // number of records or names that would change
	Refused  int64  // number of records or names that were rejected
	From     string // the old text of a relocation
	To       string
	Typed    string // From, as entered for confirmation
	Skip     bool   // the user accepts that some changes are rejected
	Seen     uint64 // the user accepts changes by other users up to this log number
	SHA256   string // digest of the file
	ApplyTo  string // ID of the dry run that the form applies
	Limit    int    // number of names above which a second person must approve a relocation; 0 for no limit
	Undo     bool   // the changes can be undone
	Why      string // reason for the undo
}

func (c *request) job() error {
	v, err := c.jobView()
	return c.shown(err, http.StatusOK, "job", v)
}

func (c *request) jobView() (*jobView, error) {
	j, err := c.api.Job(c.ctx(), c.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	v := &jobView{Job: j, Own: j.Who == c.session.UserID, Key: adminapi.NewJobID(), Running: j.State == adminapi.JobRunning, Waiting: j.State == adminapi.JobWaiting, Paused: c.r.Form.Get("pause") != ""}
	v.Title, v.Section = c.texts.text("job.title", kindText(c.texts, j.Kind, j.DryRun)), "upload"
	if v.Running {
		v.Refresh = !v.Paused && c.r.Method == http.MethodGet
		if v.Seconds = int(j.Left + 0.5); v.Seconds >= 60 {
			v.Minutes, v.Seconds = (v.Seconds+30)/60, 0
		}
	}
	v.From, v.To = j.Relocation()
	v.Changes, v.Refused = j.Result.Counts()
	v.Undo = !v.Running && !j.DryRun && j.Import != "" && v.Changes > 0
	v.Again = againURL(&j)
	if err := c.offerRejects(v); err != nil {
		return nil, err
	}
	return v, c.offer(v)
}

func (c *request) offerRejects(v *jobView) error {
	dry := v.Job
	if v.Refused > 0 && dry.DryRunOf != "" {
		var err error
		switch dry, err = c.api.Job(c.ctx(), dry.DryRunOf); {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
	}
	if v.Correct = correctURL(&dry); v.Correct != "" {
		v.Rejects, v.Cut = dry.ID, dry.Upload.RejectsCut
	}
	return nil
}

// offer sets the fields of the page for a dry run that can be applied.
func (c *request) offer(v *jobView) error {
	dry := v.Job
	if of := v.Job.Result; of != nil && of.Intervening != nil { // this job did not apply its dry run, because of other changes
		var err error
		switch dry, err = c.api.Job(c.ctx(), v.Job.DryRunOf); {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		v.Seen = of.Intervening.Head
		v.Changes, v.Refused = dry.Result.Counts()
		v.Again = againURL(&dry)
	}
	if !dry.CanApply() || v.Changes == 0 || dry.Upload != nil && !dry.Upload.Kept {
		return nil
	}
	if dry.Applied != "" && dry.Applied != v.Job.ID {
		by, err := c.api.Job(c.ctx(), dry.Applied)
		if err == nil && (!by.HasEnded() || by.State == adminapi.JobDone) {
			return nil
		}
	}
	v.Applying, v.ApplyTo = true, dry.ID
	if dry.Upload != nil {
		v.SHA256 = dry.Upload.SHA256
	}
	if dry.Kind != adminapi.JobRelocate {
		return nil
	}
	rule, err := c.secondPerson()
	if int64(rule.RelocateAbove) < v.Changes {
		v.Limit = rule.RelocateAbove
	}
	return err
}

func (c *request) secondPerson() (adminapi.SecondPerson, error) {
	v, err := c.api.Version(c.ctx())
	return v.SecondPerson, err
}

// againURL returns the URL of the form that starts a job like j.
func againURL(j *adminapi.Job) string {
	switch {
	case j.Upload != nil && j.Upload.Kept:
		return uploadPath + "?" + j.Upload.Query + "&file=" + url.QueryEscape(j.ID)
	case j.Kind == adminapi.JobRelocate:
		from, to := j.Relocation()
		return relocatePath + "?" + url.Values{"from": {from}, "to": {to}}.Encode()
	case j.Upload != nil:
		return uploadPath + "?" + j.Upload.Query
	}
	return ""
}

// correctURL returns the URL of the form for uploading the corrected lines. The file with the
// rejected lines is in UTF-8 and marked for spreadsheets.
func correctURL(j *adminapi.Job) string {
	if j.Upload == nil || !j.Upload.Rejects {
		return ""
	}
	q, err := url.ParseQuery(j.Upload.Query)
	if err != nil {
		return ""
	}
	q.Del("encoding")
	q.Del("format")
	q.Set("spreadsheet", "1")
	return uploadPath + "?" + q.Encode()
}

func kindText(texts catalogue, kind string, dry bool) string {
	switch {
	case kind == adminapi.JobImport && dry:
		return texts.text("jobs.import-dry")
	case kind == adminapi.JobImport:
		return texts.text("jobs.import")
	case kind == adminapi.JobRelocate && dry:
		return texts.text("jobs.relocate-dry")
	case kind == adminapi.JobRelocate:
		return texts.text("jobs.relocate")
	case kind == adminapi.JobUndo && dry:
		return texts.text("jobs.undo-dry")
	case kind == adminapi.JobUndo:
		return texts.text("jobs.undo")
	case kind == adminapi.JobRedact:
		return texts.text("jobs.redact")
	case kind == adminapi.JobVerify:
		return texts.text("jobs.verify")
	case kind == adminapi.JobBackup:
		return texts.text("jobs.backup")
	}
	return kind
}

// settle waits a moment for the end of a job, because most jobs are short. It returns the new state
// of the job.
func (c *request) settle(j adminapi.Job) adminapi.Job {
	const patience, step = 600 * time.Millisecond, 30 * time.Millisecond
	for until := time.Now().Add(patience); j.State == adminapi.JobRunning && time.Now().Before(until); {
		select {
		case <-c.ctx().Done():
			return j
		case <-time.After(step):
		}
		next, err := c.api.Job(c.ctx(), j.ID)
		if err != nil {
			return j
		}
		j = next
	}
	return j
}

func (c *request) cancelJob() error {
	j, err := c.api.CancelJob(c.ctx(), c.r.PathValue("id"))
	if err != nil {
		return err
	}
	c.see(jobPath(j.ID))
	return nil
}

func (c *request) approveJob() error {
	v, err := c.jobView()
	if err != nil {
		return err
	}
	j, err := c.api.ApproveJob(c.ctx(), v.Job.ID)
	return c.started(v, j, err)
}

func (c *request) rejectJob() error {
	v, err := c.jobView()
	if err != nil {
		return err
	}
	if v.Reason = strings.TrimSpace(lines(c.r.PostForm.Get("reason"))); v.Reason == "" {
		v.Faults = []problem{{"reason", c.texts.text("job.no-reason")}}
		c.show(http.StatusUnprocessableEntity, "job", v)
		return nil
	}
	j, err := c.api.RejectJob(c.ctx(), v.Job.ID, v.Reason)
	return c.started(v, j, err)
}

func (c *request) applyJob() error {
	v, err := c.jobView()
	if err != nil {
		return err
	}
	f := c.r.PostForm
	v.Skip, v.Typed = f.Get("skip_rejected") != "", strings.TrimSpace(f.Get("typed"))
	seen, _ := strconv.ParseUint(f.Get("seen"), 10, 64) // 0 does not accept changes by other users
	if v.Applying && v.Job.Kind == adminapi.JobRelocate && v.Typed != v.From {
		v.Faults = append(v.Faults, problem{"typed", c.texts.text("job.mistyped", v.From)})
	}
	if v.Applying && v.Refused > 0 && !v.Skip {
		v.Faults = append(v.Faults, problem{"skip_rejected", c.texts.text("job.not-skipped", v.Refused)})
	}
	if len(v.Faults) > 0 {
		c.show(http.StatusUnprocessableEntity, "job", v)
		return nil
	}
	j, err := c.api.ApplyJob(c.ctx(), v.Job.ID, adminapi.Application{SHA256: f.Get("sha256"), SkipRejected: v.Skip, Seen: seen})
	return c.started(v, j, err)
}

func (c *request) undoJob() error {
	v, err := c.jobView()
	if err != nil {
		return err
	}
	if !v.Undo {
		v.Faults = []problem{{"", c.texts.text("job.no-undo")}}
		c.show(http.StatusUnprocessableEntity, "job", v)
		return nil
	}
	v.Why = lines(c.r.PostForm.Get("why"))
	u := registrar.Undoing{Batch: v.Job.Import, DryRun: true, Why: v.Why}
	j, err := c.api.StartUndo(c.ctx(), u, adminapi.Background{Key: formKey(c.r.PostForm)})
	return c.started(v, j, err)
}

// formKey returns the key of a form, which prevents that sending the form twice starts two jobs. If
// a form does not have a valid key, formKey returns a new key.
func formKey(f url.Values) string {
	if key := f.Get("key"); key != "" && len(key) <= adminapi.MaxKey {
		return key
	}
	return adminapi.NewJobID()
}

// started shows the job that was started by a form on the page of another job.
func (c *request) started(v *jobView, j adminapi.Job, err error) error {
	var status *adminapi.StatusError
	switch {
	case err == nil:
		c.see(jobPath(c.settle(j).ID))
		return nil
	case errors.As(err, &status) && status.Status == http.StatusConflict:
		v.Faults = []problem{{"", status.Detail}}
	default:
		fault, ok := c.faultOf(err, onlyField(""))
		if !ok {
			return err
		}
		v.Faults = []problem{fault}
	}
	c.show(http.StatusUnprocessableEntity, "job", v)
	return nil
}

// rejects sends the rejected lines of a dry run as a file.
func (c *request) rejects() error {
	j, err := c.api.Job(c.ctx(), c.r.PathValue("id"))
	if err != nil {
		return err
	}
	if j.Upload == nil || !j.Upload.Rejects {
		return errNoPage
	}
	format := j.Upload.RejectsFormat()
	h := c.w.Header()
	h.Set("Content-Type", format.MediaType())
	h.Set("Content-Disposition", `attachment; filename="rejected-`+j.ID+"."+format.String()+`"`)
	if c.r.Method == http.MethodHead {
		return nil
	}
	out := paced.NewWriter(c.w, uploadStep)
	if err = c.api.Rejects(c.ctx(), j.ID, out); err != nil && out.Written() == 0 {
		h.Del("Content-Disposition")
		return err
	}
	if err != nil {
		panic(http.ErrAbortHandler) // shows the client that the file is truncated
	}
	return nil
}
