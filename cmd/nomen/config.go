package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const environmentPrefix = "NOMEN_"

// readEnvironment sets every option of the command that was not given from
// NOMEN_OPTION.
func (c *cli) readEnvironment(cmd *cobra.Command) error {
	return eachUnset(cmd, func(f *pflag.Flag) (string, bool) {
		return os.LookupEnv(environmentPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
	}, "environment")
}

// eachUnset sets the options that nothing has set yet to what value says.
func eachUnset(cmd *cobra.Command, value func(*pflag.Flag) (string, bool), source string) error {
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		if v, ok := value(f); ok {
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				errs = append(errs, usagef("%s: %s: %w", source, f.Name, err))
			}
		}
	})
	return errors.Join(errs...)
}

// An authorityTable is one [[authority]] of a configuration file.
type authorityTable struct {
	Prefix         string
	Owners         []string
	Hosts          []string
	Addresses      []string
	Default        bool
	Parents        []string
	Children       []string
	Contact        string
	Description    string
	List           bool
	DefaultService string `toml:"default_service"`
	FoldCase       bool   `toml:"fold_case"`
	RedirectStatus int    `toml:"redirect_status"`
}

// readFile sets the options that neither the command line nor the environment
// has set from the configuration file, and takes its authorities.
func (c *cli) readFile(cmd *cobra.Command) error {
	if c.config == "" {
		return nil
	}
	text, err := os.ReadFile(c.config)
	if err != nil {
		return usageError{err}
	}
	options := map[string]any{}
	if err := toml.Unmarshal(text, &options); err != nil {
		return c.fileError(err)
	}
	if err := c.readAuthorities(options); err != nil {
		return err
	}
	known := knownOptions(cmd.Root())
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if !known[key] {
			return usagef("%s: unknown key %q", c.config, key)
		}
	}
	return eachUnset(cmd, func(f *pflag.Flag) (string, bool) {
		v, ok := options[f.Name]
		return optionText(v), ok
	}, c.config)
}

// readAuthorities decodes the [[authority]] tables strictly and removes them
// from the options.
func (c *cli) readAuthorities(options map[string]any) error {
	tables, ok := options["authority"]
	if !ok {
		return nil
	}
	delete(options, "authority")
	only, err := toml.Marshal(map[string]any{"authority": tables})
	if err != nil {
		return c.fileError(err)
	}
	var file struct{ Authority []authorityTable }
	d := toml.NewDecoder(bytes.NewReader(only))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return c.fileError(err)
	}
	for i, t := range file.Authority {
		a, err := t.authority()
		if err != nil {
			return usagef("%s: authority %d: %w", c.config, i+1, err)
		}
		c.authorities = append(c.authorities, a)
	}
	return nil
}

func (t authorityTable) authority() (*store.Authority, error) {
	p, err := name.ParsePrefix(t.Prefix)
	if err != nil {
		return nil, err
	}
	return &store.Authority{
		Prefix: p, Owners: t.Owners, Hosts: t.Hosts, Addresses: t.Addresses, Default: t.Default,
		Parents: t.Parents, Children: t.Children, Contact: t.Contact, Description: t.Description,
		List: t.List, Service: nomen.Service(t.DefaultService), FoldCase: t.FoldCase, Redirect: t.RedirectStatus,
	}, nil
}

// fileError makes a usage error that names file, line and key.
func (c *cli) fileError(err error) error {
	var strict *toml.StrictMissingError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		var keys []string
		for _, e := range strict.Errors {
			keys = append(keys, strings.Join(e.Key(), "."))
		}
		return usagef("%s: unknown key %s", c.config, strings.Join(keys, ", "))
	case errors.As(err, &decode):
		line, column := decode.Position()
		return usagef("%s: line %d, column %d: %w", c.config, line, column, err)
	}
	return usagef("%s: %w", c.config, err)
}

// knownOptions returns the names of the options of all commands: one file
// serves them all.
func knownOptions(root *cobra.Command) map[string]bool {
	known := map[string]bool{}
	add := func(f *pflag.Flag) { known[f.Name] = f.Name != "config" && f.Name != "help" }
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.PersistentFlags().VisitAll(add)
		cmd.Flags().VisitAll(add)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return known
}

// optionText writes a TOML value as an option's text; lists are joined with
// commas.
func optionText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = fmt.Sprint(e)
	}
	return strings.Join(parts, ",")
}
