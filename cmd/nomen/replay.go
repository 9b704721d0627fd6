package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/internal/replay"
	"github.com/nomen-project/nomen/internal/shown"
)

const replayLong = `Replay reads the access log of an old resolver, sends the same requests to a nomen server,
and compares the answers: the status, and the Location of redirects. It shows what would
change for clients before you move names from the old resolver.

--log gives a log in the common or combined format of Apache httpd and nginx, or with a JSON
object per line as nginx, Caddy, Traefik and nomen write it; gzip files are decompressed.
Each different request is sent once, and counts as often as the log has it. Only GET and HEAD
requests are sent, with the method, path, query and (if the log has it) Accept of the log.

The old answer comes from one of these:

  --against URL  the old resolver, which gets the same requests, at most --rate a second
  --expect FILE  a file: CSV with the columns request, status, location and accept, or JSON
                 Lines with these members; without --log, all its requests are sent once
  neither        the log: its status, and its Location if a JSON log has it. Statuses that
                 depend on the client or on a failure (304, 408, 416, 429, 499, 5xx) are not
                 compared

Two locations are equal if they are equivalent by the rules of RFC 3986, 6.2 (case, escapes,
dot segments, the default port), or if each leads to the same path below the base URL of its
own server. The report says how many answers are equal only by such a rule. --exact
compares bytes.

The report counts the requests in these classes:

  equal           both answers are equal
  other status    the statuses differ
  other location  the statuses are equal, and the locations differ
  missing here    only nomen answers 404 or 410
  missing there   only the old resolver answers 404 or 410
  error           a server did not answer
  not compared    the old answer is not known

The last line has the share of equal answers among the compared answers. -v prints every
difference.

Replay connects only to --server and --against, and does not follow redirects. It neither
keeps nor prints addresses of clients. Examples show paths and queries from the log.

The exit status is 0 if the share of requests with equal answers is at least --at-least,
otherwise 1. It is 1 if nothing was compared, and 3 if a server does not answer 20 requests
in a row or a log cannot be read.`

type replaying struct {
	*cli
	options     replay.Options
	logs        []string
	expect      string
	atLeast     float64
	maxRequests int
	shown       error // from printing differences
}

