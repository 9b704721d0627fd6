package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
)

const reloadLong = `Reload makes the server that runs on the data directory (--data) read its configuration file
again. The environment and the command line stay as they were when the server started. The
server first checks the whole configuration, as 'nomen config check' does. It then applies
all changes or none. Requests in progress complete with the previous settings.

Reload prints what has changed. If the configuration has errors, or if a change needs a
restart, the server changes nothing, reload prints the reasons, and the exit status is 1.
'nomen config explain KEY' says whether a change of KEY needs a restart.

SIGHUP does the same; the result is then in the log of the server.`

func (c *cli) reloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "reload",
		Short:   "make the running server read its configuration again",
		Long:    reloadLong,
		Example: "  nomen config check /etc/nomen/nomen.toml && nomen reload",
		Args:    noArguments,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return c.reload(cmd.Context()) }
	return cmd
}

func (c *cli) reload(ctx context.Context) error {
	api, err := c.server(ctx)
	if err != nil {
		return fmt.Errorf("%s: no server is running: %w", c.data, err)
	}
	out, err := api.Reload(ctx)
	var rejected *adminapi.ReloadError
	if errors.As(err, &rejected) {
		for _, text := range rejected.Errors {
			fmt.Fprintln(c.err, printable(text))
		}
		fmt.Fprintln(c.err, "nomen: configuration rejected, nothing was changed")
		return errNo
	}
	if err != nil {
		return err
	}
	for _, w := range out.Warnings {
		fmt.Fprintf(c.err, "nomen: warning: %s\n", printable(w))
	}
	if c.json {
		return c.printJSON(out)
	}
	for _, change := range out.Changes {
		text := change.To
		if change.From != "" {
			text = change.From + " -> " + change.To
		}
		fmt.Fprintf(c.out, "%s: %s\n", printable(change.Key), printable(text))
	}
	if len(out.Changes) == 0 {
		fmt.Fprintln(c.out, "nothing has changed")
	}
	return nil
}
