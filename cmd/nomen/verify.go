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

const verifyLong = `Verify checks every record against its history, the history against the chain of
digests over all changes, and every index against the records. It names each fault:
a change that was altered, removed, added or moved is found. Changes that are dated
in the future by the clock of this machine are one fault. At the end it prints the
head, SIZE:HASH, which stands for all changes up to then.

Write the head down, somewhere else than on this machine. With --head, verify also
checks that the log of today begins with the log of that head: nothing of it was
changed, not even by somebody who could write the whole store anew.

With --since, verify makes the same check and then looks only at what came after
that head: the changes, the names and authorities that they changed, and their
locations in the index. That takes as long as there are changes, not names. It does
not read older changes and records again: a full verify, once in a while, finds
damage there. A head that is not the beginning of the log is an error.

A running server goes on serving meanwhile; there it is a job: see 'nomen jobs'. In a database, changes that still wait
for their place in the log get it first. The exit status is 1 if there are
faults, or if the log does not begin with that of the head.`

func (c *cli) verifyCommand() *cobra.Command {
	var noted, since string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "check every record and the history",
		Long:  verifyLong,
		Example: `  nomen verify
  nomen verify --head 1234:5f0c...e1 --json
  nomen verify --since 1234:5f0c...e1`,
		Args: noArguments,
	}
	cmd.Flags().StringVar(&noted, "head", "", "SIZE:HASH that an earlier verify printed")
	c.memoryFlag(cmd.Flags(), "1024")
	cmd.Flags().StringVar(&since, "since", "", "SIZE:HASH that an earlier verify printed: check only the changes after it")
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
			return usagef("verify: --since does what --head does, and less work: give one of them")
		case from != nil:
			return c.withStore(cmd.Context(), reads, func(b backend) error {
				return c.verifySince(cmd.Context(), b, *from)
			})
		}
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			return c.verify(cmd.Context(), b, earlier)
		})
	}
	return cmd
}

// readHead reads the head that a flag gives, nil if it gives none.
func readHead(flag, text string) (*store.Head, error) {
	if text == "" {
		return nil, nil
	}
	h, err := store.ParseHead(text)
	if err != nil {
		return nil, usagef("--%s %.80q: want SIZE:HASH, as verify prints it", flag, text)
	}
	return &h, nil
}

// A verifiedLine is the end of a verification as JSON.
type verifiedLine struct {
	Head    string `json:"head"`
	Changes uint64 `json:"changes"` // in the log
	Faults  int    `json:"faults"`
	Since   string `json:"since,omitempty"` // the head after which it was checked
}

// verify checks a store, and that its log begins with the one of an earlier head.
func (c *cli) verify(ctx context.Context, b backend, earlier *store.Head) error {
	faults := 0
	fault := func(f store.Fault) {
		faults++
		c.showFault(f)
	}
	bar, end := c.counting("verify")
	head, err := b.Verify(ctx, fault, bar)
	end()
	if err != nil {
		return err
	}
	if earlier != nil {
		problem, err := follows(ctx, b, head, *earlier)
		if err != nil {
			return err
		}
		if problem != "" {
			fault(store.Fault{Problem: problem})
		}
	}
	return c.verified(verifiedLine{Head: head.String(), Changes: head.Size, Faults: faults}, fmt.Sprintf("%d changes", head.Size))
}

// verifySince checks what came after a head.
func (c *cli) verifySince(ctx context.Context, b backend, since store.Head) error {
	faults := 0
	bar, end := c.counting("verify")
	head, err := b.VerifySince(ctx, since, func(f store.Fault) {
		faults++
		c.showFault(f)
	}, bar)
	end()
	var wrong *store.HeadError
	if errors.As(err, &wrong) {
		fmt.Fprintf(c.err, "nomen: --since %s: %s\n", since, printable(wrong.Reason))
		return errNo
	}
	if err != nil {
		return err
	}
	line := verifiedLine{Head: head.String(), Changes: head.Size, Faults: faults, Since: since.String()}
	return c.verified(line, fmt.Sprintf("%s since %d", count(int64(head.Size-since.Size), "change"), since.Size))
}

// verified prints the end of a verification.
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
		fmt.Fprintf(c.err, "nomen: %d faults\n", line.Faults)
		return errNo
	case !c.json:
		fmt.Fprintf(c.out, "%s, no faults\n", what)
	}
	return nil
}

// follows says why the log of head later does not begin with that of an earlier
// one, "" if it does. The proof comes from the store, and is checked here.
func follows(ctx context.Context, b backend, later, earlier store.Head) (string, error) {
	if later.Size < earlier.Size {
		return fmt.Sprintf("the log has %d changes, and had %d: changes are missing", later.Size, earlier.Size), nil
	}
	proof, err := b.ProveHead(ctx, later.Size, earlier.Size)
	switch {
	case err != nil && errors.Is(err, ctx.Err()):
		return "", err
	case err != nil:
		return "", fmt.Errorf("no proof for the head of %d changes: %w", earlier.Size, err)
	case ledger.CheckConsistency(proof, later, earlier) != nil:
		return fmt.Sprintf("the log does not begin with that of the head %s: changes before number %d are not those that they were", earlier, earlier.Size+1), nil
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
