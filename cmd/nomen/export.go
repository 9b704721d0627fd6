package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/durable"
)

const exportLong = `Export writes records, sorted by name, as they are when the export starts. Later changes
are not in the export. If you import an export into an empty store and export that store,
you get the same bytes. The formats are:

  jsonl, csv, tsv  complete records
  nginx-map        the best location of each active name, for a map of nginx
  apache-map       the best location of each active name, for a RewriteMap of Apache httpd
  uri-list         all usable locations of each active name (RFC 2483)
  ezid-csv         ARKs, DOIs and UUIDs as in a batch download of EZID
  handle-batch     operations that create the active handles, for a Handle.Net server
  htaccess         redirects for the directory of --prefix, with the rules of authorities
  obo-yaml         redirects as in htaccess, as a configuration file of the OBO Foundry
  caddy            the best location of each active name, for a map of Caddy

The suffix of --output chooses format and compression: .csv, .tsv.gz, .jsonl.zst.

Only you can read a new file, because an export includes reserved names. A file of yours
that already exists keeps its mode and group when it is replaced. To let a web server read
a map, use chmod or chgrp once.

At the end, an export to a file prints a summary. With --json the summary is a JSON object,
like that of an import. A message says how many names have no line in a map or list. If the
format cannot represent a record or some of its fields, the record is reported, and the
exit status is 1.`

// exportCache is the size of the store's cache during an export, in bytes. It is small, because an
// export reads each record only once.
const exportCache = 16 << 20

type exportFlags struct {
	bulk.ExportOptions
	output, format string
	only           []string
}

func (o *exportFlags) register(f *pflag.FlagSet) {
	f.StringVarP(&o.output, "output", "o", "-", "file to write; it appears only when complete")
	f.StringVar(&o.format, "format", "", "format of the output: jsonl, csv, tsv, nginx-map, apache-map, uri-list, ezid-csv, handle-batch, htaccess, obo-yaml or caddy (default by suffix)")
	prefixOption(f, &o.Prefix)
	f.StringSliceVar(&o.only, "status", nil, "only records with this status: reserved, active or retired; can be repeated (default all)")
	f.BoolVar(&o.Spreadsheet, "spreadsheet", false, "put an apostrophe before cells that a spreadsheet would run as formulas (= + - @); only csv and tsv")
	f.BoolVar(&o.Revisions, "revisions", false, "include the revision number of each record and the time of its last change; only in jsonl")
}

func (o *exportFlags) complete() (err error) {
	if o.Format, o.Compression, err = fileFormat(o.output, o.format); err != nil {
		return err
	}
	switch {
	case !o.Format.Writable():
		return usagef("cannot export the format %s; spreadsheet programs open csv", o.Format)
	case o.Spreadsheet && o.Format != bulk.CSV && o.Format != bulk.TSV:
		return usagef("--spreadsheet: %s has no cells; use csv or tsv", o.Format)
	case o.Revisions && o.Format != bulk.JSONLines:
		return usagef("--revisions: %s cannot hold them; use jsonl", o.Format)
	}
	for _, s := range o.only {
		status, err := parseStatus(s)
		if err != nil {
			return err
		}
		o.Statuses = append(o.Statuses, status)
	}
	return nil
}

func (c *cli) exportCommand() *cobra.Command {
	var o exportFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "export records to a file",
		Long:  exportLong,
		Example: `  nomen export > all.jsonl
  nomen export --prefix urn:nbn:fi --output fi.csv.zst
  nomen export --format nginx-map --output /etc/nginx/names.map`,
		Args: noArguments,
	}
	o.register(cmd.Flags())
	c.memoryFlag(cmd.Flags(), "528")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.complete(); err != nil {
			return err
		}
		o.Refused = func(r bulk.Refusal) { c.showRefusal(o.output, r) }
		if err := c.boundMemory(cmd.Context(), exportCache); err != nil {
			return err
		}
		c.cacheSize = exportCache
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			return c.exportTo(cmd.Context(), b, o.output, o.ExportOptions)
		})
	}
	return cmd
}

func (c *cli) exportTo(ctx context.Context, b backend, output string, o bulk.ExportOptions) error {
	s, err := c.exportAny(ctx, b, output, o)
	switch {
	case err != nil:
		return err
	case s.LeftOut > 0:
		fmt.Fprintf(c.err, "nomen: %s: no line for %s: not active, or without a location\n", output, count(s.LeftOut, "name"))
	}
	if s.Refused > 0 {
		fmt.Fprintf(c.err, "nomen: %s: %s cannot be written as %s\n", output, count(s.Refused, "record"), o.Format)
	}
	if s.Partial > 0 {
		fmt.Fprintf(c.err, "nomen: %s: %s written without fields that %s cannot represent\n", output, count(s.Partial, "record"), o.Format)
	}
	if s.Refused+s.Partial > 0 {
		return errNo
	}
	return nil
}

func (c *cli) exportAny(ctx context.Context, b backend, output string, o bulk.ExportOptions) (bulk.Summary, error) {
	if output == "-" {
		return b.Export(ctx, c.out, o)
	}
	if info, err := os.Stat(output); err == nil && !info.Mode().IsRegular() {
		return exportInto(ctx, b, output, o)
	}
	bar, end := c.progress(output, -1)
	o.Progress = func(s bulk.Summary) { bar(s, s.Read) }
	s, err := exportFile(ctx, b, output, o)
	end()
	switch {
	case err != nil:
	case c.json:
		err = c.printJSON(s)
	default:
		fmt.Fprintf(c.err, "nomen: %s: %s in %.2f s\n", output, count(s.Read, "record"), s.Seconds)
	}
	return s, err
}

// exportInto writes an export to an existing device or named pipe.
func exportInto(ctx context.Context, b backend, output string, o bulk.ExportOptions) (bulk.Summary, error) {
	f, err := os.OpenFile(output, os.O_WRONLY, 0)
	if err != nil {
		return bulk.Summary{}, err
	}
	s, err := b.Export(ctx, f, o)
	return s, errors.Join(err, f.Close())
}

// exportFile writes an export to a temporary file, and renames the file at the end. A new file is
// readable only by its owner, because an export contains reserved names.
func exportFile(ctx context.Context, b backend, output string, o bulk.ExportOptions) (bulk.Summary, error) {
	if target, err := filepath.EvalSymlinks(output); err == nil {
		output = target // if output is a symbolic link, replace the file to which it leads
	}
	var s bulk.Summary
	err := durable.Replace(durable.Disk{Mode: durable.Private, Keep: true}, output, func(w io.Writer) (err error) {
		s, err = b.Export(ctx, w, o)
		return err
	})
	return s, err
}
