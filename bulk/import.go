package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Refusal tells which record was refused, and why.
type Refusal struct {
	Line   int    `json:"line,omitempty"`   // from 1; 0 for what has none
	Column int    `json:"column,omitempty"` // in bytes, from 1; 0 if the line is well formed
	Offset int64  `json:"offset,omitempty"` // in bytes, from 0, in what was compressed
	Name   string `json:"name,omitempty"`   // as the line has it, if it could be read
	Field  string `json:"field,omitempty"`  // such as "locations[2].url"; of a table the column
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

// A Warning tells what may not be meant in a record that went in.
type Warning struct {
	Line    int    `json:"line"` // from 1
	Name    string `json:"name"` // as the line has it
	Code    string `json:"code"` // of [registrar.Warning]
	Message string `json:"message"`
}

// A Change tells what a record of a file does to its name.
type Change struct {
	Line    int      `json:"line"` // from 1
	Name    string   `json:"name"` // as the line has it
	Created bool     `json:"created,omitempty"`
	Fields  []string `json:"fields,omitempty"` // that it changes, if the name was there
}

// A Conflict says what becomes of a name that is there already.
type Conflict uint8

// The policies for names that are there.
const (
	Merge   Conflict = iota // what the file has is added; fields with one value are set
	Keep                    // it stays as it is
	Replace                 // the fields that the file has take the place of those there
	Fail                    // the record is refused if it would change anything
)

// ParseConflict returns the policy with the name s; see [Conflict.String].
func ParseConflict(s string) (Conflict, bool) {
	for c := Merge; c <= Fail; c++ {
		if s == c.String() {
			return c, true
		}
	}
	return Merge, false
}

// String returns the name of the policy on the command line.
func (c Conflict) String() string {
	switch c {
	case Keep:
		return "keep"
	case Replace:
		return "replace"
	case Fail:
		return "fail"
	}
	return "merge"
}

// request returns what a record with these fields asks for by the policy. What it
// was made from matters only if the name is there.
func (c Conflict) request(l *Line) registrar.Request {
	req := registrar.Request{
		Record: l.Record, Fields: l.Fields, Add: c != Replace, Expected: l.Record.Revision, OrCreate: true,
	}
	if req.Expected == 0 {
		req.Expected = store.AnyRevision
	}
	switch c {
	case Keep:
		req.Existing = registrar.Keep
	case Fail:
		req.Existing = registrar.Refuse
	}
	return req
}

// ImportOptions configure an import. The zero ImportOptions are good.
type ImportOptions struct {
	Format      Format
	Compression Compression
	Sheet       Sheet            // how the file is written, if it is not one of ours
	DryRun      bool             // tell what would change, and change nothing
	OnConflict  Conflict         // what becomes of names that are there
	Retired     bool             // change retired names too, which are otherwise left as they are
	Strict      bool             // refuse new names of which there are doubts; see [registrar.Request]
	Resolvers   bool             // read addresses of well-known resolvers as the names there; see [name.Interpret]
	Who         string           // for the history; the actor's if empty
	Why         string           // for the history
	Now         func() time.Time // the clock of Seconds; time.Now if nil

	// Scratch makes a place where a dry run of more than one batch keeps what names
	// would have come to; nil for memory, which takes all records of the file.
	Scratch func() (Scratch, error)

	Begun    func(id string) // called with the ID of the changes before the first of them, if not nil; not of a dry run
	Progress func(Summary)   // called after every batch, if not nil
	Refused  func(Refusal)   // called for every bad record, if not nil, in their order
	Warned   func(Warning)   // called for what may not be meant in records that were created or changed, if not nil, in their order
	Changed  func(Change)    // called for every name that is created or changed, if not nil, in their order
	Doubted  func(Doubts)    // called at the end if there are any, if not nil
}

// Doubts count records of an import that may not be meant so.
type Doubts struct {
	Undoing   int64 `json:"undoing,omitempty"`   // they undo what an earlier record of the same name did in the same batch
	Uncovered int64 `json:"uncovered,omitempty"` // created or changed, of names that no authority covers
}

// A Scratch is a [registrar.Scratch] that is used for one dry run, and closed.
type Scratch interface {
	registrar.Scratch
	io.Closer
}

// memory is a Scratch of small files.
type memory map[name.Name]*store.Record

func (m memory) Record(n name.Name) (*store.Record, error) { return m[n], nil }

func (m memory) Keep(records []*store.Record) error {
	for _, r := range records {
		m[r.Name] = r
	}
	return nil
}

func (memory) Close() error { return nil }

// Import brings the records of r in. Those that are bad are refused one by one,
// all others go in. The error is a [*BrokenError] when r broke off, after what
// came before is in; a [*LineError] when r is a table whose header line is bad,
// and nothing is in; else a failure of the store or the end of ctx. The summary
// is right in any case. Options.Who is for the caller to permit.
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
	in, err := NewReader(r, o.Format, o.Compression, o.Sheet)
	if err != nil {
		return Summary{}, err
	}
	defer in.Close()
	i := &importer{load: load, options: o, start: o.Now()}
	if !o.DryRun {
		if i.id, err = load.Begin(ctx); err != nil {
			return Summary{}, err
		}
		if o.Begun != nil {
			o.Begun(i.id)
		}
	}
	err = i.run(ctx, in)
	if i.scratch != nil {
		err = errors.Join(err, i.scratch.Close())
	}
	if i.doubts != (Doubts{}) && o.Doubted != nil {
		o.Doubted(i.doubts)
	}
	i.summary.Seconds = o.Now().Sub(i.start).Seconds()
	return i.summary, err
}

