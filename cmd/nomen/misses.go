package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
)

// missesFile is where a server keeps its misses, in the data directory.
const missesFile = "misses.jsonl"

const missesLong = `Misses lists the names that somebody asked for and that are not known, the most
frequent first: how often, the hour of the last time, the name, and what may have
been meant. Broken links and misspelled names show here.

Nothing is kept of who asked. Of very many names only the frequent ones are kept.

It asks the server that runs on the data directory, or reads the file that the
last one left there. Each server counts for itself: FILE names such files, of
several servers, whose counts are then added.

--clear forgets all counts, and needs --yes as well.`

func (c *cli) missesCommand() *cobra.Command {
	var o struct {
		prefix     string
		limit      int
		clear, yes bool
	}
	cmd := &cobra.Command{
		Use:   "misses [FILE...]",
		Short: "names asked for and not found",
		Long:  missesLong,
		Example: `  nomen misses --limit 20
  nomen misses --prefix urn:dns:example.org --json | jq -r 'select(.count > 9).name'
  nomen misses node1/misses.jsonl node2/misses.jsonl
  nomen misses --clear --yes`,
		Args: arguments(0, -1),
	}
	f := cmd.Flags()
	f.StringVar(&o.prefix, "prefix", "", "only names that begin with this (default all)")
	f.IntVar(&o.limit, "limit", 0, "list so many (default all)")
	f.BoolVar(&o.clear, "clear", false, "forget all counts")
	f.BoolVar(&o.yes, "yes", false, "with --clear: it is meant")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		switch {
		case o.limit < 0:
			return usagef("--limit %d: want a number from 0", o.limit)
		case !o.clear && o.yes:
			return usagef("misses: --yes goes with --clear")
		case o.clear && (len(files) > 0 || o.prefix != "" || o.limit > 0):
			return usagef("misses: --clear forgets all and goes with nothing else")
		case o.clear && !o.yes:
			return usagef("misses: --clear forgets all counts; --yes says that it is meant")
		case o.clear:
			return c.clearMisses(cmd.Context())
		}
		m, err := c.misses(cmd.Context(), files, o.prefix, o.limit)
		if err != nil {
			return err
		}
		return c.showMisses(m, o.prefix)
	}
	return cmd
}

// misses returns the misses of files, or if there are none those of the server
// or of the file that it left.
func (c *cli) misses(ctx context.Context, files []string, prefix string, limit int) (adminapi.Misses, error) {
	if len(files) == 0 {
		if api, err := c.server(ctx); err == nil {
			return api.Misses(ctx, prefix, limit)
		}
		list, totals, err := misses.Load(filepath.Join(c.data, missesFile))
		return adminapi.Misses{Totals: totals, Misses: chosen(list, prefix, limit)}, err
	}
	var all adminapi.Misses
	lists := make([][]misses.Miss, len(files))
	for i, file := range files {
		if _, err := os.Stat(file); err != nil { // Load takes it for an empty one
			return all, err
		}
		list, totals, err := misses.Load(file)
		if err != nil {
			return all, err
		}
		lists[i], all.Totals = list, all.Join(totals)
	}
	all.Misses = chosen(misses.Merge(lists...), prefix, limit)
	return all, nil
}

// chosen returns the first of the names that begin with prefix.
func chosen(list []misses.Miss, prefix string, limit int) []misses.Miss {
	var some []misses.Miss
	for _, m := range list {
		if limit > 0 && len(some) == limit {
			break
		}
		if strings.HasPrefix(m.Name, prefix) {
			some = append(some, m)
		}
	}
	return some
}

// clearMisses lets the server forget, or empties the file that it left.
func (c *cli) clearMisses(ctx context.Context) error {
	forgotten, err := c.forgetMisses(ctx)
	switch {
	case err != nil:
		return err
	case c.json:
		return c.printJSON(forgotten)
	}
	_, err = fmt.Fprintf(c.out, "forgot %d questions\n", forgotten.Asked)
	return err
}

func (c *cli) forgetMisses(ctx context.Context) (misses.Totals, error) {
	if api, err := c.server(ctx); err == nil {
		return api.ClearMisses(ctx)
	}
	file := filepath.Join(c.data, missesFile)
	_, was, err := misses.Load(file)
	if err != nil || was == (misses.Totals{}) {
		return was, err
	}
	return was, misses.Save(file, nil, misses.Totals{Since: clock().UTC().Truncate(time.Hour)})
}

// showMisses prints misses as a table or as JSON.
func (c *cli) showMisses(m adminapi.Misses, prefix string) error {
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
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := a.end(); err != nil {
		return err
	}
	fmt.Fprintln(c.err, "nomen: "+sumOf(m, prefix))
	return nil
}

// sumOf says what a list is part of.
func sumOf(m adminapi.Misses, prefix string) string {
	if m.Since.IsZero() {
		return "nothing has been counted yet"
	}
	counted := uint64(0)
	for _, miss := range m.Misses {
		counted += miss.Count
	}
	of := fmt.Sprintf("of %d in all", m.Asked)
	if prefix == "" && counted == m.Asked {
		of = "all there are"
	}
	return fmt.Sprintf("%d names, %d questions, %s, since %s", len(m.Misses), counted, of, m.Since.Format("2006-01-02 15h UTC"))
}
