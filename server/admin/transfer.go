package admin

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// importNames imports the records in the body, and reports each result on a line as soon as it is
// known. If the client prefers an asynchronous response, the import runs in the background.
func (s *API) importNames(c *call) error {
	o, err := c.importOptions()
	if err != nil {
		return err
	}
	if err := s.takesChanges(); err != nil && !o.DryRun {
		return err
	}
	o.Now, o.Scratch = s.now, s.scratch
	job := adminapi.Job{Kind: adminapi.JobImport, DryRun: o.DryRun, Unit: "records"}
	control := http.NewResponseController(c.w)
	in := paced.NewReader(c.r.Body, c.w, s.timeout)
	if prefersAsync(c.r) {
		return s.importLater(c, job, in, o)
	}
	j, ctx, err := s.jobs.start(c, job)
	if err != nil {
		return err
	}
	_ = control.EnableFullDuplex() // needed only for HTTP/1; in HTTP/2 both sides can always send
	// If the import ends early, a part of the body remains unread. The connection is then closed,
	// because the server would otherwise read that part as the next request.
	h := c.w.Header()
	h.Set("Connection", "close")
	h.Set("Content-Type", bulk.JSONLines.MediaType())
	h.Set("Cache-Control", "no-store")
	h.Set(adminapi.JobHeader, j.ID)
	c.w.WriteHeader(http.StatusOK)
	out := newEventWriter(paced.NewDuplexWriter(c.w, s.timeout))
	in.Until(ctx)
	stop := context.AfterFunc(ctx, func() { _ = control.SetReadDeadline(time.Unix(1, 0)) }) // when ctx ends, stop waiting for the body
	defer stop()
	s.runImport(ctx, c, j, in, o, out)
	return nil
}

// importLater stores the body in a file, sends the response, and then imports the file.
func (s *API) importLater(c *call, job adminapi.Job, body io.Reader, o bulk.ImportOptions) error {
	j, ctx, err := s.jobs.start(c, job)
	if err != nil {
		return err
	}
	spool, err := s.jobs.spool(body)
	if err != nil {
		return s.jobs.run(ctx, j, func(context.Context) error { return err })
	}
	go func() {
		defer drop(spool)
		s.runImport(ctx, c, j, spool, o, &eventWriter{err: io.ErrClosedPipe})
	}()
	return s.accepted(c, j)
}

// runImport imports the records of the reader in as the job j, and writes the events to out.
func (s *API) runImport(ctx context.Context, c *call, j *job, in io.Reader, o bulk.ImportOptions, out *eventWriter) {
	o.Refused = func(r bulk.Refusal) {
		s.jobs.update(j, func(_ *adminapi.Job, of *adminapi.JobResult) {
			if len(of.Refusals) < adminapi.MaxJobDetails {
				of.Refusals = append(of.Refusals, r)
			}
		})
		out.write(adminapi.Event{Refused: &r})
	}
	if o.Changed != nil {
		o.Changed = func(change bulk.Change) { out.write(adminapi.Event{Change: &change}) }
	}
	o.Warned = func(w bulk.Warning) { out.write(adminapi.Event{Warned: &w}) }
	o.Doubted = func(d bulk.Doubts) { out.write(adminapi.Event{Doubts: &d}) }
	o.Begun = s.jobs.begun(j)
	note := func(sum bulk.Summary) {
		s.jobs.update(j, func(j *adminapi.Job, of *adminapi.JobResult) { of.Summary, j.Done = &sum, uint64(sum.Read) })
	}
	o.Progress = func(sum bulk.Summary) {
		note(sum)
		out.write(adminapi.Event{Progress: &sum})
		out.flush()
	}
	var sum bulk.Summary
	err := s.jobs.run(ctx, j, func(ctx context.Context) (err error) {
		sum, err = bulk.Import(ctx, s.registrar, c.actor, in, o)
		note(sum)
		return err
	})
	last := adminapi.Event{Summary: &sum, Complete: err == nil}
	if err != nil {
		last.Problem = jobProblem(err)
	}
	out.write(last)
	out.flush()
}

