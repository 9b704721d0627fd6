package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/handover"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
)

const handoverFile = "names.handover"

func (c *cli) handoverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "handover",
		Short: "hand over all names to another organisation, with proof",
		Long: `Handover moves everything that a store has to another organisation: records, naming
authorities, users and the rights of tokens, with their histories, in one archive that both
sides verify. The archive has no secrets. The old key of the log signs the new one, so that
those who verified the log before can verify it afterwards, and old proofs stay valid.`,
	}
	cmd.AddCommand(c.handoverExportCommand(), c.handoverCheckCommand(), c.handoverImportCommand())
	return cmd
}

const handoverExportLong = `Export writes everything that the store has to FILE, or to names.handover in DIR, and
verifies the archive. It needs an administrator of all names, because only this role can read
the history of users and tokens. The server may keep running; export writes the changes made
before it started. Stop accepting changes before the last export.

--log-key and --successor sign the hand-over note: it names the old and the new key of the
log, and the head of the log. The new organisation makes its key with 'nomen log key new'
and sends the public key, NAME+HASH+KEY.

The archive has the last published checkpoint, with which the new organisation can make
receipts that the old key has signed. Import verifies that the archive continues it. If a
server has the store open, pass the checkpoint with --checkpoint, from a file or -.

FILE has reserved names, and names and mail addresses of users. Only you can read it.`

func (c *cli) handoverExportCommand() *cobra.Command {
	var logKey, successor, checkpoint string
	cmd := &cobra.Command{
		Use:   "export FILE|DIR",
		Short: "write everything to an archive",
		Long:  handoverExportLong,
		Example: `  nomen handover export --log-key /etc/nomen/log.key --successor new.example/-/log+1e5ebf05+AQh9… names.handover
  curl -s https://old.example/-/log/checkpoint | nomen handover export --checkpoint - names.handover`,
		Args: arguments(1, 1),
	}
	f := cmd.Flags()
	f.StringVar(&logKey, "log-key", "", "file with the private key of the log, which signs the hand-over note")
	f.StringVar(&successor, "successor", "", "public key of the log from now on")
	f.StringVar(&checkpoint, "checkpoint", "", "file with the last published checkpoint; - is standard input")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (logKey == "") != (successor == "") {
			return usagef("handover export: --log-key and --successor belong together")
		}
		published, err := c.readSmall(checkpoint, tlog.MaxCheckpoint)
		if err != nil {
			return err
		}
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			return c.exportHandover(cmd.Context(), b, args[0], logKey, successor, published)
		})
	}
	return cmd
}

// readSmall returns the content of a file of at most limit bytes, or "" for the name "".
func (c *cli) readSmall(file string, limit int64) (string, error) {
	if file == "" {
		return "", nil
	}
	in, _, err := c.open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s: longer than %d bytes", file, limit)
	}
	return string(b), err
}

// A handoverLine is the JSON result of the hand-over commands.
type handoverLine struct {
	File    string `json:"file"`
	Changes uint64 `json:"changes"`
	Head    string `json:"head"`
	From    string `json:"from,omitempty"` // key that has signed the note
	To      string `json:"to,omitempty"`
	Trusted bool   `json:"trusted"` // the key that has signed the note was given, not read from the archive
	Note    string `json:"note,omitempty"`
	Store   string `json:"store,omitempty"`
}

func (c *cli) exportHandover(ctx context.Context, b backend, file, logKey, successor, checkpoint string) error {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, handoverFile)
	}
	head, err := headOf(ctx, b)
	if err != nil {
		return err
	}
	h := handover.Header{Made: clock().UTC().Format(time.RFC3339), Program: versionText(), Checkpoint: checkpoint}
	if err := c.addPublished(ctx, b, &h); err != nil {
		return err
	}
	from, origin := "", ""
	if last, err := tlog.Peek([]byte(h.Checkpoint)); err == nil {
		origin = last.Origin
	}
	if logKey != "" {
		if h.Note, from, err = signHandover(logKey, origin, successor, head); err != nil {
			return err
		}
	}
	bar, end := c.counting("changes")
	err = durable.Replace(durable.Disk{Mode: durable.Private}, file, func(w io.Writer) error {
		return handover.Write(ctx, w, h, head, upTo(head.Size, bar, b.Changes(ctx, 0)))
	})
	end()
	if err != nil {
		return err
	}
	return c.checkHandover(file, from)
}

