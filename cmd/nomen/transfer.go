package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk"
)

const importLong = `Import reads records, one JSON object a line, and merges them into the store: it
touches only the fields a line has and never removes what it does not mention.
Bad records are refused one by one, with line and reason; all others go in.
The same file again changes nothing, so an import that was cut off is resumed by
starting it again. FILE may be compressed with gzip or zstd; "-" is standard
input.

The exit status is 1 if records were refused and 3 if the input broke off.`

func (c *cli) importCommand() *cobra.Command {
	var o bulk.ImportOptions
	var format string
	cmd := &cobra.Command{
		Use:     "import FILE...",
		Short:   "records in from files",
		Long:    importLong,
		Example: "  nomen import names.jsonl\n  nomen import --dry-run names.jsonl.zst\n  other-system --dump | nomen import -",
		Args:    arguments(1, -1),
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "", "jsonl (default by suffix)")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would change, and change nothing")
	f.BoolVar(&o.Replace, "replace", false, "lists in the file replace those in the store")
	f.StringVar(&o.Why, "why", "", "reason, for the history")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.withStore(cmd.Context(), true, func(b backend) error {
			refused := int64(0)
			for _, file := range args {
				s, err := c.importFile(cmd.Context(), b, file, format, o)
				refused += s.Refused
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
			}
			if refused > 0 {
				return errNo
			}
			return nil
		})
	}
	return cmd
}

// importFile imports one file and prints its summary, also when it broke off.
func (c *cli) importFile(ctx context.Context, b backend, file, format string, o bulk.ImportOptions) (bulk.Summary, error) {
	var err error
	if o.Format, o.Compression, err = fileFormat(file, format); err != nil {
		return bulk.Summary{}, err
	}
	if o.Compression == bulk.Plain {
		o.Compression = bulk.Auto // what the bytes say wins over a missing suffix
	}
	in, size, err := c.open(file)
	if err != nil {
		return bulk.Summary{}, err
	}
	defer in.Close()
	counted := &countingReader{r: in}
	bar := c.progress(file, size)
	o.Progress = func(s bulk.Summary) { bar(s.Read, counted.n.Load()) }
	o.Refused = func(r bulk.Refusal) { c.showRefusal(file, r) }
	s, err := b.Import(ctx, counted, o)
	bar(-1, 0)
	return s, errors.Join(err, c.showSummary(s, o.DryRun))
}

// showRefusal says which record was refused: place, name, field, reason.
func (c *cli) showRefusal(file string, r bulk.Refusal) {
	parts := []string{fmt.Sprintf("nomen: %s:%d", file, r.Line)}
	if r.Column > 0 {
		parts[0] += fmt.Sprintf(":%d", r.Column)
	}
	for _, s := range []string{r.Name, r.Field, r.Reason} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	fmt.Fprintln(c.err, printable(strings.Join(parts, ": ")))
}

func (c *cli) showSummary(s bulk.Summary, dry bool) error {
	if c.json {
		return c.printJSON(s)
	}
	would := ""
	if dry {
		would = " (dry run: nothing was changed)"
	}
	_, err := fmt.Fprintf(c.out, "read %d, created %d, changed %d, unchanged %d, refused %d in %.2f s, %.0f a second%s\n",
		s.Read, s.Created, s.Changed, s.Unchanged, s.Refused, s.Seconds, rate(s.Read, s.Seconds), would)
	return err
}

func rate(n int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}

// fileFormat returns what the name of a file and the flag say.
func fileFormat(file, flag string) (bulk.Format, bulk.Compression, error) {
	f, compression, ok := bulk.Suffixes(file)
	if flag != "" {
		if f, ok = bulk.ParseFormat(flag); !ok {
			return f, compression, usagef("--format %q: want jsonl", flag)
		}
	}
	if !ok {
		return f, compression, usagef("%s: the suffix tells no format that is known; give --format", file)
	}
	return f, compression, nil
}

// open opens a file for reading, "-" being standard input. The size is -1 if
// unknown.
func (c *cli) open(file string) (io.ReadCloser, int64, error) {
	if file == "-" {
		return io.NopCloser(c.in), -1, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, usageError{err}
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, -1, err
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

// progress returns a function that shows how far an import is: how many records
// of how many bytes were read. A negative count ends it. Off terminals it does
// nothing.
func (c *cli) progress(title string, size int64) func(records, bytes int64) {
	if !isTerminal(c.err) {
		return func(int64, int64) {}
	}
	start := clock()
	bar := progressbar.NewOptions64(size, progressbar.OptionSetWriter(c.err),
		progressbar.OptionSetDescription(title), progressbar.OptionShowBytes(true),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish())
	return func(records, bytes int64) {
		if records < 0 {
			_ = bar.Finish()
			return
		}
		bar.Describe(fmt.Sprintf("%s: %d records, %.0f a second", title, records, rate(records, clock().Sub(start).Seconds())))
		_ = bar.Set64(bytes)
	}
}

const exportLong = `Export writes records in the order of their names, as of one moment, while
changes go on. The suffix of --output chooses the compression: .gz or .zst.`

func (c *cli) exportCommand() *cobra.Command {
	var o bulk.ExportOptions
	var output, format string
	var statuses []string
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "records out to a file",
		Long:    exportLong,
		Example: "  nomen export > all.jsonl\n  nomen export --prefix urn:nbn:fi --output fi.jsonl.zst",
		Args:    noArguments,
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "-", "file to write; it is complete or not there")
	f.StringVar(&format, "format", "", "jsonl (default by suffix)")
	f.StringVar(&o.Prefix, "prefix", "", "only names that begin with this")
	f.StringSliceVar(&statuses, "status", nil, "only records of this status; can be repeated")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var err error
		if o.Format, o.Compression, err = fileFormat(output, format); err != nil {
			return err
		}
		for _, s := range statuses {
			o.Statuses = append(o.Statuses, nomen.Status(s))
		}
		return c.withStore(cmd.Context(), false, func(b backend) error {
			return c.exportTo(cmd.Context(), b, output, o)
		})
	}
	return cmd
}

// exportTo writes to standard output, to a device or pipe, or to a file.
func (c *cli) exportTo(ctx context.Context, b backend, output string, o bulk.ExportOptions) error {
	if output == "-" {
		_, err := b.Export(ctx, c.out, o)
		return err
	}
	if info, err := os.Stat(output); err == nil && !info.Mode().IsRegular() {
		return exportInto(ctx, b, output, o)
	}
	s, err := exportFile(ctx, b, output, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "nomen: %s: %d records in %.2f s\n", output, s.Read, s.Seconds)
	return nil
}

// exportInto writes to what is there and no file: it is not replaced.
func exportInto(ctx context.Context, b backend, output string, o bulk.ExportOptions) error {
	f, err := os.OpenFile(output, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = b.Export(ctx, f, o)
	return errors.Join(err, f.Close())
}

// exportFile writes to a temporary file that takes the name at the end.
func exportFile(ctx context.Context, b backend, output string, o bulk.ExportOptions) (bulk.Summary, error) {
	if target, err := filepath.EvalSymlinks(output); err == nil {
		output = target // a link stays one
	}
	tmp, err := os.OpenFile(fmt.Sprintf("%s.%d.tmp", output, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return bulk.Summary{}, err
	}
	s, err := b.Export(ctx, tmp, o)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), output)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return s, err
}
