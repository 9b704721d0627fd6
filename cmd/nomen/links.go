package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const linksLong = `With links.check = true in its configuration, a server checks whether the locations of names
can still be reached. These commands show the results. They need a running server.

Each location has a verdict:

  unknown    not checked yet
  good       the location answers
  confirmed  the location answers, and its page has the name, the title, or the same text
             as at earlier checks
  blocked    the host or its robots.txt keeps programs out, so a person must look
  suspect    the location answers, but perhaps with something else, such as the home page
  failing    failures are being counted
  dead       the location failed at every check, on several days in two weeks or more
  ignored    a user has turned off the checks`

func (c *cli) linksCommand() *cobra.Command {
	return groupOf("links", "show which locations of names can still be reached", linksLong,
		c.linksStatusCommand(), c.linksListCommand(), c.linksCheckCommand(), c.linksIgnoreCommand(), c.linksSuggestCommand(), c.linksAcceptCommand(), c.linksExportCommand(), c.linksReportCommand())
}

// linkServer returns a client of the running server. Only the server has access to the results of
// link checks.
func (c *cli) linkServer(ctx context.Context) (*adminapi.Client, error) {
	api, err := c.server(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no server runs on this data directory, and only a running server checks links; check --data, or start the server with 'nomen serve --links.check'%s", c.data, c.defaultHint())
	case err != nil:
		return nil, fmt.Errorf("%s: cannot reach the server of this data directory, and only a running server checks links: %w", c.data, err)
	}
	return api, nil
}

func (c *cli) linksStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "say how far the checks are",
		Long: `Status prints the number of locations with each verdict, the hosts that fail as a whole, and
the hosts with so many locations that only some can be checked in 30 days.`,
		Example: "  nomen links status\n  nomen links status --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.linkServer(cmd.Context())
			if err != nil {
				return err
			}
			s, err := api.LinkStatus(cmd.Context())
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(s)
			}
			return c.showLinkStatus(&s)
		},
	}
}

func linkVerdicts() []string {
	return []string{"confirmed", "good", "unknown", "blocked", "suspect", "failing", "dead", "ignored"}
}

func (c *cli) showLinkStatus(s *adminapi.LinkStatus) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, v := range linkVerdicts() {
		fmt.Fprintf(w, "%s\t%d\n", v, s.Counts[v])
	}
	for _, h := range s.Failing {
		fmt.Fprintf(w, "host %s\t%d\tfails since %s: %s\n", printable(h.Host), h.Links, h.Since.Format(time.DateOnly), h.Outcome)
	}
	for _, h := range s.Sampled {
		fmt.Fprintf(w, "host %s\t%d\tabout %d %% are checked in 30 days\n", printable(h.Host), h.Links, h.Checked*100/max(int64(h.Links), 1))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch {
	case s.Reading:
		fmt.Fprintln(c.err, "nomen: the server is still reading the names")
	case s.Other:
		fmt.Fprintln(c.err, "nomen: another server with the same database checks the locations; ask that server")
	case !s.Paused.IsZero():
		fmt.Fprintln(c.err, "nomen: the checks pause, because the network of the server seems to fail")
	case s.Error != "":
		fmt.Fprintln(c.err, "nomen: new locations are not found: "+printable(s.Error))
	}
	return nil
}

const linksListLong = `List prints the locations with a verdict, by default the dead ones: the verdict, the time of
the first failure, the HTTP status of the last check, the URL, and the names with this
location. --verdict is one of blocked, suspect, failing, dead or ignored.`

func (c *cli) linksListCommand() *cobra.Command {
	var verdict string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "list the dead locations, or the locations with another verdict",
		Long:    linksListLong,
		Example: "  nomen links list\n  nomen links list --verdict suspect --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkListedVerdict(verdict); err != nil {
				return err
			}
			a := newAnswers(c)
			err := c.eachLink(cmd.Context(), verdict, func(l adminapi.Link) error {
				a.say(l, linkLine(&l))
				a.flushFull()
				return a.err
			})
			return cmp.Or(err, a.end())
		},
	}
	verdictOption(cmd, &verdict)
	return cmd
}

