package main

import (
	"bufio"
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

Who made these revisions and why goes with their content. What is to go from the
present record has to be replaced first, by 'nomen put --replace'; other revisions
that hold the same stay as they are: look with 'nomen history'. Backups made
before, and copies elsewhere, still have it.

This cannot be undone. It asks on a terminal, and elsewhere needs --yes.`

func (c *cli) redactCommand() *cobra.Command {
	var revisions []string
	var reason string
	var yes bool
	cmd := &cobra.Command{
		Use:   "redact NAME --revision N... --reason REASON",
		Short: "remove content from the history of a name",
		Long:  redactLong,
		Example: `  nomen redact urn:dns:example.org:alb002 --revision 3 --reason 'court order 12/2026'
  nomen redact urn:dns:example.org:alb002 --revision 3,4 --reason 'personal data' --yes`,
		Args: arguments(1, 1),
	}
	f := cmd.Flags()
	f.StringSliceVar(&revisions, "revision", nil, "a revision whose content is to go (required); can be repeated")
	f.StringVar(&reason, "reason", "", "why, kept in the history for ever (required)")
	f.BoolVar(&yes, "yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		red, err := redaction(revisions, reason)
		if err != nil {
			return err
		}
		n, err := name.Parse(args[0])
		if err != nil {
			return err
		}
		if !yes && !isTerminalInput(c.in) {
			return usagef("redact: this cannot be undone; --yes says that it is meant")
		}
		return c.withStore(cmd.Context(), true, func(b backend) error {
			if !yes {
				if err := c.confirmRedaction(cmd.Context(), b, n, red); err != nil {
					return err
				}
			}
			out, err := b.Redact(cmd.Context(), n, red)
			if err != nil {
				return named(args[0], err)
			}
			return c.showRedacted(out, red)
		})
	}
	return cmd
}

// redaction makes the request that the flags mean.
func redaction(revisions []string, reason string) (registrar.Redaction, error) {
	red := registrar.Redaction{Reason: reason, Expected: store.AnyRevision}
	switch {
	case len(revisions) == 0:
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
			fmt.Fprintf(c.err, "revision %d of %s, by %q: %q\n", r.Revision, r.Time.Format("2006-01-02 15:04:05"), r.Who, r.Why)
			if r.Record != nil {
				for _, l := range r.Record.Locations {
					fmt.Fprintln(c.err, "    "+inLine(l.URL))
				}
			}
		}
	}
	fmt.Fprintf(c.err, "Their content will be removed for ever. Type the name to go on: ")
	answer, err := bufio.NewReader(io.LimitReader(c.in, 2*name.MaxLength)).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if typed, err := name.Parse(strings.TrimSpace(answer)); err != nil || typed != n {
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
