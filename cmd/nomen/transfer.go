package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
)

const importLong = `Import reads records from files and merges them into the store. The formats are JSON Lines
(.jsonl), CSV (.csv) and TSV (.tsv), plain or compressed with gzip or zstd, and workbooks
(.xlsx). "-" is standard input. docs/reference/record.md describes the formats, with
examples.

In CSV, cells are separated by commas, semicolons, tabs or vertical bars (|). If the file
has another title for one of nomen's columns, use --map TITLE=COLUMN.

Import rejects each invalid record with its line and the reason, and imports all other
records. For a mistake in a name, such as a wrong check character, it only prints a warning.
With --strict, it rejects new names with such mistakes. An active name can never be deleted.

If you import the same file again, nothing changes. The exception is a file with two records
of one name that contradict each other. To resume an interrupted import, start it again. On
a running server an import is a job: see 'nomen jobs'.

--on-conflict says what to do with a name that already exists:

  merge    add the file's locations, same_as and successors to the record; replace its
           status, reason, elements of metadata, and typed values with the same index,
           if the file has them
  keep     leave the record unchanged
  replace  replace each field of the record that the file has
  fail     reject the file's record if it would change anything

Fields that the file does not have are never changed.

Import leaves retired names unchanged, so that an old file cannot bring back a withdrawn
item. It reports each record of the file that would change a retired name. With --retired,
import changes retired names too.

Import also reads files of other programs, such as the .htaccess files of a web server
(--format htaccess) or the database of a NOID minter (--format noid):
docs/reference/import-formats.md describes these formats. Import prints each entry that it
cannot import, with the reason. With --json, it prints one object for each file, then the
summary. If FILE is a directory, import reads the files in it that have the format.

The summary has the ID of the import. To revert the import, use 'nomen undo --import ID'.

To see more:

  --dry-run  changes nothing, and reports what the import would change
  -v         also lists each created or changed name, with its fields, and logs details

The exit status is 1 if records were rejected. It is 3 if a file was not found or is
truncated, or if the disk is full.`

type importFlags struct {
	bulk.ImportOptions
	format, policy, base string
}

func (o *importFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "", "format of the files: jsonl, csv, tsv or xlsx (default by suffix), or the format of another program: "+foreignNames())
	f.StringVar(&o.base, "base", "", "with the format of another program: text to put before each name of the file, such as ark:12345/")
	f.StringVar(&o.Sheet.Delimiter, "delimiter", "", "separator of CSV cells: , ; | or tab (default detected from the first line)")
	f.StringVar(&o.Sheet.Name, "sheet", "", "sheet of the workbook (default the only one with values)")
	f.StringVar(&o.Sheet.Encoding, "encoding", "", "character encoding, such as windows-1252 (default UTF-8, or UTF-16 with a byte order mark)")
	f.StringArrayVar(&o.Sheet.Columns, "map", nil, "TITLE=COLUMN: read the column with this title as nomen's COLUMN; TITLE= ignores the column; can be repeated")
	f.StringArrayVar(&o.Sheet.Split, "split", nil, "COLUMN=SEPARATOR: the text between two values in a cell of this column, such as ; or || (default |); can be repeated")
	f.BoolVar(&o.Sheet.Spreadsheet, "spreadsheet", false, "remove the apostrophes that 'export --spreadsheet' puts before cells")
	dryRunOption(f, &o.DryRun)
	f.StringVar(&o.policy, "on-conflict", bulk.Merge.String(), "what to do with names that already exist: merge, keep, replace or fail")
	retiredOption(f, &o.Retired)
	strictOption(f, &o.Strict)
	f.BoolVar(&o.Resolvers, "map-resolvers", false, "read URLs of well-known resolvers, such as https://doi.org/10.5072/a, as the names in them")
	f.StringVar(&o.Who, "as", "", "author to record in the history (default the bearer of the token)")
	whyOption(f, &o.Why)
}

