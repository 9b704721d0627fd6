package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

const rekeyLong = `A store keeps each name under a key. Rules of names turn the name into the key, and a new
version of nomen can have new rules. The new version cannot open a store with older rules
until rekey has converted the store. Names move to their new keys together with their
history. The prefixes of authorities and tokens are converted too. Spellings stay unchanged.

Stop the server first. Rekey writes a new store beside the old one, compares the two, and
puts the new store in the place of the old one. The disk needs room for both. The old store
is kept in another directory, which the last line of the output gives. Delete the old store
when the new one works. If rekey is interrupted, run it again.

If several names get the same key, this is a collision: rekey lists the names and changes
nothing. With --merge it merges the names. The history of the merged record has the changes
of all these names, in the order of their times, and then one change that combines
locations, metadata and same_as. The other spellings are kept in same_as. If one name is
active and another reserved, the record gets the content of the active name; the content of
the reserved name stays only in the history. If one name is active and another retired,
rekey changes nothing. With --merge=retired-too the record then gets the content of the
active name.

The exit status is 1 if there are collisions that --merge does not cover.`

func (c *cli) rekeyCommand() *cobra.Command {
	var dry bool
	var merge string
	cmd := &cobra.Command{
		Use:     "rekey",
		Short:   "convert a store to newer rules of names",
		Long:    rekeyLong,
		Example: "  nomen rekey --dry-run\n  nomen rekey\n  nomen rekey --merge --dry-run --json",
		Args:    noArguments,
	}
	f := cmd.Flags()
	f.BoolVar(&dry, "dry-run", false, "list what would move and collide, and change nothing")
	f.StringVar(&merge, "merge", "", "merge names that get the same key; --merge=retired-too also merges an active name with a retired name")
	f.Lookup("merge").NoOptDefVal = mergeSafe
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		how, ok := map[string]pebblestore.Merge{
			"": pebblestore.MergeNothing, mergeSafe: pebblestore.MergeSafe, mergeRetired: pebblestore.MergeRetiredToo,
		}[merge]
		if !ok {
			return usagef("--merge=%s: must be --merge or --merge=%s", merge, mergeRetired)
		}
		return c.rekey(cmd.Context(), pebblestore.RekeyOptions{DryRun: dry, Merge: how, Who: "nomen rekey"})
	}
	return cmd
}

const (
	mergeSafe    = "safe" // --merge without a value
	mergeRetired = "retired-too"
)

func (c *cli) rekey(ctx context.Context, o pebblestore.RekeyOptions) error {
	dir, err := c.storePath()
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	o.Dir, o.Log, o.Now = dir, c.logger(), clock
	o.Move = func(m pebblestore.Move) {
		if o.DryRun || m.Problem != "" {
			c.showMove(m, o.DryRun)
		}
	}
	var end func()
	o.Progress, end = c.countingStages()
	res, err := pebblestore.Rekey(ctx, o)
	end()
	switch {
	case errors.Is(err, pebblestore.ErrLocked):
		return fmt.Errorf("%w; stop the server, or wait for the other command to end", err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no store found: %w", dir, err)
	case err != nil:
		return err
	}
	return c.showRekeyed(res, o)
}

type moveLine struct {
	Kind      string   `json:"kind"`            // name, authority, token, user
	Token     string   `json:"token,omitempty"` // the ID of the token or user that has the prefix
	Old       []string `json:"old"`
	New       string   `json:"new,omitempty"` // the new key; empty if the key stays, because the rules make it invalid
	Collision bool     `json:"collision"`
	Blocked   bool     `json:"blocked"` // it cannot be moved
	Problem   string   `json:"problem,omitempty"`
}

func (c *cli) showMove(m pebblestore.Move, dry bool) {
	switch {
	case c.json && dry:
		_ = c.printJSON(moveLine{kindWord(m.Kind), m.Token, m.Old, m.New, m.Collides(), m.Blocks(), m.Problem})
	case dry:
		fmt.Fprintln(c.out, printable(moveText(m)))
	default:
		fmt.Fprintln(c.err, "nomen: "+printable(moveText(m)))
	}
}

func moveText(m pebblestore.Move) string {
	text := strings.Join(m.Old, ", ")
	switch m.Kind {
	case store.KindAuthority:
		text = "authority " + text
	case store.KindToken:
		text = "token " + m.Token + ": " + text
	case store.KindUser:
		text = "user " + m.Token + ": " + text
	}
	switch {
	case m.New != "":
		text += " -> " + m.New
	case m.Kind == store.KindName:
		text += " is not a valid name"
	default:
		text += " is not a valid prefix"
	}
	switch {
	case m.Collides() && m.Blocks():
		text = "collision: " + text
	case m.Collides():
		text = "merged: " + text
	}
	if m.Problem != "" {
		text += ": " + m.Problem
	}
	return text
}

func kindWord(k store.Kind) string {
	switch k {
	case store.KindAuthority:
		return "authority"
	case store.KindToken:
		return "token"
	case store.KindUser:
		return "user"
	}
	return "name"
}

func (c *cli) showRekeyed(res pebblestore.RekeyResult, o pebblestore.RekeyOptions) error {
	if c.json {
		if err := c.printJSON(res); err != nil {
			return err
		}
	}
	said := c.out
	if o.DryRun || c.json {
		said = c.err
	}
	switch {
	case res.From == res.To:
		fmt.Fprintf(said, "nothing to do: the store has the keys of version %d\n", res.To)
	case res.Blocked > 0:
		fmt.Fprintf(c.err, "nomen: nothing was changed: cannot move the %d listed above%s\n", res.Blocked, mergeHint(o.Merge))
		return errNo
	case o.DryRun:
		fmt.Fprintf(said, "from version %d of the rules to %d: %d would move, %d of them would be merged\n", res.From, res.To, res.Moved, res.United)
	case c.json:
	case res.Kept == "":
		fmt.Fprintf(said, "no key changed; the store is marked with version %d of the rules\n", res.To)
	default:
		fmt.Fprintf(said, "from version %d of the rules to %d: %d moved, %d of them were merged\nthe old store is kept in %s\n", res.From, res.To, res.Moved, res.United, res.Kept)
	}
	return nil
}

func mergeHint(m pebblestore.Merge) string {
	switch m {
	case pebblestore.MergeNothing:
		return "; --merge merges names that get the same key"
	case pebblestore.MergeSafe:
		return "; --merge=retired-too lets active names win over retired ones"
	}
	return ""
}
