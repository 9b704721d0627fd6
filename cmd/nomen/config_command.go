package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/adminapi"
)

const configLong = `The configuration of a server comes from the command line of 'nomen serve', from the
environment (NOMEN_RATE for --rate), from a TOML file (--config), and from the defaults, in
this order.

A running server reads the configuration again after 'nomen reload' or SIGHUP.`

func (c *cli) configCommand() *cobra.Command {
	return groupOf("config", "check, show and explain the configuration of a server", configLong,
		c.configCheckCommand(), c.configShowCommand(), c.configExplainCommand())
}

const configCheckLong = `Check reads a configuration as 'nomen serve' does and prints all errors, one a line,
as FILE:LINE:COLUMN: MESSAGE. Without FILE it checks the file of --config or NOMEN_CONFIG,
or otherwise /etc/nomen/nomen.toml, if that file exists. The options of 'nomen serve' can be
given too.

Check reads the files that the configuration names, and runs the tests of rules. It opens
neither listeners nor the store, and writes nothing. So it does not find conflicts with
authorities that are only in the store, such as two authorities with one host; 'nomen serve'
and 'nomen reload' find them.

The exit status is 1 if there are errors. Check also warns about unknown NOMEN_ variables in
the environment, and about values in the file that the environment or the command line
overrides, and it says what a valid configuration does not protect. These warnings and hints
do not change the exit status.`

func (c *cli) configCheckCommand() *cobra.Command {
	var s serveFlags
	cmd := &cobra.Command{
		Use:     "check [FILE]",
		Short:   "find all errors of a configuration",
		Long:    configCheckLong,
		Example: "  nomen config check /etc/nomen/nomen.toml\n  nomen config check --json nomen.toml | jq -r .message",
		Args:    arguments(0, 1),
	}
	c.serveOptions(cmd, &s)
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil } // the command reports errors as findings instead
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			c.config = args[0]
		} else {
			c.sayConfig(cmd, systemConfig)
		}
		return c.checkConfig(cmd, &s)
	}
	return cmd
}

// serveOptions adds the options of serve to a command, without showing them in its help.
func (c *cli) serveOptions(cmd *cobra.Command, s *serveFlags) {
	c.registerServe(s, cmd.Flags())
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
}

func (c *cli) checkConfig(cmd *cobra.Command, s *serveFlags) error {
	err := c.readSources(cmd)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	failed := false
	for _, f := range c.findings(cmd.Root(), s, err) {
		failed = failed || f.Severity == "error"
		text := f.text
		if f.Severity != "error" {
			text = strings.TrimSuffix(f.text, f.Message) + f.Severity + ": " + f.Message
		}
		if err := c.say(f, "%s", printable(text)); err != nil {
			return err
		}
	}
	switch {
	case failed:
		return errNo
	case c.json:
		return nil
	case c.config == "":
		return c.say(nil, "no configuration file; the options and the environment are valid")
	}
	return c.say(nil, "%s: valid", printable(c.config))
}

const configShowLong = `Show prints the value of each option of 'nomen serve' and where the value comes from:
the command line, the environment, a line of the configuration file, or the default.
Passwords are hidden. Without --config it reads /etc/nomen/nomen.toml, if that file exists.
The options of 'nomen serve' can be given too.

With --running it prints the values of the server that runs on the data directory (--data).`

func (c *cli) configShowCommand() *cobra.Command {
	var s serveFlags
	var running bool
	cmd := &cobra.Command{
		Use:     "show [KEY...]",
		Short:   "show the values of options and where they come from",
		Long:    configShowLong,
		Example: "  nomen config show --config /etc/nomen/nomen.toml\n  nomen config show rate limits.burst\n  nomen config show --running --json",
		Args:    cobra.ArbitraryArgs,
	}
	c.serveOptions(cmd, &s)
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		c.sayConfig(cmd, systemConfig)
		return c.configure(cmd)
	}
	cmd.Flags().BoolVar(&running, "running", false, "show the values of the running server")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all := c.settings()
		if running {
			var err error
			if all, err = c.runningSettings(cmd.Context()); err != nil {
				return err
			}
		}
		return c.showSettings(all, args)
	}
	return cmd
}

func (c *cli) runningSettings(ctx context.Context) ([]adminapi.Setting, error) {
	api, err := c.server(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: no server is running: %w", c.data, err)
	}
	return api.Settings(ctx)
}

func (c *cli) showSettings(all []adminapi.Setting, keys []string) error {
	for _, key := range keys {
		if !slices.ContainsFunc(all, func(s adminapi.Setting) bool { return s.Key == key }) {
			return usagef("config show: unknown key %q%s", key, meant(key, keysOf(all)))
		}
	}
	for _, s := range all {
		if len(keys) > 0 && !slices.Contains(keys, s.Key) {
			continue
		}
		if err := c.say(s, "%s = %s\t# %s", s.Key, printable(s.Value), printable(s.Source)); err != nil {
			return err
		}
	}
	return nil
}

