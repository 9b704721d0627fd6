package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/store"
)

// maxProofFile is the maximum size of a file with a proof, in bytes. A proof contains hashes, and
// at most one record. The limit permits a record of maximum size with every byte escaped.
const maxProofFile = 32 << 20

type provenLine struct {
	Head    string `json:"head"`
	Change  uint64 `json:"change"`
	Key     string `json:"key"`
	Content bool   `json:"content"` // the content was checked too; false if it was removed
	Fault   string `json:"fault,omitempty"`
}

// verifyProof checks a file with a proof that the log contains a change, without a store or a
// server. If noted is not nil, the proof must be for that head.
func (c *cli) verifyProof(file string, noted *store.Head) error {
	p, entry, err := c.readProof(file)
	if err != nil {
		return err
	}
	if noted != nil && noted.Size != p.Head.Size {
		return usagef("verify: the proof is for the head of %d changes, not of %d; request one for that head: GET changes/%d?size=%d", p.Head.Size, noted.Size, entry.Seq, noted.Size)
	}
	line := provenLine{Head: p.Head.String(), Change: entry.Seq, Key: entry.Key, Content: !entry.Redacted}
	switch err := p.Check(); {
	case errors.As(err, new(*store.EntryError)):
		line.Fault = "the content of the change does not match its digest"
	case err != nil:
		line.Fault = "the hashes do not prove that the log contains the change"
	case noted != nil && *noted != p.Head:
		line.Fault = fmt.Sprintf("the proof is for another log: its head is not %s", noted)
	}
	return c.showProof(line, entry)
}

func (c *cli) readProof(file string) (p audit.Proof, entry adminapi.Entry, err error) {
	in, _, err := c.open(file)
	if err != nil {
		return p, entry, err
	}
	defer in.Close()
	var j adminapi.Proof
	if err = json.NewDecoder(io.LimitReader(in, maxProofFile)).Decode(&j); err == nil {
		p.Entry, p.Head, p.Hashes, err = j.Parts()
	}
	if err != nil {
		return p, entry, usagef("verify: %s: not a proof, as in the response to GET changes/SEQ: %v", file, err)
	}
	return p, j.Entry, nil
}

func (c *cli) showProof(line provenLine, e adminapi.Entry) error {
	if c.json {
		if err := c.printJSON(line); err != nil {
			return err
		}
	} else {
		c.tellProof(line, e)
	}
	if line.Fault != "" {
		return errNo
	}
	return nil
}

func (c *cli) tellProof(line provenLine, e adminapi.Entry) {
	fmt.Fprintf(c.out, "change %d: %s revision %d  %s\n", e.Seq, printable(e.Key), e.Revision, e.Time.UTC().Format(time.RFC3339))
	fmt.Fprintf(c.out, "head %s\n", line.Head)
	switch {
	case line.Fault != "":
		fmt.Fprintf(c.out, "fault: %s\n", line.Fault)
	case !line.Content:
		fmt.Fprintln(c.out, "the log with this head contains this change; its content was removed and cannot be checked")
	default:
		fmt.Fprintln(c.out, "the log with this head contains this change with this content")
	}
}
