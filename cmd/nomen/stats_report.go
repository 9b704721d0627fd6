package main

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
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

A server can send this report by mail every month (reports.to).`

func (c *cli) reportStatsCommand() *cobra.Command {
	var month string
	var asCSV bool
	cmd := &cobra.Command{
		Use:     "report [PREFIX]",
		Short:   "report on a month: resolutions, failed lookups, changes and dead links",
		Long:    reportLong,
		Args:    cobra.MaximumNArgs(1),
		Example: "  nomen stats report\n  nomen stats report urn:dns:example.org --month 2026-10 --csv > report.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
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
	return cmd
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