func (c *cli) importCommand() *cobra.Command {
	var o importFlags
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "import records from files",
		Long:  importLong,
		Example: `  nomen import names.jsonl
  nomen import --dry-run -v moved.csv
  nomen import --on-conflict replace --why 'new web site' moved.tsv.gz
  nomen import --map Link=url --map Price= --split 'dc:creator=;' catalogue.csv
  other-system --dump | nomen import --format csv -
  nomen import --format htaccess --base https://w3id.org/ --dry-run perma-id`,
		Args: arguments(1, -1),
	}
	o.register(cmd.Flags())
	c.memoryFlag(cmd.Flags(), "768, less if the machine has little memory")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var ok bool
		if o.OnConflict, ok = bulk.ParseConflict(o.policy); !ok {
			return usagef("--on-conflict %q: must be merge, keep, replace or fail", o.policy)
		}
		work, err := c.importing(cmd.Context(), args, o)
		if err != nil {
			return err
		}
		if err := c.boundMemory(cmd.Context(), pebblestore.LoadingCacheSize()); err != nil {
			return err
		}
		err = c.withStore(cmd.Context(), creates.unless(o.DryRun), work)
		var missing *noStoreError
		if o.DryRun && errors.As(err, &missing) {
			fmt.Fprintln(c.err, "nomen: "+printable(missing.at)+": no store found; the dry run assumes an empty one")
			s := memstore.New()
			return errors.Join(work(&local{store: s, registrar: registrar.New(s, registrar.Options{Now: clock})}), s.Close())
		}
		return err
	}
	return cmd
}

// importing checks the files to import, and returns a function that imports them.
func (c *cli) importing(ctx context.Context, args []string, o importFlags) (func(backend) error, error) {
	if f := foreignFormat(o.format); f != nil {
		files, err := foreignFiles(args, f)
		return func(b backend) error { return c.importForeign(ctx, b, files, f, o) }, err
	}
	if o.base != "" {
		return nil, usagef("--base needs --format with the format of another program: %s", foreignNames())
	}
	return func(b backend) error { return c.importFiles(ctx, b, args, o.format, o.ImportOptions) }, checkFiles(args, o.format, o.Sheet)
}

