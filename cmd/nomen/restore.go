package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/tlog/publish"
)

const restoreLong = `Restore creates a store from the backup in DIR, in the directory given by --data or
--store. It never overwrites an existing store: move that store away first. The backup is
not changed.

Restore compares every file with the manifest of the backup (backup.jsonl) before it puts
the store in place. If files are damaged, it prints a line for each, restores nothing, and
exits with status 1. If the manifest itself is damaged, copy the backup, delete
backup.jsonl in the copy, and restore the copy. Without a manifest, restore verifies the
history instead, as 'nomen verify' does.

The store appears only when it is complete. A restore that is killed leaves a directory
beside the store, with a name that ends in ".restoring" and a number. You can delete that
directory.

With --rehearse the backup is restored to a temporary directory, its history is verified
there, and the directory is removed. Nothing else is changed.`

func (c *cli) restoreCommand() *cobra.Command {
	var rehearse bool
	cmd := &cobra.Command{
		Use:   "restore DIR",
		Short: "create a store from a backup",
		Long:  restoreLong,
		Example: `  nomen restore --rehearse /backup/names
  nomen restore --data /srv/names /backup/names`,
		Args: arguments(1, 1),
	}
	cmd.Flags().BoolVar(&rehearse, "rehearse", false, "restore only to a temporary directory and verify the history there")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if rehearse {
			return c.rehearse(cmd.Context(), args[0])
		}
		return c.restore(cmd.Context(), args[0])
	}
	return cmd
}

type restoredLine struct {
	Store    string `json:"store,omitempty"` // empty for a rehearsal
	Records  int64  `json:"records"`
	Files    int    `json:"files"`
	Head     string `json:"head"`
	Manifest bool   `json:"manifest"` // false if the backup has none
}

type damageLine struct {
	Damage struct {
		File    string `json:"file"`
		Problem string `json:"problem"`
	} `json:"damage"`
}

func (c *cli) restore(ctx context.Context, from string) error {
	if c.inDatabase() {
		return usagef("restore cannot write to a database: restore to a directory, then run 'nomen migrate --from pebble:DIR --to %s' into an empty database", "postgres://...")
	}
	to, err := c.storePath()
	if err != nil {
		return err
	}
	if err := errors.Join(free(to), pebblestore.IsBackup(from), c.checkNew(systemData)); err != nil {
		return err
	}
	if c.store == "" {
		if err := c.makeData(); err != nil {
			return err
		}
	}
	tmp, err := os.MkdirTemp(filepath.Dir(to), filepath.Base(to)+".restoring")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // does nothing after success, because the directory was moved
	res, err := c.restoreInto(ctx, from, tmp, false)
	if err != nil {
		return err
	}
	if err := free(to); err != nil { // check again, because a server may have been started in the meantime
		return err
	}
	if err := durable.Move(durable.Disk{}, tmp, to); err != nil {
		return err
	}
	if err := durable.KeepOwner(to, filepath.Dir(to)); err != nil {
		return err
	}
	if c.store == "" {
		if err := publish.MarkRestored(filepath.Join(c.data, publishedFile), res.Head); err != nil {
			return err
		}
		c.keepOwner()
	}
	return c.say(restored(to, res), "%s: %s restored from %s: %s verified, head %s", to, count(res.Records, "record"), from, count(int64(res.Files), "file"), res.Head)
}

func restored(to string, res pebblestore.Restored) restoredLine {
	return restoredLine{to, res.Records, res.Files, res.Head.String(), res.Manifest != nil}
}

func free(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s: already exists and is not overwritten; move it away first", path)
}

// restoreInto restores a backup to the empty directory dir.
func (c *cli) restoreInto(ctx context.Context, from, dir string, verify bool) (pebblestore.Restored, error) {
	copied, end := c.counting("restore: bytes copied")
	checked, endCheck := c.counting("verify")
	end = sync.OnceFunc(end)
	res, err := pebblestore.Restore(ctx, pebblestore.RestoreOptions{
		From: from, To: dir, Verify: verify, Progress: copied,
		Checked: func(done, total uint64) {
			end()
			checked(done, total)
		},
		Damage: c.showDamage,
		Note:   func(note string) { fmt.Fprintln(c.err, "nomen: "+printable(note)) },
	})
	end()
	endCheck()
	if damaged := (*pebblestore.DamagedError)(nil); errors.As(err, &damaged) {
		fmt.Fprintf(c.err, "nomen: %s: the backup is damaged; nothing was restored: try an earlier backup or another copy of this one\n", printable(from))
		return res, errNo
	}
	return res, err
}

func (c *cli) showDamage(d pebblestore.Damage) {
	switch {
	case d.Fault != nil:
		c.showFault(*d.Fault)
	case c.json:
		var line damageLine
		line.Damage.File, line.Damage.Problem = d.File, d.Problem
		_ = c.printJSON(line)
	default:
		fmt.Fprintln(c.out, printable("fault: "+d.File+": "+d.Problem))
	}
}

// rehearse restores a backup to a temporary directory, and verifies the history in the restored
// store.
func (c *cli) rehearse(ctx context.Context, from string) error {
	tmp, err := os.MkdirTemp("", "nomen-rehearsal")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	res, err := c.restoreInto(ctx, from, tmp, true)
	if err != nil {
		return err
	}
	return c.say(restored("", res), "%s: rehearsed: %s restored: %s and %s verified, head %s", from, count(res.Records, "record"), count(int64(res.Files), "file"), count(int64(res.Head.Size), "change"), res.Head)
}
