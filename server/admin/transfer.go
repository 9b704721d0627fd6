package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// importNames imports the records in the body, and reports each result while it reads the body. If
// the client prefers an asynchronous response, the import runs in the background.
func (s *API) importNames(c *call) error {
	o, err := c.importOptions()
	if err != nil {
		return err
	}
	if err := s.takesChanges(); err != nil && !o.DryRun {
		return err
	}
	o.Now, o.Scratch = s.now, s.scratch
	kept, err := c.keptUpload(o)
	if err != nil {
		return err
	}
	job := adminapi.Job{Kind: adminapi.JobImport, Subject: ascii.Head(c.q.Get("filename"), maxFileName), DryRun: o.DryRun, Unit: "records", Upload: kept}
	control := http.NewResponseController(c.w)
	in := paced.NewReader(c.r.Body, c.w, s.timeout)
	if prefersAsync(c) {
		return s.importLater(c, job, in, o)
	}
	j, ctx, err := s.jobs.start(c, startOf{Job: job})
	if err != nil {
		return err
	}
	_ = control.EnableFullDuplex() // needed only in HTTP/1, in which net/http otherwise reads the whole body first
	h := c.w.Header()
	h.Set("Connection", "close")
	h.Set("Content-Type", bulk.JSONLines.MediaType())
	h.Set("Cache-Control", "no-store")
	h.Set(adminapi.JobHeader, j.ID)
	c.w.WriteHeader(http.StatusOK)
	out := newEventWriter(paced.NewDuplexWriter(c.w, s.timeout))
	in.Until(ctx)
	stop := context.AfterFunc(ctx, func() { _ = control.SetReadDeadline(time.Unix(1, 0)) }) // when ctx ends, reading the body fails
	defer stop()
	_ = (&importRun{api: s, call: c, job: j, in: in, options: o, out: out}).do(ctx) // the last line of the response has the error
	return nil
}

const maxFileName = 255

// importLater stores the body in a file, sends the response, and then imports the file.
func (s *API) importLater(c *call, job adminapi.Job, body io.Reader, o bulk.ImportOptions) error {
	place, err := s.jobs.reserve(c)
	if err != nil {
		return err
	}
	defer place.release()
	f, err := s.receive(c, body)
	if err != nil {
		return err
	}
	of := startOf{Job: job, reserved: place}
	if err := c.identify(&of, []string{c.q.Encode(), f.sum}); err != nil {
		drop(f.File)
		return err
	}
	if of.Upload != nil {
		of.Upload.Size, of.Upload.SHA256 = f.size, f.sum
	}
	j, ctx, err := s.jobs.start(c, of)
	if err != nil {
		drop(f.File)
		return s.repeated(c, err)
	}
	run := &importRun{api: s, call: c, job: j, in: f.File, size: f.size, options: o, out: nowhere()}
	if job.Upload != nil {
		if err := s.keep(ctx, run, f); err != nil {
			drop(f.File)
			return s.jobs.run(ctx, j, func(context.Context) error { return err })
		}
	}
	go func() {
		defer drop(f.File)
		_ = run.do(ctx) // the job has the error
	}()
	return s.accepted(c, j)
}

// receive stores the body of an import. If the parameter "file" is set, receive returns the file of
// an earlier dry run instead.
func (s *API) receive(c *call, body io.Reader) (*spooled, error) {
	id := c.q.Get("file")
	if id == "" {
		return s.jobs.spool(body)
	}
	if err := s.jobs.refresh(c.r.Context()); err != nil {
		return nil, err
	}
	s.jobs.mu.Lock()
	j := s.jobs.find(id)
	seen := j != nil && c.sees(j)
	s.jobs.mu.Unlock()
	if !seen {
		return nil, &adminapi.RequestError{Field: "file", Message: fmt.Sprintf("%.40q: job not found", id)}
	}
	f, err := s.jobs.open(c.r.Context(), j)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return s.jobs.spool(f)
}

