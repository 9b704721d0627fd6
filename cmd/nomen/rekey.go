package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

const rekeyLong = `Rekey gives a store the keys of this program's rules of names, when it was made
by earlier ones and is therefore refused. Names move with all of their history,
and so do authorities and the prefixes of tokens. The spellings that were given
stay as they are. A store of an earlier program that kept no log of its changes
gets one: they are put in the order of their times.

It writes a new store beside the old one, compares the two, and puts the new one
in its place; for that the disk must have room for both. The old store is kept:
the last line says where. Delete it when all is well. A store in which nothing
moves is only marked. If rekey is cut short, start it again.

Several names that become one are a collision: they are listed, and nothing is
done. With --merge they are united: the changes of all of them in the order of
their times, and one more that unites locations, metadata and same_as; the other
spellings are kept in same_as. An active name wins over a reserved one, whose
content stays in the history alone. Where one is active and another retired,
somebody has to decide: nothing is done, unless --merge=retired-too says that
the active one holds.

No server may have the store open. The exit status is 1 if there are collisions
that are not to be united.`

func (c *cli) rekeyCommand() *cobra.Command {
	var dry bool
	var merge string
	cmd := &cobra.Command{
		Use:     "rekey",
		Short:   "move names to the keys of newer rules",
		Long:    rekeyLong,
		Example: "  nomen rekey --dry-run\n  nomen rekey\n  nomen rekey --merge --dry-run --json",
		Args:    noArguments,
	}
	f := cmd.Flags()
	f.BoolVar(&dry, "dry-run", false, "list what would move and what would collide, and change nothing")
	f.StringVar(&merge, "merge", "", "unite names that become one; retired-too: also an active and a retired one")
	f.Lookup("merge").NoOptDefVal = mergeSafe
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		how, ok := map[string]pebblestore.Merge{
			"": pebblestore.MergeNothing, mergeSafe: pebblestore.MergeSafe, mergeRetired: pebblestore.MergeRetiredToo,
		}[merge]
		if !ok {
			return usagef("--merge=%s: want --merge or --merge=%s", merge, mergeRetired)
		}
		return c.rekey(cmd.Context(), pebblestore.RekeyOptions{DryRun: dry, Merge: how})
	}
	return cmd
}

// The values of --merge.
const (
	mergeSafe    = "safe" // without a value
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
	o.Progress, end = c.rekeyProgress()
	res, err := pebblestore.Rekey(ctx, o)
	end()
	switch {
	case errors.Is(err, pebblestore.ErrLocked):
		return fmt.Errorf("%w: stop the server, or wait until the other command has ended", err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no store is there: %w", dir, err)
	case err != nil:
		return err
	}
	return c.showRekeyed(res, o)
}

// A moveLine is a move as JSON.
type moveLine struct {
	Kind      string   `json:"kind"`            // name, authority, token
	Token     string   `json:"token,omitempty"` // the ID of the token that has the prefix
	Old       []string `json:"old"`
	New       string   `json:"new,omitempty"` // none if it stays
	Collision bool     `json:"collision"`
	Blocked   bool     `json:"blocked"` // it cannot be moved
	Problem   string   `json:"problem,omitempty"`
}

// showMove prints what would move, or to standard error why nothing does.
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
	}
	switch {
	case m.New != "":
		text += " -> " + m.New
	case m.Kind == store.KindName:
		text += " is no name"
	default:
		text += " is no prefix"
	}
	switch {
	case m.Collides() && m.Blocks():
		text = "collision: " + text
	case m.Collides():
		text = "united: " + text
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
	}
	return "name"
}

// showRekeyed says what was done.
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
	case res.From == res.To && res.Logged && o.DryRun:
		fmt.Fprintf(said, "nothing would move; the store has no log of its changes yet, and would get one\n")
	case res.From == res.To && res.Logged:
		if !c.json {
			fmt.Fprintf(said, "nothing moved; the store has a log of its changes now\nthe store as it was is kept in %s\n", res.Kept)
		}
	case res.From == res.To:
		fmt.Fprintf(said, "nothing to do: the store has the keys of version %d\n", res.To)
	case res.Blocked > 0:
		fmt.Fprintf(c.err, "nomen: nothing was changed: %d that cannot be moved are listed above%s\n", res.Blocked, mergeHint(o.Merge))
		return errNo
	case o.DryRun:
		fmt.Fprintf(said, "from version %d of the rules to %d: %d would move, %d of all would be united\n", res.From, res.To, res.Moved, res.United)
	case c.json:
	case res.Kept == "":
		fmt.Fprintf(said, "nothing moved; the store is marked with version %d of the rules\n", res.To)
	default:
		fmt.Fprintf(said, "from version %d of the rules to %d: %d moved, %d of all were united\nthe store as it was is kept in %s\n", res.From, res.To, res.Moved, res.United, res.Kept)
	}
	return nil
}

func mergeHint(m pebblestore.Merge) string {
	switch m {
	case pebblestore.MergeNothing:
		return "; --merge unites names that become one"
	case pebblestore.MergeSafe:
		return "; --merge=retired-too lets active names win over retired ones"
	}
	return ""
}

// rekeyProgress returns a function that shows how far a rekeying is, and one
// that ends it. Off terminals they do nothing.
func (c *cli) rekeyProgress() (func(stage string, done int64, total uint64), func()) {
	if !isTerminal(c.err) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	last, start := "", clock()
	end := func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
	return func(stage string, done int64, total uint64) {
		if stage != last {
			end()
			last, start = stage, clock()
			bar = progressbar.NewOptions64(max(int64(total), 1), progressbar.OptionSetWriter(c.err),
				progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		bar.Describe(fmt.Sprintf("%s: %d, %.0f a second", stage, done, rate(done, clock().Sub(start).Seconds())))
		_ = bar.Set64(min(done, int64(total)))
	}, end
}
