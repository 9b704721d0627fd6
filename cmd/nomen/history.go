package main

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
)

const historyLong = `History shows every revision of a name, newest first: when it was made, by whom and why,
and what changed, field by field. A plus marks what was added, a minus what was removed.
If a change was part of an import, relocation or undo, the ID of that operation is shown;
'nomen undo --import ID' reverts all its changes.

With --json each revision is an object with the full record as of that revision. A redacted
revision is included without its content.

With --authority, history shows the history of a naming authority: its owners, hosts and
policy.

`

func (c *cli) historyCommand() *cobra.Command {
	limit, authority := 0, ""
	cmd := &cobra.Command{
		Use:   "history NAME... | --authority PREFIX",
		Short: "show the history of names or of an authority",
		Long:  historyLong + streamHelp,
		Example: `  nomen history urn:dns:example.org:alb002
  nomen history --limit 1 --json urn:dns:example.org:alb002
  nomen history --json urn:dns:example.org:alb002 | jq -r '.record.locations[].url'
  nomen history --authority urn:dns:example.org`,
		Args: arguments(0, -1),
	}
	cmd.Flags().StringVar(&authority, "authority", "", "show the history of the authority with this prefix (default none)")
	limitOption(cmd.Flags(), &limit, 0, "show only this many of the newest revisions (default all)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (authority == "") != (len(args) > 0) {
			return usagef("history: expected either names or --authority PREFIX")
		}
		show := showHistory
		if authority != "" {
			args, show = []string{authority}, showAuthorityHistory
		}
		return c.answerStored(cmd.Context(), reads, args, func(a *answers, b backend, arg string) error {
			return show(cmd.Context(), b, a, arg, limit)
		})
	}
	return cmd
}

// showHistory prints the revisions of a name as they arrive, newest first. It keeps only two
// revisions in memory.
func showHistory(ctx context.Context, b backend, a *answers, arg string, limit int) error {
	n, err := name.Parse(arg)
	if err != nil {
		return err
	}
	return a.revisions(n.Key(), arg, namedRevisions(ctx, b, b.Revisions(ctx, n)), limit)
}

func showAuthorityHistory(ctx context.Context, b backend, a *answers, arg string, limit int) error {
	p, err := name.ParsePrefix(arg)
	if err != nil {
		return err
	}
	return a.revisions(p.String(), arg, namedRevisions(ctx, b, revisionsOf(b.AuthorityHistory(ctx, p))), limit)
}

// revisions prints the revisions of a name, authority or user, newest first.
func (a *answers) revisions(name, arg string, all iter.Seq2[adminapi.Revision, error], limit int) error {
	h := historian{answers: a, name: name, gone: map[uint64]uint64{}, left: limit}
	for r, err := range all {
		if err != nil {
			return named(arg, err)
		}
		if !h.take(r) {
			return nil
		}
	}
	h.end()
	return nil
}

type historian struct {
	*answers
	name  string
	left  int                // how many revisions are still to be printed; 0 means all
	later *adminapi.Revision // the next revision to print, as soon as the revision before it is known
	gone  map[uint64]uint64  // for each redacted revision, the revision that redacted it
}

// take receives the next older revision, and prints the revision before. It returns false if no
// more revisions are needed.
func (h *historian) take(r adminapi.Revision) bool {
	if h.later != nil {
		h.show(*h.later, &r)
		if h.left--; h.left == 0 {
			return false
		}
	}
	h.later = &r
	return true
}

func (h *historian) end() {
	if h.later != nil {
		h.show(*h.later, nil)
	}
}

type revisionLine struct {
	Name string `json:"name"` // or the prefix of the authority, or the ID of the user
	adminapi.Revision
	Changes []adminapi.Difference `json:"changes"` // changes compared with the revision before
}

// show prints a revision and its differences from the previous revision. The parameter older is the
// previous revision, or nil if r is the first revision.
func (h *historian) show(r adminapi.Revision, older *adminapi.Revision) {
	for _, n := range r.Redacts {
		if h.gone[n] == 0 {
			h.gone[n] = r.Revision
		}
	}
	var was adminapi.Revision
	if older != nil {
		was = *older
	}
	var changes []adminapi.Difference
	switch {
	case r.Redacted || was.Redacted:
	case r.Authority != nil:
		changes = adminapi.AuthorityDifferences(was.Authority, r.Authority)
	case r.User != nil:
		changes = adminapi.UserDifferences(was.User, r.User)
	default:
		changes = adminapi.Differences(was.Record, r.Record)
	}
	if h.json != nil {
		h.object(revisionLine{h.name, r, changes})
		h.flushFull()
		return
	}
	h.head(r)
	if was.Redacted && !r.Redacted {
		h.text(fmt.Sprintf("    (cannot show what changed: the content of revision %d was removed)", was.Revision))
	}
	for _, d := range changes {
		h.difference(d)
	}
	h.flushFull()
}

// head prints a revision without its content: the number, the time, the author, the import, the
// reason, and the revisions that it redacts.
func (h *historian) head(r adminapi.Revision) {
	parts := []string{
		h.paint(colourYellow, fmt.Sprintf("revision %d", r.Revision), 0),
		r.Time.UTC().Format(time.RFC3339),
	}
	switch {
	case r.Redacted:
		parts = append(parts, fmt.Sprintf("(content removed by revision %d)", h.gone[r.Revision]))
	default:
		parts = append(parts, byWhom(r.Who, r.WhoName))
	}
	if r.Batch != "" {
		parts = append(parts, "import "+printable(r.Batch))
	}
	if r.Why != "" {
		parts = append(parts, printable(r.Why))
	}
	h.text(strings.Join(parts, "  "))
	if len(r.Redacts) > 0 {
		h.text("    removes the content of revision " + strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Redacts), " ", ", "), "[]"))
	}
}

func (h *historian) difference(d adminapi.Difference) {
	switch {
	case d.Before != "" && d.After != "":
		h.text("    " + d.Field + ": " + printable(d.Before) + " -> " + printable(d.After))
	case d.After == adminapi.InAnotherOrder:
		h.text("    " + d.Field + " " + d.After)
	case d.After != "":
		h.text("  " + h.paint(colourGreen, "+ "+d.Field+": "+printable(d.After), 0))
	default:
		h.text("  " + h.paint(colourRed, "- "+d.Field+": "+printable(d.Before), 0))
	}
}