// keptUpload returns the description of the body of a dry run that the server keeps. It returns nil
// if the parameter "keep" is not set.
func (c *call) keptUpload(o bulk.ImportOptions) (*adminapi.Upload, error) {
	keep, err := flag(c.q, "keep")
	if err != nil {
		return nil, err
	}
	if c.q.Has("file") && !(keep && prefersAsync(c)) {
		return nil, &adminapi.RequestError{Field: "file", Message: "needs the parameter keep and the field Prefer: respond-async"}
	}
	if !keep {
		return nil, nil
	}
	if !o.DryRun || !prefersAsync(c) {
		return nil, &adminapi.RequestError{Field: "keep", Message: "needs the parameter dry_run and the field Prefer: respond-async"}
	}
	q := maps.Clone(c.q)
	for _, key := range []string{"dry_run", "keep", "file", "filename", "changes"} {
		q.Del(key)
	}
	q.Set("format", o.Format.String())
	if encoding := c.r.Header.Get("Content-Encoding"); encoding != "" && q.Get("compression") == "" && !strings.EqualFold(encoding, "identity") {
		q.Set("compression", strings.TrimPrefix(strings.ToLower(encoding), "x-"))
	}
	return &adminapi.Upload{Query: q.Encode()}, nil
}

// keep keeps the file of a dry run. It also makes the dry run store its differences and rejected
// lines.
func (s *API) keep(ctx context.Context, run *importRun, f *spooled) error {
	if s.jobs.dir == "" && s.jobs.shared == nil {
		return &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: "this server has no directory in which it could keep the file"}
	}
	if err := store.Settle(ctx, s.store); err != nil { // otherwise earlier changes could seem to follow the dry run
		return err
	}
	if head, err := store.HeadOf(ctx, s.store); err == nil {
		s.jobs.update(run.job, func(j *adminapi.Job, _ *adminapi.JobResult) { j.Upload.Head = &head.Size })
	} else if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	run.samples = &samples{api: s, job: run.job}
	run.rejects = &rejectsFile{jobs: s.jobs, job: run.job, left: maxRejects}
	return s.jobs.keep(ctx, run.job, f)
}

type importRun struct {
	size    int64 // size of the file in bytes, or 0 if it is not needed
	api     *API
	call    *call
	job     *job
	in      io.Reader
	options bulk.ImportOptions
	out     *eventWriter
	before  func(context.Context) error // called before the import, which does not start after an error; may be nil
	after   func()                      // called at the end; may be nil
	samples *samples                    // may be nil
	rejects *rejectsFile                // may be nil
}

func (r *importRun) do(ctx context.Context) error {
	r.observe(ctx)
	var sum bulk.Summary
	err := r.api.jobs.run(ctx, r.job, func(ctx context.Context) (err error) {
		if r.before != nil {
			if err := r.before(ctx); err != nil {
				return err
			}
		}
		sum, err = bulk.Import(ctx, r.api.registrar, r.call.actor, r.in, r.options)
		r.note(sum)
		if r.size > 0 {
			r.api.jobs.update(r.job, func(j *adminapi.Job, _ *adminapi.JobResult) { j.Total = 0 })
		}
		if r.rejects != nil {
			r.rejects.close(ctx)
		}
		return err
	})
	last := adminapi.Event{Summary: &sum, Complete: err == nil}
	if err != nil {
		last.Problem = jobProblem(err)
	}
	r.out.write(last)
	r.out.flush()
	if r.after != nil {
		r.after()
	}
	return err
}

// observe reports the progress of the import to the job and to the client.
func (r *importRun) observe(ctx context.Context) {
	o, jobs := &r.options, r.api.jobs
	o.Refused = func(refusal bulk.Refusal) {
		jobs.update(r.job, func(_ *adminapi.Job, of *adminapi.JobResult) {
			if len(of.Refusals) < adminapi.MaxJobDetails {
				of.Refusals = append(of.Refusals, refusal)
			}
		})
		r.out.write(adminapi.Event{Refused: &refusal})
	}
	if o.Changed != nil {
		o.Changed = func(change bulk.Change) { r.out.write(adminapi.Event{Change: &change}) }
	}
	if r.samples != nil {
		o.After = func(change bulk.Change, after *store.Record) { r.samples.add(ctx, change, after) }
	}
	if r.rejects != nil {
		o.Rejects = r.rejects
	}
	o.Warned = func(w bulk.Warning) { r.out.write(adminapi.Event{Warned: &w}) }
	o.Doubted = func(d bulk.Doubts) { r.out.write(adminapi.Event{Doubts: &d}) }
	o.Begun = jobs.begun(r.job)
	if r.size > 0 {
		o.Position = r.estimate
	}
	o.Progress = func(sum bulk.Summary) {
		r.note(sum)
		r.out.write(adminapi.Event{Progress: &sum})
		r.out.flush()
	}
}

