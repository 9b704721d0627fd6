package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/registry"
	"github.com/nomen-project/nomen/scheme"
)

const schemesLong = `Schemes lists the known URI schemes: those registered at IANA, and some that are in
use without registration. "checked" marks a scheme whose URIs 'nomen check' checks and
'nomen parse' takes apart; for the others only the general syntax is known.

With names it shows everything known about each scheme. With "-" instead, it reads one
name a line from standard input. The exit status is 1 if a name is unknown.

--format writes one document, about the registry or about one entry: html, txt, xml
or json.

The list can be narrowed to a status, to a text in name or title, and to those
with rules.`

func (c *cli) schemesCommand() *cobra.Command {
	var f schemeFilter
	cmd := &cobra.Command{
		Use:   "schemes [NAME...]",
		Short: "the URI schemes that are known",
		Long:  schemesLong,
		Example: `  nomen schemes --status historical
  nomen schemes --find gopher
  nomen schemes ftp gopher
  nomen schemes --rules --json
  nomen schemes --format html`,
		ValidArgsFunction: cobra.FixedCompletions(registry.Standard().Schemes().Names(), cobra.ShellCompDirectiveNoFileComp),
	}
	cmd.Flags().StringVar(&f.status, "status", "", "only schemes with a status: "+strings.Join(schemeStatuses(), ", "))
	cmd.Flags().StringVar(&f.find, "find", "", "only schemes with a text in name or title, in any case")
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

// schemeStatuses returns the names of the statuses that a listed scheme can have.
func schemeStatuses() []string {
	return []string{
		scheme.StatusPermanent.String(), scheme.StatusProvisional.String(),
		scheme.StatusHistorical.String(), scheme.StatusUnregistered.String(),
	}
}

// A schemeFilter says which schemes are listed.
type schemeFilter struct {
	status, find string
	rules        bool
}

// check refuses a filter that makes no sense.
func (f schemeFilter) check(names []string) error {
	if _, ok := scheme.ParseStatus(f.status); f.status != "" && !ok {
		return usagef("--status %q: want %s", f.status, strings.Join(schemeStatuses(), ", "))
	}
	if len(names) > 0 && f != (schemeFilter{}) {
		return usagef("schemes: names and filters exclude each other")
	}
	return nil
}

// list returns the schemes that pass the filter.
func (f schemeFilter) list(t registry.Table) registry.Table {
	find := strings.ToLower(f.find)
	return t.Filter(func(e registry.Entry) bool {
		return (f.status == "" || e.Get("status") == f.status) &&
			(strings.Contains(e.Name, find) || strings.Contains(strings.ToLower(e.Get("title")), find)) &&
			(!f.rules || e.Get("rules") != "")
	})
}
