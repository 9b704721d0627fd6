package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const authorityLong = `A naming authority is a prefix and the policy for the names below it: who owns them,
and at which host names and addresses the server answers for them.`

func (c *cli) authorityCommand() *cobra.Command {
	return groupOf("authority", "manage naming authorities and their policies", authorityLong,
		c.authorityGetCommand(), c.authorityPutCommand(), c.authorityListCommand(), c.authorityTestCommand(), c.authorityKnownCommand())
}

func (c *cli) authorityGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "get PREFIX",
		Short:   "show an authority",
		Long:    "Get shows the authority with exactly this prefix, its policy and its rules.",
		Example: "  nomen authority get urn:ietf:rfc\n  nomen authority get --json urn:ietf:rfc | jq .rules",
		Args:    arguments(1, 1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.withAuthority(cmd.Context(), args[0], func(_ backend, a *store.Authority) error { return c.showAuthority(a) })
	}
	return cmd
}

// withAuthority calls f with the authority that has a prefix.
func (c *cli) withAuthority(ctx context.Context, prefix string, f func(backend, *store.Authority) error) error {
	p, err := name.ParsePrefix(prefix)
	if err != nil {
		return err
	}
	return c.withStore(ctx, reads, func(b backend) error {
		a, err := b.Authority(ctx, p)
		if err != nil {
			return namedAuthority(prefix, err)
		}
		return f(b, a)
	})
}

func (c *cli) authorityTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test PREFIX NAME...",
		Short: "show what the rules of an authority do with names",
		Long: `Test shows which rule of the authority matches each name and the locations it gives.
It also says when the rule is not used because the name has a record or belongs to
another authority. The exit status is 1 if no rule matches one of the names.`,
		Example: "  nomen authority test urn:ietf urn:ietf:rfc:2648",
		Args:    arguments(2, -1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.withAuthority(cmd.Context(), args[0], func(b backend, a *store.Authority) error {
			return c.testNames(cmd.Context(), b, a, args[1:])
		})
	}
	return cmd
}

func (c *cli) authorityListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list all authorities",
		Long: `List prints one authority per line: the prefix, a tab and the description. With
--json it prints each complete authority, in the format 'nomen authority put -' reads.`,
		Example: "  nomen authority list\n  nomen authority list --json > authorities.jsonl",
		Args:    noArguments,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			all, err := b.Authorities(cmd.Context())
			if err != nil {
				return err
			}
			for _, a := range all {
				if err := c.say(a, "%s\t%s", a.Prefix, printable(a.Description)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return cmd
}

const authorityPutLong = `Put creates or changes an authority. What you do not give stays unchanged. An option that
can be repeated replaces the whole list; an empty value (--owner "") clears it. A file of
rules has tests, and is rejected if one fails: see docs/reference/authority.md.

With "-" it reads complete authorities from standard input, one per line, in the format
that 'nomen authority list --json' prints.`

func (c *cli) authorityPutCommand() *cobra.Command {
	var given store.Authority
	var service, why string
	var policy policyFlags
	cmd := &cobra.Command{
		Use:   "put PREFIX|-",
		Short: "create or change an authority",
		Long:  authorityPutLong,
		Example: `  nomen authority put urn:dns:example.org --owner archive --owner library --contact mailto:names@example.org
  nomen authority put urn:nbn:fi --host urn.example.org --list
  nomen authority put urn:ietf --rules rules.json --max-age 3600
  nomen authority put urn:nbn:de --delegate redirect --delegate-to 'https://nbn-resolving.org/{+name}'
  nomen authority list --json | ssh other nomen authority put -`,
		Args: arguments(1, 1),
	}
	f := cmd.Flags()
	f.StringArrayVar(&given.Owners, "owner", nil, "person or department responsible for the authority; give at least two (default none)")
	f.StringSliceVar(&given.Hosts, "host", nil, "host name at which the server answers for this authority")
	f.StringSliceVar(&given.Addresses, "address", nil, "local address at which the server answers for this authority")
	f.BoolVar(&given.Default, "default", false, "use this authority for requests that name none")
	f.StringArrayVar(&given.Parents, "parent", nil, "naming authority that authorised this one")
	f.StringArrayVar(&given.Children, "child", nil, "naming authority that this authority authorised")
	f.StringVar(&given.Contact, "contact", "", "contact URL, such as mailto:, https: or tel:")
	f.StringVar(&given.Description, "description", "", "description for people")
	f.BoolVar(&given.List, "list", false, "let clients list its names (urn+a)")
	f.StringVar(&service, "default-service", "", "service of web paths: I2L, I2C and others (default I2L)")
	f.BoolVar(&given.FoldCase, "fold-case", false, "ignore case in what follows the prefix")
	f.IntVar(&given.Redirect, "redirect-status", 0, "status code of redirects to HTTP/1.1 clients (default 303)")
	policy.add(f)
	whyOption(f, &why)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] == "-" {
			return c.withStore(cmd.Context(), creates, func(b backend) error { return c.putAll(cmd.Context(), b, why) })
		}
		p, err := name.ParsePrefix(args[0])
		if err != nil {
			return err
		}
		given.Prefix, given.Service = p, nomen.Service(service)
		return c.withStore(cmd.Context(), creates, func(b backend) error {
			a, revision, err := current(cmd.Context(), b, p)
			if err != nil {
				return err
			}
			merge(a, &given, cmd.Flags().Changed)
			if err := policy.merge(&a.Policy, cmd.Flags().Changed, c.in); err != nil {
				return err
			}
			out, err := b.PutAuthority(cmd.Context(), a, revision, why)
			if err != nil {
				return namedAuthority(args[0], err)
			}
			c.warn(out.Warnings)
			if a, err = b.Authority(cmd.Context(), p); err != nil {
				return err
			}
			return c.showAuthority(a)
		})
	}
	return cmd
}

// merge copies the fields whose options were given from given to a.
func merge(a, given *store.Authority, changed func(string) bool) {
	set := func(flag string, assign func()) {
		if changed(flag) {
			assign()
		}
	}
	set("owner", func() { a.Owners = nonempty(given.Owners) })
	set("host", func() { a.Hosts = given.Hosts })
	set("address", func() { a.Addresses = given.Addresses })
	set("default", func() { a.Default = given.Default })
	set("parent", func() { a.Parents = nonempty(given.Parents) })
	set("child", func() { a.Children = nonempty(given.Children) })
	set("contact", func() { a.Contact = given.Contact })
	set("description", func() { a.Description = given.Description })
	set("list", func() { a.List = given.List })
	set("default-service", func() { a.Service = given.Service })
	set("fold-case", func() { a.FoldCase = given.FoldCase })
	set("redirect-status", func() { a.Redirect = given.Redirect })
}

// nonempty drops empty values, so that --owner "" clears the list.
func nonempty(values []string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return v == "" })
}
