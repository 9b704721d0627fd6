package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const userLong = `A user is a person who signs in to the pages of the server. A user has grants: roles, each
for all names or for names with some prefixes. The roles are those of tokens ('nomen token
--help'). Unlike a token, a user has a history, and can have several grants.

The history of names has the ID of the user who made a change. Commands show the name that
the user has now. So if a user gets another name or is redacted, this takes effect
everywhere.`

func (c *cli) userCommand() *cobra.Command {
	return groupOf("user", "manage users and what they may do", userLong,
		c.userListCommand(), c.userAddCommand(), c.userShowCommand(), c.userChangeCommand(),
		c.userGrantCommand(), c.userRevokeCommand(), c.userDisableCommand(), c.userEnableCommand(), c.userSignOutCommand(),
		c.userHistoryCommand(), c.userRedactCommand())
}

func (c *cli) userListCommand() *cobra.Command {
	var disabled bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list users",
		Long: `List prints one line per user: the ID, the name and the grants. With --json it prints
each complete user.`,
		Example: "  nomen user list\n  nomen user list --disabled --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withStore(cmd.Context(), reads, func(b backend) error {
				all, err := b.Users(cmd.Context())
				if err != nil {
					return err
				}
				if !disabled {
					all = slices.DeleteFunc(all, func(u *store.User) bool { return u.Disabled })
				}
				return c.showUsers(all)
			})
		},
	}
	cmd.Flags().BoolVar(&disabled, "disabled", false, "also list disabled users (default only the others)")
	return cmd
}

func (c *cli) showUsers(all []*store.User) error {
	a := newAnswers(c)
	if a.json != nil {
		for _, u := range all {
			a.object(u)
		}
		return a.end()
	}
	w := tabwriter.NewWriter(a, 0, 0, 2, ' ', 0)
	for _, u := range all {
		fmt.Fprintf(w, "%s\t%s\t%s", u.ID, printable(u.Name), strings.Join(grantTexts(u), "; "))
		if u.Disabled {
			fmt.Fprint(w, "\tdisabled")
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return a.end()
}

func grantTexts(u *store.User) (all []string) {
	for _, g := range u.Grants {
		all = append(all, g.Role+" of "+scopeText(g.Prefixes))
	}
	return all
}

type userFlags struct {
	name, mail string
	subjects   []string
	grant      store.UserGrant
	why        string
}

func (o *userFlags) profile(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "name of the person")
	f.StringVar(&o.mail, "mail", "", "email address of the person")
	f.StringArrayVar(&o.subjects, "subject", nil, "who the person is at an identity provider: 'header VALUE', or the URL of the provider, a space and the identifier there; can be repeated")
	whyOption(f, &o.why)
}

func (o *userFlags) rights(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.grant.Role, "role", "", "reader, editor, owner or administrator")
	f.StringArrayVar(&o.grant.Prefixes, "prefix", nil, "prefix of names to which the role is limited; can be repeated (default all names)")
}

// complete checks the options of a grant, and converts the prefixes to their canonical form.
func (o *userFlags) complete() (err error) {
	if _, ok := registrar.ParseRole(o.grant.Role); !ok {
		return usagef("--role %q: must be reader, editor, owner or administrator", o.grant.Role)
	}
	for i, s := range o.grant.Prefixes {
		if o.grant.Prefixes[i], err = name.CanonicalPrefix(s); err != nil {
			return usagef("--prefix: %w", err)
		}
	}
	return nil
}

func (c *cli) userAddCommand() *cobra.Command {
	var o userFlags
	cmd := &cobra.Command{
		Use:   "add --name NAME",
		Short: "add a user",
		Long: `Add adds a user and prints the ID. With --role the user gets a first grant; 'nomen user
grant' adds others. The prefixes are those of 'nomen token make'.

With --subject the user can sign in through an identity provider, or through a proxy that
names the user in a header field. A subject belongs to one user.`,
		Example: `  nomen user add --name 'Anna Archer' --mail anna@example.org --role editor --prefix urn:nbn:se
  nomen user add --name 'Zoe Zhang' --subject 'header zoe' --role administrator`,
		Args: noArguments,
	}
	o.profile(cmd)
	o.rights(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		u := &store.User{Name: o.name, Mail: o.mail, Subjects: o.subjects}
		switch {
		case o.name == "":
			return usagef("user add: --name is required; the history shows it")
		case o.grant.Role != "":
			if err := o.complete(); err != nil {
				return err
			}
			u.Grants = []store.UserGrant{o.grant}
		case len(o.grant.Prefixes) > 0:
			return usagef("user add: --prefix needs --role")
		}
		return c.withStore(cmd.Context(), changes, func(b backend) error {
			out, err := b.PutUser(cmd.Context(), u, store.AnyRevision, o.why)
			return c.showUserOutcome("", out, err)
		})
	}
	return cmd
}

