package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"
)

const backupLong = `Backup writes a consistent copy of the store to DIR while the server keeps running. DIR
must not exist, or must have an earlier backup of the same store. A backup to the same DIR
copies only what has changed since the earlier one.

The manifest in the backup, backup.jsonl, lists the size and SHA-256 of each file.
'nomen restore' checks every file against the manifest and creates a store from the backup.

Only the owner of the backup can read it. To let a group read it too, give DIR that group
and the mode 750 (chgrp, chmod 750). From the next backup to DIR on, the group can read its
files. If the mode of DIR gives others access (such as 755), the next backup is private.

With --rehearse, backup also restores the new backup to a temporary directory, verifies the
history there, and removes the directory. The exit status is 1 if faults are found.

The administrator's token is a file beside the store and not part of the backup. A server
that finds no token creates a new one. This command cannot back up a PostgreSQL store: use
the tools of the database.`

func (c *cli) backupCommand() *cobra.Command {
	var rehearse bool
	cmd := &cobra.Command{
		Use:     "backup DIR",
		Short:   "back up the store while the server runs",
		Long:    backupLong,
		Example: "  nomen backup /backup/names-2026-11-20\n  nomen backup --rehearse /backup/names",
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

// A backupLine is the result of a backup as JSON.
type backupLine struct {
	Dir     string  `json:"dir"`
	Seconds float64 `json:"seconds"`
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
	seconds := clock().Sub(start).Seconds()
	return c.say(backupLine{dir, seconds}, "%s: backup made in %.2f s", dir, seconds)
}