func verdictOption(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "verdict", "dead", "blocked, suspect, failing, dead or ignored")
}

func checkListedVerdict(v string) error {
	if !slices.Contains([]string{"blocked", "suspect", "failing", "dead", "ignored"}, v) {
		return usagef("--verdict %q: must be blocked, suspect, failing, dead or ignored", v)
	}
	return nil
}

func (c *cli) eachLink(ctx context.Context, verdict string, do func(adminapi.Link) error) error {
	api, err := c.linkServer(ctx)
	if err != nil {
		return err
	}
	for after := ""; ; {
		page, err := api.Links(ctx, verdict, after, 0)
		if err != nil {
			return err
		}
		for _, l := range page.Links {
			if err := do(l); err != nil {
				return err
			}
		}
		if after = page.Next; after == "" {
			return nil
		}
	}
}

func linkLine(l *adminapi.Link) string {
	since, status := "-", cmp.Or(l.Outcome, "-")
	if !l.Since.IsZero() {
		since = l.Since.Format(time.DateOnly)
	}
	if l.Status != 0 {
		status = strconv.Itoa(l.Status)
	}
	parts := []string{l.Verdict, since, status, printable(l.URL)}
	for _, n := range l.Names {
		parts = append(parts, printable(n))
	}
	if l.Moved {
		parts = append(parts, "(moved: update the location)")
	}
	if l.HostFails != "" {
		parts = append(parts, "(the host fails: "+l.HostFails+")")
	}
	if l.Copy != nil {
		parts = append(parts, "(copy of "+l.Copy.Time.Format(time.DateOnly)+": "+printable(l.Copy.URL)+")")
	}
	if len(l.Archived) > 0 {
		parts = append(parts, "(has an archived copy)")
	}
	if l.Detail != "" {
		parts = append(parts, "("+printable(l.Detail)+")")
	}
	return strings.Join(parts, "\t")
}

func checkTimes(l *adminapi.Link) string {
	parts := []string{"not checked yet"}
	if !l.Checked.IsZero() {
		parts[0] = "checked " + moment(l.Checked)
	}
	if !l.Due.IsZero() {
		parts = append(parts, "next check "+moment(l.Due))
	}
	return strings.Join(parts, ", ")
}

// A linkReader requests the states of locations from a server. If the server reports that it does
// not check links, the linkReader sends no further requests.
type linkReader struct{ off bool }

// of returns the known states of the locations of a record, by URL.
func (r *linkReader) of(ctx context.Context, b backend, rec *store.Record) (map[string]adminapi.Link, error) {
	api, ok := b.(*adminapi.Client)
	if !ok || r.off || len(rec.Locations) == 0 {
		return nil, nil
	}
	all, err := api.LinksOf(ctx, rec.Name)
	var status *adminapi.StatusError
	switch {
	case errors.As(err, &status) && status.Kind == adminapi.KindNoLinks:
		r.off = true
		return nil, nil
	case err != nil:
		return nil, err
	}
	byURL := map[string]adminapi.Link{}
	for _, l := range all.Links {
		byURL[l.URL] = l
	}
	return byURL, nil
}

func (c *cli) linksCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check NAME...|-",
		Short: "check the locations of names now",
		Long: `Check makes the server check the locations of names at once, and prints their new verdicts. It
waits until the host may be asked, so it can take minutes. One check does not make a location
dead: this needs failures on several days. Each line ends with the times of this check and of
the next one. "-" stands for names on standard input, one per
line.`,
		Example: "  nomen links check urn:nbn:fi:ex-17",
		Args:    arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.doLinks(cmd.Context(), args, adminapi.LinkRequest{Check: true})
		},
	}
}

