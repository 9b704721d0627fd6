package bulk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Warning describes a possible mistake in an imported record.
type Warning struct {
	Sheet   string `json:"sheet,omitempty"` // of a workbook
	Line    int    `json:"line"`            // from 1
	Name    string `json:"name"`            // as in the file
	Code    string `json:"code"`            // as in [registrar.Warning]
	Message string `json:"message"`
}

// A Change describes how a record in a file changes the name in the store.
type Change struct {
	Sheet   string   `json:"sheet,omitempty"` // of a workbook
	Line    int      `json:"line"`            // from 1
	Name    string   `json:"name"`            // as in the file
	Created bool     `json:"created,omitempty"`
	Fields  []string `json:"fields,omitempty"` // changed fields, if the name existed
}

// A Conflict determines what an import does if a name in the file exists already.
type Conflict uint8

// The values of Conflict.
const (
	Merge   Conflict = iota // add locations, aliases (same_as) and successors; replace all else that the file has
	Keep                    // change nothing
	Replace                 // replace the fields that the file has
	Fail                    // reject the record if it would change anything
)

var conflicts = [...]string{Merge: "merge", Keep: "keep", Replace: "replace", Fail: "fail"}

// ParseConflict returns the value with the name s (see [Conflict.String]).
func ParseConflict(s string) (Conflict, bool) {
	i := slices.Index(conflicts[:], s)
	return Conflict(max(i, 0)), i >= 0
}

// String returns the name of c on the command line.
func (c Conflict) String() string { return conflicts[c] }

// ImportOptions configure an import. The zero value is valid.
type ImportOptions struct {
	Format      Format
	Compression Compression
	Sheet       Sheet            // how to read a file from another program
	DryRun      bool             // report what would change, without changing anything
	OnConflict  Conflict         // what to do with existing names
	Retired     bool             // also change retired names
	Strict      bool             // reject doubtful new names (see [registrar.Request])
	Resolvers   bool             // replace URLs at well-known resolvers by the names in them (see [name.Interpret])
	Who         string           // author in the history; the actor by default
	Why         string           // reason in the history
	Now         func() time.Time // clock for [Summary].Seconds; time.Now if nil

	// Scratch creates temporary storage for a dry run of more than one batch. If Scratch is nil,
	// the dry run keeps all records of the file in memory.
	Scratch func() (Scratch, error)

	Pins Pins // the revisions that names must have; nil accepts any

	// Rejects receives the lines of rejected records as a table with an additional column "error".
	// Users can correct the table and import it. After a write error, nothing more is written to
	// Rejects. If Rejects is nil, no table is written.
	Rejects io.Writer

	// The import calls the following functions, except those that are nil. It calls Refused,
	// Warned, Changed and After in the order of the records in the file. Warned is called only for
	// names that are created or changed, and for retired names that the import does not change.
	Begun    func(id string)             // before the first change, with the batch ID; not in a dry run
	Progress func(Summary)               // after every batch
	Position func(bytes int64)           // after Progress, with the offset after decompression of the last record of the batch
	Refused  func(Refusal)               // for every rejected record
	Warned   func(Warning)               // for every warning
	Changed  func(Change)                // for every name that is created or changed
	After    func(Change, *store.Record) // like Changed, with the record after the change
	Doubted  func(Doubts)                // at the end, unless all counts are zero
}

// request returns the registrar request for a record. If the record has a revision, the request
// succeeds only if an existing name still has this revision.
func (o *ImportOptions) request(l *fileLine) registrar.Request {
	req := registrar.Request{
		Record: l.Record, Fields: l.Fields, Add: o.OnConflict != Replace, Expected: cmp.Or(l.Record.Revision, store.AnyRevision), OrCreate: true,
		KeepRetired: !o.Retired, Strict: o.Strict,
	}
	switch o.OnConflict {
	case Keep:
		req.Existing = registrar.Keep
	case Fail:
		req.Existing = registrar.Refuse
	}
	return req
}

// Doubts counts records of an import that look like mistakes.
type Doubts struct {
	Undoing   int64 `json:"undoing,omitempty"`   // records that undo changes of an earlier record of the name in the same batch
	Uncovered int64 `json:"uncovered,omitempty"` // created or changed names that no authority covers
}

// A Scratch is the temporary storage of one dry run.
type Scratch interface {
	registrar.Scratch
	io.Closer
}

type memory map[name.Name]*store.Record

func (m memory) Record(n name.Name) (*store.Record, error) { return m[n], nil }

func (m memory) Keep(records []*store.Record) error {
	for _, r := range records {
		m[r.Name] = r
	}
	return nil
}

func (memory) Close() error { return nil }

