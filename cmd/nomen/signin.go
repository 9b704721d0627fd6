package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const signInLinkLong = `Sign-in-link makes the server that runs on the data directory (--data) print a URL at which
anyone can sign in to its pages as a user, without an identity provider. The URL works once,
within ten minutes, and only until another is made for the user. Give it only to the user.

USER is the ID of the user; 'nomen user list' shows it. Without USER, the link is for the only
administrator of all names. If there is no administrator yet, the command adds one.`

func (c *cli) signInLinkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sign-in-link [USER]",
		Short:   "make a link with which a user can sign in once",
		Long:    signInLinkLong,
		Example: "  nomen sign-in-link\n  nomen sign-in-link u-7k2m9x4q",
		Args:    arguments(0, 1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		api, err := c.server(ctx)
		if err != nil {
			return fmt.Errorf("%s: no server is running: %w", c.data, err)
		}
		id := ""
		if len(args) > 0 {
			id = args[0]
		} else if id, err = c.onlyAdministrator(ctx, api); err != nil {
			return err
		}
		link, err := api.SignInLink(ctx, id)
		if err != nil {
			return namedUser(id, err)
		}
		return c.say(link, "%s", link.URL)
	}
	return cmd
}

// firstAdministrator is the name of the administrator whom sign-in-link adds to a store without
// one.
const firstAdministrator = "Administrator"

// onlyAdministrator returns the ID of the administrator of all names if exactly one is enabled. It
// adds an administrator if there is no administrator.
func (c *cli) onlyAdministrator(ctx context.Context, api *adminapi.Client) (string, error) {
	all, err := api.Users(ctx)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, u := range all {
		if a, err := registrar.Person(u); err == nil && a.MayAll(registrar.Administrator) {
			ids = append(ids, u.ID)
		}
	}
	switch len(ids) {
	case 0:
	case 1:
		return ids[0], nil
	default:
		return "", usagef("sign-in-link: several users are administrators: %s; name one of them", strings.Join(ids, ", "))
	}
	u := &store.User{Name: firstAdministrator, Grants: []store.UserGrant{{Role: registrar.Administrator.String()}}}
	out, err := api.PutUser(ctx, u, store.AnyRevision, "first administrator")
	if err != nil {
		return "", err
	}
	fmt.Fprintf(c.err, "nomen: added %s as an administrator of all names; 'nomen user change' changes the name\n", out.User.ID)
	return out.User.ID, nil
}

func (c *cli) userSignOutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sign-out ID",
		Short: "end all sessions of a user",
		Long: `Sign-out makes the server that runs on the data directory (--data) end all sessions of a
user, for example after a computer was lost. The user can sign in again; 'nomen user disable'
prevents that.`,
		Example: "  nomen user sign-out u-7k3m9qx0",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.server(cmd.Context())
			if err != nil {
				return fmt.Errorf("%s: no server is running: %w", c.data, err)
			}
			return namedUser(args[0], api.EndSessions(cmd.Context(), args[0]))
		},
	}
}
