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

	"github.com/nomen-project/nomen/store"
)

const environmentPrefix = "NOMEN_"

// readEnvironment sets each option that was not given on the command line from the
// environment variable NOMEN_OPTION.
func (c *cli) readEnvironment(cmd *cobra.Command) error {
	return eachUnset(cmd, func(f *pflag.Flag) ([]string, bool) {
		v, ok := os.LookupEnv(environmentPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
		return []string{v}, ok
	}, "environment")
}

// eachUnset sets the options that are not set yet to the values that a source has for
// them.
func eachUnset(cmd *cobra.Command, values func(*pflag.Flag) ([]string, bool), source string) error {
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		if v, ok := values(f); ok {
			if err := setOption(cmd.Flags(), f, v); err != nil {
				errs = append(errs, usagef("%s: %w", source, optionError(err)))
			}
		}
	})
	return errors.Join(errs...)
}

// setOption sets an option to a value or, if the option is a list, to several values. A
// single value is parsed as on the command line, where commas separate the values of some
// lists.
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

// optionError converts an error of pflag to one that says which values the option accepts.
func optionError(err error) error {
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
	return fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), want)
}

// readFile reads the configuration file: its authorities, and the options that neither the
// command line nor the environment has set.
func (c *cli) readFile(cmd *cobra.Command) error {
	if c.config == "" {
		return nil
	}
	text, err := os.ReadFile(c.config)
	if err != nil {
		return usageError{err}
	}
	if err := c.readAuthorities(text, knownOptions(cmd.Root())); err != nil {
		return err
	}
	options, err := c.readOptions(text)
	if err != nil {
		return err
	}
	return eachUnset(cmd, func(f *pflag.Flag) ([]string, bool) {
		v, ok := options[f.Name]
		return v, ok
	}, c.config)
}

// readOptions returns the values of all options in a file.
func (c *cli) readOptions(text []byte) (map[string][]string, error) {
	var keys map[string]any
	if err := toml.Unmarshal(text, &keys); err != nil {
		return nil, c.fileError(err)
	}
	delete(keys, "authority")
	options := make(map[string][]string, len(keys))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		values, err := optionValues(keys[key])
		if err != nil {
			return nil, usagef("%s: %s: %w", c.config, key, err)
		}
		options[key] = values
	}
	return options, nil
}

// readAuthorities decodes the [[authority]] tables. Every other key must be the name of
// an option.
func (c *cli) readAuthorities(text []byte, known map[string]bool) error {
	var file struct{ Authority []*store.Authority }
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&file)
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		err = c.unknownKeys(strict, known)
	} else if err != nil {
		err = c.fileError(err)
	}
	if err != nil {
		return err
	}
	for i, a := range file.Authority {
		if a.Prefix.IsZero() {
			return usagef("%s: authority %d: prefix is missing", c.config, i+1)
		}
	}
	c.authorities = file.Authority
	return nil
}

// unknownKeys returns a usage error for the keys that are not options.
func (c *cli) unknownKeys(strict *toml.StrictMissingError, known map[string]bool) error {
	var errs []error
	for _, e := range strict.Errors {
		key := e.Key()
		if len(key) == 1 && known[key[0]] {
			continue
		}
		line, _ := e.Position()
		errs = append(errs, usagef("%s: line %d: unknown key %q", c.config, line, strings.Join(key, ".")))
	}
	return errors.Join(errs...)
}

// fileError returns a usage error with file, line and column.
func (c *cli) fileError(err error) error {
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, column := decode.Position()
		return usagef("%s: line %d, column %d: %s", c.config, line, column, decodeFault(decode))
	}
	return usagef("%s: %w", c.config, err)
}

// decodeFault describes the error in the terms of TOML, not of Go.
func decodeFault(e *toml.DecodeError) string {
	message := strings.TrimPrefix(e.Error(), "toml: ")
	key := strings.Join(e.Key(), ".")
	if key == "" {
		key = "the value"
	}
	if kind, ok := strings.CutPrefix(message, "cannot decode TOML "); ok {
		kind, _, _ = strings.Cut(kind, " into ")
		article := " cannot be a "
		if kind != "" && strings.IndexByte("aeiou", kind[0]) >= 0 {
			article = " cannot be an "
		}
		return key + article + kind
	}
	if strings.HasPrefix(message, "cannot store ") {
		return key + " cannot be a table"
	}
	return message
}

// knownOptions returns the names of the options of all commands, because one file can
// hold options for all of them.
func knownOptions(root *cobra.Command) map[string]bool {
	known := map[string]bool{}
	add := func(f *pflag.Flag) { known[f.Name] = f.Name != "config" && f.Name != "help" }
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.PersistentFlags().VisitAll(add)
		cmd.Flags().VisitAll(add)
	})
	return known
}

// optionValues formats a TOML value, or each value of a list, for an option.
func optionValues(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	values := make([]string, len(list))
	for i, e := range list {
		switch e.(type) {
		case string, bool, int64, float64:
			values[i] = fmt.Sprint(e)
		default:
			return nil, errors.New("expected a string, a number, true or false, or a list of these")
		}
	}
	return values, nil
}
