package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server/admin"
)

const reportLong = `Report prints what happened to names in a month: resolutions, failed lookups, changes, the
most resolved names, the names that were not found, and the dead links. By default it is
about all names and the last month. With --csv it prints a table for a spreadsheet.

A server can send this report by mail every month (reports.to). With --test, the running
server sends a test message to the addresses in reports.to and to the webhook, and the
command prints for each whether it was accepted.`

func (c *cli) reportStatsCommand() *cobra.Command {
	var month string
	var asCSV, test bool
	cmd := &cobra.Command{
		Use:     "report [PREFIX]",
		Short:   "report on a month: resolutions, failed lookups, changes and dead links",
		Long:    reportLong,
		Args:    cobra.MaximumNArgs(1),
		Example: "  nomen stats report\n  nomen stats report urn:dns:example.org --month 2026-10 --csv > report.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			if test {
				if len(args) > 0 || month != "" || asCSV {
					return usagef("stats report: --test cannot be combined with a prefix, --month or --csv")
				}
				return c.testReports(cmd.Context())
			}
			if month == "" {
				now := clock().UTC()
				month = now.AddDate(0, 0, 1-now.Day()).AddDate(0, -1, 0).Format(adminapi.MonthLayout)
			} else if _, err := time.Parse(adminapi.MonthLayout, month); err != nil {
				return usagef("--month %q: must be a month, such as 2026-10", month)
			}
			prefix := strings.Join(args, "")
			return c.withStore(cmd.Context(), reads, func(b backend) error {
				r, err := whenCounted(cmd.Context(), c, false, func(m adminapi.MonthReport) adminapi.Count { return m.Count },
					func(ctx context.Context) (adminapi.MonthReport, error) { return b.MonthReport(ctx, prefix, month) })
				switch {
				case err != nil:
					return err
				case c.json:
					return c.printJSON(r)
				case asCSV:
					return monthCSV(c.out, &r)
				}
				for line := range strings.Lines(r.Text()) {
					if _, err := io.WriteString(c.out, printable(strings.TrimSuffix(line, "\n"))+"\n"); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&month, "month", "", "month such as 2026-10 (default the last month)")
	f.BoolVar(&asCSV, "csv", false, "print CSV, with all days, names and links")
	f.BoolVar(&test, "test", false, "make the server send a test message to the recipients of the reports")
	return cmd
}

// testReports makes the running server send test messages.
func (c *cli) testReports(ctx context.Context) error {
	api, err := c.server(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no server runs on this data directory, and only a running server sends reports%s", c.data, c.defaultHint())
	case err != nil:
		return fmt.Errorf("%s: cannot reach the server of this data directory: %w", c.data, err)
	}
	done, err := api.TestReports(ctx)
	if err != nil {
		return err
	}
	a := newAnswers(c)
	failed := false
	for _, d := range done.Deliveries {
		line := printable(d.To) + ": accepted"
		if d.Error != "" {
			line, failed = printable(d.To)+": "+printable(d.Error), true
		}
		a.say(d, line)
	}
	return judge(ctx, failed, a.end())
}

// monthCSV writes a report as CSV.
func monthCSV(w io.Writer, r *adminapi.MonthReport) error {
	out := csv.NewWriter(w)
	for _, row := range r.Rows() {
		for i := range row {
			row[i] = bulk.Mark(row[i])
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (l *local) MonthReport(ctx context.Context, prefix, month string) (out adminapi.MonthReport, err error) {
	k, closeAll, err := l.counted(l.store)
	if err != nil {
		return out, err
	}
	found, err := withAPI(ctx, l, func(o *admin.Options) { o.Counts = k }, func(api *admin.API) (adminapi.MonthReport, error) {
		return whenMonthCounted(ctx, api, registrar.Operator(), prefix, month)
	})
	return found, errors.Join(err, closeAll())
}

func whenMonthCounted(ctx context.Context, api *admin.API, a registrar.Actor, prefix, month string) (adminapi.MonthReport, error) {
	for {
		r, err := api.MonthReport(ctx, a, prefix, month)
		if err != nil {
			return adminapi.MonthReport{}, err
		}
		if !r.Counting {
			return *r, nil
		}
		select {
		case <-ctx.Done():
			return *r, context.Cause(ctx)
		case <-time.After(countPause):
		}
	}
}
