package admin

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// at returns the time in the parameter "at", or zero for now.
func (c *call) at() (time.Time, error) {
	q, err := c.query("at")
	if err != nil || first(q, "at") == "" {
		return time.Time{}, err
	}
	t, err := adminapi.ParseTime(first(q, "at"))
	if err != nil {
		return t, &adminapi.RequestError{Field: "at", Message: err.Error()}
	}
	return t, nil
}

// number returns a parameter that is a number, or absent if it is not given.
func number(q map[string][]string, key string, absent uint64) (uint64, error) {
	text := first(q, key)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &adminapi.RequestError{Field: key, Message: fmt.Sprintf("invalid number %.40q", text)}
	}
	return n, nil
}

// requireAllNames returns an error unless the actor has rights on all names.
func (c *call) requireAllNames(what string) error {
	if len(c.actor.Prefixes) == 0 {
		return nil
	}
	return &registrar.DeniedError{Who: c.actor.Who, Role: c.actor.Role, Need: registrar.Administrator, Name: what, Anywhere: true}
}

// detailedError returns err in a form that an administrator of all names may see.
func detailedError(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: err.Error()}
	}
	if adminapi.NewProblem(err).Status != http.StatusInternalServerError {
		return err
	}
	return &adminapi.StatusError{Status: http.StatusInternalServerError, Detail: err.Error()}
}

// unsupportedError turns an error of an unsupported operation into HTTP status 501.
func unsupportedError(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: err.Error()}
	}
	return err
}

// A lineWriter sends JSON Lines. Until the first line is sent, an error can be reported
// as a problem; after that the response is aborted, so that the client sees that it is
// truncated. It is safe for concurrent use.
type lineWriter struct {
	c  *call
	mu sync.Mutex // guards what follows
	*paced.Writer
	out   *bufio.Writer
	begun bool
	gone  bool // the client is; nothing may be written
}

func (s *API) newLineWriter(c *call) *lineWriter {
	w := &lineWriter{c: c, Writer: paced.NewWriter(c.w, s.timeout)}
	w.out = bufio.NewWriterSize(w.Writer, 32<<10)
	return w
}

// begin sends the header.
func (w *lineWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	h := w.c.w.Header()
	h.Set("Content-Type", bulk.JSONLines.MediaType())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.c.w.WriteHeader(http.StatusOK)
}

// write buffers a line.
func (w *lineWriter) write(v any) error {
	b, err := adminapi.Encode(v)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return nil
	}
	w.begin()
	_, err = w.out.Write(b)
	return err
}

// send sends what was written, or at least the header.
func (w *lineWriter) send() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return nil
	}
	w.begin()
	return errors.Join(w.out.Flush(), w.Flush())
}

// end finishes a response, with err if that is not nil.
func (s *API) end(w *lineWriter, err error) error {
	if err == nil {
		return ignored(w.send())
	}
	if !w.begun {
		return unsupportedError(err)
	}
	_ = w.send() // these lines are valid
	s.log.Info("response aborted", "target", requestlog.Printable(w.c.r.RequestURI), "who", w.c.actor.Who, "err", err)
	panic(http.ErrAbortHandler)
}

// Limits of a history that is sent as one JSON document.
const (
	maxHistory      = 1000     // revisions
	maxHistoryBytes = 16 << 20 // of JSON, approximately
)

// nameHistory sends the revisions of a name, newest first. Only JSON Lines has no limit.
func (s *API) nameHistory(c *call) error {
	n, err := s.subject(c, time.Time{})
	if err != nil {
		return err
	}
	return s.history(c, store.History(c.r.Context(), s.store, n))
}

// authorityHistory sends the revisions of an authority like nameHistory. Every token may
// read authorities.
func (s *API) authorityHistory(c *call) error {
	p, err := name.ParsePrefix(c.value)
	if err != nil {
		return err
	}
	return s.history(c, store.AuthorityHistory(c.r.Context(), s.store, p))
}

// history sends revisions in the format given in the query.
func (s *API) history(c *call, changes iter.Seq2[*store.Change, error]) error {
	q, err := c.query("format")
	if err != nil {
		return err
	}
	switch first(q, "format") {
	case "", "json":
		return historyAtOnce(c, changes)
	case "jsonl":
		return s.historyLines(c, changes)
	}
	return &adminapi.RequestError{Field: "format", Message: "must be json or jsonl"}
}

