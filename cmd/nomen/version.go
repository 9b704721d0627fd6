package main

import (
	"errors"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/internal/sbom"
	"github.com/nomen-project/nomen/name"
)

// version is set by the linker. If it is empty, the build information has the version.
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

const versionLong = `Version prints the version of the program, of Go, and of the rules by which names become
keys. If a store was made with older rules, convert it with 'nomen rekey'.

With --sbom, version prints the modules that the program contains, with their versions,
hashes and licences, as a software bill of materials in the format CycloneDX 1.6 (JSON).`

func (c *cli) versionCommand() *cobra.Command {
	var bill bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Long:    versionLong,
		Example: "  nomen version\n  nomen version --json\n  nomen version --sbom > nomen.cdx.json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if bill {
				return c.printBill()
			}
			return c.printVersion()
		},
	}
	cmd.Flags().BoolVar(&bill, "sbom", false, "print the software bill of materials (CycloneDX, JSON)")
	return cmd
}

func (c *cli) printVersion() error {
	return c.say(struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		Rules   int    `json:"rules"`
	}{versionText(), runtime.Version(), name.RulesVersion},
		"nomen %s (%s, rules of names %d)", versionText(), runtime.Version(), name.RulesVersion)
}

func (c *cli) printBill() error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("the program was built without information about its modules")
	}
	return sbom.Write(c.out, "nomen", versionText(), info)
}
