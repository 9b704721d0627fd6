package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/name"
)

// version is set at link time; otherwise the build information says it.
var version string

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

func (c *cli) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "say which nomen this is",
		Long: `Version prints the version of the program, that of Go, and that of the rules by which
names become keys: a store of older rules wants 'nomen rekey'.`,
		Example: "  nomen version\n  nomen version --json",
		Args:    noArguments,
	}
	cmd.RunE = func(*cobra.Command, []string) error {
		if c.json {
			return c.printJSON(struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				Rules   int    `json:"rules"`
			}{versionText(), runtime.Version(), name.RulesVersion})
		}
		_, err := fmt.Fprintf(c.out, "nomen %s (%s, rules of names %d)\n", versionText(), runtime.Version(), name.RulesVersion)
		return err
	}
	return cmd
}