// An importer is one import under way: one goroutine reads, some check what was
// read, and one brings it in.
type importer struct {
	load    *registrar.Load
	options ImportOptions
	start   time.Time
	summary Summary
	id      string // of the changes
	doubts  Doubts
	scratch Scratch // of a dry run; nil until there is more than one batch
}

// A batch is a number of records on their way.
type batch struct {
	items   []item
	reqs    []registrar.Request // of the items that are records
	size    int                 // bytes of their lines
	checked *registrar.Batch
	err     error         // of the check
	ready   chan struct{} // closed when it is checked
	end     error         // why it is the last; nil if it is not
}

// An item is a record, or the reason why it is none.
type item struct {
	line Line
	bad  *LineError
}

// run reads to the end.
func (i *importer) run(ctx context.Context, in *Reader) error {
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
		if err := i.bring(ctx, b); err != nil {
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

// read reads batches until the input or ctx ends.
func (i *importer) read(ctx context.Context, in *Reader, toCheck, inOrder chan<- *batch) {
	defer close(inOrder)
	defer close(toCheck)
	for end := error(nil); end == nil; {
		b := i.batch(in)
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

// batch reads the next batch.
func (i *importer) batch(in *Reader) *batch {
	b := &batch{ready: make(chan struct{}), items: make([]item, 0, BatchSize), reqs: make([]registrar.Request, 0, BatchSize)}
	for len(b.items) < BatchSize && b.size < batchBytes {
		line, err := in.Next()
		var bad *LineError
		isLine := errors.As(err, &bad)
		switch {
		case err == nil:
			if i.options.Resolvers {
				mapResolvers(line.Record)
			}
			b.items = append(b.items, item{line: line})
			b.reqs = append(b.reqs, i.options.OnConflict.request(&line))
			b.reqs[len(b.reqs)-1].KeepRetired = !i.options.Retired
			b.reqs[len(b.reqs)-1].Strict = i.options.Strict
			b.size += line.size
		case isLine:
			b.items = append(b.items, item{bad: bad})
		default:
			b.end = err
			return b
		}
	}
	return b
}

// first returns the line with which the batch begins.
func (b *batch) first() int {
	switch {
	case len(b.items) == 0:
		return 1
	case b.items[0].bad != nil:
		return b.items[0].bad.Line
	}
	return b.items[0].line.Number
}

// bring brings a checked batch in and reports.
func (i *importer) bring(ctx context.Context, b *batch) error {
	if len(b.items) == 0 {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	outs, err := i.apply(ctx, b)
	if err != nil {
		return err
	}
	next := 0
	for k := range b.items {
		it := &b.items[k]
		i.summary.Read++
		if bad := it.bad; bad != nil {
			i.refuse(Refusal{Line: bad.Line, Column: bad.Column, Offset: bad.Offset, Name: bad.Name, Field: bad.Field, Reason: bad.Message, Err: bad})
			continue
		}
		i.count(&it.line, &outs[next])
		next++
	}
	i.summary.Seconds = i.options.Now().Sub(i.start).Seconds()
	if i.options.Progress != nil {
		i.options.Progress(i.summary)
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
	return i.load.Apply(ctx, b.checked)
}

// remember lets batches after b see what it would have led to.
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

func (i *importer) count(l *Line, out *registrar.Outcome) {
	switch {
	case out.Err != nil:
		field, reason := reason(out.Err)
		r := Refusal{Name: l.Record.Spelling, Reason: reason, Err: out.Err}
		r.Field, r.Line, r.Offset = l.title(field)
		i.refuse(r)
		return
	case out.Retired:
		i.summary.Retired++
		if i.options.Warned != nil {
			i.options.Warned(Warning{l.Number, l.Record.Spelling, registrar.WarnRetired, "retired, and left as it is (--retired changes it)"})
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
	if i.options.Changed != nil {
		i.options.Changed(Change{Line: l.Number, Name: l.Record.Spelling, Created: out.Created, Fields: out.Fields.Names()})
	}
}

// warn tells what is to be said about a record that was created or changed.
func (i *importer) warn(l *Line, warnings []registrar.Warning) {
	if len(warnings) == 0 {
		return
	}
	i.summary.Warned++
	if i.options.Warned == nil {
		return
	}
	for _, w := range warnings {
		i.options.Warned(Warning{Line: l.Number, Name: l.Record.Spelling, Code: w.Code, Message: w.Message})
	}
}

// mapResolvers writes names for the addresses of well-known resolvers that a record
// has as its name, or as those of others.
func mapResolvers(r *store.Record) {
	mapResolver(&r.Spelling)
	for i := range r.SameAs {
		mapResolver(&r.SameAs[i])
	}
	for i := range r.Successors {
		mapResolver(&r.Successors[i])
	}
}

// mapResolver leaves alone what has a query or a fragment, which the name cannot
// have.
func mapResolver(s *string) {
	if m, ok := name.Interpret(*s); ok && m.Rest == "" {
		*s = m.Spelling
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
	var refusal *registrar.RefusalError
	var conflict *store.ConflictError
	var state *store.StateError
	var limit *store.LimitError
	switch {
	case errors.As(err, &refusal):
		return refusal.Field, refusal.Why()
	case errors.As(err, &conflict):
		return "revision", fmt.Sprintf("the line was made from revision %d, and the name has revision %d", conflict.Expected, conflict.Current)
	case errors.As(err, &state):
		return "status", state.Rule
	case errors.As(err, &limit):
		return limit.What, fmt.Sprintf("%d is more than %d", limit.Size, limit.Limit)
	}
	return "", err.Error()
}