func checkFiles(files []string, format string, sheet bulk.Sheet) error {
	if err := sheet.Check(); err != nil {
		return usagef("--%w", err)
	}
	for _, file := range files {
		f, _, err := readFormat(file, format)
		if err == nil {
			if err = sheet.Fits(f); err != nil {
				err = usagef("--%w", err)
			}
		}
		if err == nil && file != "-" {
			err = isFile(file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// importFiles imports one file after another, and continues after an invalid file.
func (c *cli) importFiles(ctx context.Context, b backend, files []string, format string, o bulk.ImportOptions) error {
	var result error
	for _, file := range files {
		s, err := c.importFile(ctx, b, file, format, o)
		var bad *bulk.LineError
		var broken *bulk.BrokenError
		switch {
		case errors.As(err, &bad):
			c.showRefusal(file, bulk.Refusal{Sheet: bad.Sheet, Line: bad.Line, Column: bad.Column, Field: bad.Field, Reason: bad.Message})
			result = cmp.Or(result, errNo)
		case errors.As(err, &broken):
			fmt.Fprintln(c.err, "nomen: "+printable(file+": "+broken.Error()))
			result = errFailed
		case errors.As(err, new(*fs.PathError)):
			return err
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		case s.Refused > 0:
			result = cmp.Or(result, errNo)
		}
	}
	return result
}

func (c *cli) importFile(ctx context.Context, b backend, file, format string, o bulk.ImportOptions) (bulk.Summary, error) {
	var err error
	if o.Format, o.Compression, err = readFormat(file, format); err != nil {
		return bulk.Summary{}, err
	}
	if o.Compression == bulk.Plain {
		o.Compression = bulk.Auto // detect compression if there is no suffix for it
	}
	in, size, err := c.open(file)
	if err != nil {
		return bulk.Summary{}, err
	}
	defer in.Close()
	counted := &countingReader{r: in}
	bar, end := c.progress(file, size)
	o.Progress = func(s bulk.Summary) { bar(s, counted.n.Load()) }
	o.Refused = func(r bulk.Refusal) { c.showRefusal(file, r) }
	o.Warned = func(w bulk.Warning) { c.showWarning(file, w) }
	o.Doubted = func(d bulk.Doubts) { c.showDoubts(file, d) }
	if c.verbose {
		o.Changed = func(change bulk.Change) { c.showChange(file, change) }
	}
	s, err := b.Import(ctx, counted, o)
	end()
	return s, errors.Join(err, c.showSummary(s, o.DryRun))
}

func (c *cli) showDoubts(file string, d bulk.Doubts) {
	undo, uncovered := "records undo an earlier record", "imported records have names that no authority here covers; they are served only by their"
	if d.Undoing == 1 {
		undo = "record undoes an earlier record"
	}
	if d.Uncovered == 1 {
		uncovered = "imported record has a name that no authority here covers; it is served only by its"
	}
	for _, w := range []struct {
		n    int64
		text string
	}{
		{d.Undoing, undo + " of the same name in the file; the last one wins, and every import of the file changes these names back and forth; -v lists the changes"},
		{d.Uncovered, uncovered + " full name; 'nomen authority put PREFIX' creates an authority"},
	} {
		if w.n > 0 {
			fmt.Fprintf(c.err, "nomen: warning: %s: %d %s\n", printable(file), w.n, w.text)
		}
	}
}

// showRefusal prints the place of a rejected record, its name, the field and the reason.
func (c *cli) showRefusal(file string, r bulk.Refusal) {
	parts := []string{"nomen: " + file}
	if at := bulk.Place(r.Sheet, r.Line, r.Column); at != "" {
		parts[0] += ":" + at
	}
	for _, s := range []string{r.Name, r.Field, r.Reason + refusalRemedy(r)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	fmt.Fprintln(c.err, printable(strings.Join(parts, ": "))+caretOn(c.err, r.Err))
}

func (c *cli) showWarning(file string, w bulk.Warning) {
	fmt.Fprintln(c.err, printable(fmt.Sprintf("nomen: warning: %s:%s: %s: %s", file, bulk.Place(w.Sheet, w.Line, 0), w.Name, warningText(w))))
}

func (c *cli) showChange(file string, change bulk.Change) {
	if c.json {
		_ = c.printJSON(change) // the summary reports an error of standard output
		return
	}
	what := "created"
	if !change.Created {
		what = "changed: " + strings.Join(change.Fields, ", ")
	}
	fmt.Fprintln(c.err, printable(fmt.Sprintf("nomen: %s:%s: %s: %s", file, bulk.Place(change.Sheet, change.Line, 0), change.Name, what)))
}

func (c *cli) showSummary(s bulk.Summary, dry bool) error {
	created, changed, after, more := "created", "changed", "", ""
	if s.Retired > 0 {
		more = fmt.Sprintf(", retired and left unchanged %d", s.Retired)
	}
	if s.Warned > 0 {
		more += fmt.Sprintf(", with warnings %d", s.Warned)
	}
	switch {
	case dry:
		created, changed, after = "would create", "would change", " (dry run: nothing was changed)"
	case s.Import != "":
		after = "; 'nomen undo --import " + s.Import + "' reverts it"
	}
	return c.say(s, "read %d, %s %d, %s %d, unchanged %d, rejected %d%s in %.2f s, %.0f per second%s",
		s.Read, created, s.Created, changed, s.Changed, s.Unchanged, s.Refused, more, s.Seconds, rate(s.Read, s.Seconds), after)
}

func rate(n int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}

func readFormat(file, flag string) (bulk.Format, bulk.Compression, error) {
	f, compression, err := fileFormat(file, flag)
	if err == nil && !f.Readable() {
		err = usagef("%s: cannot import the format %s: it does not hold complete records", file, f)
	}
	return f, compression, err
}

func fileFormat(file, flag string) (bulk.Format, bulk.Compression, error) {
	f, compression, ok := bulk.Suffixes(file)
	if flag != "" {
		if f, ok = bulk.ParseFormat(flag); !ok {
			var all []string
			for _, f := range bulk.Formats() {
				all = append(all, f.String())
			}
			return f, compression, usagef("--format %q: must be one of %s", flag, strings.Join(all, ", "))
		}
	}
	if !ok {
		return f, compression, usagef("%s: unknown format: pass --format, or save a spreadsheet as .xlsx or CSV", file)
	}
	return f, compression, nil
}

func isFile(file string) error {
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return &fs.PathError{Op: "read", Path: file, Err: syscall.EISDIR}
	}
	return err
}

// open opens a file for reading, or standard input for "-". If the size is unknown, it returns -1.
func (c *cli) open(file string) (io.ReadCloser, int64, error) {
	if file == "-" {
		return io.NopCloser(c.in), -1, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, errors.Join(err, f.Close())
	case !info.Mode().IsRegular():
		return f, -1, nil
	}
	return f, info.Size(), nil
}

type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// progress returns two functions: show displays the progress of an import or export, and end
// removes the display. A negative size means unknown.
func (c *cli) progress(title string, size int64) (show func(s bulk.Summary, bytes int64), end func()) {
	m, start := c.newMeter(size >= 0), clock()
	return func(s bulk.Summary, bytes int64) {
		if m == nil {
			return
		}
		text := fmt.Sprintf("%s: %d records, %.0f per second", title, s.Read, rate(s.Read, clock().Sub(start).Seconds()))
		if s.Refused > 0 {
			text += fmt.Sprintf(", %d rejected", s.Refused)
		}
		m.show(text, bytes, size)
	}, m.end
}
