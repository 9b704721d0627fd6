package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

const restoreLong = `Restore makes a store of the backup in DIR, where --data or --store say. It never
overwrites: if a store is there, move it away first. The backup stays as it is.

The new store is complete before it takes its place; what an interrupted restore
leaves is a directory beside it that ends in ".restoring" and a number, which can be deleted.

With --rehearse the backup is restored to a temporary place and verified there, and
the place is cleared: nothing else is touched. The exit status is then 1 if there
are faults.`

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
	cmd.Flags().BoolVar(&rehearse, "rehearse", false, "to a temporary place only, and verify it there")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if rehearse {
			return c.rehearse(cmd.Context(), args[0])
		}
		return c.restore(cmd.Context(), args[0])
	}
	return cmd
}

// A restoredLine is the result of a restore as JSON.
type restoredLine struct {
	Store   string `json:"store"`
	Records int64  `json:"records"`
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
	if err := errors.Join(free(to), isBackup(from)); err != nil {
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
	n, err := c.restoreInto(ctx, from, tmp)
	if err != nil {
		return err
	}
	if err := free(to); err != nil { // somebody may have started a server meanwhile
		return err
	}
	if err := durable.Move(durable.Disk{}, tmp, to); err != nil {
		return err
	}
	if c.json {
		return c.printJSON(restoredLine{to, n})
	}
	_, err = fmt.Fprintf(c.out, "%s: %d records restored from %s\n", to, n, from)
	return err
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

// restoreInto makes dir, which is empty, a copy of a backup that can be opened, and
// returns how many records it has.
func (c *cli) restoreInto(ctx context.Context, from, dir string) (int64, error) {
	if err := isBackup(from); err != nil {
		return 0, err
	}
	bar, end := c.counting("restore, bytes")
	err := copyTree(ctx, from, dir, bar)
	end()
	if err != nil {
		return 0, err
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, Log: c.logger(), ReadOnly: true})
	if err != nil {
		return 0, fmt.Errorf("%s is no good backup: %w", from, err)
	}
	n, _, err := store.Count(ctx, s)
	return n, errors.Join(err, s.Close())
}

// isBackup returns an error if dir has not even the looks of a backup: it is not
// copied in vain.
func isBackup(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "MANIFEST-") {
			return nil
		}
	}
	return fmt.Errorf("%s: no backup is there", dir)
}

// rehearse restores a backup to a temporary place and verifies it.
func (c *cli) rehearse(ctx context.Context, from string) error {
	tmp, err := os.MkdirTemp("", "nomen-rehearsal")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	n, err := c.restoreInto(ctx, from, tmp)
	if err != nil {
		return err
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: tmp, Log: c.logger()})
	if err != nil {
		return err
	}
	err = errors.Join(c.verify(ctx, &local{store: s}, nil), s.Close())
	if err == nil && !c.json {
		fmt.Fprintf(c.out, "%s: rehearsed: %d records are there\n", from, n)
	}
	return err
}

// copyTree copies a directory, with the directories and plain files in it, and
// returns when it is on disk. It tells how many bytes are done of how many.
func copyTree(ctx context.Context, from, to string, progress func(done, total uint64)) error {
	var total uint64
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no plain file: that is no backup", path)
		}
		if err == nil {
			total += uint64(info.Size())
		}
		return err
	})
	if err != nil {
		return err
	}
	done := uint64(0)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			if err := os.MkdirAll(target, durable.PrivateDir); err != nil {
				return err
			}
			return durable.SyncDir(filepath.Dir(target))
		}
		n, err := copyFile(path, target)
		done += n
		progress(done, total)
		return err
	})
}

// copyFile copies a file to one that is not there yet.
func copyFile(from, to string) (uint64, error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, durable.Private)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, in)
	return uint64(n), errors.Join(err, out.Sync(), out.Close(), durable.SyncDir(filepath.Dir(to)))
}