// Import reads records from r and writes them to the store. It skips invalid records and imports
// all valid ones. The summary is valid even if there is an error. The error is:
//
//   - a [*BrokenError] if r ended too early. The records before the end have been imported.
//   - a [*LineError] if r is a table with an invalid header line, or a workbook that cannot be
//     opened. Nothing has been imported.
//   - in all other cases, a failure of the store, or the error of ctx.
//
// The caller must check whether the actor may set ImportOptions.Who.
func Import(ctx context.Context, reg *registrar.Registrar, a registrar.Actor, r io.Reader, o ImportOptions) (Summary, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Who != "" {
		a.Who = o.Who
	}
	ctx = store.WithPatience(ctx, store.LongPatience)
	load, err := reg.NewLoad(a, o.Why)
	if err != nil {
		return Summary{}, err
	}
	in, err := newReader(r, o.Format, o.Compression, o.Sheet)
	if err != nil {
		return Summary{}, err
	}
	defer in.close()
	i := &importer{load: load, options: o, start: o.Now()}
	if o.Rejects != nil || in.table != nil && o.Refused != nil { // [Refusal.Value] needs the lines
		in.keep()
		i.rejects = newRejects(o.Rejects, in.table)
	}
	if !o.DryRun {
		if i.id, err = load.Begin(ctx); err != nil {
			return Summary{}, err
		}
		if o.Begun != nil {
			o.Begun(i.id)
		}
	}
	err = i.run(ctx, in)
	if i.rejects != nil {
		_ = i.rejects.close() // the writer reports its errors
	}
	if i.scratch != nil {
		err = errors.Join(err, i.scratch.Close())
	}
	if i.doubts != (Doubts{}) && o.Doubted != nil {
		o.Doubted(i.doubts)
	}
	i.summary.Seconds = o.Now().Sub(i.start).Seconds()
	return i.summary, err
}

// An importer holds the state of one call of Import. One goroutine reads batches, several
// goroutines check them, and the goroutine that called Import applies them in order.
type importer struct {
	load    *registrar.Load
	options ImportOptions
	start   time.Time
	summary Summary
	id      string // batch ID of all changes
	doubts  Doubts
	scratch Scratch  // for a dry run with more than one batch; otherwise nil
	rejects *rejects // may be nil
}

// A batch is a group of consecutive records of the file that are imported together.
type batch struct {
	items   []item
	reqs    []registrar.Request // of the valid items
	pinned  []bool              // for each request: it expects a revision because of [ImportOptions].Pins
	size    int                 // length of the lines of the valid items, and of kept lines
	checked *registrar.Batch
	err     error         // error of checking
	ready   chan struct{} // closed when the batch has been checked
	end     error         // why this is the last batch; nil if more follow
}

// An item is either a valid record or the error for an invalid one.
type item struct {
	line fileLine
	bad  *LineError
}

func (it *item) position() int64 {
	if it.bad != nil {
		return it.bad.Offset
	}
	return it.line.Offset
}

func (i *importer) run(ctx context.Context, in *reader) error {
	ctx, stop := context.WithCancelCause(ctx)
	checkers := runtime.GOMAXPROCS(0)
	toCheck, inOrder := make(chan *batch, checkers), make(chan *batch, ahead)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop(nil)
	group.Go(func() { i.read(ctx, in, toCheck, inOrder) })
	for range checkers {
		group.Go(func() {
			for b := range toCheck {
				b.checked, b.err = i.load.Check(ctx, b.reqs)
				close(b.ready)
			}
		})
	}
	for b := range inOrder {
		<-b.ready
		if err := i.applyBatch(ctx, b); err != nil {
			return fmt.Errorf("import, from line %d: %w", b.first(), err)
		}
		switch {
		case errors.Is(b.end, io.EOF):
			return nil
		case b.end != nil:
			return b.end
		}
	}
	return context.Cause(ctx)
}

