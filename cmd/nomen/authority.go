package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

const authorityLong = `A naming authority is a prefix and the policy for the names below it: who owns them,
and at which host names and addresses the server answers for them.

An authority cannot be renamed, retired or deleted. To end the use of its names, retire
them ('nomen retire'), delegate them to another resolver (--delegate of 'nomen authority
put'), or restrict access to them (--access).`

func (c *cli) authorityCommand() *cobra.Command {
	return groupOf("authority", "manage naming authorities and their policies", authorityLong,
		c.authorityGetCommand(), c.authorityPutCommand(), c.authorityCheckCommand(), c.authorityListCommand(), c.authorityTestCommand(), c.authorityKnownCommand())
}

func (c *cli) authorityGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "get PREFIX",
		Short:   "show an authority",
		Long:    "Get shows the authority with exactly this prefix, its policy and its rules.",
		Example: "  nomen authority get urn:ietf:rfc\n  nomen authority get --json urn:ietf:rfc | jq .rules",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withAuthority(cmd.Context(), args[0], func(_ backend, a *store.Authority) error { return c.showAuthority(a) })
		},
	}
}

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
	var request rule.Request
	cmd := &cobra.Command{
		Use:   "test PREFIX NAME...",
		Short: "show what the rules of an authority do with names",
		Long: `Test shows which rule of the authority matches each name and the locations it gives.
If a name has a record or belongs to another authority, no rule applies to the name, and
test says so.
The exit status is 1 if one of the names matches no rule.`,
		Example: "  nomen authority test urn:ietf urn:ietf:rfc:2648\n  nomen authority test --accept text/turtle https://w3id.org/example https://w3id.org/example/terms",
		Args:    arguments(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withAuthority(cmd.Context(), args[0], func(b backend, a *store.Authority) error {
				return c.testNames(cmd.Context(), b, a, args[1:], request)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&request.Accept, "accept", "", "the client's Accept field, for rules with conditions (default none)")
	f.StringVar(&request.Languages, "language", "", "the client's Accept-Language field, for rules with conditions (default none)")
	f.StringVar(&request.UserAgent, "user-agent", "", "the client's User-Agent field, for rules with conditions (default none)")
	f.StringVar(&request.Query, "query", "", "the query of the request without the question mark, for rules with conditions (default none)")
	return cmd
}

func (c *cli) authorityListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list all authorities",
		Long: `List prints one authority per line: the prefix, a tab and the description. With
--json it prints each complete authority, in the format 'nomen authority put -' reads.`,
		Example: "  nomen authority list\n  nomen authority list --json > authorities.jsonl",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
		},
	}
}

const authorityPutLong = `Put creates or changes an authority. Options that you do not give stay unchanged. An
option that can be repeated replaces the whole list; an empty value (--owner "") clears
the list. A file of rules contains tests of the rules: if a test fails, put rejects the
file (docs/reference/authority.md).

--delegate applies to names that have no record and match no rule. --delegate-to has the
resolver for these names:

  HOST, HOST:PORT       a resolver for the protocol of 1995
  https://HOST/{+name}  a template of the URL to use
  dspace:https://HOST/  a DSpace server with handles; only with --delegate ask
  ""                    the resolver that discovery finds; only with --delegate ask

With "-", put reads complete authorities from standard input, one per line, in the format
that 'nomen authority list --json' prints.`

func (c *cli) authorityPutCommand() *cobra.Command {
	var why string
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
	o := authorityOptions{FlagSet: cmd.Flags()}
	o.declare()
	o.declarePolicy(c.in)
	whyOption(cmd.Flags(), &why)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] == "-" {
			return c.withStore(cmd.Context(), creates, func(b backend) error { return c.putAll(cmd.Context(), b, why) })
		}
		p, err := name.ParsePrefix(args[0])
		if err != nil {
			return err
		}
		return c.withStore(cmd.Context(), creates, func(b backend) error {
			return namedAuthority(args[0], c.putAuthority(cmd.Context(), b, p, &o, why))
		})
	}
	return cmd
}

func (c *cli) putAuthority(ctx context.Context, b backend, p name.Prefix, o *authorityOptions, why string) error {
	a, revision, err := current(ctx, b, p)
	if err != nil {
		return err
	}
	if err := o.apply(a); err != nil {
		return err
	}
	out, err := b.PutAuthority(ctx, a, revision, why)
	if err != nil {
		return err
	}
	c.warn(out.Warnings)
	if a, err = b.Authority(ctx, p); err != nil {
		return err
	}
	return c.showAuthority(a)
}