func (c *cli) replayCommand() *cobra.Command {
	r := &replaying{cli: c}
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "compare answers with those of an old resolver, by its access log",
		Long:  replayLong,
		Example: `  nomen replay --log access.log --against https://old.example.org/
  nomen replay --log access.log.1.gz --log access.log --server http://localhost:4500/
  nomen replay --expect answers.csv --exact
  zcat access.log.*.gz | nomen replay --log - --at-least 99.5 --any-redirect
  nomen replay --log access.log -v --json | jq -r 'select(.class == "missing here").target'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o := &r.options
	f.StringArrayVar(&r.logs, "log", nil, "access log of the old resolver; - for standard input")
	f.StringVar(&o.Server, "server", "http://localhost:4500/", "base URL of the nomen server")
	f.StringVar(&o.Against, "against", "", "base URL of the old resolver")
	f.StringVar(&r.expect, "expect", "", "file of expected answers, as CSV or JSON Lines")
	f.BoolVar(&o.Exact, "exact", false, "compare the bytes of Location")
	f.BoolVar(&o.AnyRedirect, "any-redirect", false, "treat the statuses 301, 302, 303, 307 and 308 as equal")
	f.Float64Var(&r.atLeast, "at-least", 100, "smallest share of equal answers for exit status 0, in percent of the requests")
	f.Float64Var(&o.Rate, "rate", 0, "maximum number of requests a second; 0 for no limit (default 20 with --against, otherwise no limit)")
	f.IntVar(&o.Parallel, "parallel", replay.DefaultParallel, "number of concurrent requests")
	f.DurationVar(&o.Timeout, "timeout", replay.DefaultTimeout, "timeout of one request")
	limitOption(f, &o.Limit, 0, "send only so many different requests, the most frequent ones (default all)")
	f.IntVar(&o.Examples, "examples", replay.DefaultExamples, "number of examples for each class")
	f.IntVar(&r.maxRequests, "max-requests", replay.DefaultMaxRequests, "number of different requests to keep in memory; others are counted and not sent")
	notNegative(f, "at-least", "rate", "parallel", "timeout", "examples", "max-requests")
	return cmd
}

func (r *replaying) run(ctx context.Context) error {
	if err := r.prepare(); err != nil {
		return err
	}
	if err := r.readExpected(); err != nil {
		return err
	}
	log, err := r.readLogs(ctx)
	if err != nil {
		return err
	}
	report, err := r.send(ctx, log)
	if err != nil && report.Compared.Distinct == 0 {
		return err
	}
	return r.end(report, err)
}

func (r *replaying) prepare() (err error) {
	o := &r.options
	switch {
	case len(r.logs) == 0 && r.expect == "":
		return usagef("replay: --log or --expect is missing")
	case r.expect != "" && o.Against != "":
		return usagef("--expect cannot be combined with --against: give one source of the old answers")
	case !(r.atLeast <= 100): // also if it is NaN
		return usagef("--at-least %v: must be from 0 to 100", r.atLeast)
	case math.IsNaN(o.Rate):
		return usagef("--rate %v: must be a number of requests a second", o.Rate)
	}
	if o.Server, err = replay.ParseBase(o.Server); err != nil {
		return usagef("--server: %w", err)
	}
	if o.Against == "" {
		return nil
	}
	if o.Against, err = replay.ParseBase(o.Against); err != nil {
		return usagef("--against: %w", err)
	}
	if o.Against == o.Server {
		return usagef("--against: %s is also the --server", o.Against)
	}
	if !r.command.Flags().Changed("rate") {
		o.Rate = replay.DefaultRate
	}
	return nil
}

func (r *replaying) readExpected() error {
	if r.expect == "" {
		return nil
	}
	f, err := os.Open(r.expect)
	if err != nil {
		return err
	}
	defer f.Close()
	if r.options.Expected, err = replay.ReadExpected(f); err != nil {
		return fmt.Errorf("%s: %w", r.expect, err)
	}
	return nil
}

// readLogs reads the log files. Without log files, it returns a log of requests for the expected
// answers.
func (r *replaying) readLogs(ctx context.Context) (*replay.Log, error) {
	if len(r.logs) == 0 {
		return r.options.Expected.Log(), nil
	}
	log := &replay.Log{MaxRequests: r.maxRequests}
	show, end := r.counting("lines")
	defer end()
	for _, name := range r.logs {
		err := r.readLog(name, func(in io.Reader) error {
			return log.Read(ctx, in, func(lines int64) { show(uint64(lines), 0) })
		})
		if err != nil {
			return nil, err
		}
	}
	return log, nil
}

func (r *replaying) readLog(name string, read func(io.Reader) error) error {
	if name == "-" {
		return read(r.in)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := read(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (r *replaying) send(ctx context.Context, log *replay.Log) (*replay.Report, error) {
	show, end := r.counting("requests")
	defer end()
	r.options.Progress = func(done, total int) { show(uint64(done), uint64(total)) }
	if r.verbose {
		r.options.Difference = func(d replay.Difference) {
			r.shown = cmp.Or(r.shown, r.say(d, "%s: %s", d.Class, differenceText(d)))
		}
	}
	return replay.Run(ctx, log, r.options)
}

func (r *replaying) end(report *replay.Report, err error) error {
	requests, _ := report.Shares()
	print := r.text
	if r.json {
		print = r.object
	}
	if failed := errors.Join(r.shown, print(report)); failed != nil {
		return failed
	}
	switch {
	case err != nil:
		fmt.Fprintln(r.err, "nomen: the replay is incomplete")
		return err
	case report.Compared.Distinct == 0:
		fmt.Fprintln(r.err, "nomen: nothing was compared: the log has no GET or HEAD request with a known old answer")
		return errNo
	case requests < r.atLeast:
		return errNo
	}
	return nil
}

type replayedObject struct {
	*replay.Report
	Requests float64 `json:"equal_percent_of_requests"`
	Distinct float64 `json:"equal_percent_of_distinct"`
}

func (r *replaying) object(report *replay.Report) error {
	requests, distinct := report.Shares()
	return r.printJSON(replayedObject{report, requests, distinct})
}

func (r *replaying) text(report *replay.Report) error {
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	for _, c := range report.Classes {
		if c.Distinct > 0 || c.Class == replay.Equal {
			fmt.Fprintf(w, "%s\t%s\n", c.Class, tallyText(c.Tally))
		}
		for _, rules := range slices.Sorted(maps.Keys(c.Rules)) {
			fmt.Fprintf(w, "  by rule %s\t%s\n", rules, tallyText(c.Rules[rules]))
		}
		if r.verbose {
			continue // with --verbose, all differences have already been printed
		}
		for _, d := range c.Examples {
			fmt.Fprintf(w, "  %s\n", differenceText(d))
		}
		if more := c.Distinct - int64(len(c.Examples)); c.Class != replay.Equal && len(c.Examples) > 0 && more > 0 {
			fmt.Fprintf(w, "  ... and %d more\n", more)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	r.notes(report)
	requests, distinct := report.Shares()
	return r.say(nil, "%s of %s and %s of %s are equal",
		replay.Percent(requests), count(report.Compared.Requests, "request"),
		replay.Percent(distinct), count(report.Compared.Distinct, "different request"))
}

func tallyText(t replay.Tally) string {
	return fmt.Sprintf("%s (%d different)", count(t.Requests, "request"), t.Distinct)
}

const maxShown = 300

func differenceText(d replay.Difference) string {
	short := func(s string) string { return shown.Short(s, maxShown) }
	text := fmt.Sprintf("%d x %s %s", d.Count, d.Method, short(d.Target))
	if d.Accept != "" {
		text += ", Accept: " + short(d.Accept)
	}
	if d.Class == replay.NotCompared {
		return text
	}
	return text + ": old " + short(d.Old.String()) + ", new " + short(d.New.String())
}

// notes prints which lines were skipped, and how some requests were compared. The shares in the
// report do not include this information.
func (r *replaying) notes(report *replay.Report) {
	l := report.Log
	for _, n := range []struct {
		count int64
		text  string
	}{
		{l.Malformed, fmt.Sprintf("malformed, the first in line %d", l.FirstFaulty)},
		{l.TooLong, "longer than 64 KiB"},
		{l.Methods, "with methods other than GET and HEAD"},
		{l.Cut, "with requests beyond the limit of memory or --max-requests"},
	} {
		if n.count > 0 {
			fmt.Fprintf(r.err, "nomen: skipped %s %s\n", count(n.count, "line"), n.text)
		}
	}
	if n := report.Left; n > 0 {
		fmt.Fprintf(r.err, "nomen: did not send %s beyond --limit\n", count(n, "request"))
	}
	if n := report.StatusOnly.Requests; n > 0 {
		fmt.Fprintf(r.err, "nomen: compared only the status of %s, because the old Location is not known; --against or --expect give it\n", count(n, "redirect"))
	}
	if n := report.Varied.Requests; n > 0 {
		fmt.Fprintf(r.err, "nomen: the log has several statuses for %s; the last one counts\n", count(n, "request"))
	}
}