func (c *cli) showUserOutcome(id string, out registrar.Outcome, err error) error {
	if err != nil {
		return namedUser(id, err)
	}
	c.warn(out.Warnings)
	what := "unchanged"
	switch {
	case out.Created:
		what = "created"
	case out.Result.Changed:
		what = "changed"
	}
	return c.say(out.User, "%s %s, revision %d", out.User.ID, what, out.Result.Revision)
}

func namedUser(id string, err error) error {
	return namedHint("user "+id, "; 'nomen user list --disabled' lists all users", err)
}

func (c *cli) userShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "show a user",
		Long:    "Show shows a user with all grants. Through a server it shows what the token may see.",
		Example: "  nomen user show u-7k3m9qx0\n  nomen user show --json u-7k3m9qx0 | jq .grants",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withStore(cmd.Context(), reads, func(b backend) error {
				u, err := b.User(cmd.Context(), args[0])
				if err != nil {
					return namedUser(args[0], err)
				}
				return c.showUser(u)
			})
		},
	}
}

func (c *cli) showUser(u *store.User) error {
	a := newAnswers(c)
	if a.json != nil {
		a.object(u)
		return a.end()
	}
	w := tabwriter.NewWriter(a, 0, 0, 2, ' ', 0)
	rows := rowsOf(w)
	rows("id", u.ID)
	rows("name", u.Name)
	rows("mail", u.Mail)
	rows("subject", u.Subjects...)
	rows("grant", grantTexts(u)...)
	if u.Disabled {
		rows("disabled", "this user may do nothing")
	}
	if !u.Since.IsZero() {
		rows("since", u.Since.Format(time.RFC3339))
	}
	rows("modified", u.Modified.Format(time.RFC3339))
	rows("revision", fmt.Sprint(u.Revision))
	if err := w.Flush(); err != nil {
		return err
	}
	return a.end()
}

// changeUser reads a user, applies the function change, and writes the user back. The write fails
// if the user was changed in the meantime.
func (c *cli) changeUser(ctx context.Context, id, why string, change func(u *store.User)) error {
	return c.withStore(ctx, changes, func(b backend) error {
		u, err := b.User(ctx, id)
		if err != nil {
			return namedUser(id, err)
		}
		change(u)
		out, err := b.PutUser(ctx, u, u.Revision, why)
		return c.showUserOutcome(id, out, err)
	})
}

func (c *cli) userChangeCommand() *cobra.Command {
	var o userFlags
	cmd := &cobra.Command{
		Use:   "change ID",
		Short: "change the name, mail address or sign-in identifiers (subjects) of a user",
		Long: `Change replaces the given values and keeps the others. With --subject it replaces all
subjects; --subject '' removes them.`,
		Example: `  nomen user change u-7k3m9qx0 --name 'Anna Berg' --why married
  nomen user change u-7k3m9qx0 --subject 'header anna' --subject 'https://idp.example.org 248289'`,
		Args: arguments(1, 1),
	}
	o.profile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f := cmd.Flags()
		if !f.Changed("name") && !f.Changed("mail") && !f.Changed("subject") {
			return usagef("user change: expected --name, --mail or --subject")
		}
		return c.changeUser(cmd.Context(), args[0], o.why, func(u *store.User) {
			if f.Changed("name") {
				u.Name = o.name
			}
			if f.Changed("mail") {
				u.Mail = o.mail
			}
			if f.Changed("subject") {
				u.Subjects = slices.DeleteFunc(o.subjects, func(s string) bool { return s == "" })
			}
		})
	}
	return cmd
}

func (c *cli) userDisableCommand() *cobra.Command {
	return c.userSwitchCommand("disable", true, "take all rights from a user",
		`Disable takes effect at once on every server, and ends all sessions. The user keeps the
grants, but cannot use them until 'nomen user enable'. To erase a user who leaves, use
'nomen user redact'.`)
}