// addPublished adds the checkpoints and notes of the published log to the header of an archive. It
// adds the last checkpoint unless the header already has one, and the checkpoints and hand-over
// notes of earlier origins.
func (c *cli) addPublished(ctx context.Context, b backend, h *handover.Header) error {
	l, ok := b.(*local)
	if !ok {
		return nil
	}
	vault, ok := l.store.(store.Vault)
	if !ok {
		return nil
	}
	s, err := publish.ReadState(ctx, vault, filepath.Join(c.data, publishedFile))
	if err != nil || s == nil {
		return err
	}
	if h.Checkpoint == "" {
		h.Checkpoint = s.Published
	}
	h.Ended, h.Notes = s.Ended, s.Notes
	return nil
}

func headOf(ctx context.Context, b backend) (store.Head, error) {
	if l, ok := b.(*local); ok {
		return settledHead(ctx, l.store)
	}
	return b.Head(ctx)
}

// signHandover returns a hand-over note, signed by the key in a file, and the public key of the
// signer. If origin is "", because nothing was published, the name of the key is the origin.
func signHandover(file, origin, successor string, head store.Head) (signed, from string, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	signer, from, err := publish.SignerFor(strings.TrimSpace(string(b)), origin)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", file, err)
	}
	n := tlog.Handover{Origin: signer.Name(), Size: head.Size, Root: handover.RootOf(head), From: from, To: successor}
	msg, err := n.Sign(signer)
	return string(msg), from, err
}

const handoverCheckLong = `Check verifies an archive without changing anything: that it is complete, that every change
has its digest, that the changes have the head, and that the hand-over note is signed for
this head. With --key, the note must be signed by that key: the public key of the log, which
the old organisation has published. Without --key, check uses the key in the archive, which
proves nothing about who made the archive.

--note prints only the signed note. Publish it, so that others can verify the succession.`

func (c *cli) handoverCheckCommand() *cobra.Command {
	var key string
	var noteOnly bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "verify an archive",
		Long:  handoverCheckLong,
		Example: `  nomen handover check --key old.example/-/log+0a3c61c8+AS4k… names.handover
  nomen handover check --note names.handover > handover.note`,
		Args: arguments(1, 1),
	}
	cmd.Flags().StringVar(&key, "key", "", "public key of the log until now")
	cmd.Flags().BoolVar(&noteOnly, "note", false, "print the signed hand-over note")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if !noteOnly {
			return c.checkHandover(args[0], key)
		}
		line, err := verifyHandover(args[0], key)
		if err == nil && line.Note == "" {
			err = fmt.Errorf("%s: the archive has no hand-over note", args[0])
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(c.out, line.Note)
		return err
	}
	return cmd
}

func verifyHandover(file, key string) (handoverLine, error) {
	f, err := os.Open(file)
	if err != nil {
		return handoverLine{}, err
	}
	defer f.Close()
	a, n, err := handover.Verify(f, key)
	if err != nil {
		return handoverLine{}, fmt.Errorf("%s: %w", file, err)
	}
	line := handoverLine{File: file, Changes: a.Head.Size, Head: a.Header.Head, Trusted: key != "", Note: a.Header.Note}
	if n != nil {
		line.From, line.To = n.From, n.To
	}
	return line, nil
}

func (c *cli) checkHandover(file, key string) error {
	line, err := verifyHandover(file, key)
	if err != nil {
		return err
	}
	return c.sayHandover(line, "verified")
}

func (c *cli) sayHandover(line handoverLine, what string) error {
	text := fmt.Sprintf("%s: %s, %s\nhead %s", printable(line.File), what, count(int64(line.Changes), "change"), line.Head)
	switch {
	case line.From == "":
		text += "\nno hand-over note: nothing proves the succession"
	case line.Trusted:
		text += fmt.Sprintf("\nsigned by %s\nfor       %s", printable(line.From), printable(line.To))
	default:
		text += fmt.Sprintf("\nsigned by %s, a key that only the archive names; --key verifies it\nfor       %s", printable(line.From), printable(line.To))
	}
	return c.say(line, "%s", text)
}

