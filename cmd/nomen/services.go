package main

import (
	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/registry"
)

const servicesLong = `Services lists the services of URN resolvers. Each service has a designator, such as I2L,
which a URN of the dialect 2012 can contain, as in ?s=I2L. Case matters: I2L is not i2l.

With designators as arguments, it shows each of these services. With "-" it reads
designators from standard input, one per line. The exit status is 1 if a designator is
unknown.

With --keywords it lists or shows query keywords instead: the directives that a URN of the
dialect 2012 can have in its query.

` + registryHelp

func (c *cli) servicesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "services [SERVICE...]",
		Short: "list the services of URN resolvers",
		Long:  servicesLong,
		Example: `  nomen services
  nomen services I2L I=I
  nomen services --json
  nomen services --keywords
  nomen services --format xml`,
		ValidArgsFunction: cobra.FixedCompletions(registry.Standard().Services().Names(), cobra.ShellCompDirectiveNoFileComp),
	}
	keywords := cmd.Flags().Bool("keywords", false, "show the query keywords instead")
	return c.registryCommand(cmd, func(known registry.Registries) registry.Table {
		if *keywords {
			return known.Keywords()
		}
		return known.Services()
	})
}
