package main

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const undoLong = `Undo reverts changes. --import gives the ID of an import, relocation or undo. --change
gives the number of a change, or the numbers of the first and the last change (N..M).
'nomen changes' lists IDs and numbers.

Each name and authority gets a new revision with its content from before the changes. The
history keeps everything. If the changes created a name that is still reserved, undo deletes
the name. Any other name that the changes created may already be in use, so undo makes it a
tombstone without content. Undoing the same changes twice has no further effect. To undo an
undo, use --import with the ID that the undo printed.

If a name was changed again since, undo reports the name and leaves it unchanged. With
--force, undo reverts the later changes too. It then also retires names that were reserved
before the changes and are active now. Redactions, changes of tokens and the creation of
authorities cannot be undone.

On a running server, undo is a job: see 'nomen jobs'.

Undo prints a few of the changed names; with -v it prints all of them. If names could not be
changed, undo lists these names, and the exit status is 1.`

func (c *cli) undoCommand() *cobra.Command {
	var u registrar.Undoing
	var numbers string
	cmd := &cobra.Command{
		Use:   "undo --import ID | --change N[..M]",
		Short: "undo an import or other changes",
		Long:  undoLong,
		Example: `  nomen undo --dry-run --import 512-k3m9qx7a
  nomen undo --import 512-k3m9qx7a --why 'the wrong file'
  nomen undo --change 513..520`,
		Args: noArguments,
	}
	f := cmd.Flags()
	f.StringVar(&u.Batch, "import", "", "ID of an import, relocation or undo")
	f.StringVar(&numbers, "change", "", "number of a change, or numbers of the first and the last change: N..M")
	f.BoolVar(&u.Force, "force", false, "also undo later changes of the names")
	dryRunOption(f, &u.DryRun)
	f.StringVar(&u.Reason, "reason", "", "reason shown to readers of names that become tombstones (default \""+registrar.DefaultUndoReason+"\")")
	whyOption(f, &u.Why)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if (u.Batch == "") == (numbers == "") {
			return usagef("undo: expected either --import ID or --change N..M")
		}
		if numbers != "" {
			var err error
			if u.From, u.To, err = changeRange(numbers); err != nil {
				return err
			}
		}
		return c.withStore(cmd.Context(), changes.unless(u.DryRun), func(b backend) error { return c.undo(cmd.Context(), b, u) })
	}
	return cmd
}

func changeRange(s string) (from, to uint64, err error) {
	first, last, two := strings.Cut(s, "..")
	if !two {
		last = first
	}
	from, err = strconv.ParseUint(first, 10, 64)
	if err == nil {
		to, err = strconv.ParseUint(last, 10, 64)
	}
	if err != nil || from == 0 || to < from {
		return 0, 0, usagef("--change %q: must be the number of a change, or of the first and last one, such as 513..520", s)
	}
	return from, to, nil
}

func (c *cli) undo(ctx context.Context, b backend, u registrar.Undoing) error {
	shown := examples{cli: c}
	bar, end := c.counting("undo")
	u.Reverted = func(r registrar.Reversal) { shown.add(r, fmt.Sprint(r.Key, " ", r.Action)) }
	u.Refused = c.showRefused
	u.Progress = func(sum registrar.Undone) { bar(uint64(sum.Restored+sum.Retired+sum.Deleted), 0) }
	sum, err := b.Undo(ctx, u)
	end()
	err = withArgument(err, map[string]string{"batch": "--import", "from": "--change", "reason": "--reason", "why": "--why"})
	return shown.end(err, sum != (registrar.Undone{}), sum.Refused, sum, undoneText(sum, u))
}

func undoneText(sum registrar.Undone, u registrar.Undoing) string {
	s := fmt.Sprintf("%s undone: restored %d, retired %d, deleted %d, unchanged %d, rejected %d",
		count(sum.Changes, "change"), sum.Restored, sum.Retired, sum.Deleted, sum.Unchanged, sum.Refused)
	switch {
	case u.DryRun:
		s = strings.Replace(s, "undone", "would be undone", 1) + " (dry run: nothing was changed)"
	case sum.Batch != "":
		s += "; 'nomen undo --import " + sum.Batch + "' reverts it"
	}
	return s
}

const changesLong = `Changes lists the changes of the store in order: number, time, what was done to which name
or authority, by whom, the ID of the import, relocation or undo, and why. 'nomen undo'
accepts these numbers and IDs. Changes of tokens are not listed.

Without options, changes lists the newest 20 changes. With --after or --import, it lists
all matching changes. If --limit N is given too, it lists only the matching changes among
the newest N changes of the store.

With --json each change is an object with the complete record.`

func (c *cli) changesCommand() *cobra.Command {
	var id string
	var after uint64
	limit := 0
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "list the changes of the store",
		Long:  changesLong,
		Example: `  nomen changes
  nomen changes --limit 100
  nomen changes --import 512-k3m9qx7a
  nomen changes --after 512 --json`,
		Args: noArguments,
	}
	f := cmd.Flags()
	limitOption(f, &limit, 20, "consider only this many of the newest changes; 0 for all")
	f.Uint64Var(&after, "after", 0, "show the changes after this number (default the newest)")
	f.StringVar(&id, "import", "", "show only the changes of the import, relocation or undo with this ID")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("limit") && (id != "" || cmd.Flags().Changed("after")) {
			limit = 0
		}
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			return c.showEntries(cmd.Context(), b, after, limit, id)
		})
	}
	return cmd
}

func (c *cli) showEntries(ctx context.Context, b backend, after uint64, limit int, id string) error {
	if limit > 0 {
		head, err := b.Head(ctx)
		if err != nil {
			return err
		}
		after = max(after, head.Size-min(head.Size, uint64(limit)))
	}
	a, names := newAnswers(c), adminapi.NewUserNames(b.User)
	for e, err := range b.Changes(ctx, after) {
		if err != nil {
			return err
		}
		if id == "" || e.Change.Batch == id {
			j := adminapi.NewEntry(e)
			j.WhoName = names.Of(ctx, j.Who)
			a.say(j, entryText(e, j.WhoName))
		}
	}
	return a.end()
}

// entryText formats an entry on one line. The parameter whoName is the name of the user who made
// the change, or "".
func entryText(e *store.Entry, whoName string) string {
	ch := e.Change
	what := "changed"
	switch {
	case ch.Redacted:
		what = "redacted"
	case !ch.Delete.IsZero():
		what = "deleted"
	case ch.Revision() == 1:
		what = "created"
	case ch.Record != nil && ch.Record.Status == nomen.Retired:
		what = "retired"
	}
	if ch.Authority != nil {
		what += " authority"
	}
	if ch.User != nil {
		what += " user"
	}
	if ch.Rights != nil {
		what += " token"
	}
	parts := []string{strconv.FormatUint(e.Seq, 10), ch.Time.UTC().Format(time.RFC3339), what, ch.Subject().Key, byWhom(ch.Who, whoName)}
	if ch.Batch != "" {
		parts = append(parts, "import "+ch.Batch)
	}
	if ch.Why != "" {
		parts = append(parts, printable(ch.Why))
	}
	return printable(strings.Join(parts, "  "))
}

func (l *local) Undo(ctx context.Context, u registrar.Undoing) (registrar.Undone, error) {
	return l.registrar.Undo(ctx, registrar.Operator(), u)
}

func (l *local) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return store.Changes(ctx, l.store, after)
}