func historyAtOnce(c *call, changes iter.Seq2[*store.Change, error]) error {
	h := adminapi.History{Revisions: []adminapi.Revision{}}
	size := 0
	for change, err := range changes {
		if err != nil {
			return unsupportedError(err)
		}
		if len(h.Revisions) == maxHistory || size > maxHistoryBytes {
			h.Truncated = true
			break
		}
		r := adminapi.NewRevision(change)
		b, err := adminapi.Encode(r)
		if err != nil {
			return err
		}
		size += len(b)
		h.Revisions = append(h.Revisions, r)
	}
	if len(h.Revisions) == 0 {
		return store.ErrNotFound
	}
	return writeJSON(c.w, http.StatusOK, h)
}

func (s *API) historyLines(c *call, changes iter.Seq2[*store.Change, error]) error {
	w := s.newLineWriter(c)
	if c.r.Method == http.MethodHead {
		return s.end(w, nil)
	}
	for change, err := range changes {
		if err == nil {
			err = w.write(adminapi.NewRevision(change))
		}
		if err != nil {
			return s.end(w, err)
		}
	}
	if !w.begun {
		return store.ErrNotFound
	}
	return s.end(w, nil)
}

func (s *API) redactName(c *call) error {
	n, err := s.subject(c, time.Time{})
	if err != nil {
		return err
	}
	red, conditional, err := c.redaction()
	if err != nil {
		return err
	}
	out, err := s.registrar.Redact(c.r.Context(), c.actor, n, red)
	return c.outcome(out, unsupportedError(err), conditional)
}

func (s *API) redactAuthority(c *call) error {
	p, err := name.ParsePrefix(c.value)
	if err != nil {
		return err
	}
	red, conditional, err := c.redaction()
	if err != nil {
		return err
	}
	out, err := s.registrar.RedactAuthority(c.r.Context(), c.actor, p, red)
	if err == nil {
		s.authorities.Replace(out.Authority.Clone())
	}
	return c.outcome(out, unsupportedError(err), conditional)
}

// redaction reads the body of a redaction. It is conditional if a header field gives the
// expected revision.
func (c *call) redaction() (red registrar.Redaction, conditional bool, err error) {
	if _, err := c.query(); err != nil {
		return red, false, err
	}
	var body adminapi.Redaction
	if err := readJSON(c, &body); err != nil {
		return red, false, err
	}
	red = body.Registrar()
	if c.r.Header.Get("If-Match") != "" {
		red.Expected, conditional, err = c.expectation(nil)
	}
	return red, conditional, err
}

// How long a request for changes may wait for one, and how often it checks.
const (
	maxWait  = 60 // seconds
	waitStep = 200 * time.Millisecond
)

// changes streams the log of changes after a number of changes. With "wait" it waits for
// a change if there are none yet.
func (s *API) changes(c *call) error {
	q, err := c.query("after", "limit", "wait")
	if err != nil {
		return err
	}
	after, err := number(q, "after", 0)
	if err != nil {
		return err
	}
	limit, err := number(q, "limit", 0)
	if err != nil {
		return err
	}
	wait, err := number(q, "wait", 0)
	if err != nil {
		return err
	}
	w := s.newLineWriter(c)
	if c.r.Method == http.MethodHead {
		return s.end(w, nil)
	}
	if err := s.await(c.r.Context(), after, time.Duration(min(wait, maxWait))*time.Second); err != nil {
		return s.end(w, err)
	}
	sent := uint64(0)
	for e, err := range store.Changes(c.r.Context(), s.store, after) {
		if err != nil {
			return s.end(w, err)
		}
		if !maySee(c.actor, e.Change) {
			continue
		}
		if err := w.write(adminapi.NewEntry(e)); err != nil {
			return s.end(w, err)
		}
		if sent++; sent == limit {
			break
		}
	}
	return s.end(w, nil)
}

// maySee reports whether an actor may see a change. Authorities are visible to every
// token.
func maySee(a registrar.Actor, c *store.Change) bool {
	switch {
	case c.Record != nil:
		return a.Reaches(c.Record.Name)
	case c.Authority != nil:
		return true
	}
	return a.Reaches(c.Delete)
}

