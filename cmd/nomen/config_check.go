package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/internal/country"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store/pgstore"
)

type configFinding struct {
	Severity string `json:"severity"` // error, warning or hint
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"` // from 1
	Column   int    `json:"column,omitempty"`
	Message  string `json:"message"`
	text     string // the text with the place
	err      error
}

func (c *cli) findingOf(severity string, err error) configFinding {
	text := c.words(err)
	f := configFinding{Severity: severity, Message: text, text: text, err: err}
	var at placeError
	if errors.As(err, &at) && at.at.line > 0 {
		f.File, f.Line, f.Column = at.file, at.at.line, at.at.column
		f.Message = strings.TrimPrefix(text, printable(at.place()))
	}
	return f
}

// findings returns all findings about the configuration of a server: first the errors, then the
// warnings, and finally the hints. The parameter read is the error from reading the configuration.
func (c *cli) findings(root *cobra.Command, f *serveFlags, read error) []configFinding {
	var all []configFinding
	errs := flatten(read)
	if c.file != nil || c.config == "" {
		errs = append(errs, c.checkServe(f)...)
	}
	for _, err := range errs {
		all = append(all, c.findingOf("error", err))
	}
	slices.SortStableFunc(all, func(a, b configFinding) int { return a.Line - b.Line })
	for _, err := range append(c.configWarnings(root), c.exposedListeners(f)...) {
		all = append(all, c.findingOf("warning", err))
	}
	for _, err := range c.secondPersonHint(f) {
		all = append(all, c.findingOf("hint", err))
	}
	return all
}

func flatten(err error) []error {
	var joined interface{ Unwrap() []error }
	switch e := err.(type) {
	case nil:
		return nil
	case usageError: // may contain joined errors
		if inner := flatten(e.error); len(inner) > 1 {
			return inner
		}
	case interface{ Unwrap() []error }:
		joined = e
	}
	if joined == nil || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

// checkServe checks the configuration of a server. It does not write anything, and does not open
// listeners or the store. It returns all errors, together with the sources of the invalid options.
// 'nomen serve', 'nomen config check', 'nomen doctor' and reloads use this function, so that their
// results agree.
func (c *cli) checkServe(f *serveFlags) []error {
	var errs []error
	for _, check := range []func() error{
		f.check,
		func() error { return c.checkBackups(f) },
		func() error { _, err := f.proxies(); return err },
		c.checkStore,
		c.checkMemory,
		func() error { _, err := c.listeners(f); return err },
		func() error { _, err := c.signIn(&f.signIn); return err },
		func() error { _, err := c.dialectSettings(); return err },
		func() error { _, err := f.site.site(); return err },
		func() error { return checkServeFiles(f) },
	} {
		for _, err := range flatten(check()) {
			errs = append(errs, c.located(err))
		}
	}
	return append(append(errs, c.checkTexts()...), c.checkAuthorities()...)
}

func (c *cli) checkStore() error {
	if !c.inDatabase() {
		_, err := c.storePath()
		return err
	}
	if err := pgstore.CheckURL(c.store); err != nil {
		return usagef("--store: %w", err)
	}
	return nil
}

func checkServeFiles(f *serveFlags) error {
	var errs []error
	if _, err := readRegistries(f.registry); err != nil {
		errs = append(errs, usagef("--registry: %w", err))
	}
	if f.outside.countries != "" {
		if _, err := country.Open(f.outside.countries); err != nil {
			errs = append(errs, usagef("--country-db: %w", err))
		}
	}
	find := f.outside.find
	if _, err := readTable(find.table); err != nil {
		errs = append(errs, usagef("--table: %w", err))
	}
	if find.public != "" && find.public != noTable {
		if _, err := readTable(find.public); err != nil {
			errs = append(errs, usagef("--public-table: %w", err))
		}
	}
	_, err := newDNS(find.dns)
	return errors.Join(append(errs, err, checkDefault(find.fallback))...)
}

// checkTexts checks the options in the configuration file that belong to commands other than serve.
func (c *cli) checkTexts() []error {
	if c.file == nil {
		return nil
	}
	var errs []error
	others := (&cli{sources: map[string]optionSource{}}).root()
	seen := map[string]bool{}
	eachCommand(others, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			values, ok := c.file.options[f.Name]
			if !ok || seen[f.Name] || c.flags.Lookup(f.Name) != nil {
				return
			}
			seen[f.Name] = true
			if err := setOption(cmd.LocalFlags(), f, values); err != nil {
				errs = append(errs, c.file.errorf(f.Name, "%w", optionError(f.Name, err)))
			}
		})
	})
	return errs
}