func (c *cli) userEnableCommand() *cobra.Command {
	return c.userSwitchCommand("enable", false, "give a disabled user the rights back",
		"Enable lets a disabled user use the grants again. The user must sign in again.")
}

func (c *cli) userSwitchCommand(verb string, disabled bool, short, long string) *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   short,
		Long:    long,
		Example: "  nomen user " + verb + " u-7k3m9qx0 --why 'on leave'",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.changeUser(cmd.Context(), args[0], why, func(u *store.User) { u.Disabled = disabled })
		},
	}
	whyOption(cmd.Flags(), &why)
	return cmd
}

func (c *cli) userGrantCommand() *cobra.Command {
	return c.userRightsCommand("grant", "give a user a role",
		`Grant gives a user a role, for all names or with --prefix for some. Other grants stay.

An administrator of all names can grant everything. An owner of a prefix can grant the roles
up to owner within this prefix to others.`,
		func(g store.UserGrant) registrar.Granting {
			return registrar.Granting{Add: []store.UserGrant{g}, Expected: store.AnyRevision}
		})
}

func (c *cli) userRevokeCommand() *cobra.Command {
	return c.userRightsCommand("revoke", "take a role from a user",
		`Revoke takes a role from a user. Give exactly the role and the prefixes that 'nomen user
show' shows. Without --prefix it takes only a role for all names.`,
		func(g store.UserGrant) registrar.Granting {
			return registrar.Granting{Remove: []store.UserGrant{g}, Expected: store.AnyRevision}
		})
}

func (c *cli) userRightsCommand(verb, short, long string, granting func(store.UserGrant) registrar.Granting) *cobra.Command {
	var o userFlags
	cmd := &cobra.Command{
		Use:     verb + " ID --role ROLE",
		Short:   short,
		Long:    long,
		Example: "  nomen user " + verb + " u-7k3m9qx0 --role owner --prefix urn:dns:press.example.org\n  nomen user " + verb + " u-7k3m9qx0 --role reader",
		Args:    arguments(1, 1),
	}
	o.rights(cmd)
	whyOption(cmd.Flags(), &o.why)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.complete(); err != nil {
			return err
		}
		return c.withStore(cmd.Context(), changes, func(b backend) error {
			out, err := b.GrantUser(cmd.Context(), args[0], granting(o.grant), o.why)
			return c.showUserOutcome(args[0], out, err)
		})
	}
	return cmd
}

func (c *cli) userHistoryCommand() *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:     "history ID...",
		Short:   "show the history of users",
		Long:    "History shows every revision of a user, newest first, as 'nomen history' does for a name.",
		Example: "  nomen user history u-7k3m9qx0\n  nomen user history --limit 1 --json u-7k3m9qx0",
		Args:    arguments(1, -1),
	}
	limitOption(cmd.Flags(), &limit, 0, "show only this many of the newest revisions (default all)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.answerStored(cmd.Context(), reads, args, func(a *answers, b backend, id string) error {
			return a.revisions(id, id, namedRevisions(cmd.Context(), b, revisionsOf(b.UserHistory(cmd.Context(), id))), limit)
		})
	}
	return cmd
}

const userRedactLong = `Redact erases a person: the user is disabled, and the name, address, subjects and grants are
removed, also from the history of the user. What the user did to names stays in their
history, under the ID, which then says nothing about the person.

With --revision, redact removes only the content of these revisions. The current revision
cannot be redacted this way: change it first.

Earlier backups and other copies still have the content. A redaction cannot be undone. On a
terminal, redact asks for confirmation; otherwise it needs --yes. With --dry-run, redact
checks the request, shows what would be removed, and says whether the server would wait for
a second person.`

func (c *cli) userRedactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Short: "erase a person, or remove content from the history of a user",
		Long:  userRedactLong,
		Example: `  nomen user redact u-7k3m9qx0 --reason 'left; erasure requested'
  nomen user redact u-7k3m9qx0 --revision 2 --reason 'wrong person' --yes`,
	}
	return c.redactByID(cmd, "erase the person", c.redactUser)
}

