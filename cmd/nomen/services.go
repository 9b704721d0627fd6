package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/urn"
)

const servicesLong = `Services lists what a resolver of URNs can be asked for: the designators of
services, which are values of the query keyword s in the dialect 2012, as in
?s=I2L. Case matters: I2L is not i2l.

With designators it shows each. With "-" instead, one designator a line is read
from standard input. The exit status is 1 if one is not known.

With --keywords it lists, or shows, the query keywords of 2012 instead.

` + registryHelp

func (c *cli) servicesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "services [SERVICE...]",
		Short: "the services that resolvers of URNs have",
		Long:  servicesLong,
		Example: `  nomen services
  nomen services I2L I=I
  nomen services --json
  nomen services --keywords`,
		ValidArgsFunction: cobra.FixedCompletions(serviceNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	keywords := cmd.Flags().Bool("keywords", false, "the query keywords instead")
	file := addRegistry(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known, err := readRegistries(*file)
		if err != nil {
			return err
		}
		if *keywords {
			return answerRegistry(c, cmd, args, keywordRegistry(known.keywords))
		}
		return answerRegistry(c, cmd, args, serviceRegistry(known.services))
	}
	return cmd
}

func serviceNames() []string {
	var all []string
	for s := range urn.Services2012().All() {
		all = append(all, s.Name)
	}
	return all
}

func serviceRegistry(table urn.Services) registry[urn.Service] {
	return registry[urn.Service]{
		what: "service", all: slices.Collect(table.All()), lookup: table.Lookup,
		columns: func(s urn.Service) []string {
			return []string{s.Name, s.Purpose, s.Status.String(), s.Reference}
		},
		rows: func(s urn.Service, row func(string, ...string)) {
			row("name", s.Name)
			row("purpose", s.Purpose)
			row("status", s.Status.String())
			row("policy", s.Status.Policy())
			row("reference", s.Reference)
		},
	}
}

func keywordRegistry(table urn.Keywords) registry[urn.Keyword] {
	return registry[urn.Keyword]{
		what: "query keyword", all: slices.Collect(table.All()), lookup: table.Lookup,
		columns: func(k urn.Keyword) []string {
			return []string{k.Keyword, k.Purpose, k.Scope.String(), k.Reference}
		},
		rows: func(k urn.Keyword, row func(string, ...string)) {
			row("keyword", k.Keyword)
			row("purpose", k.Purpose)
			row("scope", k.Scope.String())
			row("policy", k.Scope.Policy())
			row("change controller", k.Scope.ChangeController())
			row("reference", k.Reference)
			for _, s := range k.SupportedBy {
				row("supported by", s.NID+" ("+s.Reference+")")
			}
		},
	}
}
