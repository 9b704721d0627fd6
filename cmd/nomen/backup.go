package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

const backupLong = `Backup makes a copy of the store in DIR as of one moment, while a server goes on
serving and changing it. DIR must not be there yet, or hold an earlier backup of
the same store: then only what has changed since is copied.

A manifest in the backup, backup.jsonl, has the size and the SHA-256 of each file.
'nomen restore' compares every file with it and makes a store of the backup; nothing
else changes a backup. Only its owner can read it; a later backup into DIR lets in the
group too if that may enter DIR and others may not.

With --rehearse the backup is restored to a temporary directory at once, its history is
checked there, and the directory is removed. The exit status is 1 if there are faults.

The administrator's token is a file beside the store and no part of it; a server
that finds none makes a new one. A database is backed up with its own tools.`

func (c *cli) backupCommand() *cobra.Command {
	var rehearse bool
	cmd := &cobra.Command{
		Use:     "backup DIR",
		Short:   "a consistent copy of the store, while serving",
		Long:    backupLong,
		Example: "  nomen backup /backup/names-2026-11-20\n  nomen backup --rehearse /backup/names",
		Args:    arguments(1, 1),
	}
	cmd.Flags().BoolVar(&rehearse, "rehearse", false, "restore it to a temporary place and verify it there")
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
	return cmd
}

// A backupLine is the result of a backup as JSON.
type backupLine struct {
	Dir     string  `json:"dir"`
	Seconds float64 `json:"seconds"`
}

func (c *cli) backup(ctx context.Context, b backend, dir string) error {
	start := clock()
	bar, end := c.counting("backup, bytes")
	err := b.Backup(ctx, dir, bar)
	end()
	if errors.Is(err, errors.ErrUnsupported) {
		return errors.New("a database is backed up with its own tools, such as pg_dump; 'nomen migrate --from postgres://... --to pebble:DIR' makes a directory of it (docs/howto/back-up-and-restore.md)")
	}
	if err != nil {
		return err
	}
	seconds := clock().Sub(start).Seconds()
	if c.json {
		return c.printJSON(backupLine{dir, seconds})
	}
	_, err = fmt.Fprintf(c.out, "%s: backup made in %.2f s\n", dir, seconds)
	return err
}
