package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/bulk/from/ezid"
	"github.com/nomen-project/nomen/bulk/from/handle"
	"github.com/nomen-project/nomen/bulk/from/htaccess"
	"github.com/nomen-project/nomen/bulk/from/links"
	"github.com/nomen-project/nomen/bulk/from/noid"
	"github.com/nomen-project/nomen/bulk/from/obo"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func foreignFormats() []from.Format {
	return slices.Concat(ezid.Formats(), handle.Formats(), links.Formats(), []from.Format{htaccess.Format(), noid.Format(), obo.Format()})
}

func foreignNames() string {
	var all []string
	for _, f := range foreignFormats() {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

func foreignFormat(flag string) *from.Format {
	for _, f := range foreignFormats() {
		if f.Name == flag {
			return &f
		}
	}
	return nil
}

type foreignFile struct {
	file string // path to open; "-" is standard input
	path string // below the directory that was given, with slashes
}

// foreignFiles returns the files to import. For an argument that is a directory, it returns all
// files below the directory that match the format, in lexical order.
func foreignFiles(args []string, f *from.Format) ([]foreignFile, error) {
	var all []foreignFile
	for _, arg := range args {
		if arg == "-" {
			all = append(all, foreignFile{arg, arg})
			continue
		}
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, err
		case !info.IsDir():
			all = append(all, foreignFile{arg, filepath.Base(arg)})
			continue
		case f.Match == nil:
			return nil, usagef("%s: --format %s reads files, not directories", arg, f.Name)
		}
		err = fs.WalkDir(os.DirFS(arg), ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && f.Match(path) {
				all = append(all, foreignFile{filepath.Join(arg, filepath.FromSlash(path)), path})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, usagef("no files of the format %s found", f.Name)
	}
	return all, nil
}

type foreignSummary struct {
	Files       int      `json:"files"`
	Directives  int64    `json:"directives"`
	Handled     int64    `json:"handled"`
	Refused     int64    `json:"refused"`
	Records     int64    `json:"records"` // read from the files
	Created     int64    `json:"created"`
	Changed     int64    `json:"changed"`
	Unchanged   int64    `json:"unchanged"`
	Retired     int64    `json:"retired,omitempty"` // left unchanged because they are retired
	Authorities int      `json:"authorities"`       // created or changed
	Imports     []string `json:"imports,omitempty"` // IDs of the imports, for undoing the changes of records
}

type foreignImport struct {
	*cli
	backend backend
	format  *from.Format
	options bulk.ImportOptions
	base    string
	total   foreignSummary
}

func (c *cli) importForeign(ctx context.Context, b backend, files []foreignFile, format *from.Format, o importFlags) error {
	i := &foreignImport{cli: c, backend: b, format: format, options: o.ImportOptions, base: o.base}
	var result error
	for _, file := range files {
		if err := i.file(ctx, file); err != nil {
			if ctx.Err() != nil || errors.As(err, new(*fs.PathError)) {
				return errors.Join(err, i.showTotal())
			}
			fmt.Fprintln(c.err, "nomen: "+printable(file.file+": "+words(err)))
			result = cmp.Or(result, errFailed)
		}
	}
	if i.total.Refused > 0 {
		result = cmp.Or(result, errNo)
	}
	return cmp.Or(i.showTotal(), result)
}

func (i *foreignImport) file(ctx context.Context, f foreignFile) error {
	in, done, err := i.openForeign(f)
	if err != nil {
		return err
	}
	defer done()
	records := &recordFeed{}
	flush := func() error {
		s, err := records.end()
		i.total.add(s)
		return err
	}
	out := from.NewOutput(f.file, records)
	records.start = func(r io.Reader) (bulk.Summary, error) { return i.records(ctx, f.file, out, r) }
	shown := 0
	out.OnRefusal = func(r from.Refusal) {
		if shown++; !i.json && (i.verbose || shown <= maxShownRefusals) {
			i.showRefusal(f.file, bulk.Refusal{Line: r.Line, Column: r.Column, Field: r.Text, Reason: r.Reason})
		}
	}
	in.Current = func(ctx context.Context, n name.Name) (*store.Record, error) {
		if err := flush(); err != nil {
			return nil, err
		}
		out.Restart()
		rec, err := i.backend.GetAt(ctx, n, time.Time{})
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		return rec, err
	}
	failed := i.format.Convert(ctx, in, out)
	err = flush()
	if err == nil && failed == nil {
		err = i.authorities(ctx, out)
	}
	return errors.Join(cmp.Or(failed, err), i.showReport(out.Report(), shown))
}

const maxShownRefusals = 20

// openForeign opens a file and decompresses its content. The caller must call the returned function
// to close the file.
func (i *foreignImport) openForeign(f foreignFile) (*from.Input, func(), error) {
	file, size, err := i.open(f.file)
	if err != nil {
		return nil, nil, err
	}
	in := &from.Input{File: f.file, Path: f.path, Base: i.base}
	plain, err := bulk.Decompress(file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	in.Reader = plain
	if regular, ok := file.(*os.File); ok && size >= 0 && !plain.Compressed {
		in.At, in.Size = regular, size
	}
	return in, func() { plain.Close(); file.Close() }, nil
}

func (i *foreignImport) records(ctx context.Context, file string, out *from.Output, r io.Reader) (bulk.Summary, error) {
	o := i.options
	o.Format, o.Compression = bulk.JSONLines, bulk.Plain
	if i.format.Complete && o.OnConflict == bulk.Merge {
		o.OnConflict = bulk.Replace
	}
	bar, end := i.progress(file, -1)
	defer end()
	counted := &countingReader{r: r}
	o.Progress = func(s bulk.Summary) { bar(s, counted.n.Load()) }
	o.Warned = func(w bulk.Warning) {
		w.Line, _ = out.Place(w.Line)
		i.showWarning(file, w)
	}
	o.Refused = func(r bulk.Refusal) { out.Reject(r.Line, r.Name, strings.TrimPrefix(r.Field+": "+r.Reason, ": ")) }
	o.Doubted = func(d bulk.Doubts) {
		if len(out.Authorities()) > 0 {
			d.Uncovered = 0 // the authorities of the file, which are created later, may cover these names
		}
		i.showDoubts(file, d)
	}
	if i.verbose && !i.json {
		o.Changed = func(change bulk.Change) {
			change.Line, _ = out.Place(change.Line)
			i.showChange(file, change)
		}
	}
	return i.backend.Import(ctx, counted, o)
}

// authorities creates and changes authorities as a converted file requires. In a dry run, it only
// checks the changes.
func (i *foreignImport) authorities(ctx context.Context, out *from.Output) error {
	for _, change := range out.Authorities() {
		there, revision, err := current(ctx, i.backend, change.Prefix)
		if err != nil {
			return err
		}
		next := there.Clone()
		change.Change(next)
		if revision > 0 && next.SameContent(there.Clone()) {
			continue
		}
		reason, err := i.putAuthority(ctx, next, revision)
		if err != nil {
			return err
		}
		if reason != "" {
			out.RejectAuthority(change, reason)
			continue
		}
		i.total.Authorities++
	}
	return nil
}

// putAuthority stores an authority. In a dry run, it only checks the authority. If the authority is
// rejected, the first result is the reason.
func (i *foreignImport) putAuthority(ctx context.Context, a *store.Authority, revision uint64) (string, error) {
	if i.options.DryRun {
		check, err := i.backend.CheckAuthority(ctx, a)
		if err == nil && check.Problem != nil {
			return cmp.Or(check.Problem.Detail, check.Problem.Title), nil
		}
		return "", err
	}
	_, err := i.backend.PutAuthority(ctx, a, revision, i.options.Why)
	if errors.As(err, new(*registrar.RefusalError)) || errors.As(err, new(*registrar.DeniedError)) || errors.As(err, new(*adminapi.PreconditionError)) {
		return err.Error(), nil
	}
	return "", err
}

func (i *foreignImport) showReport(r from.Report, refused int) error {
	i.total.Files++
	i.total.Directives += r.Directives
	i.total.Handled += r.Handled
	i.total.Refused += int64(refused)
	if i.json {
		return i.printJSON(r)
	}
	if more := refused - maxShownRefusals; more > 0 && !i.verbose {
		fmt.Fprintf(i.err, "nomen: %s: %d more entries were not imported; -v or --json lists them\n", printable(r.File), more)
	}
	return nil
}

func (i *foreignImport) showTotal() error {
	t, created, changed, after := i.total, "created", "changed", ""
	switch {
	case i.options.DryRun:
		created, changed, after = "would create", "would change", " (dry run: nothing was changed)"
	case len(t.Imports) == 1:
		after = "; 'nomen undo --import " + t.Imports[0] + "' reverts the records"
	}
	return i.say(t, "files %d, entries %d, imported %d, not imported %d; records %d, %s %d, %s %d, unchanged %d; authorities %s or %s %d%s",
		t.Files, t.Directives, t.Handled, t.Refused, t.Records, created, t.Created, changed, t.Changed, t.Unchanged, created, changed, t.Authorities, after)
}

func (t *foreignSummary) add(s bulk.Summary) {
	t.Records += s.Read
	t.Created += s.Created
	t.Changed += s.Changed
	t.Unchanged += s.Unchanged
	t.Retired += s.Retired
	if s.Import != "" {
		t.Imports = append(t.Imports, s.Import)
	}
}

// A recordFeed is an [io.Writer] for the records of a converted file. It starts an import at the
// first record, and passes all records to the import.
type recordFeed struct {
	start func(io.Reader) (bulk.Summary, error)

	pipe    *io.PipeWriter // nil before the first record
	done    chan struct{}
	summary bulk.Summary
	err     error
}

// Write passes records to the import. If the import has failed, Write returns its error.
func (f *recordFeed) Write(p []byte) (int, error) {
	if f.pipe == nil {
		var r *io.PipeReader
		r, f.pipe = io.Pipe()
		f.done = make(chan struct{})
		go func() {
			defer close(f.done)
			f.summary, f.err = f.start(r)
			r.CloseWithError(cmp.Or(f.err, io.ErrClosedPipe))
		}()
	}
	return f.pipe.Write(p)
}

// end waits until all records written so far have been imported. The next record starts a new
// import.
func (f *recordFeed) end() (bulk.Summary, error) {
	if f.pipe == nil {
		return bulk.Summary{}, nil
	}
	f.pipe.Close()
	<-f.done
	f.pipe = nil
	return f.summary, f.err
}
