package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const redactLong = `Redact permanently removes the content of revisions, for example after a court order. The
revision itself stays in the history, with its time, the status of the name, the digest
and the reason of the redaction. Because the digest stays, 'nomen verify' still finds the history
complete. A client that requests the record as of that time gets the answer that its content
was removed.

With --authority, redact removes content from the history of a naming authority: contacts,
owners, rules. With --authority but without --revision, it redacts all revisions before the
current one.

The author of a redacted revision and the reason that the author gave are removed too. The reason
of the redaction itself is public if the server publishes its log, so it must not repeat what is
removed. The current
revision cannot be redacted: first replace its content by 'nomen put --replace' (or 'nomen
authority put'). Other revisions with the same content are not affected: check with 'nomen
history'. Earlier backups and other copies still have the content.

A redaction cannot be undone. On a terminal, redact asks for confirmation; otherwise it
needs --yes. With --dry-run, redact checks the request, shows what would be removed, and says
whether a second person would have to approve the redaction.`

var errNotMeant = usagef("redact: this cannot be undone: confirm with --yes")

func (c *cli) redactCommand() *cobra.Command {
	var revisions []string
	var reason, authority string
	var yes, dry bool
	cmd := &cobra.Command{
		Use:   "redact (NAME --revision N... | --authority PREFIX) --reason REASON",
		Short: "remove content from the history of a name or an authority",
		Long:  redactLong,
		Example: `  nomen redact urn:dns:example.org:alb002 --revision 3 --reason 'court order 12/2026' --dry-run
  nomen redact urn:dns:example.org:alb002 --revision 3 --reason 'court order 12/2026'
  nomen redact urn:dns:example.org:alb002 --revision 3,4 --reason 'personal data' --yes
  nomen redact --authority urn:dns:example.org --reason 'address of a person'`,
		Args: arguments(0, 1),
	}
	f := cmd.Flags()
	f.StringSliceVar(&revisions, "revision", nil, "revision to redact (required with a name); can be repeated")
	f.StringVar(&authority, "authority", "", "redact the history of the authority with this prefix")
	f.StringVar(&reason, "reason", "", "reason, kept in the history permanently (required)")
	yesOption(f, &yes)
	dryRunOption(f, &dry)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (authority == "") != (len(args) == 1) {
			return usagef("redact: expected either a name or --authority PREFIX")
		}
		red, err := redaction(revisions, reason, authority == "")
		if err != nil {
			return err
		}
		red.DryRun = dry
		var redact func(context.Context, backend) error
		if authority != "" {
			redact, err = c.redactAuthority(authority, red, !yes || dry)
		} else {
			redact, err = c.redactName(args[0], red, !yes || dry)
		}
		switch {
		case err != nil:
			return err
		case !yes && !dry && !isScreen(c.in):
			return errNotMeant
		}
		return c.withStore(cmd.Context(), changes.unless(dry), func(b backend) error { return redact(cmd.Context(), b) })
	}
	return cmd
}

// redactName returns a function that redacts the history of a name. If the parameter ask is true,
// the function first prints what it will remove. It then asks the user for confirmation, except in
// a dry run.
func (c *cli) redactName(spelling string, red registrar.Redaction, ask bool) (func(context.Context, backend) error, error) {
	n, err := name.Parse(spelling)
	return func(ctx context.Context, b backend) error {
		if ask {
			if err := c.announceRedaction(ctx, b); err != nil {
				return err
			}
			if err := c.confirmRedaction(ctx, b, n, red); err != nil {
				return err
			}
		}
		out, err := b.Redact(ctx, n, red)
		if err != nil {
			return named(spelling, withArgument(err, redactArguments(red)))
		}
		if red.DryRun {
			return c.sayRedactable(ctx, b, redactableLine{Name: n.Key()}, red, out)
		}
		return c.say(struct {
			Name     string   `json:"name"`
			Revision uint64   `json:"revision"`
			Redacts  []uint64 `json:"redacts"`
		}{out.Name.Key(), out.Result.Revision, red.Revisions}, "%s redacted, revision %d", out.Name, out.Result.Revision)
	}, err
}