func (c *cli) linksIgnoreCommand() *cobra.Command {
	var until, url string
	var undo bool
	cmd := &cobra.Command{
		Use:   "ignore NAME...|-",
		Short: "turn off the checks of the locations of names",
		Long: `Ignore turns off the checks of the locations of names until a date, by default for a year. --url
chooses one of the locations. --undo turns the checks on again. "-" stands for names on
standard input, one per line.`,
		Example: "  nomen links ignore urn:nbn:fi:ex-17 --until 2027-01-31\n  nomen links ignore --undo urn:nbn:fi:ex-17",
		Args:    arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			i := &adminapi.Ignoring{Until: clock().AddDate(1, 0, 0).UTC().Truncate(time.Minute)}
			switch {
			case undo && until != "":
				return usagef("links ignore: --undo cannot be combined with --until")
			case undo:
				i.Until = time.Time{}
			case until != "":
				day, err := time.Parse(time.DateOnly, until)
				if err != nil {
					return usagef("links ignore: --until %q: must be a date, such as 2027-01-31", until)
				}
				i.Until = day
			}
			return c.doLinks(cmd.Context(), args, adminapi.LinkRequest{URL: url, Ignore: i})
		},
	}
	f := cmd.Flags()
	f.StringVar(&until, "until", "", "date, such as 2027-01-31 (default a year from now)")
	f.StringVar(&url, "url", "", "only this location of the names (default all)")
	f.BoolVar(&undo, "undo", false, "turn the checks on again")
	return cmd
}

func (c *cli) linksSuggestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "suggest NAME...|-",
		Short: "ask an archive for copies of the dead locations of names",
		Long: `Suggest makes the server ask the archive in its configuration (links.availability or
links.timegate) for copies of the dead locations of names. It prints each location with the
copy that the archive made closest to the last good check, and the date of the copy. It
changes nothing; 'nomen links accept' adds a copy to the record. Look at the copy first: the
archive may have saved an error page. "-" stands for names on standard input, one per line.`,
		Example: "  nomen links suggest urn:nbn:fi:ex-17",
		Args:    arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.doLinks(cmd.Context(), args, adminapi.LinkRequest{Suggest: true})
		},
	}
}

func (c *cli) linksAcceptCommand() *cobra.Command {
	var of, why string
	cmd := &cobra.Command{
		Use:   "accept NAME COPY",
		Short: "add a copy that 'nomen links suggest' has printed to the locations of a name",
		Long: `Accept adds a copy that 'nomen links suggest' has printed to the locations of a name, with the
relation archive. The dead location stays. If the authority has the policy
'--failover archive', readers are then redirected to the copy while the location is dead. If
the name has several dead locations, --url chooses one.`,
		Example: "  nomen links accept urn:nbn:fi:ex-17 https://web.archive.org/web/20240102030405/https://example.org/17",
		Args:    arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			api, err := c.linkServer(ctx)
			if err != nil {
				return err
			}
			n, err := name.Parse(args[0])
			if err != nil {
				return err
			}
			if of == "" {
				all, err := api.DoLinks(ctx, n, adminapi.LinkRequest{Suggest: true})
				if err != nil {
					return named(args[0], err)
				}
				i := slices.IndexFunc(all.Links, func(l adminapi.Link) bool { return l.Copy != nil && l.Copy.URL == args[1] })
				if i < 0 {
					return fmt.Errorf("%s: the archive does not suggest this copy; see 'nomen links suggest %s'", printable(args[1]), printable(args[0]))
				}
				of = all.Links[i].URL
			}
			done, err := api.DoLinks(ctx, n, adminapi.LinkRequest{URL: of, Accept: args[1], Why: why})
			if err != nil {
				return named(args[0], err)
			}
			a := newAnswers(c)
			for _, l := range done.Links {
				a.say(l, linkLine(&l))
			}
			return a.end()
		},
	}
	cmd.Flags().StringVar(&of, "url", "", "the dead location (default the one for which the archive suggests this copy)")
	cmd.Flags().StringVar(&why, "why", "", "reason in the history (default the date of the copy)")
	return cmd
}

