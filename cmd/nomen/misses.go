package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/misses"
)

const missesFile = "misses.jsonl"

const missesLong = `Misses lists the failed lookups: unknown names that clients requested, the most frequent
first. For each name it prints the number of failed lookups, the hour of the last failed
lookup, the name, similar names that may have been meant, how many of the lookups were by
robots, and in how many of the last 12 months there were any. Use this list to find broken
links and misspelled names. --csv prints it for a spreadsheet.

Nothing about the clients is stored. If there are very many names, only the most frequent
are kept.

Misses asks the server that runs on the data directory. If no server is running, it reads
the file misses.jsonl, which the last server wrote to the data directory. Each server counts
only its own requests. To add up the counts of several servers, give their files as FILE.

--visible leaves out the names that users have hidden ('nomen misses hide').

--clear resets all counts, and must be confirmed with --yes.`

func (c *cli) missesCommand() *cobra.Command {
	var o struct {
		prefix     string
		limit      int
		visible    bool
		clear, yes bool
		csv        bool
	}
	cmd := &cobra.Command{
		Use:   "misses [FILE...]",
		Short: "list failed lookups",
		Long:  missesLong,
		Example: `  nomen misses --limit 20
  nomen misses --prefix urn:dns:example.org --json | jq -r 'select(.count > 9).name'
  nomen misses node1/misses.jsonl node2/misses.jsonl
  nomen misses --visible
  nomen misses --clear --yes`,
		Args: arguments(0, -1),
	}
	f := cmd.Flags()
	prefixOption(f, &o.prefix)
	limitOption(f, &o.limit, 0, "maximum number of names (default all)")
	f.BoolVar(&o.visible, "visible", false, "leave out the names that are hidden")
	f.BoolVar(&o.csv, "csv", false, "print CSV: name, count, robots, months, first, last, perhaps and hidden")
	f.BoolVar(&o.clear, "clear", false, "reset all counts")
	f.BoolVar(&o.yes, "yes", false, "confirm --clear")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		switch {
		case !o.clear && o.yes:
			return usagef("misses: --yes needs --clear")
		case o.clear && (len(files) > 0 || o.prefix != "" || o.limit > 0 || o.visible || o.csv):
			return usagef("misses: --clear resets all counts and cannot be combined with files, --prefix, --limit, --visible or --csv")
		case o.clear && !o.yes:
			return usagef("misses: --clear resets all counts: confirm with --yes")
		case o.clear:
			return c.clearMisses(cmd.Context())
		}
		return c.showMisses(cmd.Context(), files, missFilter{o.prefix, o.limit, o.visible}, o.csv)
	}
	cmd.AddCommand(c.hideMissesCommand())
	return cmd
}

type missFilter struct {
	prefix  string
	limit   int  // 0 for all
	visible bool // leave out the hidden ones
}

// misses returns the failed lookups in files. Without files, it returns the failed lookups of the
// running server. If no server is running, it reads the file that the last server has written.
func (c *cli) misses(ctx context.Context, files []string, o missFilter) (adminapi.Misses, error) {
	if len(files) == 0 {
		if api, err := c.server(ctx); err == nil {
			list := api.Misses
			if o.visible {
				list = api.VisibleMisses
			}
			return list(ctx, o.prefix, o.limit)
		}
		list, totals, err := misses.Load(filepath.Join(c.data, missesFile))
		return adminapi.Misses{Totals: totals, Misses: o.chosen(list)}, err
	}
	var all adminapi.Misses
	lists := make([][]misses.Miss, len(files))
	for i, file := range files {
		if _, err := os.Stat(file); err != nil { // Load treats a missing file as empty
			return all, err
		}
		list, totals, err := misses.Load(file)
		if err != nil {
			return all, err
		}
		lists[i], all.Totals = list, all.Join(totals)
	}
	all.Misses = o.chosen(misses.Merge(lists...))
	return all, nil
}