// importOptions returns the options in the parameters of an import. It sets the option Changed if
// the client asks for the changes of each record.
func (c *call) importOptions() (o bulk.ImportOptions, err error) {
	q := c.q
	o.Who, o.Why = q.Get("as"), q.Get("why")
	o.Sheet = bulk.Sheet{Encoding: q.Get("encoding"), Delimiter: q.Get("delimiter"), Columns: q["map"], Split: q["split"]}
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
	if o.Sheet.Spreadsheet && o.Format == bulk.JSONLines {
		return o, &adminapi.RequestError{Field: "spreadsheet", Message: "only applies to csv and tsv"}
	}
	if o.Compression, err = compression(q.Get("compression"), c.r.Header.Get("Content-Encoding")); err != nil {
		return o, err
	}
	return o, c.permitAuthor(o.Who)
}

// permitAuthor returns an error if the caller may not make changes in the name of the user who.
func (c *call) permitAuthor(who string) error {
	if who == "" || c.actor.MayAll(registrar.Administrator) {
		return nil
	}
	denied := c.actor.DeniedAll(registrar.Administrator, who)
	denied.Why = "this makes changes in the name of another user"
	return denied
}

// bodyFormat returns the format of a body. If the client does not name it, the media type of the
// body says which it is.
func (c *call) bodyFormat(name string) (bulk.Format, error) {
	if name == "" {
		kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
		for _, f := range []bulk.Format{bulk.CSV, bulk.TSV} {
			if its, _, _ := strings.Cut(f.MediaType(), ";"); kind == its {
				return f, nil
			}
		}
		return bulk.JSONLines, nil
	}
	f, ok := bulk.ParseFormat(name)
	if !ok || !f.Readable() {
		return f, &adminapi.RequestError{Field: "format", Message: "must be jsonl, csv or tsv"}
	}
	return f, nil
}

// compression returns the compression of a body: the one that the client names, or else the one
// that the header field Content-Encoding names.
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

// An eventWriter sends events to the client. If the connection fails, it ignores all further
// events, so that the import continues.
type eventWriter struct {
	*paced.Writer
	out *bufio.Writer
	err error
}

func newEventWriter(p *paced.Writer) *eventWriter {
	w := &eventWriter{Writer: p}
	w.out = bufio.NewWriter(w.Writer)
	return w
}

func (w *eventWriter) write(e adminapi.Event) {
	if w.err != nil {
		return
	}
	b, err := adminapi.Encode(e)
	if err == nil {
		_, err = w.out.Write(b)
	}
	w.err = err
}

// flush sends the events in the buffer.
func (w *eventWriter) flush() {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		w.err = w.Flush()
	}
}

// exportNames streams records. A trailer field at the end confirms that the response is complete.
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
	sum, err := bulk.Export(c.r.Context(), reachable{s.store, c.actor}, out, o)
	if err != nil {
		if out.Written() == 0 {
			h.Del("Trailer")
			return err
		}
		s.log.Info("export aborted", "who", c.actor.Who, "err", err)
		panic(http.ErrAbortHandler) // so that the client sees that the response is truncated
	}
	for _, r := range refused {
		if err := addTrailer(h, adminapi.RefusedTrailer, r); err != nil {
			return err
		}
	}
	return addTrailer(h, adminapi.SummaryTrailer, sum)
}

// addTrailer sets a field of the trailer. The header must have announced this field.
func addTrailer(h http.Header, field string, v any) error {
	text, err := adminapi.Encode(v)
	if err == nil {
		h.Add(field, strings.TrimSpace(string(text)))
	}
	return err
}

// exportOptions returns the options in the parameters of an export.
func (c *call) exportOptions() (o bulk.ExportOptions, err error) {
	q := c.q
	o.Prefix = q.Get("prefix")
	var ok bool
	if o.Format, ok = bulk.ParseFormat(cmp.Or(q.Get("format"), bulk.JSONLines.String())); !ok {
		return o, &adminapi.RequestError{Field: "format", Message: "must be jsonl, csv, tsv, nginx-map, apache-map or uri-list"}
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

// A reachable is the store with only the records on which an actor has rights.
type reachable struct {
	store.Reader
	actor registrar.Actor
}

// List yields only the records that the actor has rights on.
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

// takesChanges returns nil if the store can be changed at present, and otherwise the reason why
// not. An import is rejected for this reason before its body is read.
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