func (c *cli) redactAuthority(prefix string, red registrar.Redaction, ask bool) (func(context.Context, backend) error, error) {
	p, err := name.ParsePrefix(prefix)
	return func(ctx context.Context, b backend) error {
		if ask {
			if err := c.announceRedaction(ctx, b); err != nil {
				return err
			}
			if err := c.confirmAuthority(ctx, b, p, red); err != nil {
				return err
			}
		}
		out, err := b.RedactAuthority(ctx, p, red)
		if err != nil {
			return named(prefix, withArgument(err, redactArguments(red)))
		}
		if red.DryRun {
			return c.sayRedactable(ctx, b, redactableLine{Prefix: p.String()}, red, out)
		}
		return c.say(struct {
			Prefix   string `json:"prefix"`
			Revision uint64 `json:"revision"`
		}{p.String(), out.Result.Revision}, "authority %s redacted, revision %d", p, out.Result.Revision)
	}, err
}

func (c *cli) confirmAuthority(ctx context.Context, b backend, p name.Prefix, red registrar.Redaction) error {
	a, err := b.Authority(ctx, p)
	if err != nil {
		return named(p.String(), err)
	}
	what := "all revisions before it"
	if len(red.Revisions) > 0 {
		what = fmt.Sprint("revisions ", red.Revisions)
	}
	fmt.Fprintf(c.err, "authority %s: revision %d, the current one, stays unchanged. The content of %s", p, a.Revision, what)
	return c.confirmRemoval(red, "prefix", func(typed string) bool {
		same, err := name.ParsePrefix(typed)
		return err == nil && same == p
	})
}

// confirmRemoval asks the user to confirm a removal. The caller has already printed the beginning
// of a sentence with the content to be removed, which confirmRemoval completes. The function same
// checks the text that the user types. In a dry run, confirmRemoval does not ask.
func (c *cli) confirmRemoval(red registrar.Redaction, kind string, same func(typed string) bool) error {
	if red.DryRun {
		fmt.Fprintln(c.err, " would be removed permanently.")
		return nil
	}
	fmt.Fprintf(c.err, " will be removed permanently. Type the %s to confirm: ", kind)
	typed, err := c.answer()
	if err != nil {
		return err
	}
	if !same(typed) {
		fmt.Fprintf(c.err, "nomen: the %s you typed is a different one; nothing was changed\n", kind)
		return errNo
	}
	return nil
}

func (c *cli) answer() (string, error) {
	line, err := bufio.NewReader(io.LimitReader(c.in, 2*name.MaxLength)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

func redaction(revisions []string, reason string, named bool) (registrar.Redaction, error) {
	red := registrar.Redaction{Reason: reason, Expected: store.AnyRevision}
	switch {
	case named && len(revisions) == 0:
		return red, usagef("redact: --revision is required; 'nomen history NAME' shows all revisions")
	case reason == "":
		return red, usagef("redact: --reason is required; it is kept in the history")
	}
	for _, s := range revisions {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil || n == 0 {
			return red, usagef("--revision %q: must be the number of a revision", s)
		}
		red.Revisions = append(red.Revisions, n)
	}
	slices.Sort(red.Revisions)
	red.Revisions = slices.Compact(red.Revisions)
	return red, nil
}

func redactArguments(red registrar.Redaction) map[string]string {
	arguments := map[string]string{"reason": "--reason"}
	for i, n := range red.Revisions {
		arguments[fmt.Sprintf("revisions[%d]", i)] = fmt.Sprintf("--revision %d", n)
	}
	return arguments
}

func (c *cli) confirmRedaction(ctx context.Context, b backend, n name.Name, red registrar.Redaction) error {
	for r, err := range b.Revisions(ctx, n) {
		if err != nil {
			return named(n.Key(), err)
		}
		if slices.Contains(red.Revisions, r.Revision) {
			fmt.Fprintln(c.err, printable(strings.TrimRight(fmt.Sprintf("revision %d of %s, by %s: %s", r.Revision, r.Time.Format("2006-01-02 15:04:05"), cmp.Or(r.Who, "the operator"), r.Why), ": ")))
			if r.Record != nil {
				for _, l := range r.Record.Locations {
					fmt.Fprintln(c.err, "    "+printable(l.URL))
				}
			}
		}
	}
	fmt.Fprint(c.err, "Their content")
	return c.confirmRemoval(red, "name", func(typed string) bool {
		same, err := name.Parse(typed)
		return err == nil && same == n
	})
}