func (c *cli) checkAuthorities() []error {
	var errs []error
	first := map[string]int{}
	for i, a := range c.file.authorities() {
		if err := registrar.CheckAuthority(a); err != nil {
			errs = append(errs, c.authorityError(i, err))
		}
		prefix := a.Prefix.String()
		if j, ok := first[prefix]; ok {
			errs = append(errs, c.file.errorf(fmt.Sprintf("authority.%d.prefix", i+1), "authority %s: authority %d has the same prefix", prefix, j+1))
			continue
		}
		first[prefix] = i
	}
	return errs
}

// authorityError adds the position in the configuration file to an error about the authority with
// index i.
func (c *cli) authorityError(i int, err error) error {
	path, text := fmt.Sprintf("authority.%d", i+1), err.Error()
	var refusal *registrar.RefusalError
	if errors.As(err, &refusal) && refusal.Field != "" {
		path += "." + fieldPath(refusal.Field)
		text = fieldPath(refusal.Field) + ": " + refusal.Message
	}
	return c.file.errorf(path, "%w", rephrasedError{err, fmt.Sprintf("authority %s: %s", c.file.tables.Authority[i].Prefix, text)})
}

// fieldPath converts a field such as "rules[0].tests[1]" to a path in a configuration file, such as
// "rules.1.tests.2".
func fieldPath(field string) string {
	parts := strings.Split(field, ".")
	for i, part := range parts {
		key, index, ok := strings.Cut(strings.TrimSuffix(part, "]"), "[")
		if n, err := strconv.Atoi(index); ok && err == nil {
			parts[i] = key + "." + strconv.Itoa(n+1)
		}
	}
	return strings.Join(parts, ".")
}

// located adds the source of an option to an error. It searches the error message for the name of
// the option, such as --rate.
func (c *cli) located(err error) error {
	var placed placeError
	if err == nil || c.flags == nil || errors.As(err, &placed) {
		return err
	}
	text := strings.TrimPrefix(err.Error(), "serve: ")
	names := c.namedOptions(text)
	for _, name := range names {
		source, ok := c.sources[name]
		if !ok {
			continue
		}
		slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // --tls-cert before --tls, which is a part of it
		for _, other := range names {                                            // replace each option by its spelling in the source
			text = strings.ReplaceAll(text, "--"+other, source.name(other))
		}
		return c.at(source, name, text).errorf("%w", rephrasedError{err, text})
	}
	return err
}

// namedOptions returns the names of the options that occur in a message, in order and without
// duplicates.
func (c *cli) namedOptions(text string) (all []string) {
	for {
		_, after, ok := strings.Cut(text, "--")
		if !ok {
			return all
		}
		end := strings.IndexFunc(after, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
		})
		if end < 0 {
			end = len(after)
		}
		if name := strings.Trim(after[:end], "-."); c.flags.Lookup(name) != nil && !slices.Contains(all, name) {
			all = append(all, name)
		}
		text = after
	}
}

// at returns source with a more exact position. If the message text quotes an element of a list in
// the file, the result has the position of this element.
func (c *cli) at(source optionSource, option, text string) optionSource {
	if source.file == nil {
		return source
	}
	for i, v := range source.file.options[option] {
		if strings.Contains(text, strconv.Quote(v)) {
			source.at = source.file.place(fmt.Sprintf("%s.%d", option, i+1))
		}
	}
	return source
}

// configWarnings returns warnings about valid settings that may be mistakes.
func (c *cli) configWarnings(root *cobra.Command) []error {
	all := unknownVariables(os.Environ(), knownOptions(root))
	if c.file == nil {
		return all
	}
	for _, option := range slices.Sorted(maps.Keys(c.file.options)) {
		f := c.flags.Lookup(option)
		if f == nil || !f.Changed {
			continue
		}
		source := c.sources[option] // the zero value stands for the command line
		if source.file == nil && !slices.Equal(c.file.options[option], []string{f.Value.String()}) {
			all = append(all, c.file.errorf(option, "%s has no effect: it is overridden by the %s", option, source))
		}
	}
	return all
}

// unknownVariables returns a warning for each environment variable that begins with NOMEN_ but does
// not belong to an option. Such a variable may be misspelled. There are no warnings about variables
// that tests and other programs use.
func unknownVariables(environment []string, known map[string]bool) (all []error) {
	names := map[string]bool{variableOf("config"): true}
	for option, ok := range known {
		if ok {
			names[variableOf(option)] = true
		}
	}
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, environmentPrefix) && !names[name] && !isForeignVariable(name) {
			all = append(all, fmt.Errorf("environment: %s is not the variable of an option%s", name, meant(name, maps.Keys(names))))
		}
	}
	slices.SortFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return all
}

func isForeignVariable(name string) bool {
	const testPrefix = environmentPrefix + "TEST_"
	switch strings.TrimPrefix(name, environmentPrefix) {
	case "LONG", "KILLS", "NAMES", "HA_DIR", "APACHE_MODULES", "PASSWORD":
		return true
	}
	return strings.HasPrefix(name, testPrefix)
}
