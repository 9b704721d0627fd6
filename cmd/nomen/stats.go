package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
)

const statsLong = `With a name, stats prints how often the name was resolved, by day and class of client. With
a prefix, it prints the same for all names of the authorities with this prefix or a longer
one, and the most resolved names. With "" as the prefix, it prints the numbers of all
authorities. Only the server counts ('nomen serve'), unless it has --no-counts. Double
clicks count once. These numbers are resolutions, not the requests of COUNTER.

The classes are regular (browsers), machine (libraries and programs such as curl), bot
(robots by the list of COUNTER) and unknown (no User-Agent field). Of the months that ended
more than three months ago, only the sums are kept.

The subcommands show the numbers that the page Statistics shows: of names, of locations,
and of changes.

A running server counts in the background and keeps the result for a day. It keeps the
changes of the present month only for a minute. If there is no result yet, the command waits
for the end of the count. With --fresh, it waits for a new count. Without a server, the
command does the count. A count reads all names.`

func (c *cli) statsCommand() *cobra.Command {
	var o resolutionFlags
	cmd := groupOf("stats [NAME|PREFIX]", "show how often names were resolved, and numbers of names, locations and changes", statsLong,
		c.namesStatsCommand("names", "count names by naming authority and status",
			"Names prints the number of active, reserved and retired names of each naming authority.\nWith --json it also prints the numbers of 'nomen stats links'.", c.showNameCounts),
		c.namesStatsCommand("links", "count locations by host, and list the locations that clients do not get",
			`Links prints the number of locations of each host, and how many of them have http instead
of https. It then lists locations that clients do not get, because their validity has
passed (past) or an editor has marked them as unavailable (down). It shows at most 200
hosts and 200 locations.
With --json it also prints the numbers of 'nomen stats names'.`, c.showLinkCounts),
		c.changesStatsCommand(),
		c.reportStatsCommand(),
	)
	cmd.Example = resolutionExamples + cmd.Example
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && cmd.Flags().NFlag() == 0 {
			return cmd.Help()
		}
		if len(args) == 1 && args[0] != "" && !strings.Contains(args[0], ":") { // as a misspelled subcommand
			return noArguments(cmd, args)
		}
		return c.showResolutions(cmd.Context(), strings.Join(args, ""), o)
	}
	o.add(cmd)
	return cmd
}

const resolutionExamples = `  nomen stats urn:dns:example.org:alb002
  nomen stats urn:dns:example.org --from 2026-01 --csv
`

func (c *cli) namesStatsCommand(use, short, long string, show func(io.Writer, *adminapi.Statistics)) *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: noArguments,
		Example: fmt.Sprintf("  nomen stats %s\n  nomen stats %s --fresh --json", use, use),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withStore(cmd.Context(), reads, func(b backend) error {
				s, err := whenCounted(cmd.Context(), c, fresh, func(s adminapi.Statistics) adminapi.Count { return s.Count },
					func(ctx context.Context) (adminapi.Statistics, error) { return b.Statistics(ctx, fresh) })
				if err != nil {
					return err
				}
				return c.showTable(s, s.Counted, func(w io.Writer) { show(w, &s) })
			})
		},
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "count again, unless a server has counted within the last minute")
	return cmd
}

func (c *cli) changesStatsCommand() *cobra.Command {
	var month string
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "count the changes of a month by day and by person",
		Long: `Changes prints how many names were created, changed and retired, and how many other
changes there were, on each day of a month (UTC). It then prints the same numbers for each
user and token.`,
		Args:    noArguments,
		Example: "  nomen stats changes\n  nomen stats changes --month 2026-10 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := time.Parse(adminapi.MonthLayout, cmp.Or(month, adminapi.MonthLayout)); err != nil {
				return usagef("--month %q: must be a month, such as 2026-10", month)
			}
			return c.withStore(cmd.Context(), reads, func(b backend) error {
				wanted := cmp.Or(month, clock().UTC().Format(adminapi.MonthLayout))
				s, err := whenCounted(cmd.Context(), c, false, func(s adminapi.Activity) adminapi.Count { return s.Count },
					func(ctx context.Context) (adminapi.Activity, error) { return b.Activity(ctx, wanted) })
				if err != nil {
					return err
				}
				return c.showTable(s, s.Counted, func(w io.Writer) { showActivity(w, &s) })
			})
		},
	}
	cmd.Flags().StringVar(&month, "month", "", "month such as 2026-10 (default the present month)")
	return cmd
}

const countPause = 500 * time.Millisecond

// whenCounted calls count until it returns a result. If fresh is set and the server is counting,
// whenCounted waits for the result of that count.
func whenCounted[T any](ctx context.Context, c *cli, fresh bool, countOf func(T) adminapi.Count, count func(context.Context) (T, error)) (T, error) {
	for said := false; ; said = true {
		out, err := count(ctx)
		if n := countOf(out); err != nil || !n.Counting || !n.Counted.IsZero() && !fresh {
			return out, err
		}
		if !said {
			fmt.Fprintln(c.err, "nomen: the server is counting; waiting for the result")
		}
		select {
		case <-ctx.Done():
			return out, context.Cause(ctx)
		case <-time.After(countPause):
		}
	}
}

func (c *cli) showTable(object any, counted time.Time, table func(io.Writer)) error {
	if c.json {
		return c.printJSON(object)
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	table(w)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(c.err, "nomen: counted "+counted.UTC().Format(time.RFC3339))
	return nil
}

func (c *cli) showNameCounts(w io.Writer, s *adminapi.Statistics) {
	sum := adminapi.NameCount{Prefix: "total"}
	fmt.Fprintln(w, "authority\tactive\treserved\tretired")
	for _, n := range s.Names {
		sum.Active, sum.Reserved, sum.Retired = sum.Active+n.Active, sum.Reserved+n.Reserved, sum.Retired+n.Retired
		showNameCount(w, n)
	}
	showNameCount(w, sum)
}

func showNameCount(w io.Writer, n adminapi.NameCount) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", cmp.Or(printable(n.Prefix), "(no authority)"), n.Active, n.Reserved, n.Retired)
}

func (c *cli) showLinkCounts(w io.Writer, s *adminapi.Statistics) {
	fmt.Fprintln(w, "host\tlocations\twith http")
	for _, h := range s.Hosts {
		fmt.Fprintf(w, "%s\t%d\t%d\n", printable(h.Host), h.Locations, h.HTTP)
	}
	if s.OtherHosts > 0 {
		fmt.Fprintf(w, "(other hosts)\t%d\t\n", s.OtherHosts)
	}
	for _, f := range s.Faults {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Kind, printable(f.Name), printable(f.URL))
	}
}

func showActivity(w io.Writer, s *adminapi.Activity) {
	row := func(title string, n adminapi.Changes) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", title, n.Created, n.Changed, n.Retired, n.Other)
	}
	fmt.Fprintln(w, "day\tcreated\tchanged\tretired\tother")
	for _, d := range s.Days {
		row(d.Day, d.Changes)
	}
	fmt.Fprintln(w, "who\tcreated\tchanged\tretired\tother")
	for _, p := range s.People {
		who := cmp.Or(p.WhoName, p.Who, "(operator)")
		if p.Redacted {
			who = "(redacted)"
		}
		row(printable(who), p.Changes)
	}
	if s.OtherPeople > 0 {
		fmt.Fprintf(w, "(%s)\n", count(int64(s.OtherPeople), "other"))
	}
}