// estimate estimates the number of records in the file from the offset of the last record. It does
// not estimate the number for a compressed file.
func (r *importRun) estimate(offset int64) {
	r.api.jobs.update(r.job, func(j *adminapi.Job, of *adminapi.JobResult) {
		if j.Total = 0; of.Summary != nil && offset > 0 && offset < r.size {
			j.Total = uint64(float64(of.Summary.Read) * float64(r.size) / float64(offset))
		}
	})
}

func (r *importRun) note(sum bulk.Summary) {
	r.api.jobs.update(r.job, func(j *adminapi.Job, of *adminapi.JobResult) { of.Summary, j.Done = &sum, uint64(sum.Read) })
}

// importOptions returns the options for the parameters of an import. If the client requests the
// change of each record, it sets the option Changed.
func (c *call) importOptions() (o bulk.ImportOptions, err error) {
	q := c.q
	o.Who, o.Why = q.Get("as"), q.Get("why")
	o.Sheet = bulk.Sheet{Name: q.Get("sheet"), Encoding: q.Get("encoding"), Delimiter: q.Get("delimiter"), Columns: q["map"], Split: q["split"]}
	var bad *bulk.SheetError
	if errors.As(o.Sheet.Check(), &bad) {
		return o, &adminapi.RequestError{Field: bad.Option, Message: fmt.Sprintf("%q: %s", bad.Value, bad.Reason)}
	}
	changes := false
	if err = flags(q, flagOf{"spreadsheet", &o.Sheet.Spreadsheet}, flagOf{"dry_run", &o.DryRun}, flagOf{"strict", &o.Strict},
		flagOf{"retired", &o.Retired}, flagOf{"map_resolvers", &o.Resolvers}, flagOf{"changes", &changes}); err != nil {
		return o, err
	}
	if changes {
		o.Changed = func(bulk.Change) {}
	}
	var ok bool
	if o.OnConflict, ok = bulk.ParseConflict(cmp.Or(q.Get("on_conflict"), bulk.Merge.String())); !ok {
		return o, &adminapi.RequestError{Field: "on_conflict", Message: "must be merge, keep, replace or fail"}
	}
	if o.Format, err = c.bodyFormat(q.Get("format")); err != nil {
		return o, err
	}
	if errors.As(o.Sheet.Fits(o.Format), &bad) {
		return o, &adminapi.RequestError{Field: bad.Option, Message: fmt.Sprintf("%q: %s", bad.Value, bad.Reason)}
	}
	if o.Compression, err = compression(q.Get("compression"), c.r.Header.Get("Content-Encoding")); err != nil {
		return o, err
	}
	return o, c.permitAuthor(o.Who)
}

// permitAuthor returns an error if the caller may not make changes on behalf of the user with the
// ID author.
func (c *call) permitAuthor(author string) error {
	if author == "" || c.actor.MayAll(registrar.Administrator) {
		return nil
	}
	denied := c.actor.DeniedAll(registrar.Administrator, author)
	denied.Why = "this makes changes in the name of another user"
	return denied
}

// bodyFormat returns the format of a body. This is the format with the given name. If the name is
// "", it is the format for the media type of the body.
func (c *call) bodyFormat(name string) (bulk.Format, error) {
	if name == "" {
		kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
		for _, f := range []bulk.Format{bulk.CSV, bulk.TSV, bulk.XLSX} {
			if its, _, _ := strings.Cut(f.MediaType(), ";"); kind == its {
				return f, nil
			}
		}
		return bulk.JSONLines, nil
	}
	f, ok := bulk.ParseFormat(name)
	if !ok || !f.Readable() {
		return f, &adminapi.RequestError{Field: "format", Message: "must be jsonl, csv, tsv or xlsx"}
	}
	return f, nil
}

// compression returns the compression of a body. The query parameter takes precedence over
// Content-Encoding.
func compression(name, encoding string) (bulk.Compression, error) {
	if name == "" && encoding != "" && !strings.EqualFold(encoding, "identity") {
		name = strings.TrimPrefix(strings.ToLower(encoding), "x-")
	}
	how, ok := adminapi.ParseCompression(name)
	if !ok {
		return how, &adminapi.StatusError{Kind: adminapi.KindCoding, Status: http.StatusUnsupportedMediaType, Detail: "compression: must be gzip, zstd or none"}
	}
	return how, nil
}

