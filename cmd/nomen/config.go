package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const environmentPrefix = "NOMEN_"

const systemConfig = "/etc/nomen/nomen.toml"

// useSystemConfig makes file the configuration file if the file exists and the user has not
// specified another one. It reports whether the file is used.
func (c *cli) useSystemConfig(cmd *cobra.Command, file string) bool {
	_, named := os.LookupEnv(variableOf("config"))
	if _, err := os.Stat(file); named || cmd.Flags().Changed("config") || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	c.config = file
	return true
}

func (c *cli) sayConfig(cmd *cobra.Command, file string) {
	if c.useSystemConfig(cmd, file) {
		fmt.Fprintf(c.err, "nomen: using %s; --config names another file\n", printable(file))
	}
}

// An optionSource is the origin of the value of an option: the command line, the environment or the
// configuration file. The zero value means the command line.
type optionSource struct {
	variable string      // name of the environment variable; "" if it comes from elsewhere
	file     *configFile // the configuration file; nil if it comes from elsewhere
	at       filePlace
}

func (s optionSource) errorf(format string, args ...any) error {
	switch {
	case s.file != nil:
		return s.file.errorAt(s.at, format, args...)
	case s.variable != "":
		return usagef("environment: "+format, args...)
	}
	return usagef(format, args...)
}

// name returns the name of an option as it is written in the source.
func (s optionSource) name(option string) string {
	switch {
	case s.file != nil:
		return option
	case s.variable != "":
		return s.variable
	}
	return "--" + option
}

// String returns a description of the source for messages.
func (s optionSource) String() string {
	switch {
	case s.file != nil:
		return fmt.Sprintf("%s:%d", s.file.path, s.at.line)
	case s.variable != "":
		return "environment " + s.variable
	}
	return "command line"
}

func variableOf(option string) string {
	return environmentPrefix + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(option))
}

// readEnvironment sets each option that was not given on the command line from the
// environment variable NOMEN_OPTION.
func (c *cli) readEnvironment(cmd *cobra.Command) error {
	return eachUnset(cmd, func(f *pflag.Flag) ([]string, optionSource, bool) {
		v, ok := os.LookupEnv(variableOf(f.Name))
		return []string{v}, optionSource{variable: variableOf(f.Name)}, ok
	}, c.sources)
}

// eachUnset sets the options that have not been set yet. The function values returns the values for
// an option and their source, or false if there is no value. eachUnset records the sources in the
// map sources, and joins the errors for all options.
func eachUnset(cmd *cobra.Command, values func(*pflag.Flag) ([]string, optionSource, bool), sources map[string]optionSource) error {
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		v, source, ok := values(f)
		if !ok {
			return
		}
		sources[f.Name] = source
		if err := setOption(cmd.Flags(), f, v); err != nil {
			errs = append(errs, source.errorf("%w", optionError(source.name(f.Name), err)))
			_ = f.Value.Set(f.DefValue) // so that later checks do not report the value again
		}
	})
	return errors.Join(errs...)
}

// setOption sets an option to values from the environment or the configuration file. A single value
// is parsed as on the command line, where commas separate the elements of some lists. Several
// values become the elements of a list. They are an error if the option does not accept a list.
func setOption(flags *pflag.FlagSet, f *pflag.Flag, values []string) error {
	if len(values) == 1 {
		return flags.Set(f.Name, values[0])
	}
	list, ok := f.Value.(pflag.SliceValue)
	if !ok {
		return fmt.Errorf("%s: expected one value, not a list", f.Name)
	}
	f.Changed = true
	return list.Replace(values)
}

// optionError rephrases an error of package pflag, so that the message describes the values that
// the option accepts. The message uses name as the name of the option. If name is "", the message
// uses the name on the command line.
func optionError(name string, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	want := ""
	switch f := invalid.GetFlag(); f.Value.Type() {
	case "int":
		want = "must be a whole number"
	case "uint", "uint64", "uints":
		want = "must be a whole number from 0"
	case "uint16":
		want = "must be a whole number from 0 to 65535"
	case "float64":
		want = "must be a number"
	case "bool":
		want = "must be true or false"
	case "duration":
		want = "must be a duration with its unit, such as 500ms, 10s, 5m or 24h"
	default:
		want = errors.Unwrap(invalid).Error()
	}
	if errors.Is(err, errNegative) {
		want = errNegative.Error()
	}
	return fmt.Errorf("%s %q: %s", cmp.Or(name, "--"+invalid.GetFlag().Name), invalid.GetValue(), want)
}

// readFile reads the configuration file. It sets the options that neither the command line nor the
// environment has set.
func (c *cli) readFile(cmd *cobra.Command) error {
	if c.config == "" {
		return nil
	}
	file, err := readConfigFile(c.config, knownOptions(cmd.Root()))
	if file == nil {
		return err
	}
	c.file = file
	return errors.Join(err, eachUnset(cmd, func(f *pflag.Flag) ([]string, optionSource, bool) {
		v, ok := file.options[f.Name]
		return v, optionSource{file: file, at: file.place(f.Name)}, ok
	}, c.sources))
}

// knownOptions returns the names of the options of all commands. A configuration file may contain
// options of any command.
func knownOptions(root *cobra.Command) map[string]bool {
	known := map[string]bool{}
	add := func(f *pflag.Flag) { known[f.Name] = f.Name != "config" && f.Name != "help" }
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.PersistentFlags().VisitAll(add)
		cmd.Flags().VisitAll(add)
	})
	return known
}
