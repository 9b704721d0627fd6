package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/registry"
)

// completionTimeout limits the time that a user waits after pressing Tab.
const completionTimeout = time.Second

// A valueSource returns the values to which the shell can complete a word. A tab and a description
// may follow each value. In case of an error, a valueSource returns no values, because a message
// would disturb the line that the user is editing.
type valueSource func(ctx context.Context, c *cli) []string

func fixedValues(values string) valueSource {
	return func(context.Context, *cli) []string { return strings.Fields(values) }
}

// flagValues returns the sources for the values of flags. The keys have the form "COMMAND --FLAG",
// or "--FLAG" if the flag has the same values in all commands.
func flagValues() map[string]valueSource {
	return map[string]valueSource{
		"serve --ask-others":           fixedValues("off own all"),
		"serve --proxy":                fixedValues("off own all"),
		"serve --log-format":           fixedValues("auto text json"),
		"serve --access-log-addresses": fixedValues("none truncated full"),
		"serve --tls":                  fixedValues("off files acme"),
		"import --format":              fixedValues("jsonl csv tsv"),
		"import --on-conflict":         fixedValues("merge keep replace fail"),
		"export --format":              fixedValues("jsonl csv tsv nginx-map apache-map uri-list ezid-csv"),
		"export --status":              fixedValues("reserved active retired"),
		"put --status":                 fixedValues("reserved active retired"),
		"token make --role":            fixedValues("reader editor owner administrator"),
		"authority known --registry":   fixedValues("bioregistry identifiers.org"),
		"resolve --service":            serviceValues,
		"history --authority":          prefixValues,
		"redact --authority":           prefixValues,
		"conform --authority":          prefixValues,
		"--prefix":                     prefixValues,
	}
}

func argumentValues() map[string]valueSource {
	return map[string]valueSource{
		"authority get":   prefixValues,
		"authority put":   prefixValues,
		"authority test":  prefixValues,
		"authority known": knownPrefixes,
		"zone print":      prefixValues,
		"zone check":      prefixValues,
		"mint":            prefixValues,
		"get":             prefixValues,
		"put":             prefixValues,
		"retire":          prefixValues,
		"delete":          prefixValues,
		"history":         prefixValues,
		"redact":          prefixValues,
		"resolve":         prefixValues,
		"discover":        prefixValues,
		"config explain":  configValues,
		"jobs show":       jobValues,
		"jobs wait":       jobValues,
		"jobs cancel":     jobValues,
		"token revoke":    tokenValues,
	}
}

// completeValues adds the completion of values to all commands. It must not be called at a reload,
// because cobra keeps references to these commands until the process ends.
func (c *cli) completeValues(root *cobra.Command) {
	flags, arguments := flagValues(), argumentValues()
	eachCommand(root, func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		if source := arguments[path]; source != nil {
			cmd.ValidArgsFunction = c.completion(source)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if values := f.Annotations[valuesAnnotation]; values != nil {
				register(cmd, f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
			}
		})
		for key, source := range flags {
			command, flag, _ := strings.Cut(key, "--")
			if command = strings.TrimSpace(command); command != "" && command != path || cmd.Flags().Lookup(flag) == nil {
				continue
			}
			register(cmd, flag, c.completion(source))
		}
	})
	if err := errors.Join(root.MarkPersistentFlagDirname("data"), root.MarkPersistentFlagFilename("config", "toml")); err != nil {
		panic("nomen: " + err.Error())
	}
}

func register(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic("nomen: " + err.Error())
	}
}

func (c *cli) completion(source valueSource) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		c.err, c.out = io.Discard, io.Discard
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		if c.configure(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, value := range source(ctx, c) {
			if strings.HasPrefix(value, word) {
				found = append(found, value)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func prefixValues(ctx context.Context, c *cli) (values []string) {
	_ = c.withStore(ctx, reads, func(b backend) error {
		all, err := b.Authorities(ctx)
		for _, a := range all {
			values = append(values, described(a.Prefix.String(), a.Description))
		}
		return err
	})
	return values
}

func knownPrefixes(context.Context, *cli) (values []string) {
	all, err := known("", "")
	if err != nil {
		return nil
	}
	for _, a := range all {
		values = append(values, described(a.Prefix.String(), a.Description))
	}
	return values
}

func jobValues(ctx context.Context, c *cli) (values []string) {
	api, err := c.server(ctx)
	if err != nil {
		return nil
	}
	all, err := api.Jobs(ctx)
	if err != nil {
		return nil
	}
	for _, j := range all {
		values = append(values, described(j.ID, strings.TrimSpace(string(j.Kind)+" "+string(j.State)+" "+j.Subject)))
	}
	return values
}

func tokenValues(ctx context.Context, c *cli) (values []string) {
	_ = c.withStore(ctx, reads, func(b backend) error {
		all, err := b.Tokens(ctx)
		for _, t := range all {
			if !t.Revoked {
				values = append(values, described(t.ID, t.Who))
			}
		}
		return err
	})
	return values
}

func configValues(context.Context, *cli) (values []string) {
	for _, k := range configKeys() {
		values = append(values, described(k.Key, k.Meaning))
	}
	return values
}

func serviceValues(context.Context, *cli) []string { return registry.Standard().Services().Names() }

func described(value, description string) string {
	if description = printable(description); description == "" {
		return value
	}
	return value + "\t" + description
}
