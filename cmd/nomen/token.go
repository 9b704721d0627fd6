package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
)

const tokenLong = `A token is a secret with which a person or program proves who it is to the admin API. A
token has a role, and can be limited to prefixes of names. The roles are:

  reader         can see records and their history
  editor         can also create, change and retire names
  owner          can also change the authority, and bring retired names back
  administrator  can do everything, including tokens and verification`

func (c *cli) tokenCommand() *cobra.Command {
	return groupOf("token", "manage the tokens of the admin API", tokenLong,
		c.tokenMakeCommand(), c.tokenListCommand(), c.tokenRevokeCommand(), c.tokenRedactCommand())
}

const tokenMakeLong = `Make creates a token and prints it. Keep the token: it cannot be shown again. With
--output, make writes the token to a file that only you can read.

To use nomen with the token, the bearer of the token makes a directory with two files and
passes the directory as --data DIR:

  admin.token  the token
  admin.url    the URL at which the bearer reaches the admin listener

With --prefix, the token is limited to the names that begin with the prefix. There are two
kinds of prefixes:

  with a delimiter at the end     urn:nbn:fi:ex- covers urn:nbn:fi:ex-1, but not
                                  urn:nbn:fi:example-1 or urn:nbn:fi:ex:1
  without a delimiter at the end  urn:nbn:se covers all names in which a delimiter follows,
                                  such as urn:nbn:se:1

A prefix without a delimiter must be one of these:

  - the prefix of an authority that is registered here
  - a namespace, such as urn:nbn or ark
  - a namespace and the first field of its names: urn:nbn:se, ark:12345, https://example.org`

func (c *cli) tokenMakeCommand() *cobra.Command {
	var o tokenFlags
	cmd := &cobra.Command{
		Use:   "make --who NAME",
		Short: "create a token",
		Long:  tokenMakeLong,
		Example: `  nomen token make --who kb --prefix urn:nbn:se
  nomen token make --who press --role owner --prefix urn:dns:press.example.org --output press/admin.token
  nomen token make --who vendor --prefix ark:12345/x0/ --expires 90d
  nomen token make --who monitor --role reader`,
		Args: noArguments,
	}
	f := cmd.Flags()
	f.StringVar(&o.Who, "who", "", "bearer of the token, recorded in the history with each change (required)")
	f.StringVar(&o.Role, "role", registrar.Editor.String(), "reader, editor, owner or administrator")
	f.StringArrayVar(&o.Prefixes, "prefix", nil, "prefix of names to which the token is limited (default all names)")
	f.StringVar(&o.expires, "expires", "", "when the token expires: after a number of hours, days or weeks, such as 90d, or at the end of a day, such as 2027-01-31 (default never)")
	f.StringVarP(&o.output, "output", "o", "", "file to write, which must not exist (default standard output)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.complete(cmd.Flags().Changed("expires")); err != nil {
			return err
		}
		return c.withStore(cmd.Context(), changes, func(b backend) error {
			out, err := b.Grant(cmd.Context(), o.Grant)
			if err != nil {
				return err
			}
			return c.showToken(o.Grant, out, o.output)
		})
	}
	return cmd
}

type tokenFlags struct {
	adminapi.Grant
	output, expires string
}

// complete checks the options and sets the fields of the grant. An empty --expires is an error. The
// value may come from a shell variable that is not set, and such a mistake must not create a token
// that never expires.
func (o *tokenFlags) complete(expires bool) (err error) {
	if o.Who == "" {
		return usagef("token make: --who is required; the history records it with each change")
	}
	if _, ok := registrar.ParseRole(o.Role); !ok {
		return usagef("--role %q: must be reader, editor, owner or administrator", o.Role)
	}
	for i, s := range o.Prefixes {
		if o.Prefixes[i], err = name.CanonicalPrefix(s); err != nil {
			return usagef("--prefix: %w", err)
		}
	}
	if expires {
		if o.Expires, err = parseExpiry(o.expires, clock()); err != nil {
			return err
		}
	}
	if o.output == "" {
		return nil
	}
	if _, err := os.Lstat(o.output); err == nil {
		return usagef("--output %s: file exists", o.output)
	}
	_, err = os.Stat(filepath.Dir(o.output)) // before the token is made
	return err
}

