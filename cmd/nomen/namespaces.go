package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/registry"
)

const namespacesLong = `Namespaces lists the known URN namespaces: those registered at IANA, and some that are
in use without registration. "checked" marks a namespace with rules that 'nomen check'
applies; for the others it checks only the general syntax of URNs.

With NIDs, such as isbn, it shows everything known about each namespace. With "-" it reads
identifiers from standard input, one per line. The exit status is 1 if an identifier is
unknown.

"not stated" means that the documents of the namespace say nothing about a property.
"stated" gives the sections of these documents on which a statement is based.

With --scheme-ids it lists or shows the SchemeIDs instead: the namespaces of the draft of
1995 (draft-ietf-uri-yaurn-00).

` + registryHelp

func (c *cli) namespacesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "namespaces [NID...]",
		Short: "list known URN namespaces",
		Long:  namespacesLong,
		Example: `  nomen namespaces
  nomen namespaces isbn nbn
  nomen namespaces --json
  nomen namespaces --scheme-ids
  nomen namespaces --registry ours.json shelf
  nomen namespaces --format html`,
		ValidArgsFunction: cobra.FixedCompletions(nids(), cobra.ShellCompDirectiveNoFileComp),
	}
	old := cmd.Flags().Bool("scheme-ids", false, "show the SchemeIDs of 1995 instead")
	return c.registryCommand(cmd, func(known registry.Registries) registry.Table {
		if *old {
			return known.SchemeIDs()
		}
		return known.Namespaces()
	})
}

func (c *cli) registryCommand(cmd *cobra.Command, table func(registry.Registries) registry.Table) *cobra.Command {
	file, format := addRegistry(cmd), addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known, err := readRegistries(*file)
		if err != nil {
			return err
		}
		return answerRegistry(c, cmd, args, table(known), *format)
	}
	return cmd
}

func nids() []string { return registry.Standard().Namespaces().Names() }

// codeUnknown is the JSON code for a name that a registry does not have.
const codeUnknown = "unknown"

// answerRegistry prints all entries of a registry, or the entries with the given names. If format
// is "", it prints text or JSON.
func answerRegistry(c *cli, cmd *cobra.Command, names []string, t registry.Table, format string) error {
	if format != "" {
		return documentRegistry(c, names, t, format)
	}
	if len(names) > 0 {
		return c.answerEach(cmd.Context(), names, func(a *answers, name string) { answerEntry(a, t, name) })
	}
	a := newAnswers(c)
	if a.json == nil {
		t.WriteText(a) // writing to a cannot fail
		return a.end()
	}
	for _, e := range t.Entries {
		a.object(e.Value)
	}
	return a.end()
}

func documentRegistry(c *cli, names []string, t registry.Table, format string) error {
	f, ok := registry.ByName(format)
	switch {
	case !ok:
		return usagef("--format %q: must be %s", format, strings.Join(registryFormats(), ", "))
	case len(names) > 1:
		return usagef("--format: expected at most one entry, not %d", len(names))
	case len(names) == 0:
		return f.Table(t, c.out)
	}
	e, ok := t.Lookup(names[0])
	if !ok {
		fmt.Fprintln(c.err, "nomen: "+words(unknownEntry(t, names[0])))
		return errNo
	}
	return f.Entry(t, c.out, e)
}

func registryFormats() []string {
	var names []string
	for _, f := range registry.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func addFormat(cmd *cobra.Command) *string {
	format := cmd.Flags().String("format", "", "write one document: "+strings.Join(registryFormats(), ", "))
	complete(cmd, "format", registryFormats())
	return format
}

func answerEntry(a *answers, t registry.Table, name string) {
	e, ok := t.Lookup(name)
	switch {
	case !ok:
		err := unknownEntry(t, name)
		a.refuse(err, badLine{name, explain(err)})
	case a.json != nil:
		a.object(e.Value)
	default:
		t.WriteEntryText(a, e) // writing to a cannot fail
		a.text("")
	}
}

func unknownEntry(t registry.Table, name string) error {
	more := t.Unknown(name)
	if more != "" {
		more = ": " + more
	}
	return codedError{codeUnknown, fmt.Errorf("unknown %s %q%s", t.Entry, name, more)}
}

const (
	formatHelp = `--format writes one document in html, txt, xml or json. The document describes the
whole registry, or the one entry that you give.`

	ownRegistryHelp = `--registry adds your own entries, from a JSON file, to the standard entries. An entry with
the name of a standard entry replaces the standard entry. The file is an object with any of
the members "namespaces", "scheme_ids", "keywords" and "services". Each member is an array
of entries, with the fields that 'nomen namespaces --json' and 'nomen services --json' show.`

	registryHelp = formatHelp + "\n\n" + ownRegistryHelp
)

func addRegistry(cmd *cobra.Command) *string {
	return cmd.Flags().String("registry", "", "JSON file of your own registry entries")
}

// readRegistries returns the standard registries. If file is not "", it adds the entries in the
// file.
func readRegistries(file string) (registry.Registries, error) {
	r := registry.Standard()
	if file == "" {
		return r, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return r, err
	}
	defer f.Close()
	if r, err = r.With(f); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}
