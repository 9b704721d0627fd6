package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Refusal tells which record was refused, and why.
type Refusal struct {
	Line   int    `json:"line"`             // from 1
	Column int    `json:"column,omitempty"` // in bytes, from 1; 0 if the line is well formed
	Name   string `json:"name,omitempty"`   // as the line has it, if it could be read
	Field  string `json:"field,omitempty"`  // such as "locations[2].url"
	Reason string `json:"reason"`
	Err    error  `json:"-"` // a *LineError, or what the registrar said
}

// String returns the refusal as a person reads it.
func (r Refusal) String() string {
	s := fmt.Sprintf("line %d", r.Line)
	if r.Column > 0 {
		s += fmt.Sprintf(", column %d", r.Column)
	}
	for _, part := range []string{r.Name, r.Field, r.Reason} {
		if part != "" {
			s += ": " + part
		}
	}
	return s
}

// ImportOptions configure an import. The zero ImportOptions are good.
type ImportOptions struct {
	Format      Format
	Compression Compression
	DryRun      bool             // tell what would change; a line sees only what those before it in its batch would change
	Replace     bool             // lists in the file replace those in the store
	Why         string           // for the history
	Now         func() time.Time // the clock of Seconds; time.Now if nil

	Progress func(Summary) // called after every batch, if not nil
	Refused  func(Refusal) // called for every bad record, if not nil; those of one batch in the order of lines
}

// Import brings the records of r in. Those that are bad are refused one by one,
// all others go in. The error is a [*BrokenError] when r broke off, after what
// came before is in; else a failure of the store or the end of ctx. The summary
// is right in any case.
func Import(ctx context.Context, reg *registrar.Registrar, a registrar.Actor, r io.Reader, o ImportOptions) (Summary, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	in, err := NewReader(r, o.Format, o.Compression)
	if err != nil {
		return Summary{}, err
	}
	defer in.Close()
	i := &importer{ctx: ctx, reg: reg, actor: a, options: o, start: o.Now()}
	err = i.run(in)
	return i.summary, err
}

// An importer is one import under way.
type importer struct {
	ctx     context.Context // of the one call that the importer lives in
	reg     *registrar.Registrar
	actor   registrar.Actor
	options ImportOptions
	start   time.Time
	summary Summary

	batch []item
	reqs  []registrar.Request // of the records of the batch
	size  int                 // bytes of their lines
}

// An item is a line of a batch: a record, or the reason why it is none.
type item struct {
	number int
	bad    *LineError
}

// run reads to the end.
func (i *importer) run(in *Reader) error {
	for {
		line, err := in.Next()
		bad, isLine := errors.AsType[*LineError](err)
		switch {
		case err == nil:
			i.add(line)
		case isLine:
			i.batch = append(i.batch, item{bad.Line, bad})
		default:
			if flushed := i.flush(); flushed != nil || errors.Is(err, io.EOF) {
				return flushed
			}
			return err
		}
		if len(i.batch) >= BatchSize || i.size >= batchBytes {
			if err := i.flush(); err != nil {
				return err
			}
		}
	}
}

// add puts a record into the batch. What it was made from matters only if the
// name is there.
func (i *importer) add(line Line) {
	expected := line.Record.Revision
	if expected == 0 {
		expected = store.AnyRevision
	}
	i.batch = append(i.batch, item{number: line.Number})
	i.size += line.size
	i.reqs = append(i.reqs, registrar.Request{
		Record: line.Record, Fields: line.Fields, Add: !i.options.Replace, Expected: expected, OrCreate: true,
	})
}

// flush brings the batch in and reports.
func (i *importer) flush() error {
	outs, err := i.apply()
	if err != nil {
		return fmt.Errorf("import, from line %d: %w", i.batch[0].number, err)
	}
	next := 0
	for _, it := range i.batch {
		i.summary.Read++
		if it.bad != nil {
			i.refuse(Refusal{Line: it.number, Column: it.bad.Column, Field: it.bad.Field, Reason: it.bad.Message, Err: it.bad})
			continue
		}
		i.count(it.number, i.reqs[next].Record.Spelling, &outs[next])
		next++
	}
	clear(i.reqs)
	i.batch, i.reqs, i.size = i.batch[:0], i.reqs[:0], 0
	i.summary.Seconds = i.options.Now().Sub(i.start).Seconds()
	if i.options.Progress != nil {
		i.options.Progress(i.summary)
	}
	return nil
}

func (i *importer) apply() ([]registrar.Outcome, error) {
	switch {
	case i.ctx.Err() != nil && len(i.batch) > 0:
		return nil, i.ctx.Err()
	case len(i.reqs) == 0:
		return nil, nil
	case i.options.DryRun:
		return i.reg.Preview(i.ctx, i.actor, i.reqs)
	}
	return i.reg.Apply(i.ctx, i.actor, i.reqs, i.options.Why)
}

func (i *importer) count(line int, spelling string, out *registrar.Outcome) {
	switch {
	case out.Err != nil:
		field, reason := reason(out.Err)
		i.refuse(Refusal{Line: line, Name: spelling, Field: field, Reason: reason, Err: out.Err})
	case out.Created:
		i.summary.Created++
	case out.Result.Changed:
		i.summary.Changed++
	default:
		i.summary.Unchanged++
	}
}

func (i *importer) refuse(r Refusal) {
	i.summary.Refused++
	if i.options.Refused != nil {
		i.options.Refused(r)
	}
}

// reason returns the field of a record that a refusal is about, and why, without
// the name.
func reason(err error) (field, why string) {
	if e, ok := errors.AsType[*registrar.RefusalError](err); ok {
		return e.Field, e.Why()
	}
	if e, ok := errors.AsType[*store.ConflictError](err); ok {
		return "revision", fmt.Sprintf("the line was made from revision %d, and the name has revision %d", e.Expected, e.Current)
	}
	if e, ok := errors.AsType[*store.StateError](err); ok {
		return "status", e.Rule
	}
	if e, ok := errors.AsType[*store.LimitError](err); ok {
		return e.What, fmt.Sprintf("%d is more than %d", e.Size, e.Limit)
	}
	return "", err.Error()
}