func (c *cli) showToken(g adminapi.Grant, out adminapi.Granted, file string) error {
	until := ""
	if !g.Expires.IsZero() {
		until = " until " + g.Expires.Format(time.RFC3339)
	}
	fmt.Fprintf(c.err, "nomen: created a token for %s: %s of %s%s; to revoke it, run 'nomen token revoke %s'\n", printable(g.Who), g.Role, scopeText(g.Prefixes), until, out.ID)
	if file == "" {
		return c.say(out, "%s", out.Token)
	}
	if err := durable.WriteFile(file, out.Token+"\n"); err != nil || !c.json {
		return err
	}
	return c.printJSON(struct {
		ID   string `json:"id"`
		File string `json:"file"`
	}{out.ID, file})
}

func parseExpiry(s string, now time.Time) (time.Time, error) {
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if s == "" {
		return time.Time{}, usagef(`--expires "": must not be empty; use for example 90d, or omit it for a token that never expires`)
	}
	const most = 100 * 365 * 24 * time.Hour
	unit := units[s[len(s)-1]]
	if n, err := strconv.ParseUint(s[:len(s)-1], 10, 32); err == nil && unit > 0 {
		if n == 0 || n > uint64(most/unit) {
			return time.Time{}, usagef("--expires %q: must be positive and at most 100 years", s)
		}
		return now.Add(time.Duration(n) * unit), nil
	}
	t, err := adminapi.ParseTime(s)
	switch {
	case err != nil:
		return t, usagef("--expires %q: must be a number of hours, days or weeks such as 90d, a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z", s)
	case !t.After(now):
		return t, usagef("--expires %q: must be in the future", s)
	}
	return t, nil
}

const tokenListLong = `List prints one line per token: the ID (for 'nomen token revoke'), the role, the date of
creation, the bearer, the prefixes, the date of the last use, and the date on which the
token expires. The secrets are not stored and cannot be shown.

A server with a PostgreSQL store has another token in its data directory. This token is
valid only at this server, and only until the server stops. It is not listed.`

func (c *cli) tokenListCommand() *cobra.Command {
	var revoked bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "list tokens",
		Long:    tokenListLong,
		Example: "  nomen token list\n  nomen token list --json | jq -r 'select(.who == \"kb\").id' | xargs nomen token revoke",
		Args:    noArguments,
	}
	cmd.Flags().BoolVar(&revoked, "revoked", false, "also list revoked and expired tokens (default only valid ones)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			all, err := b.Tokens(cmd.Context())
			if err != nil {
				return err
			}
			if !revoked {
				now := clock()
				all = slices.DeleteFunc(all, func(t adminapi.Token) bool { return t.Revoked || !t.Expires.IsZero() && !now.Before(t.Expires) })
			}
			return c.showTokens(all)
		})
	}
	return cmd
}