const handoverImportLong = `Import reads an archive of 'nomen handover export' into an empty store: pebble:DIR or
postgres://USER@HOST/DATABASE. It first verifies the whole archive, as 'handover check'
does, and changes nothing if the archive is invalid. At the end it compares the heads and
verifies the store.

If import is interrupted, run it again: it compares what is already there and continues. A
directory gets its name only when everything is in it. Do not start a server on a database
before import has ended.

Secrets are not handed over: make new tokens, and let users sign in again. The log of changes
still says what the old tokens could do.`

func (c *cli) handoverImportCommand() *cobra.Command {
	var key, to string
	cmd := &cobra.Command{
		Use:   "import --to STORE FILE",
		Short: "read an archive into an empty store",
		Long:  handoverImportLong,
		Example: `  nomen handover import --key old.example/-/log+0a3c61c8+AS4k… --to pebble:/var/lib/nomen/store names.handover
  nomen handover import --to postgres://nomen@db.example.org/names names.handover`,
		Args: arguments(1, 1),
	}
	cmd.Flags().StringVar(&key, "key", "", "public key of the log until now")
	cmd.Flags().StringVar(&to, "to", "", "empty store to import into (required)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to == "" {
			return usagef("handover import: --to is required")
		}
		return c.importHandover(cmd.Context(), args[0], to, key)
	}
	return cmd
}

const handoverPart = ".handover"

func (c *cli) importHandover(ctx context.Context, file, to, key string) error {
	line, err := verifyHandover(file, key)
	if err != nil {
		return err
	}
	line.Store = to
	dir, embedded := strings.CutPrefix(to, "pebble:")
	if !embedded {
		if err := c.loadHandover(ctx, file, to, line); err != nil {
			return err
		}
		return c.sayHandover(line, "imported and verified")
	}
	if dir = filepath.Clean(dir); dir == "." {
		return usagef("handover import: --to pebble:DIR needs a directory")
	}
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("%s: already exists: import needs a new directory", dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), durable.PrivateDir); err != nil {
		return err
	}
	if err := c.loadHandover(ctx, file, "pebble:"+dir+handoverPart, line); err != nil {
		return err
	}
	if err := durable.Move(durable.Disk{Mode: durable.Private}, dir+handoverPart, dir); err != nil {
		return err
	}
	return c.sayHandover(line, "imported and verified")
}

func (c *cli) loadHandover(ctx context.Context, file, to string, line handoverLine) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	a, err := handover.NewReader(f)
	if err != nil {
		return err
	}
	s, err := c.openAt(ctx, to, false)
	if err != nil {
		return err
	}
	err = c.loadEntries(ctx, s, a.Head, a.Entries(), line)
	if vault, ok := s.(store.Vault); ok && err == nil {
		h := a.Header
		err = publish.TakeOver(ctx, vault, withText(h.Ended, h.Checkpoint), withText(h.Notes, h.Note))
	}
	return errors.Join(err, s.Close())
}

// withText appends a text to a copy of a list, unless the text is "".
func withText(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(slices.Clone(list), text)
}

func (c *cli) loadEntries(ctx context.Context, s store.Store, head store.Head, entries iter.Seq2[*store.Entry, error], line handoverLine) error {
	bar, end := c.counting("changes")
	err := store.Load(ctx, s, shownEntries(head.Size, bar, entries))
	end()
	if err != nil {
		return fmt.Errorf("%w; run the same command again to continue", err)
	}
	faults := 0
	bar, end = c.counting("verified")
	got, err := store.Verify(ctx, s, func(f store.Fault) {
		faults++
		fmt.Fprintf(c.err, "nomen: fault: %s: %s\n", printable(f.Subject.Key), printable(f.Problem))
	}, bar)
	end()
	switch {
	case err != nil:
		return err
	case faults > 0:
		return fmt.Errorf("the imported store has %s", count(int64(faults), "fault"))
	case got.String() != line.Head:
		return fmt.Errorf("the imported store has the head %s, expected %s", got, line.Head)
	}
	return nil
}

// shownEntries yields all entries and displays the progress. Unlike upTo, it always reads to the
// end, because the last read verifies the archive.
func shownEntries(total uint64, show func(done, total uint64), entries iter.Seq2[*store.Entry, error]) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for e, err := range entries {
			if !yield(e, err) || err != nil {
				return
			}
			if e.Seq%1024 == 0 {
				show(e.Seq, total)
			}
		}
	}
}
