package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/durable"
)

const backupLong = `Backup writes a consistent copy of the store to DIR while the server keeps running. Either
DIR does not exist yet, or it contains an earlier backup of the same store. In the second
case, backup copies only what has changed since the earlier backup.

If a server is running, the server writes the backup: its user must be able to write to the
directory that contains DIR. Otherwise this command writes the backup. If root runs this
command, the new files get the owner of the directory in which they are.

A server can also make backups on a schedule ('nomen serve --backup.to'). 'nomen backup
status' and 'nomen backup list' show the scheduled backups. If DIR is named status or list,
write ./status or ./list.

The manifest in the backup, backup.jsonl, lists the size and SHA-256 of each file.
'nomen restore' checks every file against the manifest and creates a store from the backup.

Only the owner of the backup can read it. To let a group read it too, give DIR that group
and the mode 750 (chgrp, chmod 750). After the next backup to DIR, the group can read the
files. If the mode of DIR also gives access to users outside the group (such as
755), the next backup is private again: only its owner can read it.

With --rehearse, backup also restores the new backup to a temporary directory, verifies the
history there, and removes the directory. The exit status is 1 if this finds faults.

The administrator's token is a file beside the store and not part of the backup. A server
that finds no token creates a new one. This command cannot back up a PostgreSQL store: use
the tools of the database.`

func (c *cli) backupCommand() *cobra.Command {
	var rehearse bool
	cmd := &cobra.Command{
		Use:     "backup DIR",
		Short:   "back up the store while the server runs",
		Long:    backupLong,
		Example: "  nomen backup /backup/names-2026-11-20\n  nomen backup --rehearse /backup/names\n  nomen backup status",
		Args:    arguments(1, 1),
	}
	cmd.Flags().BoolVar(&rehearse, "rehearse", false, "restore the backup to a temporary directory and verify it there")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := filepath.Abs(args[0])
		if err != nil {
			return err
		}
		err = c.withStore(cmd.Context(), reads, func(b backend) error { return c.backup(cmd.Context(), b, dir) })
		if err != nil || !rehearse {
			return err
		}
		return c.rehearse(cmd.Context(), dir)
	}
	cmd.AddCommand(c.backupStatusCommand(), c.backupListCommand())
	return cmd
}

type backupLine struct {
	Dir     string  `json:"dir"`
	Seconds float64 `json:"seconds"`
	User    string  `json:"user"` // the user who wrote the backup
}

func (c *cli) backup(ctx context.Context, b backend, dir string) error {
	start := clock()
	bar, end := c.counting("backup: bytes copied")
	err := b.Backup(ctx, dir, bar)
	end()
	if errors.Is(err, errors.ErrUnsupported) {
		return errors.New("backup works on the embedded store only: back up a database with its own tools, such as pg_dump, or copy it to a directory with 'nomen migrate --from postgres://... --to pebble:DIR' (docs/howto/back-up-and-restore.md)")
	}
	if err != nil {
		return err
	}
	line, by := backupLine{dir, clock().Sub(start).Seconds(), durable.CurrentUser()}, ""
	if _, remote := b.(*adminapi.Client); remote { // the server made the backup, as the user who owns urlFile
		if info, err := os.Stat(filepath.Join(c.data, urlFile)); err == nil {
			line.User = durable.OwnerOf(info)
		}
		by = " by the server, as user " + line.User
	}
	return c.say(line, "%s: backup made in %.2f s%s", dir, line.Seconds, by)
}
