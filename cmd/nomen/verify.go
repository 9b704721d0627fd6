package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

const verifyLong = `Verify checks every record against its history, the history against the chain of
digests over all changes, and every index against the records. It names each fault:
a change that was altered, removed, added or moved is found. Changes that are dated
in the future by the clock of this machine are one fault. At the end it prints the
head, SIZE:HASH, which stands for all changes up to then.

Note the head, somewhere else than on this machine. With --head it is checked that
the log of today begins with the log of that head: nothing of it was changed, not
even by somebody who could write the whole store anew.

A running server goes on serving meanwhile. In a database, changes that still wait
for their place in the log get it first. The exit status is 1 if there are faults.`

func (c *cli) verifyCommand() *cobra.Command {
	var noted string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "check every record and the history",
		Long:  verifyLong,
		Example: `  nomen verify
  nomen verify --head 1234:5f0c...e1 --json`,
		Args: noArguments,
	}
	cmd.Flags().StringVar(&noted, "head", "", "SIZE:HASH that an earlier verify printed")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var earlier *store.Head
		if noted != "" {
			h, err := parseHead(noted)
			if err != nil {
				return err
			}
			earlier = &h
		}
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			return c.verify(cmd.Context(), b, earlier)
		})
	}
	return cmd
}

// headText spells a head as people note it.
func headText(h store.Head) string { return fmt.Sprintf("%d:%x", h.Size, h.Hash) }

// parseHead reads SIZE:HASH.
func parseHead(s string) (store.Head, error) {
	var h store.Head
	size, hash, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(size, 10, 64)
	b, hexErr := hex.DecodeString(hash)
	if !ok || err != nil || hexErr != nil || len(b) != len(h.Hash) {
		return h, usagef("--head %.80q: want SIZE:HASH, as verify prints it", s)
	}
	h.Size, h.Hash = n, [32]byte(b)
	return h, nil
}

// A verifiedLine is the end of a verification as JSON.
type verifiedLine struct {
	Head    string `json:"head"`
	Changes uint64 `json:"changes"` // in the log
	Faults  int    `json:"faults"`
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
	if c.json {
		if err := c.printJSON(verifiedLine{headText(head), head.Size, faults}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.out, "head %s\n", headText(head))
	}
	switch {
	case faults > 0:
		fmt.Fprintf(c.err, "nomen: %d faults\n", faults)
		return errNo
	case !c.json:
		fmt.Fprintf(c.out, "%d changes, no faults\n", head.Size)
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
		return fmt.Sprintf("the log does not begin with that of the head %s: changes before number %d are not those that they were", headText(earlier), earlier.Size+1), nil
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
