package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const deleteLong = `Delete removes reserved names: names that were created by 'nomen mint', or by put with
--status reserved, and that were never active. Their history is kept. A name that is or was
active cannot be deleted; 'nomen retire' makes it a tombstone.

On a terminal, delete asks for confirmation of each name; otherwise it needs --yes.

` + streamHelp

func (c *cli) deleteCommand() *cobra.Command {
	var yes bool
	var why string
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "delete reserved names",
		Long:  deleteLong,
		Example: `  nomen delete urn:dns:example.org:alb003
  nomen delete --yes --why 'minted by mistake' - < names.txt`,
		Args: arguments(1, -1),
	}
	f := cmd.Flags()
	yesOption(f, &yes)
	whyOption(f, &why)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !yes && (!isScreen(c.in) || args[0] == "-") {
			return usagef("delete: no terminal to ask for confirmation on: pass --yes")
		}
		return c.answerStored(cmd.Context(), changes, args, func(a *answers, b backend, arg string) error {
			out, err := c.deleteName(cmd.Context(), b, arg, yes, why)
			if err == nil {
				a.say(deletedName{out.Name, true}, out.Name.Key()+" deleted")
			}
			return err
		})
	}
	return cmd
}

func (c *cli) deleteName(ctx context.Context, b backend, spelling string, yes bool, why string) (registrar.Outcome, error) {
	rec, err := get(ctx, b, spelling, time.Time{})
	if err != nil {
		return registrar.Outcome{}, err
	}
	if rec.Status != nomen.Reserved {
		return registrar.Outcome{}, &store.StateError{Key: rec.Name.Key(), Rule: fmt.Sprintf("is %s; only a reserved name can be deleted, 'nomen retire' makes an active one a tombstone", rec.Status)}
	}
	if !yes {
		fmt.Fprintf(c.err, "The reserved name %s will be deleted. Type the name to confirm: ", printable(rec.Spelling))
		answer, err := c.answer()
		if err != nil {
			return registrar.Outcome{}, err
		}
		if typed, err := name.Parse(answer); err != nil || typed != rec.Name {
			return registrar.Outcome{}, &store.StateError{Key: rec.Name.Key(), Rule: "the name you typed is a different one; nothing was changed"}
		}
	}
	out, err := b.Delete(ctx, rec.Name, rec.Revision, why)
	return out, named(spelling, err)
}

type deletedName struct {
	Name    name.Name `json:"name"`
	Deleted bool      `json:"deleted"`
}
