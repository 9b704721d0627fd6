package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
)

const relocateLong = `Relocate replaces the beginning FROM of locations by TO, for example when a site has
moved. Each changed name gets a new revision, with the same checks as every other change.
FROM is compared byte by byte. If FROM ends with a host, it matches only that host:
https://a.example does not match https://a.example.org/. A slash at the end is part of FROM
and TO: it is safest to write the slash in both or in neither.

Retired names are not changed unless --retired is given. If another user changes a name at
the same time, both changes are made. If relocate is interrupted, run it again: it skips
the locations that are already changed. On a running server, relocate is a job: see
'nomen jobs'.

Relocate prints a few of the changed locations; with -v it prints all of them. If names
could not be changed, relocate lists these names, and the exit status is 1. With --dry-run,
relocate also says whether a second person would have to approve the relocation.`

func (c *cli) relocateCommand() *cobra.Command {
	var rel registrar.Relocation
	cmd := &cobra.Command{
		Use:   "relocate FROM TO",
		Short: "change the beginning of many locations",
		Long:  relocateLong,
		Example: `  nomen relocate --dry-run https://old.example.org/ https://www.example.org/
  nomen relocate https://old.example.org/ https://www.example.org/ --why 'the old site is closed'`,
		Args: arguments(2, 2),
	}
	f := cmd.Flags()
	dryRunOption(f, &rel.DryRun)
	retiredOption(f, &rel.Retired)
	whyOption(f, &rel.Why)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if rel.From, rel.To = args[0], args[1]; rel.From == "" || rel.From == rel.To {
			return usagef("relocate: FROM and TO must be different and not empty")
		}
		return c.withStore(cmd.Context(), changes.unless(rel.DryRun), func(b backend) error {
			return c.relocate(cmd.Context(), b, rel)
		})
	}
	return cmd
}

type movedLine struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

type relocatedLine struct {
	registrar.Relocated
	Seconds float64 `json:"seconds"`

	SecondPerson bool `json:"second_person,omitempty"` // a second person would have to approve what this dry run shows
}

func (c *cli) relocate(ctx context.Context, b backend, rel registrar.Relocation) error {
	start, shown := clock(), examples{cli: c}
	bar, end := c.counting("relocate")
	rel.Moved = func(n name.Name, from, to string) {
		shown.add(movedLine{n.Key(), from, to}, n.Key()+": "+from+" -> "+to)
	}
	rel.Refused = func(n name.Name, err error) { c.showRefused(n.Key(), err) }
	rel.Progress = func(sum registrar.Relocated) { bar(uint64(sum.Names), 0) }
	sum, err := b.Relocate(ctx, rel)
	end()
	waits := false
	if err == nil && rel.DryRun {
		waits, err = c.announceRelocation(ctx, b, sum.Names)
	}
	seconds := clock().Sub(start).Seconds()
	err = withArgument(err, map[string]string{"from": fmt.Sprintf("FROM, %q", rel.From), "to": fmt.Sprintf("TO, %q", rel.To), "why": "--why"})
	return shown.end(err, sum != (registrar.Relocated{}), sum.Refused, relocatedLine{sum, seconds, waits}, relocatedText(sum, rel, seconds))
}

func relocatedText(sum registrar.Relocated, rel registrar.Relocation, seconds float64) string {
	s := count(sum.Locations, "location") + " of " + count(sum.Names, "name") + " changed"
	if rel.DryRun {
		s = count(sum.Locations, "location") + " of " + count(sum.Names, "name") + " would change"
	}
	if sum.Retired > 0 {
		s += fmt.Sprintf(", %d retired unchanged", sum.Retired)
	}
	if sum.Refused > 0 {
		s += ", " + count(sum.Refused, "name") + " rejected"
	}
	s += fmt.Sprintf(" in %.2f s", seconds)
	if sum.Batch != "" {
		s += "; 'nomen undo --import " + sum.Batch + "' reverts it"
	}
	if rel.DryRun {
		s += " (dry run: nothing was changed)"
	}
	return s
}
