package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/registry"
	"github.com/nomen-project/nomen/scheme"
)

const schemesLong = `Schemes lists the known URI schemes: those registered at IANA, and some that are in use
without registration. "checked" marks a scheme with rules that 'nomen check' and 'nomen
parse' apply; for the others only the general syntax is known.

With names it shows everything known about each scheme. With "-" it reads names from
standard input, one per line. The exit status is 1 if a name is unknown.

` + formatHelp + `

To restrict the list, use --status (only schemes with this status), --find (only schemes
with this text in the name or title) or --rules (only schemes with rules).`

func (c *cli) schemesCommand() *cobra.Command {
	var f schemeFilter
	cmd := &cobra.Command{
		Use:   "schemes [NAME...]",
		Short: "list known URI schemes",
		Long:  schemesLong,
		Example: `  nomen schemes --status historical
  nomen schemes --find gopher
  nomen schemes ftp gopher
  nomen schemes --rules --json
  nomen schemes --format html`,
		ValidArgsFunction: cobra.FixedCompletions(registry.Standard().Schemes().Names(), cobra.ShellCompDirectiveNoFileComp),
	}
	cmd.Flags().StringVar(&f.status, "status", "", "only schemes with this status: "+strings.Join(schemeStatuses(), ", "))
	cmd.Flags().StringVar(&f.find, "find", "", "only schemes with this text in name or title, ignoring case")
	cmd.Flags().BoolVar(&f.rules, "rules", false, "only schemes with rules")
	format := addFormat(cmd)
	complete(cmd, "status", schemeStatuses())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(args); err != nil {
			return err
		}
		return answerRegistry(c, cmd, args, f.list(registry.Standard().Schemes()), *format)
	}
	return cmd
}

func schemeStatuses() []string {
	return []string{
		scheme.StatusPermanent.String(), scheme.StatusProvisional.String(),
		scheme.StatusHistorical.String(), scheme.StatusUnregistered.String(),
	}
}

type schemeFilter struct {
	status, find string
	rules        bool
}

func (f schemeFilter) check(names []string) error {
	if _, ok := scheme.ParseStatus(f.status); f.status != "" && !ok {
		return usagef("--status %q: must be %s", f.status, strings.Join(schemeStatuses(), ", "))
	}
	if len(names) > 0 && f != (schemeFilter{}) {
		return usagef("schemes: names cannot be combined with --status, --find or --rules")
	}
	return nil
}

func (f schemeFilter) list(t registry.Table) registry.Table {
	find := strings.ToLower(f.find)
	return t.Filter(func(e registry.Entry) bool {
		return (f.status == "" || e.Get("status") == f.status) &&
			(strings.Contains(e.Name, find) || strings.Contains(strings.ToLower(e.Get("title")), find)) &&
			(!f.rules || e.Get("rules") != "")
	})
}