func (c *cli) doLinks(ctx context.Context, args []string, r adminapi.LinkRequest) error {
	api, err := c.linkServer(ctx)
	if err != nil {
		return err
	}
	return c.answerNames(ctx, args, func(a *answers, arg string) error {
		n, err := name.Parse(arg)
		var all adminapi.Links
		if err == nil {
			all, err = api.DoLinks(ctx, n, r)
			err = named(arg, err)
		}
		if err != nil {
			a.refuse(err, badName{arg, explainAnswer(err)})
			return err
		}
		for _, l := range all.Links {
			a.say(l, linkLine(&l)+"\t("+checkTimes(&l)+")")
		}
		return nil
	})
}

func (c *cli) linksExportCommand() *cobra.Command {
	var verdict string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "write the dead locations, or the locations with another verdict, as CSV",
		Long: `Export writes a CSV file for spreadsheets: a row for each location and name, with the columns
name, url, verdict, outcome, status, checked, good and since. For JSON Lines, use
'nomen links list --json'.`,
		Example: "  nomen links export > dead.csv\n  nomen links export --verdict suspect > suspect.csv",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkListedVerdict(verdict); err != nil {
				return err
			}
			w := csv.NewWriter(c.out)
			if err := w.Write([]string{"name", "url", "verdict", "outcome", "status", "checked", "good", "since"}); err != nil {
				return err
			}
			err := c.eachLink(cmd.Context(), verdict, func(l adminapi.Link) error {
				for _, n := range l.Names {
					row := []string{n, l.URL, l.Verdict, l.Outcome, strconv.Itoa(l.Status), moment(l.Checked), moment(l.Good), moment(l.Since)}
					for i, cell := range row {
						row[i] = bulk.Mark(cell)
					}
					if err := w.Write(row); err != nil {
						return err
					}
				}
				return nil
			})
			w.Flush()
			return cmp.Or(err, w.Error())
		},
	}
	verdictOption(cmd, &verdict)
	return cmd
}

func (c *cli) linksReportCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "say what has changed in the last week, a line for each host",
		Long: `Report prints a line for each host with changes: how many locations are newly dead, how many
dead ones answer again, and whether the host as a whole began to fail or answers again. It
prints nothing if there were no changes, so that cron sends mail only about changes.`,
		Example: "  nomen links report\n  nomen links report --since 2026-11-01 --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from := clock().AddDate(0, 0, -7)
			if since != "" {
				day, err := time.Parse(time.DateOnly, since)
				if err != nil {
					return usagef("links report: --since %q: must be a date, such as 2026-11-01", since)
				}
				from = day
			}
			api, err := c.linkServer(cmd.Context())
			if err != nil {
				return err
			}
			changes, err := api.LinkChanges(cmd.Context(), from, time.Time{})
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(changes)
			}
			for i := range changes.Hosts {
				if _, err := fmt.Fprintln(c.out, hostChangeLine(&changes.Hosts[i])); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "date of the first changes, such as 2026-11-01 (default a week ago)")
	return cmd
}

func hostChangeLine(h *adminapi.LinkHostChange) string {
	var parts []string
	if h.Failing {
		parts = append(parts, "fails as a whole")
	}
	if h.Back {
		parts = append(parts, "answers again")
	}
	if h.Dead > 0 {
		parts = append(parts, count(int64(h.Dead), "location")+" newly dead, such as "+printable(h.URLs[0]))
	}
	if h.Recovered > 0 {
		parts = append(parts, count(int64(h.Recovered), "dead location")+" answering again")
	}
	return printable(h.Host) + ": " + strings.Join(parts, "; ")
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