// exportNames streams records. A trailer field shows that the response is complete.
func (s *API) exportNames(c *call) error {
	o, err := c.exportOptions()
	if err != nil {
		return err
	}
	o.Now = s.now
	h := c.w.Header()
	describe(h, exportType(o))
	if c.r.Method == http.MethodHead {
		return nil
	}
	h.Set("Trailer", adminapi.SummaryTrailer+", "+adminapi.RefusedTrailer)
	var refused []bulk.Refusal
	o.Refused = func(r bulk.Refusal) {
		if len(refused) < adminapi.MaxRefusals {
			refused = append(refused, r)
		}
	}
	out := paced.NewWriter(c.w, s.timeout)
	sum, err := bulk.Export(pacer.With(c.r.Context(), s.jobs.pacer), reachable{s.store, c.actor}, out, o)
	if err != nil {
		if out.Written() == 0 {
			h.Del("Trailer")
			return err
		}
		s.log.Info("export aborted", "who", c.actor.Who, "err", err)
		panic(http.ErrAbortHandler) // shows the client that the response is truncated
	}
	for _, r := range refused {
		if err := addTrailer(h, adminapi.RefusedTrailer, r); err != nil {
			return err
		}
	}
	return addTrailer(h, adminapi.SummaryTrailer, sum)
}

// addTrailer sets a trailer field, which the Trailer field must have announced.
func addTrailer(h http.Header, field string, v any) error {
	text, err := adminapi.Encode(v)
	if err == nil {
		h.Add(field, strings.TrimSpace(string(text)))
	}
	return err
}

func (c *call) exportOptions() (o bulk.ExportOptions, err error) {
	q := c.q
	o.Prefix = q.Get("prefix")
	var ok bool
	if o.Format, ok = bulk.ParseFormat(cmp.Or(q.Get("format"), bulk.JSONLines.String())); !ok || !o.Format.Writable() {
		return o, &adminapi.RequestError{Field: "format", Message: "must be jsonl, csv, tsv, nginx-map, apache-map, uri-list, ezid-csv, handle-batch, htaccess, obo-yaml or caddy"}
	}
	if err = flags(q, flagOf{"revisions", &o.Revisions}, flagOf{"spreadsheet", &o.Spreadsheet}); err != nil {
		return o, err
	}
	if o.Spreadsheet && o.Format != bulk.CSV && o.Format != bulk.TSV {
		return o, &adminapi.RequestError{Field: "spreadsheet", Message: "only applies to csv and tsv"}
	}
	if o.Revisions && o.Format != bulk.JSONLines {
		return o, &adminapi.RequestError{Field: "revisions", Message: "only jsonl can contain revisions"}
	}
	if o.Statuses, err = statuses(q); err != nil {
		return o, err
	}
	if o.Compression, err = compression(q.Get("compression"), ""); err != nil {
		return o, err
	}
	if at := q.Get("at"); at != "" {
		if o.At, err = time.Parse(time.RFC3339, at); err != nil {
			return o, &adminapi.RequestError{Field: "at", Message: "must be a time such as 2006-01-02T15:04:05Z"}
		}
	}
	return o, nil
}

func exportType(o bulk.ExportOptions) string {
	switch o.Compression {
	case bulk.Gzip:
		return "application/gzip"
	case bulk.Zstd:
		return "application/zstd"
	}
	return o.Format.MediaType()
}

// A reachable is a view of the store that has only the records for which an actor has rights.
type reachable struct {
	store.Reader
	actor registrar.Actor
}

// List yields only the records for which the actor has rights.
func (r reachable) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for rec, err := range r.Reader.List(ctx, scan) {
			if err == nil && !r.actor.Reaches(rec.Name) {
				continue
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// takesChanges returns the reason for which the store cannot be changed now, or nil. With it, an
// import can be rejected before its body is read.
func (s *API) takesChanges() error {
	switch c := store.ConditionOf(s.store); {
	case !c.NoWrites || c.Cause == "":
		return nil
	case c.Full:
		return &adminapi.FullError{Detail: c.Cause}
	default:
		return &store.AwayError{Cause: c.Cause}
	}
}
