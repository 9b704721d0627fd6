package server

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// importNames brings in the records of the body and tells at once, line by line,
// what becomes of them.
func (s *Server) importNames(c *call) error {
	q, err := c.query("dry_run", "replace", "why", "compression")
	if err != nil {
		return err
	}
	o := bulk.ImportOptions{Why: first(q, "why"), Now: s.now}
	if o.DryRun, err = flag(q, "dry_run"); err != nil {
		return err
	}
	if o.Replace, err = flag(q, "replace"); err != nil {
		return err
	}
	if o.Compression, err = compression(first(q, "compression"), c.r.Header.Get("Content-Encoding")); err != nil {
		return err
	}
	control := http.NewResponseController(c.w)
	_ = control.EnableFullDuplex() // HTTP/2 has it anyhow
	c.w.Header().Set("Content-Type", "application/jsonl")
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusOK)
	out := &eventWriter{paced: paced{w: c.w, control: control, step: s.limits.Timeout}}
	o.Progress = func(sum bulk.Summary) { out.write(adminapi.Event{Progress: &sum}) }
	o.Refused = func(r bulk.Refusal) { out.write(adminapi.Event{Refused: &r}) }
	in := &pacedReader{r: c.r.Body, control: control, step: s.limits.Timeout}
	ctx := context.WithoutCancel(c.r.Context()) // what has arrived goes in, whether or not the client waits for it
	sum, err := bulk.Import(ctx, s.registrar, c.actor, in, o)
	last := adminapi.Event{Summary: &sum}
	if err != nil {
		s.log.Info("import ended early", "who", c.actor.Who, "err", err)
		last.Problem = adminapi.NewProblem(err)
	}
	out.write(last)
	return nil
}

// compression returns how a body is packed, by the query or the head.
func compression(name, encoding string) (bulk.Compression, error) {
	if name == "" && encoding != "" && !strings.EqualFold(encoding, "identity") {
		name = strings.TrimPrefix(strings.ToLower(encoding), "x-")
	}
	how, ok := adminapi.ParseCompression(name)
	if !ok {
		return how, &adminapi.StatusError{Status: http.StatusUnsupportedMediaType, Detail: "compression: only gzip, zstd and none are read"}
	}
	return how, nil
}

// An eventWriter writes events, each at once. After an error of the connection
// it is silent: the import goes on.
type eventWriter struct {
	paced
	err error
}

func (w *eventWriter) write(e adminapi.Event) {
	if w.err != nil {
		return
	}
	b, err := adminapi.Encode(e)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.control.Flush()
	}
	w.err = err
}

// exportNames streams records. The trailer tells that they are all there.
func (s *Server) exportNames(c *call) error {
	q, err := c.query("prefix", "status", "at", "compression")
	if err != nil {
		return err
	}
	o := bulk.ExportOptions{Prefix: first(q, "prefix"), Now: s.now}
	if o.Statuses, err = statuses(q); err != nil {
		return err
	}
	if o.Compression, err = compression(first(q, "compression"), ""); err != nil {
		return err
	}
	if at := first(q, "at"); at != "" {
		if o.At, err = time.Parse(time.RFC3339, at); err != nil {
			return &adminapi.RequestError{Field: "at", Message: "wants a time in the form 2006-01-02T15:04:05Z"}
		}
	}
	h := c.w.Header()
	h.Set("Content-Type", exportType(o.Compression))
	h.Set("Cache-Control", "no-store")
	if c.r.Method == http.MethodHead {
		return nil
	}
	h.Set("Trailer", adminapi.SummaryTrailer)
	out := newPaced(c.w, s.limits.Timeout)
	sum, err := bulk.Export(c.r.Context(), reachable{s.store, c.actor}, out, o)
	if err != nil {
		if out.n == 0 {
			h.Del("Trailer")
			return err
		}
		s.log.Info("export broke off", "who", c.actor.Who, "err", err)
		panic(http.ErrAbortHandler) // so that the client sees that it is not whole
	}
	text, err := adminapi.Encode(sum)
	if err != nil {
		return err
	}
	h.Set(adminapi.SummaryTrailer, strings.TrimSpace(string(text)))
	return nil
}

func exportType(c bulk.Compression) string {
	switch c {
	case bulk.Gzip:
		return "application/gzip"
	case bulk.Zstd:
		return "application/zstd"
	}
	return "application/jsonl"
}

// reachable is a store as an actor sees it.
type reachable struct {
	store.Reader
	actor registrar.Actor
}

// List leaves out what the actor's rights do not reach.
func (r reachable) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for rec, err := range r.Reader.List(ctx, scan) {
			if err == nil && !reaches(r.actor, rec.Name) {
				continue
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}
