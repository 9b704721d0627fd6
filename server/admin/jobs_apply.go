package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// identify records the key and the digest of a request. If the client repeats the request, the
// server recognises it by these. For a dry run, identify also records the parameter body, which is
// needed to apply the dry run.
func (c *call) identify(of *startOf, body any) (err error) {
	if of.request, err = json.Marshal(body); err != nil {
		return err
	}
	if of.key = c.r.Header.Get(adminapi.KeyHeader); len(of.key) > adminapi.MaxKey || !prefersAsync(c) && of.key != "" {
		return &adminapi.RequestError{Field: adminapi.KeyHeader, Message: fmt.Sprintf("must have at most %d bytes, and needs the field Prefer: respond-async", adminapi.MaxKey)}
	}
	if of.key != "" {
		sum := sha256.Sum256(append([]byte(of.Kind+" "), of.request...))
		of.print = hex.EncodeToString(sum[:])
	}
	if !of.DryRun || of.Kind == adminapi.JobImport {
		of.request = nil
	}
	return nil
}

// repeated answers a request that has already started a job. It returns all other errors unchanged.
func (s *API) repeated(c *call, err error) error {
	var again *repeatedError
	if errors.As(err, &again) {
		return s.accepted(c, again.job)
	}
	return err
}

func (s *API) applyJob(c *call) error {
	j, err := s.job(c)
	if err != nil {
		return err
	}
	var a adminapi.Application
	if err := readJSON(c, &a); err != nil {
		return err
	}
	s.jobs.mu.Lock()
	dry := s.jobs.snapshot(j)
	s.jobs.mu.Unlock()
	if err := applicable(&dry, a); err != nil {
		return err
	}
	c.async = true
	switch dry.Kind {
	case adminapi.JobRelocate:
		return applyRequest(j, func(rel registrar.Relocation) error {
			rel.DryRun = false
			return s.relocateAs(c, rel, j.ID)
		})
	case adminapi.JobUndo:
		return applyRequest(j, func(u registrar.Undoing) error {
			u.DryRun = false
			return s.undoAs(c, u, j.ID)
		})
	}
	return s.applyImport(c, j, &dry, a)
}

// applicable returns an error unless a dry run can be applied.
func applicable(dry *adminapi.Job, a adminapi.Application) error {
	refuse := func(detail string) error {
		return &adminapi.StatusError{Kind: adminapi.KindJobEnded, Status: http.StatusConflict, Detail: detail}
	}
	if !dry.CanApply() || dry.Result == nil {
		return refuse("only a dry run of an import, relocation or undo that is complete can be applied; the file of an import must be kept")
	}
	_, refused := dry.Result.Counts()
	switch {
	case refused > 0 && !a.SkipRejected:
		return refuse(fmt.Sprintf("the dry run rejected %d %s; set skip_rejected to apply the rest", refused, dry.Unit))
	case dry.Upload != nil && a.SHA256 != dry.Upload.SHA256:
		return &adminapi.RequestError{Field: "sha256", Message: "is not the digest of the file of this dry run"}
	}
	return nil
}

func applyRequest[T any](j *job, start func(T) error) error {
	var of T
	if err := json.Unmarshal(j.Request, &of); err != nil {
		return fmt.Errorf("job %s: %w", j.ID, err)
	}
	return start(of)
}

func (s *API) applyImport(c *call, j *job, dry *adminapi.Job, a adminapi.Application) error {
	if err := s.takesChanges(); err != nil {
		return err
	}
	o, err := s.keptOptions(c, dry.Upload)
	if err != nil {
		return err
	}
	of := startOf{Job: adminapi.Job{Kind: adminapi.JobImport, Subject: dry.Subject, DryRunOf: j.ID, Unit: dry.Unit, Total: dry.Done}}
	next, ctx, err := s.jobs.start(c, of)
	if err != nil {
		return s.repeated(c, err)
	}
	f, err := s.jobs.open(ctx, j)
	if err != nil {
		return s.jobs.run(ctx, next, func(context.Context) error { return err })
	}
	run := &importRun{api: s, call: c, job: next, in: f, options: o, out: nowhere()}
	run.before = func(ctx context.Context) error {
		pins, err := s.pin(ctx, f, o) // before checkFile, so that the pins reveal changes made after checkFile
		if err != nil {
			return err
		}
		run.options.Pins, run.after = pins, pins.drop
		return s.checkFile(ctx, c, fileCheck{job: next, dry: j, upload: dry.Upload, file: f, options: o, seen: a.Seen})
	}
	go func() {
		defer f.Close()
		if run.do(ctx) == nil {
			s.forgetFile(context.WithoutCancel(ctx), j.ID)
		}
	}()
	return s.accepted(c, next)
}

// forgetFile deletes the file of a dry run that has been applied. If this fails, the file is
// deleted together with the job.
func (s *API) forgetFile(ctx context.Context, id string) {
	err := s.jobs.change(ctx, func() error {
		if j := s.jobs.find(id); j != nil {
			s.jobs.forget(j)
		}
		return nil
	})
	if err != nil {
		s.log.Warn("the file of a job remains until the job is removed", "job", id, "err", err)
	}
}