func (o missFilter) chosen(list []misses.Miss) []misses.Miss {
	var some []misses.Miss
	for _, m := range list {
		if o.limit > 0 && len(some) == o.limit {
			break
		}
		if strings.HasPrefix(m.Name, o.prefix) && !(o.visible && m.Hidden) {
			some = append(some, m)
		}
	}
	return some
}

// clearMisses deletes the failed lookups of the running server. If no server is running, it empties
// the file that the last server has written.
func (c *cli) clearMisses(ctx context.Context) error {
	var was misses.Totals
	api, err := c.server(ctx)
	if err == nil {
		was, err = api.ClearMisses(ctx)
	} else {
		file := filepath.Join(c.data, missesFile)
		if _, was, err = misses.Load(file); err == nil && was != (misses.Totals{}) {
			err = misses.Save(file, nil, misses.Totals{Since: clock().UTC().Truncate(time.Hour)})
		}
	}
	if err != nil {
		return err
	}
	return c.say(was, "cleared %s", count(int64(was.Asked), "failed lookup"))
}

func (c *cli) showMisses(ctx context.Context, files []string, o missFilter, asCSV bool) error {
	m, err := c.misses(ctx, files, o)
	switch {
	case err != nil:
		return err
	case asCSV && !c.json:
		return missesCSV(c.out, m.Misses, clock())
	}
	a := newAnswers(c)
	if a.json != nil {
		for _, miss := range m.Misses {
			a.object(miss)
		}
		return a.end()
	}
	w := tabwriter.NewWriter(a, 0, 0, 2, ' ', 0)
	for _, miss := range m.Misses {
		fmt.Fprintf(w, "%d\t%s\t%s", miss.Count, miss.Last.Format("2006-01-02 15h"), printable(miss.Name))
		for i, s := range miss.Suggestions {
			fmt.Fprint(w, [...]string{"\tperhaps ", ", "}[min(i, 1)]+printable(s))
		}
		if miss.Bots > 0 {
			fmt.Fprintf(w, "\t(%d by robots)", miss.Bots)
		}
		if n := miss.MonthsSeen(clock()); n > 1 {
			fmt.Fprintf(w, "\t(in %d of 12 months)", n)
		}
		if miss.Hidden {
			fmt.Fprint(w, "\t(hidden)")
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := a.end(); err != nil {
		return err
	}
	fmt.Fprintln(c.err, "nomen: "+sumOf(m, o.prefix))
	return nil
}

// missesCSV writes failed lookups as CSV.
func missesCSV(w io.Writer, all []misses.Miss, now time.Time) error {
	out := csv.NewWriter(w)
	errs := out.Write([]string{"name", "count", "robots", "months", "first", "last", "perhaps", "hidden"})
	for _, m := range all {
		row := []string{
			m.Name, strconv.FormatUint(m.Count, 10), strconv.FormatUint(m.Bots, 10), strconv.Itoa(m.MonthsSeen(now)),
			m.First.Format(time.RFC3339), m.Last.Format(time.RFC3339), strings.Join(m.Suggestions, " "), strconv.FormatBool(m.Hidden),
		}
		for i := range row {
			row[i] = bulk.Mark(row[i])
		}
		errs = errors.Join(errs, out.Write(row))
	}
	out.Flush()
	return errors.Join(errs, out.Error())
}

func sumOf(m adminapi.Misses, prefix string) string {
	if m.Since.IsZero() {
		return "no failed lookups counted yet"
	}
	counted := uint64(0)
	for _, miss := range m.Misses {
		counted += miss.Count
	}
	of := fmt.Sprintf("of %d in total", m.Asked)
	if prefix == "" && counted == m.Asked {
		of = "all that were counted"
	}
	return fmt.Sprintf("%s, %s, %s, since %s", count(int64(len(m.Misses)), "name"), count(int64(counted), "failed lookup"), of, m.Since.Format("2006-01-02 15h UTC"))
}