// redactByID completes a command that redacts a user or a token. The parameter all says what redact
// does besides if no revisions are given. If its parameter ask is set, redact asks for confirmation.
func (c *cli) redactByID(cmd *cobra.Command, all string, redact func(ctx context.Context, b backend, id string, red registrar.Redaction, ask bool) error) *cobra.Command {
	var revisions []string
	var reason string
	var yes, dry bool
	cmd.Use, cmd.Args = "redact ID --reason REASON", arguments(1, 1)
	f := cmd.Flags()
	f.StringSliceVar(&revisions, "revision", nil, "revision to redact; can be repeated (default all, and "+all+")")
	f.StringVar(&reason, "reason", "", "reason, kept in the history permanently (required)")
	yesOption(f, &yes)
	dryRunOption(f, &dry)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		red, err := redaction(revisions, reason, false)
		switch {
		case err != nil:
			return err
		case !yes && !dry && !isScreen(c.in):
			return errNotMeant
		}
		red.DryRun = dry
		return c.withStore(cmd.Context(), changes.unless(dry), func(b backend) error { return redact(cmd.Context(), b, args[0], red, !yes || dry) })
	}
	return cmd
}

// redactUser redacts a user. If the parameter ask is set, it first shows what it will remove, and
// asks for confirmation unless it is a dry run.
func (c *cli) redactUser(ctx context.Context, b backend, id string, red registrar.Redaction, ask bool) error {
	if ask {
		u, err := b.User(ctx, id)
		if err != nil {
			return namedUser(id, err)
		}
		if err := c.announceRedaction(ctx, b); err != nil {
			return err
		}
		what := "The name, address, subjects and grants, now and in the past,"
		if len(red.Revisions) > 0 {
			what = fmt.Sprint("The content of revisions ", red.Revisions)
		}
		fmt.Fprintf(c.err, "user %s: %s. %s", id, printable(u.Name), what)
		if err := c.confirmRemoval(red, "ID", func(typed string) bool { return typed == id }); err != nil {
			return err
		}
	}
	out, err := b.RedactUser(ctx, id, red)
	if err != nil {
		return namedUser(id, withArgument(err, redactArguments(red)))
	}
	if red.DryRun {
		return c.sayRedactable(ctx, b, redactableLine{User: id}, red, out)
	}
	return c.say(out.User, "user %s redacted, revision %d", id, out.Result.Revision)
}

func namedRevisions(ctx context.Context, b backend, all iter.Seq2[adminapi.Revision, error]) iter.Seq2[adminapi.Revision, error] {
	names := adminapi.NewUserNames(b.User)
	return func(yield func(adminapi.Revision, error) bool) {
		for r, err := range all {
			if r.WhoName == "" {
				r.WhoName = names.Of(ctx, r.Who)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func byWhom(who, whoName string) string {
	switch {
	case who == "":
		return "by the operator"
	case whoName != "":
		return "by " + printable(whoName) + " (" + printable(who) + ")"
	}
	return "by " + printable(who)
}

func (l *local) Users(ctx context.Context) (all []*store.User, err error) {
	users, err := store.UsersOf(l.store)
	if err != nil {
		return nil, err
	}
	for u, err := range users.AllUsers(ctx, time.Time{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

func (l *local) User(ctx context.Context, id string) (*store.User, error) {
	users, err := store.UsersOf(l.store)
	if err != nil {
		return nil, err
	}
	return users.User(ctx, id, time.Time{})
}

func (l *local) PutUser(ctx context.Context, u *store.User, expected uint64, why string) (registrar.Outcome, error) {
	return l.registrar.PutUser(ctx, registrar.Operator(), u, expected, why)
}

func (l *local) GrantUser(ctx context.Context, id string, g registrar.Granting, why string) (registrar.Outcome, error) {
	return l.registrar.GrantUser(ctx, registrar.Operator(), id, g, why)
}

func (l *local) RedactUser(ctx context.Context, id string, r registrar.Redaction) (registrar.Outcome, error) {
	return l.registrar.RedactUser(ctx, registrar.Operator(), id, r)
}

func (l *local) UserHistory(ctx context.Context, id string) iter.Seq2[*store.Change, error] {
	users, err := store.UsersOf(l.store)
	if err != nil {
		return func(yield func(*store.Change, error) bool) { yield(nil, err) }
	}
	return users.UserHistory(ctx, id)
}