func keysOf(all []adminapi.Setting) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, s := range all {
			if !yield(s.Key) {
				return
			}
		}
	}
}

func (c *cli) settings() []adminapi.Setting {
	var all []adminapi.Setting
	c.flags.VisitAll(func(f *pflag.Flag) {
		if classOf(f.Name) == ofCommand || f.Name == "listen" && !f.Changed && len(c.file.listen()) > 0 {
			return
		}
		s := adminapi.Setting{Key: f.Name, Value: shownValue(f), Source: "default", Reload: classOf(f.Name) == live}
		if f.Changed {
			s.Source = c.sources[f.Name].String()
		}
		all = append(all, s)
	})
	return append(all, c.tableSettings()...)
}

func (c *cli) tableSettings() (all []adminapi.Setting) {
	add := func(key, place string, table any, reload bool) {
		if text, err := json.Marshal(table); err == nil {
			all = append(all, adminapi.Setting{Key: key, Value: hideJSON(text), Source: fmt.Sprintf("%s:%d", c.file.path, c.file.place(place).line), Reload: reload})
		}
	}
	if !c.flags.Changed("listen") {
		for i, t := range c.file.listen() {
			add(fmt.Sprintf("listen %d", i+1), fmt.Sprintf("listen.%d", i+1), t, false)
		}
	}
	for i, t := range c.file.oidc() {
		add(fmt.Sprintf("oidc %d", i+1), fmt.Sprintf("oidc.%d", i+1), t, true)
	}
	for i, t := range c.file.dialects() {
		add("dialect "+t.Name, fmt.Sprintf("dialect.%d", i+1), t, true)
	}
	for i, a := range c.file.authorities() {
		add("authority "+a.Prefix.String(), fmt.Sprintf("authority.%d", i+1), a, true)
	}
	return all
}

// shownValue returns the value of an option for display, without secrets. Text is quoted. Numbers,
// durations and descriptions of defaults are not quoted.
func shownValue(f *pflag.Flag) string {
	if _, text := usageOf(f); !f.Changed && strings.Contains(f.Usage, " (default ") {
		text, _, _ = strings.Cut(text, ":") // "none: no backups" becomes "none"
		return text                         // the default depends on the machine or on other options
	}
	list, ok := f.Value.(pflag.SliceValue)
	if !ok {
		return quotedValue(f, f.Value.String())
	}
	values := hideListed(list.GetSlice())
	for i, v := range values {
		values[i] = quotedValue(f, v)
	}
	return "[" + strings.Join(values, ", ") + "]"
}

func quotedValue(f *pflag.Flag, value string) string {
	switch strings.TrimSuffix(f.Value.Type(), "Slice") {
	case "int", "uint", "float64", "bool", "uint16":
		return value
	case "duration":
		return shortDuration(value)
	}
	return tomlString(value)
}

func tomlString(value string) string {
	b, _ := json.Marshal(hideSecrets(value)) // cannot fail for a string
	return string(b)
}

// shortDuration removes units with the value 0 from the end of a duration, so that 24h0m0s becomes
// 24h.
func shortDuration(text string) string {
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

const configExplainLong = `Explain prints what a key of the configuration means: an option of 'nomen serve', or a
key of a table, such as authority.max_age. For the name of a table it lists the keys of the
table, and without KEY all keys.`

func (c *cli) configExplainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "explain [KEY]",
		Short:   "explain a key of the configuration",
		Long:    configExplainLong,
		Example: "  nomen config explain rate\n  nomen config explain limits.burst\n  nomen config explain authority.max_age",
		Args:    arguments(0, 1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys := configKeys()
		name := ""
		if len(args) > 0 {
			name = strings.Trim(strings.TrimLeft(args[0], "-"), "[]")
		}
		if i := slices.IndexFunc(keys, func(k configKey) bool { return k.Key == name }); i >= 0 {
			return c.say(keys[i], "%s", keys[i].text())
		}
		found := false
		for _, k := range keys {
			if name == "" || strings.HasPrefix(k.Key, name+".") {
				found = true
				if err := c.say(k, "%s\t%s", k.Key, k.Meaning); err != nil {
					return err
				}
			}
		}
		if found {
			return nil
		}
		names := map[string]bool{}
		for _, k := range keys {
			names[k.Key] = true
		}
		return usagef("config explain: unknown key %q%s", args[0], meant(name, maps.Keys(names)))
	}
	return cmd
}
