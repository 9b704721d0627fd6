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
)

const restoreLong = `Restore makes a store of the backup in DIR, where --data or --store say. It never
overwrites: if a store is there, move it away first. The backup stays as it is.

Every file is read and compared with the manifest of the backup before the store takes
its place. If anything is damaged, each damaged file is named in a line, nothing is
restored, and the exit status is 1. A backup that an earlier program made has no
manifest; its history is checked instead, as by 'nomen verify'.

The new store is complete before it takes its place; what an interrupted restore
leaves is a directory beside it that ends in ".restoring" and a number, which can be deleted.

With --rehearse the backup is restored to a temporary directory, its history is checked
there, and the directory is removed: nothing else is touched.`

func (c *cli) restoreCommand() *cobra.Command {
	var rehearse bool
	cmd := &cobra.Command{
		Use:   "restore DIR",
		Short: "make a store of a backup",
		Long:  restoreLong,
		Example: `  nomen restore --rehearse /backup/names
  nomen restore --data /srv/names /backup/names`,
		Args: arguments(1, 1),
	}
	cmd.Flags().BoolVar(&rehearse, "rehearse", false, "restore to a temporary directory only, and check the history there")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if rehearse {
			return c.rehearse(cmd.Context(), args[0])
		}
		return c.restore(cmd.Context(), args[0])
	}
	return cmd
}

// A restoredLine is the result of a restore, or of a rehearsal, as JSON.
type restoredLine struct {
	Store    string `json:"store,omitempty"` // none of a rehearsal
	Records  int64  `json:"records"`
	Files    int    `json:"files"`
	Head     string `json:"head"`
	Manifest bool   `json:"manifest"` // false if an earlier program made the backup
}

// A damageLine is a damaged file of a backup as JSON.
type damageLine struct {
	Damage struct {
		File    string `json:"file"`
		Problem string `json:"problem"`
	} `json:"damage"`
}

// restore makes the store of the data directory of a backup.
func (c *cli) restore(ctx context.Context, from string) error {
	if c.inDatabase() {
		return usagef("restore makes a directory; 'nomen migrate --from pebble:DIR --to %s' then fills the database, which must be empty", "postgres://...")
	}
	to, err := c.storePath()
	if err != nil {
		return err
	}
	if err := errors.Join(free(to), pebblestore.IsBackup(from)); err != nil {
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
	defer os.RemoveAll(tmp) // nothing is there any more if all went well
	res, err := c.restoreInto(ctx, from, tmp, false)
	if err != nil {
		return err
	}
	if err := free(to); err != nil { // a server may have been started meanwhile
		return err
	}
	if err := durable.Move(durable.Disk{}, tmp, to); err != nil {
		return err
	}
	if c.json {
		return c.printJSON(restored(to, res))
	}
	_, err = fmt.Fprintf(c.out, "%s: %d records restored from %s: %d files verified, head %s\n", to, res.Records, from, res.Files, res.Head)
	return err
}

func restored(to string, res pebblestore.Restored) restoredLine {
	return restoredLine{to, res.Records, res.Files, res.Head.String(), res.Manifest != nil}
}

// free returns an error if something is at a path.
func free(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s: a store is there; nothing is overwritten: move it away first", path)
}

// restoreInto makes dir, which is empty, a copy of a backup that can be opened.
func (c *cli) restoreInto(ctx context.Context, from, dir string, verify bool) (pebblestore.Restored, error) {
	copied, end := c.counting("restore, bytes")
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
		fmt.Fprintf(c.err, "nomen: %s: the backup is damaged, and nothing is restored: try an earlier backup, or another copy of this one\n", printable(from))
		return res, errNo
	}
	return res, err
}

// showDamage prints what is wrong with a file of a backup.
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

// rehearse restores a backup to a temporary directory and checks its history.
func (c *cli) rehearse(ctx context.Context, from string) error {
	tmp, err := os.MkdirTemp("", "nomen-rehearsal")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	res, err := c.restoreInto(ctx, from, tmp, true)
	switch {
	case err != nil:
		return err
	case c.json:
		return c.printJSON(restored("", res))
	}
	_, err = fmt.Fprintf(c.out, "%s: rehearsed: %d records are there: %d files and %d changes verified, head %s\n", from, res.Records, res.Files, res.Head.Size, res.Head)
	return err
}