func (c *cli) showTokens(all []adminapi.Token) error {
	a := newAnswers(c)
	if a.json != nil {
		for _, t := range all {
			a.object(t)
		}
		return a.end()
	}
	now := clock()
	w := tabwriter.NewWriter(a, 0, 0, 2, ' ', 0)
	for _, t := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s", t.ID, t.Role, t.Since.Format(time.DateOnly), printable(t.Who), scopeText(t.Prefixes))
		fmt.Fprintf(w, "\tused %s", cmp.Or(t.LastUsed, "-"))
		switch {
		case t.Revoked:
			fmt.Fprint(w, "\trevoked")
		case t.Expires.IsZero():
		case now.Before(t.Expires):
			fmt.Fprint(w, "\texpires "+t.Expires.UTC().Format(time.DateOnly))
		default:
			fmt.Fprint(w, "\texpired "+t.Expires.UTC().Format(time.DateOnly))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, t := range all {
		for _, warning := range t.Warnings {
			fmt.Fprintf(c.err, "nomen: warning: token %s of %s: %s\n", t.ID, printable(t.Who), printable(warning))
		}
	}
	return a.end()
}

func scopeText(prefixes []string) string { return cmp.Or(strings.Join(prefixes, ", "), "all names") }

func (c *cli) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID...",
		Short: "revoke tokens permanently",
		Long: `Revoke makes tokens invalid, permanently. ID is the part of a token before the full
stop; 'nomen token make' prints it, and 'nomen token list' shows it again.`,
		Example: "  nomen token revoke 4OUASYXZQNH7G4FO7G3PNEP2TY",
		Args:    arguments(1, -1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return c.withStore(cmd.Context(), changes, func(b backend) error {
				for _, id := range ids {
					id, _, _ = strings.Cut(id, ".") // never show a complete token, not even in an error
					if err := b.Revoke(cmd.Context(), id); err != nil {
						return named("token "+id, err)
					}
					err := c.say(struct {
						ID      string `json:"id"`
						Revoked bool   `json:"revoked"`
					}{id, true}, "%s revoked", id)
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

const tokenRedactLong = `Redact removes the bearer of a token from the log of changes: it revokes the token, and
removes the name of the bearer from the token and the content of its earlier revisions. The
log keeps the role and the prefixes, so it still says what the token could do.

With --revision, redact removes only the content of these revisions; 'nomen changes' shows
them. The current revision cannot be redacted this way.

After a hand-over, the log has the rights of tokens that stayed behind. Redact works for these
too. What the bearer did with the token stays in the history of the names: use 'nomen redact'.

Earlier backups and other copies still have the content. A redaction cannot be undone. On a
terminal, redact asks for confirmation; otherwise it needs --yes. With --dry-run, redact
checks the request, shows what would be removed, and says whether the server would wait for
a second person.`

func (c *cli) tokenRedactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Short: "remove the bearer of a token from the log of changes",
		Long:  tokenRedactLong,
		Example: `  nomen token redact 4OUASYXZQNH7G4FO7G3PNEP2TY --reason 'left; erasure requested'
  nomen token redact 4OUASYXZQNH7G4FO7G3PNEP2TY --revision 1 --reason 'wrong person' --yes`,
	}
	return c.redactByID(cmd, "remove the bearer", func(ctx context.Context, b backend, id string, red registrar.Redaction, ask bool) error {
		id, _, _ = strings.Cut(id, ".") // never show a complete token, not even in an error
		return c.redactToken(ctx, b, id, red, ask)
	})
}

// redactToken redacts the rights of a token. If the parameter ask is set, it first shows what it
// will remove, and asks for confirmation unless it is a dry run.
func (c *cli) redactToken(ctx context.Context, b backend, id string, red registrar.Redaction, ask bool) error {
	if ask {
		if err := c.announceRedaction(ctx, b); err != nil {
			return err
		}
		what := "The name of the bearer, now and in the past, and what earlier revisions say,"
		if len(red.Revisions) > 0 {
			what = fmt.Sprint("The content of revisions ", red.Revisions)
		}
		fmt.Fprintf(c.err, "token %s: %s", printable(id), what)
		if err := c.confirmRemoval(red, "ID", func(typed string) bool { return typed == id }); err != nil {
			return err
		}
	}
	out, err := b.RedactToken(ctx, id, red)
	if err != nil {
		return named("token "+id, withArgument(err, redactArguments(red)))
	}
	if red.DryRun {
		return c.sayRedactable(ctx, b, redactableLine{Token: id}, red, out)
	}
	return c.say(struct {
		ID       string `json:"id"`
		Revision uint64 `json:"revision"`
	}{id, out.Result.Revision}, "token %s redacted, revision %d", printable(id), out.Result.Revision)
}

func (l *local) RedactToken(ctx context.Context, id string, r registrar.Redaction) (registrar.Outcome, error) {
	return l.registrar.RedactToken(ctx, registrar.Operator(), id, r)
}

func (l *local) Grant(ctx context.Context, g adminapi.Grant) (adminapi.Granted, error) {
	spelling, t := adminapi.NewToken(g, clock())
	err := l.registrar.PutToken(ctx, registrar.Operator(), t, "granted to "+g.Who)
	return adminapi.Granted{ID: t.ID, Token: spelling}, err
}

func (l *local) Tokens(ctx context.Context) ([]adminapi.Token, error) {
	return adminapi.ListTokens(ctx, l.store)
}

func (l *local) Revoke(ctx context.Context, id string) error {
	return l.registrar.RevokeToken(ctx, registrar.Operator(), id, "revoked")
}
