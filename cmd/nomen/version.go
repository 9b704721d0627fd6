package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/name"
)

// version is set at link time. If it is empty, the build information is used.
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
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Long: `Version prints the version of the program, of Go, and of the rules by which names become
keys. If a store was made with older rules, convert it with 'nomen rekey'.`,
		Example: "  nomen version\n  nomen version --json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return c.say(struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				Rules   int    `json:"rules"`
			}{versionText(), runtime.Version(), name.RulesVersion},
				"nomen %s (%s, rules of names %d)", versionText(), runtime.Version(), name.RulesVersion)
		},
	}
}
