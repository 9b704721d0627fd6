package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const redactLong = `Redact removes for ever what revisions of a name hold: content that the law wants
removed. What stays is their place and time, the status of the name, the digest,
and the reason given here; so 'nomen verify' still finds the history whole, and a
question as of then is told that something was removed.

With --authority it is the history of a naming authority: contacts, owners, rules.
Without --revision all revisions before its present one are meant.

Who made these revisions and why goes with their content. What is to go from the
present record has to be replaced first, by 'nomen put --replace' (by 'nomen
authority put'); other revisions that hold the same stay as they are: look with
'nomen history'. Backups made before, and copies elsewhere, still have it.

This cannot be undone. It asks on a terminal, and elsewhere needs --yes.`

var errNotMeant = usagef("redact: this cannot be undone; --yes says that it is meant")

func (c *cli) redactCommand() *cobra.Command {
	var revisions []string
	var reason, authority string
	var yes bool
	cmd := &cobra.Command{
		Use:   "redact NAME --revision N... | --authority PREFIX --reason REASON",
		Short: "remove content from the history of a name or an authority",
		Long:  redactLong,
		Example: `  nomen redact urn:dns:example.org:alb002 --revision 3 --reason 'court order 12/2026'
  nomen redact urn:dns:example.org:alb002 --revision 3,4 --reason 'personal data' --yes
  nomen redact --authority urn:dns:example.org --reason 'address of a person'`,
		Args: arguments(0, 1),
	}
	f := cmd.Flags()
	f.StringSliceVar(&revisions, "revision", nil, "a revision whose content is to go (required with a name); can be repeated")
	f.StringVar(&authority, "authority", "", "prefix of the authority that is meant, in place of a name")
	f.StringVar(&reason, "reason", "", "why, kept in the history for ever (required)")
	f.BoolVar(&yes, "yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (authority == "") != (len(args) == 1) {
			return usagef("redact: want a name, or --authority PREFIX")
		}
		red, err := redaction(revisions, reason, authority == "")
		if err != nil {
			return err
		}
		if authority != "" {
			return c.redactAuthority(cmd.Context(), authority, red, yes)
		}
		n, err := name.Parse(args[0])
		if err != nil {
			return err
		}
		if !yes && !isTerminalInput(c.in) {
			return errNotMeant
		}
		return c.withStore(cmd.Context(), changes, func(b backend) error {
			if !yes {
				if err := c.confirmRedaction(cmd.Context(), b, n, red); err != nil {
					return err
				}
			}
			out, err := b.Redact(cmd.Context(), n, red)
			if err != nil {
				return named(args[0], ofArgument(err, redactArgument(red)))
			}
			return c.showRedacted(out, red)
		})
	}
	return cmd
}

// redactAuthority redacts the history of an authority.
func (c *cli) redactAuthority(ctx context.Context, prefix string, red registrar.Redaction, yes bool) error {
	p, err := name.ParsePrefix(prefix)
	if err != nil {
		return err
	}
	if !yes && !isTerminalInput(c.in) {
		return errNotMeant
	}
	return c.withStore(ctx, changes, func(b backend) error {
		if !yes {
			if err := c.confirmAuthority(ctx, b, p, red); err != nil {
				return err
			}
		}
		out, err := b.RedactAuthority(ctx, p, red)
		if err != nil {
			return named(prefix, ofArgument(err, redactArgument(red)))
		}
		if c.json {
			return c.printJSON(struct {
				Prefix   string `json:"prefix"`
				Revision uint64 `json:"revision"`
			}{p.String(), out.Result.Revision})
		}
		_, err = fmt.Fprintf(c.out, "authority %s redacted, revision %d\n", p, out.Result.Revision)
		return err
	})
}

// confirmAuthority says what is to go, and asks.
func (c *cli) confirmAuthority(ctx context.Context, b backend, p name.Prefix, red registrar.Redaction) error {
	a, err := b.Authority(ctx, p)
	if err != nil {
		return named(p.String(), err)
	}
	what := "all revisions before it"
	if len(red.Revisions) > 0 {
		what = fmt.Sprint("the revisions ", red.Revisions)
	}
	fmt.Fprintf(c.err, "authority %s has revision %d, which stays as it is. The content of %s will be removed for ever. Type the prefix to go on: ", p, a.Revision, what)
	typed, err := c.answer()
	if err != nil {
		return err
	}
	if same, err := name.ParsePrefix(typed); err != nil || same != p {
		fmt.Fprintln(c.err, "nomen: that is not the prefix; nothing was changed")
		return errNo
	}
	return nil
}

// answer reads a line of what somebody types.
func (c *cli) answer() (string, error) {
	line, err := bufio.NewReader(io.LimitReader(c.in, 2*name.MaxLength)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// redaction makes the request that the flags mean.
func redaction(revisions []string, reason string, named bool) (registrar.Redaction, error) {
	red := registrar.Redaction{Reason: reason, Expected: store.AnyRevision}
	switch {
	case named && len(revisions) == 0:
		return red, usagef("redact: --revision is required: 'nomen history NAME' shows them")
	case reason == "":
		return red, usagef("redact: --reason is required: it stays in the history")
	}
	for _, s := range revisions {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil || n == 0 {
			return red, usagef("--revision %q: want the number of a revision", s)
		}
		red.Revisions = append(red.Revisions, n)
	}
	slices.Sort(red.Revisions)
	red.Revisions = slices.Compact(red.Revisions)
	return red, nil
}

// redactArgument tells which argument a field of a redaction comes from.
func redactArgument(red registrar.Redaction) func(field string) string {
	return func(field string) string {
		var i int
		if n, _ := fmt.Sscanf(field, "revisions[%d]", &i); n == 1 && i < len(red.Revisions) {
			return fmt.Sprintf("--revision %d", red.Revisions[i])
		}
		return map[string]string{"reason": "--reason"}[field]
	}
}

func isTerminalInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// confirmRedaction shows what is to go, and asks.
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
	fmt.Fprintf(c.err, "Their content will be removed for ever. Type the name to go on: ")
	answer, err := c.answer()
	if err != nil {
		return err
	}
	if typed, err := name.Parse(answer); err != nil || typed != n {
		fmt.Fprintln(c.err, "nomen: that is not the name; nothing was changed")
		return errNo
	}
	return nil
}

func (c *cli) showRedacted(out registrar.Outcome, red registrar.Redaction) error {
	if c.json {
		return c.printJSON(struct {
			Name     string   `json:"name"`
			Revision uint64   `json:"revision"`
			Redacts  []uint64 `json:"redacts"`
		}{out.Name.Key(), out.Result.Revision, red.Revisions})
	}
	_, err := fmt.Fprintf(c.out, "%s redacted, revision %d\n", out.Name, out.Result.Revision)
	return err
}