func (s *API) keptOptions(c *call, u *adminapi.Upload) (bulk.ImportOptions, error) {
	q, err := url.ParseQuery(u.Query)
	if err != nil {
		return bulk.ImportOptions{}, err
	}
	as := *c
	as.q = q
	o, err := as.importOptions()
	o.Now, o.Scratch = s.now, s.scratch
	return o, err
}

// A fileCheck has the parameters of the check before a file is imported.
type fileCheck struct {
	job     *job // the import
	dry     *job // the dry run
	upload  *adminapi.Upload
	file    *os.File
	options bulk.ImportOptions
	seen    uint64
}

// checkFile returns an error if a file is not the file of its dry run, or if other clients have
// changed names in the file since the dry run.
func (s *API) checkFile(ctx context.Context, c *call, f fileCheck) error {
	sum := sha256.New()
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return unstored(err)
	}
	if _, err := io.Copy(sum, f.file); err != nil {
		return unstored(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.upload.SHA256 {
		return &adminapi.StatusError{Kind: adminapi.KindJobEnded, Status: http.StatusConflict, Detail: "the stored file has changed since the dry run; send the file again"}
	}
	if f.upload.Head != nil {
		if err := s.checkNames(ctx, c, f); err != nil {
			return err
		}
	}
	_, err := f.file.Seek(0, io.SeekStart)
	return err
}

// maxIntervening is the maximum number of names changed since a dry run that are compared with the
// file.
const maxIntervening = 100_000

// checkNames returns an error if a name in a file has been changed by another client since the dry
// run of the file. It ignores changes that the client has accepted.
func (s *API) checkNames(ctx context.Context, c *call, f fileCheck) error {
	changed, head, err := s.changedNames(ctx, f)
	if err != nil || len(changed) == 0 {
		return err
	}
	found := &adminapi.Intervening{Head: head, Names: []string{}}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return unstored(err)
	}
	err = bulk.Names(f.file, f.options, func(_ int, spelling string) error {
		n, err := name.Parse(spelling)
		if err != nil {
			return ctx.Err() // not a valid name; the import rejects the line
		}
		if n, err = s.registrar.Kept(ctx, n, time.Time{}); err == nil && changed[n] && c.actor.Reaches(n) {
			delete(changed, n) // counts each name only once
			if found.Count++; found.Count <= adminapi.MaxJobSamples {
				found.Names = append(found.Names, n.Key())
			}
		}
		return errors.Join(err, ctx.Err())
	})
	if err != nil || found.Count == 0 {
		return err
	}
	s.jobs.update(f.job, func(_ *adminapi.Job, of *adminapi.JobResult) { of.Intervening = found })
	return &adminapi.StatusError{
		Kind: adminapi.KindJobEnded, Status: http.StatusConflict,
		Detail: fmt.Sprintf("%d names of the file were changed since the dry run; nothing was imported. Do the dry run again, or set seen to %d", found.Count, head),
	}
}

// changedNames returns the names that other clients have changed since a dry run, and the size of
// the log. It ignores earlier attempts to apply the same dry run.
func (s *API) changedNames(ctx context.Context, f fileCheck) (map[name.Name]bool, uint64, error) {
	own := s.jobs.batches(f.dry)
	if err := store.Settle(ctx, s.store); err != nil {
		return nil, 0, err
	}
	changed, head := map[name.Name]bool{}, max(*f.upload.Head, f.seen)
	for e, err := range store.Changes(ctx, s.store, head) {
		if err != nil {
			return nil, 0, err
		}
		head = e.Seq
		if of := e.Change.Subject(); of.Kind == store.KindName && (e.Change.Batch == "" || !slices.Contains(own, e.Change.Batch)) {
			changed[name.FromKey(of.Key)] = true
		}
		if len(changed) > maxIntervening {
			return nil, 0, &adminapi.StatusError{
				Kind: adminapi.KindJobEnded, Status: http.StatusConflict,
				Detail: fmt.Sprintf("more than %d names were changed since the dry run; do the dry run again", maxIntervening),
			}
		}
	}
	return changed, head, nil
}

func (js *jobTable) batches(dry *job) (all []string) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		if j.DryRunOf == dry.ID && j.Import != "" {
			all = append(all, j.Import)
		}
	}
	return all
}

type samples struct {
	api *API
	job *job
	n   int
}

// Limits of the changes in the result of a dry run.
const (
	maxDifferences    = 20
	maxDifferenceText = 500 // in bytes of a value
)

// add adds a change. The parameter record is the record after the change.
func (s *samples) add(ctx context.Context, change bulk.Change, record *store.Record) {
	if s.n++; s.n > adminapi.MaxJobSamples || record == nil {
		return
	}
	var before *store.Record
	if !change.Created {
		before, _ = s.api.store.Get(ctx, record.Name, time.Time{}) // after an error, the whole record is shown as new
	}
	all := adminapi.Differences(before, record)
	all = all[:min(len(all), maxDifferences)]
	for i := range all {
		all[i].Before, all[i].After = shorten(all[i].Before), shorten(all[i].After)
	}
	s.api.jobs.update(s.job, func(_ *adminapi.Job, of *adminapi.JobResult) {
		of.Changes = append(of.Changes, adminapi.JobChange{Change: change, Differences: all})
	})
}

func shorten(s string) string { return ascii.Head(s, maxDifferenceText) }

// paced returns a writer for the response with a deadline for each write.
func (s *API) paced(c *call) io.Writer { return paced.NewWriter(c.w, s.timeout) }
