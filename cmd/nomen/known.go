package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/public"
	"github.com/nomen-project/nomen/store"
)

const authorityKnownLong = `Known shows the built-in authorities: public namespaces such as urn:isbn and doi,
national libraries and, with --registry, the compact identifiers of a registry of
prefixes. The server uses none of them until you load them. To load them, pass the output
of --json, which you can edit first, to 'nomen authority put -'.

With PREFIX, known shows only the authorities with this prefix or with a prefix below it, as
urn:nbn:fi is below urn:nbn.`

func (c *cli) authorityKnownCommand() *cobra.Command {
	var registry, base string
	cmd := &cobra.Command{
		Use:   "known [PREFIX...]",
		Short: "show public namespaces and prefixes that can be loaded",
		Long:  authorityKnownLong,
		Example: `  nomen authority known
  nomen authority known --json urn:isbn urn:nbn | nomen authority put -
  nomen authority known --json --registry identifiers.org --base https://id.example.org > prefixes.jsonl`,
	}
	f := cmd.Flags()
	f.StringVar(&registry, "registry", "", "show the prefixes of this registry: bioregistry or identifiers.org")
	f.StringVar(&base, "base", "", "URL at the beginning of the names (default the URL of the registry)")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		all, err := known(registry, base)
		if err != nil {
			return err
		}
		found := false
		for _, a := range all {
			if len(args) > 0 && !slices.ContainsFunc(args, func(p string) bool { return below(a.Prefix, p) }) {
				continue
			}
			found = true
			if err := c.showKnown(a); err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("no known authority for %s", strings.Join(args, ", "))
		}
		return nil
	}
	return cmd
}

// known returns authorities for the public namespaces. If registry is not "", it returns
// authorities for the prefixes in the registry with this name instead.
func known(registry, base string) ([]*store.Authority, error) {
	if registry == "" {
		if base != "" {
			return nil, usagef("authority known: --base needs --registry")
		}
		return public.Namespaces()
	}
	var names []string
	for _, r := range public.Registries() {
		names = append(names, r.Name)
		if r.Name != registry {
			continue
		}
		var all []*store.Authority
		for p, err := range r.Prefixes(base) {
			if err != nil {
				return nil, usageError{err}
			}
			all = append(all, p.Authority)
		}
		return all, nil
	}
	return nil, usagef("authority known: --registry %q: must be one of %s", registry, strings.Join(names, ", "))
}

func below(p name.Prefix, prefix string) bool {
	want, err := name.ParsePrefix(prefix)
	rest, ok := strings.CutPrefix(p.String(), want.String())
	return err == nil && ok && (rest == "" || strings.ContainsAny(rest[:1], ":/-."))
}

func (c *cli) showKnown(a *store.Authority) error {
	leads := ""
	if len(a.Rules) > 0 && len(a.Rules[0].Locations) > 0 {
		leads = a.Rules[0].Locations[0].URL
	}
	return c.say(a, "%s\t%s\t%s", a.Prefix, a.Description, leads)
}