func (i *importer) read(ctx context.Context, in *reader, toCheck, inOrder chan<- *batch) {
	defer close(inOrder)
	defer close(toCheck)
	turn := pacer.Begin(ctx)
	for end := error(nil); end == nil; {
		b := i.batch(in, func() { turn.Rest(ctx.Done()) })
		end = b.end
		for _, c := range []chan<- *batch{toCheck, inOrder} {
			select {
			case c <- b:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (i *importer) batch(in *reader, step func()) *batch {
	b := &batch{ready: make(chan struct{}), items: make([]item, 0, batchSize), reqs: make([]registrar.Request, 0, batchSize)}
	for len(b.items) < batchSize && b.size < batchBytes {
		step()
		line, err := in.next()
		var bad *LineError
		switch {
		case err == nil:
			if i.options.Resolvers {
				mapResolvers(line.Record)
			}
			req := i.options.request(&line)
			pinned, err := i.options.pin(&req)
			if err != nil {
				b.end = err
				return b
			}
			b.items = append(b.items, item{line: line})
			b.reqs, b.pinned = append(b.reqs, req), append(b.pinned, pinned)
			b.size += line.size
		case errors.As(err, &bad):
			b.items = append(b.items, item{bad: bad})
			b.size += bad.kept()
		default:
			b.end = err
			return b
		}
	}
	return b
}

func (b *batch) first() int {
	switch {
	case len(b.items) == 0:
		return 1
	case b.items[0].bad != nil:
		return b.items[0].bad.Line
	}
	return b.items[0].line.Number
}

func (i *importer) applyBatch(ctx context.Context, b *batch) error {
	if len(b.items) == 0 {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	outs, err := i.apply(ctx, b)
	if err == nil {
		err = i.resolveOwn(ctx, b, outs)
	}
	if err != nil {
		return err
	}
	next := 0
	for k := range b.items {
		it := &b.items[k]
		i.summary.Read++
		if bad := it.bad; bad != nil {
			i.refuse(Refusal{Sheet: bad.Sheet, Line: bad.Line, Column: bad.Column, Offset: bad.Offset, Name: bad.Name, Field: bad.Field, Code: CodeLine, Reason: bad.Message, Err: bad}, bad.lines)
			continue
		}
		i.count(&it.line, &outs[next], b.pinned[next])
		next++
	}
	i.summary.Seconds = i.options.Now().Sub(i.start).Seconds()
	if i.options.Progress != nil {
		i.options.Progress(i.summary)
	}
	if i.options.Position != nil {
		i.options.Position(b.items[len(b.items)-1].position())
	}
	return nil
}

func (i *importer) apply(ctx context.Context, b *batch) ([]registrar.Outcome, error) {
	switch {
	case b.err != nil || len(b.reqs) == 0:
		return nil, b.err
	case i.options.DryRun:
		if err := i.remember(b); err != nil {
			return nil, err
		}
		return i.load.Preview(ctx, b.checked)
	}
	return i.load.Write(ctx, b.checked)
}

// remember creates temporary storage if a dry run has more than one batch. The storage keeps the
// results of earlier batches for the checks of later ones, because a dry run does not write to the
// store.
func (i *importer) remember(b *batch) (err error) {
	if i.scratch != nil || b.end != nil {
		return nil
	}
	if i.scratch = Scratch(memory{}); i.options.Scratch != nil {
		if i.scratch, err = i.options.Scratch(); err != nil {
			i.scratch = nil
			return err
		}
	}
	i.load.Remember(i.scratch)
	return nil
}

// count counts and reports the outcome of a record. If pinned is true, the request expected the
// revision from [ImportOptions].Pins. A conflict then means that another user changed the name
// during the import.
func (i *importer) count(l *fileLine, out *registrar.Outcome, pinned bool) {
	switch {
	case out.Err != nil:
		field, reason, code := reason(out.Err)
		if pinned && code == CodeConflict {
			field, reason, code = "", "the name was changed by another user during the import, and was not overwritten: compare it, and import this line again", CodeChanged
		}
		var state *store.StateError
		r := Refusal{Name: l.Record.Spelling, Code: code, Reason: reason, Clock: errors.As(out.Err, &state) && state.Clock, Err: out.Err}
		r.Field, r.Line, r.Offset = l.title(field)
		if r.Sheet = l.sheet(); r.Sheet != "" {
			r.Column = l.table.columnOf(r.Field)
		}
		i.refuse(r, l.lines)
		return
	case out.Retired:
		i.summary.Retired++
		if i.options.Warned != nil {
			i.options.Warned(Warning{l.sheet(), l.Number, l.Record.Spelling, registrar.WarnRetired, "not changed because it is retired"})
		}
		return
	case out.Created:
		i.summary.Created++
	case out.Result.Changed:
		i.summary.Changed++
	default:
		i.summary.Unchanged++
		return
	}
	i.summary.Import = i.id
	if out.Undone != 0 {
		i.doubts.Undoing++
	}
	if out.Uncovered {
		i.doubts.Uncovered++
	}
	i.warn(l, out.Warnings)
	if i.options.Changed != nil || i.options.After != nil {
		i.change(l, out)
	}
}

func (i *importer) change(l *fileLine, out *registrar.Outcome) {
	change := Change{Sheet: l.sheet(), Line: l.Number, Name: l.Record.Spelling, Created: out.Created, Fields: out.Fields.Names()}
	if i.options.Changed != nil {
		i.options.Changed(change)
	}
	if i.options.After != nil {
		i.options.After(change, out.Record)
	}
}

func (i *importer) warn(l *fileLine, warnings []registrar.Warning) {
	if len(warnings) == 0 {
		return
	}
	i.summary.Warned++
	if i.options.Warned == nil {
		return
	}
	for _, w := range warnings {
		i.options.Warned(Warning{Sheet: l.sheet(), Line: l.Number, Name: l.Record.Spelling, Code: w.Code, Message: w.Message})
	}
}

func mapResolvers(r *store.Record) {
	mapResolver(&r.Spelling)
	for _, list := range [...][]string{r.SameAs, r.Successors} {
		for i := range list {
			mapResolver(&list[i])
		}
	}
}

// mapResolver checks whether *s is the URL of a name at a well-known resolver, and replaces it by
// the name. It does not change a URL with a query or a fragment, which a name cannot contain.
func mapResolver(s *string) {
	if m, ok := name.Interpret(*s); ok && m.Rest == "" {
		*s = m.Spelling
	}
}

func (i *importer) refuse(r Refusal, lines []keptLine) {
	i.summary.Refused++
	if i.rejects != nil {
		r.Value = i.rejects.value(lines, r)
		i.rejects.add(lines, r)
	}
	if i.options.Refused != nil {
		i.options.Refused(r)
	}
}
