package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

const verifyLong = `Verify checks three things: every record against its history, every change against the
digests in the log, and every index against the records. It finds each change that was
altered, removed, added or moved. A change dated more than 5 minutes in the future is also
a fault. At the end verify prints the head, SIZE:HASH. SIZE is the number of changes in the
log, and HASH covers all of them.

Keep the head on another machine. With --head HEAD, verify also checks that no change up to
that head was altered, removed or added. This check finds a difference even if an intruder
rewrote the whole store. If there is no difference, the output is as without --head.

With --since HEAD, verify makes the check of --head. Then it verifies only the changes after
that head, the names and authorities in these changes, and the index entries of their
locations. This takes much less time than a full verify. Only a full verify finds damage in
older changes and records: run a full verify from time to time.

With --proof FILE, verify checks a proof that the log contains a change. The log page of a
server and GET changes/SEQ of the admin API give such proofs. Verify reads only this file.
Compare the head in the output with one that you keep, or pass it with --head.

On a running server, verify is a job: see 'nomen jobs'. With a PostgreSQL store, verify
first seals the newest changes (adds them to the log). The exit status is 1 if there
are faults, or if changes up to the given head differ.`

func (c *cli) verifyCommand() *cobra.Command {
	var noted, since, proof string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "verify all records and the history",
		Long:  verifyLong,
		Example: `  nomen verify
  nomen verify --head 1234:5f0c...e1 --json
  nomen verify --since 1234:5f0c...e1
  nomen verify --proof change-17.json --head 1234:5f0c...e1`,
		Args: noArguments,
	}
	cmd.Flags().StringVar(&noted, "head", "", "SIZE:HASH from an earlier verify: also check that all changes up to this head are the same")
	c.memoryFlag(cmd.Flags(), "1024, less if the machine has little memory")
	cmd.Flags().StringVar(&since, "since", "", "SIZE:HASH from an earlier verify: verify only the changes after this head")
	cmd.Flags().StringVar(&proof, "proof", "", "file with the proof of a change, - for the standard input: check only this proof (default none)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := c.boundMemory(cmd.Context(), pebblestore.DefaultCacheSize()); err != nil {
			return err
		}
		earlier, err := readHead("head", noted)
		if err != nil {
			return err
		}
		from, err := readHead("since", since)
		switch {
		case err != nil:
			return err
		case from != nil && earlier != nil:
			return usagef("verify: --since includes the check of --head; pass only one of them")
		case from != nil && proof != "":
			return usagef("verify: --since cannot be used with --proof")
		case proof != "":
			return c.verifyProof(proof, earlier)
		}
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			return c.verify(cmd.Context(), b, earlier, from)
		})
	}
	return cmd
}

func readHead(flag, text string) (*store.Head, error) {
	if text == "" {
		return nil, nil
	}
	h, err := store.ParseHead(text)
	if err != nil {
		return nil, usagef("--%s %.80q: must be SIZE:HASH, as printed by verify", flag, text)
	}
	return &h, nil
}

type verifiedLine struct {
	Head    string `json:"head"`
	Changes uint64 `json:"changes"` // in the log
	Faults  int    `json:"faults"`
	Since   string `json:"since,omitempty"` // the head after which changes were verified
}

// verify verifies a store, and checks that its log begins with the log of oldHead. If base is not
// nil, it verifies only the changes after that head.
func (c *cli) verify(ctx context.Context, b backend, oldHead, base *store.Head) error {
	var line verifiedLine
	fault := func(f store.Fault) {
		line.Faults++
		c.showFault(f)
	}
	bar, end := c.counting("verify")
	var head store.Head
	var err error
	if base != nil {
		head, err = b.VerifySince(ctx, *base, fault, bar)
	} else {
		head, err = b.Verify(ctx, fault, bar)
	}
	end()
	if wrong := (*store.HeadError)(nil); base != nil && errors.As(err, &wrong) {
		fmt.Fprintf(c.err, "nomen: --since %s: %s\n", base, printable(wrong.Reason)+remedyFor(err))
		return errNo
	}
	problem := ""
	if err == nil && oldHead != nil {
		problem, err = follows(ctx, b, head, *oldHead)
	}
	if err != nil {
		return err
	}
	if problem != "" {
		fault(store.Fault{Problem: problem})
	}
	line.Head, line.Changes = head.String(), head.Size
	if base == nil {
		return c.verified(line, count(int64(head.Size), "change"))
	}
	line.Since = base.String()
	return c.verified(line, fmt.Sprintf("%s since %d", count(int64(head.Size-base.Size), "change"), base.Size))
}

func (c *cli) verified(line verifiedLine, what string) error {
	if c.json {
		if err := c.printJSON(line); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.out, "head %s\n", line.Head)
	}
	switch {
	case line.Faults > 0:
		fmt.Fprintf(c.err, "nomen: %s\n", count(int64(line.Faults), "fault"))
		return errNo
	case !c.json:
		fmt.Fprintf(c.out, "%s, no faults\n", what)
	}
	return nil
}

// follows checks, with a proof from the store, that the log of newHead begins with the log of
// oldHead. The result is "" if it does, and otherwise what is wrong.
func follows(ctx context.Context, b backend, newHead, oldHead store.Head) (string, error) {
	if newHead.Size < oldHead.Size {
		return fmt.Sprintf("changes are missing: the log has %d changes, the head %d", newHead.Size, oldHead.Size), nil
	}
	proof, err := b.ProveHead(ctx, newHead.Size, oldHead.Size)
	switch {
	case err != nil && errors.Is(err, ctx.Err()):
		return "", err
	case err != nil:
		return "", fmt.Errorf("cannot prove the head of %d changes: %w", oldHead.Size, err)
	case ledger.CheckConsistency(proof, newHead, oldHead) != nil:
		return fmt.Sprintf("the log does not begin with the log of the head %s: changes before number %d were altered", oldHead, oldHead.Size+1), nil
	}
	return "", nil
}

func (c *cli) showFault(f store.Fault) {
	if c.json {
		_ = c.printJSON(struct {
			Fault adminapi.Fault `json:"fault"`
		}{adminapi.NewFault(f)})
		return
	}
	var b bytes.Buffer
	b.WriteString("fault: ")
	if f.Subject.Key != "" {
		fmt.Fprintf(&b, "%s %s: ", kindWord(f.Subject.Kind), f.Subject.Key)
	}
	if f.Seq > 0 {
		fmt.Fprintf(&b, "change %d: ", f.Seq)
	}
	b.WriteString(f.Problem)
	fmt.Fprintln(c.out, printable(b.String()))
}