// await returns when the log has more than after changes, or after the time most.
func (s *API) await(ctx context.Context, after uint64, most time.Duration) error {
	if most == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	tick := time.NewTicker(waitStep)
	defer tick.Stop()
	for {
		head, err := store.HeadOf(ctx, s.store)
		if head.Size > after || errors.Is(err, context.DeadlineExceeded) || s.health.Closing() {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// head returns the head of the log and, on request, a proof that the log of one size
// begins with that of another.
func (s *API) head(c *call) error {
	q, err := c.query("size", "since")
	if err != nil {
		return err
	}
	h, err := store.HeadOf(c.r.Context(), s.store)
	if err != nil {
		return unsupportedError(err)
	}
	out := adminapi.NewHead(h)
	if first(q, "since") == "" {
		return writeJSON(c.w, http.StatusOK, out)
	}
	size, err := number(q, "size", h.Size)
	if err != nil {
		return err
	}
	since, err := number(q, "since", 0)
	if err != nil {
		return err
	}
	if since > size || size > h.Size {
		return &adminapi.RequestError{Field: "since", Message: fmt.Sprintf("must be since <= size <= %d, the number of changes", h.Size)}
	}
	prover, ok := s.store.(store.Prover)
	if !ok {
		return &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: "this store does not support proofs"}
	}
	proof, err := prover.ProveHead(c.r.Context(), size, since)
	if err != nil {
		return err
	}
	for _, p := range proof {
		out.Proof = append(out.Proof, hex.EncodeToString(p[:]))
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// find streams the locations that begin with a text.
func (s *API) find(c *call) error {
	q, err := c.query("location", "after_url", "after_name", "limit")
	if err != nil {
		return err
	}
	if q["location"] == nil {
		return &adminapi.RequestError{Field: "location", Message: "missing; must be the beginning of the locations to find"}
	}
	limit, err := number(q, "limit", 0)
	if err != nil {
		return err
	}
	after := store.Place{URL: first(q, "after_url"), Name: name.FromKey(first(q, "after_name"))}
	w := s.newLineWriter(c)
	if c.r.Method == http.MethodHead {
		return s.end(w, nil)
	}
	sent := uint64(0)
	for p, err := range store.Find(c.r.Context(), s.store, first(q, "location"), after) {
		if err != nil {
			return s.end(w, err)
		}
		if !c.actor.Reaches(p.Name) {
			continue
		}
		if err := w.write(adminapi.Place{URL: p.URL, Key: p.Name.Key()}); err != nil {
			return s.end(w, err)
		}
		if sent++; sent == limit {
			break
		}
	}
	return s.end(w, nil)
}

// report runs work and sends its reports line by line. The last line has the error that
// ended it early, if any.
func (s *API) report(c *call, work func(ctx context.Context, tell func(adminapi.Report)) (adminapi.Report, error)) error {
	w := s.newLineWriter(c)
	if err := w.send(); err != nil {
		return ignored(err)
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	tell := func(r adminapi.Report) {
		err := w.write(r)
		if err == nil && (r.Progress != nil || r.Relocated != nil || r.Undone != nil) {
			err = w.send()
		}
		if err != nil {
			cancel() // the client is gone
		}
	}
	last, err := work(ctx, tell)
	if last.Done = true; err != nil {
		s.log.Info("request ended early", "target", requestlog.Printable(c.r.RequestURI), "who", c.actor.Who, "err", err)
		last.Problem = adminapi.NewProblem(err)
	}
	tell(last)
	return ignored(w.send())
}

func (s *API) relocate(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	var rel registrar.Relocation
	if err := readJSON(c, &rel); err != nil {
		return err
	}
	job := adminapi.Job{Kind: adminapi.JobRelocate, Subject: rel.From + " -> " + rel.To, DryRun: rel.DryRun, Unit: "names"}
	return s.reportJob(c, job, func(ctx context.Context, tell func(adminapi.Report), begun func(string)) (adminapi.Report, error) {
		rel.Begun = begun
		rel.Moved = func(n name.Name, from, to string) {
			tell(adminapi.Report{Moved: &adminapi.Moved{Key: n.Key(), From: from, To: to}})
		}
		rel.Refused = func(n name.Name, err error) {
			tell(adminapi.Report{Refused: &adminapi.Refused{Key: n.Key(), Problem: adminapi.NewProblem(err)}})
		}
		rel.Progress = func(sum registrar.Relocated) { tell(adminapi.Report{Relocated: &sum}) }
		sum, err := s.registrar.Relocate(ctx, c.actor, rel)
		return adminapi.Report{Relocated: &sum}, err
	})
}

// undo reverts changes.
func (s *API) undo(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	var u registrar.Undoing
	if err := readJSON(c, &u); err != nil {
		return err
	}
	subject := u.Batch
	if subject == "" {
		subject = fmt.Sprintf("changes %d to %d", u.From, u.To)
	}
	job := adminapi.Job{Kind: adminapi.JobUndo, Subject: subject, DryRun: u.DryRun, Unit: "names"}
	return s.reportJob(c, job, func(ctx context.Context, tell func(adminapi.Report), begun func(string)) (adminapi.Report, error) {
		u.Begun = begun
		u.Reverted = func(r registrar.Reversal) {
			tell(adminapi.Report{Reverted: &r})
			if r.Authority && !u.DryRun {
				s.authorities.Forget()
			}
		}
		u.Refused = func(key string, err error) {
			tell(adminapi.Report{Refused: &adminapi.Refused{Key: key, Problem: adminapi.NewProblem(err)}})
		}
		u.Progress = func(sum registrar.Undone) { tell(adminapi.Report{Undone: &sum}) }
		sum, err := s.registrar.Undo(ctx, c.actor, u)
		return adminapi.Report{Undone: &sum}, err
	})
}

// verify verifies the store, or what came after a head given in the query.
func (s *API) verify(c *call) error {
	q, err := c.query("since")
	if err != nil {
		return err
	}
	if err := c.requireAllNames("verify"); err != nil {
		return err
	}
	check := func(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
		return store.Verify(ctx, s.store, fault, progress)
	}
	job := adminapi.Job{Kind: adminapi.JobVerify, Unit: "changes"}
	if q["since"] != nil {
		since, err := store.ParseHead(first(q, "since"))
		if err != nil {
			return &adminapi.RequestError{Field: "since", Message: err.Error()}
		}
		source, err := audit.SourceOf(s.store)
		if err != nil {
			return detailedError(err)
		}
		job.Subject = "since " + since.String()
		check = func(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
			return audit.Since(ctx, source, since, 0, fault, progress)
		}
	}
	return s.reportJob(c, job, func(ctx context.Context, tell func(adminapi.Report), _ func(string)) (adminapi.Report, error) {
		h, err := check(ctx,
			func(f store.Fault) {
				j := adminapi.NewFault(f)
				tell(adminapi.Report{Fault: &j})
			},
			func(done, total uint64) {
				tell(adminapi.Report{Progress: &adminapi.Progress{Done: done, Total: total}})
			})
		if err != nil {
			return adminapi.Report{}, detailedError(err)
		}
		j := adminapi.NewHead(h)
		return adminapi.Report{Head: &j}, nil
	})
}

// backup makes a backup on the machine of the server, with the rights of the server.
func (s *API) backup(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	if err := c.requireAllNames("backup"); err != nil {
		return err
	}
	var body adminapi.BackupRequest
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if !filepath.IsAbs(body.Dir) {
		return &adminapi.RequestError{Field: "dir", Message: "must be an absolute path on the machine of the server"}
	}
	job := adminapi.Job{Kind: adminapi.JobBackup, Subject: filepath.Clean(body.Dir), Unit: "bytes"}
	return s.reportJob(c, job, func(ctx context.Context, tell func(adminapi.Report), _ func(string)) (adminapi.Report, error) {
		err := store.Backup(ctx, s.store, filepath.Clean(body.Dir), func(done, total uint64) {
			tell(adminapi.Report{Progress: &adminapi.Progress{Done: done, Total: total}})
		})
		if err != nil {
			return adminapi.Report{}, detailedError(err)
		}
		s.log.Info("backup completed", "dir", body.Dir, "who", c.actor.Who)
		return adminapi.Report{}, nil
	})
}
