package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/receipt"
)

const proofLong = `A receipt is a file with which anyone can verify offline what a name led to at a time. The
server that publishes its log (log.key) gives receipts at /-/proof/NAME.`

func (c *cli) proofCommand() *cobra.Command {
	return groupOf("proof", "get and check receipts of names", proofLong, c.proofGetCommand(), c.proofCheckCommand(), c.proofAbsentCommand())
}

const proofGetLong = `Get prints the receipt for the current revision of a name, or for the revision that was
current at --at. With --via, the receipt is from the server at a URL, and has what everyone may
see. Without --via, it is from the store of the data directory, or from the server that has this
store open. It then has all the content, also who made the change, and why.

After a hand-over, --origin makes a receipt of the log before it: with the last checkpoint of
that origin, which the old key has signed. No server must have the store open.`

func (c *cli) proofGetCommand() *cobra.Command {
	var at, via, origin string
	cmd := &cobra.Command{
		Use:   "get NAME",
		Short: "get the receipt of a name",
		Long:  proofGetLong,
		Example: `  nomen proof get --via https://names.example.org urn:dns:example.org:a > a.tlog-proof
  nomen proof get --at 2026-01-31 urn:dns:example.org:a > a.tlog-proof`,
		Args: arguments(1, 1),
	}
	f := cmd.Flags()
	f.StringVar(&at, "at", "", "time, such as 2026-01-31T12:00:00Z, or day (default now)")
	f.StringVar(&origin, "origin", "", "origin of the log before a hand-over (default the present one)")
	f.StringVar(&via, "via", "", "public URL of the server, such as https://names.example.org")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if origin != "" && via != "" {
			return usagef("proof get: --origin is about the store of the data directory; omit --via")
		}
		n, err := name.Parse(args[0])
		if err != nil {
			return usageError{err}
		}
		var when time.Time
		if at != "" {
			if when, err = parseMoment(at); err != nil {
				return usagef("proof get: --at %q: must be a time such as 2006-01-02T15:04:05Z or a day such as 2006-01-02", at)
			}
		}
		var text []byte
		if via != "" {
			text, err = fetchReceipt(cmd.Context(), via, n, at)
		} else {
			text, err = c.ownReceipt(cmd.Context(), n, when, origin)
		}
		if err != nil {
			return err
		}
		_, err = c.out.Write(text)
		return err
	}
	return cmd
}

const receiptTimeout = 30 * time.Second

// fetchReceipt requests a receipt from a server. It checks only the format of the receipt. It does
// not follow redirects, so that the server cannot make it connect to another host.
func fetchReceipt(ctx context.Context, via string, n name.Name, at string) ([]byte, error) {
	if !strings.Contains(via, "://") {
		via = "http://" + via
	}
	url := strings.TrimRight(via, "/") + "/-/proof" + format.NamePath(n.Key())
	if at != "" {
		url += "?at=" + neturl.QueryEscape(at)
	}
	ctx, cancel := context.WithTimeout(ctx, receiptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, usageError{err}
	}
	req.Header.Set("Accept", "text/plain")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, tlog.MaxProof+1))
	if err != nil {
		return nil, err
	}
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		return nil, fmt.Errorf("%s: the server redirects to %s, which is not followed; if you trust that server, pass its URL with --via", url, printable(shown.Short(to, 200)))
	}
	if resp.StatusCode != http.StatusOK {
		first, _, _ := strings.Cut(strings.TrimSpace(string(b[:min(len(b), 300)])), "\n")
		return nil, fmt.Errorf("%s: status %d: %s", url, resp.StatusCode, printable(first))
	}
	if _, _, err := receipt.Parse(b); err != nil {
		return nil, fmt.Errorf("%s: the server did not send a receipt: %w", url, err)
	}
	return b, nil
}

func (c *cli) ownReceipt(ctx context.Context, n name.Name, when time.Time, origin string) (text []byte, err error) {
	err = c.withStore(ctx, reads, func(b backend) error {
		if server, ok := b.(*adminapi.Client); ok {
			if origin != "" {
				return errors.New("proof get: --origin: a server has the store of this data directory open; stop the server first")
			}
			text, err = server.Receipt(ctx, n, when)
			if errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("%s: no record found: %w", n.Key(), store.ErrNotFound)
			}
			return err
		}
		s := b.(*local).store
		o, err := c.publishOptions(s, "")
		if err != nil {
			return err
		}
		for change, err := range store.History(ctx, s, n) {
			if err != nil {
				return err
			}
			if when.IsZero() || !change.Time.After(when) {
				text, err = publish.OwnReceipt(ctx, o, origin, change)
				return err
			}
		}
		return fmt.Errorf("%s: no record found: %w", n.Key(), store.ErrNotFound)
	})
	return text, err
}

func parseMoment(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	return t.Add(24*time.Hour - time.Millisecond), err
}

const proofCheckLong = `Check verifies a receipt, without network, with the public key of the log. It prints what the
receipt proves. With --witness, it also says which of these witnesses have cosigned the
checkpoint, and with --need that at least so many must have.

If the log was handed over, --key can be the key before the hand-over: with --handover, the
file with the hand-over note, check also accepts receipts that are signed by the new key.

The exit status is 1 if the receipt proves nothing; the reason is printed.`

func (c *cli) proofCheckCommand() *cobra.Command {
	var key string
	var witnesses, handovers []string
	var need int
	cmd := &cobra.Command{
		Use:     "check --key VKEY FILE",
		Short:   "verify a receipt",
		Long:    proofCheckLong,
		Example: "  nomen proof check --key names.example.org/-/log+1b2c3d4e+AZq... a.tlog-proof",
		Args:    arguments(1, 1),
	}
	f := cmd.Flags()
	f.StringVar(&key, "key", "", "public key of the log (required)")
	f.StringArrayVar(&witnesses, "witness", nil, "public key of a witness")
	f.StringArrayVar(&handovers, "handover", nil, "file with a hand-over note, signed by --key or by the new key of the note before; can be repeated")
	f.IntVar(&need, "need", 0, "number of these witnesses that must have cosigned")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if key == "" {
			return usagef("proof check: --key is required: the public key of the log, as its operator has published it")
		}
		log, err := tlog.NewVerifier(key)
		if err != nil {
			return usagef("proof check: --key: %w", err)
		}
		var all []note.Verifier
		for _, w := range witnesses {
			v, err := tlog.NewVerifier(w)
			if err != nil {
				return usagef("proof check: --witness: %w", err)
			}
			all = append(all, v)
		}
		if need < 0 || need > len(all) {
			return usagef("proof check: --need %d: must be between 0 and the number of --witness", need)
		}
		keys, err := keysAfter(key, log, handovers)
		if err != nil {
			return err
		}
		return c.checkReceipt(args[0], keys, all, need)
	}
	return cmd
}

// keysAfter returns the keys of a log, newest first. It starts with a trusted key, and follows
// hand-over notes, each of which the previous key has signed.
func keysAfter(key string, log note.Verifier, notes []string) ([]note.Verifier, error) {
	keys := []note.Verifier{log}
	for _, file := range notes {
		msg, err := readLimited(file, tlog.MaxHandover)
		if err != nil {
			return nil, err
		}
		h, err := tlog.OpenHandover(msg, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		next, err := tlog.NewVerifier(h.To)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		key, keys = h.To, append([]note.Verifier{next}, keys...)
	}
	return keys, nil
}

// A receiptLine is the JSON result of checking a receipt.
type receiptLine struct {
	Fault    string     `json:"fault,omitempty"`
	Origin   string     `json:"origin,omitempty"`
	Size     uint64     `json:"size,omitempty"`
	Change   uint64     `json:"change,omitempty"`
	Name     string     `json:"name,omitempty"`
	Revision uint64     `json:"revision,omitempty"`
	Time     *time.Time `json:"time,omitempty"`
	Status   string     `json:"status,omitempty"`
	Hash     string     `json:"hash,omitempty"`
	Content  bool       `json:"content"`
	Public   bool       `json:"public,omitempty"` // the content is without its private part
	Targets  []string   `json:"locations,omitempty"`
	Author   string     `json:"author,omitempty"`
	Why      string     `json:"why,omitempty"`
	Reason   string     `json:"reason,omitempty"` // of a retired name
	Follows  []string   `json:"successors,omitempty"`
	Removed  *receiptBy `json:"removed,omitempty"`
	Cosigned []string   `json:"cosigned,omitempty"`
}

type receiptBy struct {
	Change uint64    `json:"change"`
	Time   time.Time `json:"time"`
	Reason string    `json:"reason,omitempty"`
}

// checkReceipt verifies the receipt in a file. One of the keys must have signed it.
func (c *cli) checkReceipt(file string, keys, witnesses []note.Verifier, need int) error {
	data, err := c.readReceipt(file)
	if err != nil {
		return err
	}
	var r *receipt.Result
	var invalid error
	for _, key := range keys {
		if r, invalid = receipt.Check(data, key, witnesses...); !errors.Is(invalid, tlog.ErrUnsigned) && !errors.Is(invalid, tlog.ErrOrigin) {
			break
		}
	}
	line := receiptLine{}
	switch {
	case invalid != nil:
		line.Fault = invalid.Error()
	case len(r.Log.Cosignatures) < need:
		line.Fault = fmt.Sprintf("%d of these witnesses have cosigned the checkpoint, but %d must have", len(r.Log.Cosignatures), need)
	default:
		line = receiptLineOf(r)
	}
	if c.json {
		err = c.printJSON(line)
	} else {
		c.tellReceipt(&line)
	}
	if err == nil && line.Fault != "" {
		return errNo
	}
	return err
}

func (c *cli) readReceipt(file string) ([]byte, error) {
	in, _, err := c.open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, tlog.MaxProof+1))
}

func receiptLineOf(r *receipt.Result) receiptLine {
	at := r.Leaf.Time
	line := receiptLine{
		Origin: r.Log.Origin, Size: r.Log.Size, Change: r.Seq, Name: r.Leaf.Subject.Key, Revision: r.Leaf.Revision, Time: &at,
		Status: string(r.Leaf.Status), Hash: fmt.Sprintf("%x", r.Hash), Content: r.Change != nil, Public: r.Public,
	}
	if r.Change != nil && r.Change.Record != nil {
		line.Author, line.Why = r.Change.Who, r.Change.Why
		line.Reason, line.Follows = r.Change.Record.Reason, r.Change.Record.Successors
		for _, l := range r.Change.Record.Locations {
			line.Targets = append(line.Targets, l.URL)
		}
	}
	if by := r.RedactedBy; by != nil {
		line.Removed = &receiptBy{Change: by.Seq, Time: by.Leaf.Time}
		if by.Change != nil {
			line.Removed.Reason = by.Change.Why
		}
	}
	for _, s := range r.Log.Cosignatures {
		line.Cosigned = append(line.Cosigned, s.Witness)
	}
	return line
}

func (c *cli) tellReceipt(l *receiptLine) {
	if l.Fault != "" {
		fmt.Fprintf(c.out, "fault: %s\n", printable(l.Fault))
		return
	}
	fmt.Fprintf(c.out, "%s revision %d, %s, is change %d of the log %s\n", printable(l.Name), l.Revision, l.Time.UTC().Format(time.RFC3339), l.Change, printable(l.Origin))
	if l.Status != "" {
		fmt.Fprintf(c.out, "status %s\n", l.Status)
	}
	for _, url := range l.Targets {
		fmt.Fprintf(c.out, "location %s\n", printable(url))
	}
	if l.Author != "" {
		fmt.Fprintf(c.out, "author %s\n", printable(l.Author))
	}
	if l.Why != "" {
		fmt.Fprintf(c.out, "reason of the change %s\n", printable(l.Why))
	}
	if l.Reason != "" {
		fmt.Fprintf(c.out, "reason %s\n", printable(l.Reason))
	}
	for _, name := range l.Follows {
		fmt.Fprintf(c.out, "successor %s\n", printable(name))
	}
	switch {
	case l.Removed != nil:
		fmt.Fprintf(c.out, "the content was removed by change %d, %s", l.Removed.Change, l.Removed.Time.UTC().Format(time.RFC3339))
		if l.Removed.Reason != "" {
			fmt.Fprintf(c.out, ": %s", printable(l.Removed.Reason))
		}
		fmt.Fprintln(c.out)
	case l.Public:
		fmt.Fprintln(c.out, "the receipt has the public content; it does not say who made the change, and why")
	case !l.Content:
		fmt.Fprintln(c.out, "the receipt does not have the content, so it proves only the name, the status and the time")
	}
	for _, w := range l.Cosigned {
		fmt.Fprintf(c.out, "cosigned by %s\n", printable(w))
	}
}

const proofAbsentLong = `Absent says what can be proved about the absence of a name. The log is ordered by time, not by
name, so no short proof shows that a name is not in it. Absent therefore reads the log of the
store in the data directory up to the published checkpoint, and says whether an entry is about
the name.

Others cannot repeat this with the checkpoint alone. They need all entries: either the server
publishes them (log.entries), and they read them all, or they trust the one who ran
this command. The exit status is 1 if the name is in the log.`

func (c *cli) proofAbsentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "absent NAME",
		Short:   "say whether a name is absent from the log, and what that proves",
		Long:    proofAbsentLong,
		Example: "  nomen proof absent urn:dns:example.org:a",
		Args:    arguments(1, 1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := name.Parse(args[0])
		if err != nil {
			return usageError{err}
		}
		return c.withSource(cmd.Context(), reads, "proof absent", func(s store.Store) error {
			o, err := c.publishOptions(s, "")
			if err != nil {
				return err
			}
			return c.absent(cmd.Context(), o, n)
		})
	}
	return cmd
}

// An absentLine is the JSON result of 'proof absent'.
type absentLine struct {
	Name   string `json:"name"`
	Origin string `json:"origin"`
	Size   uint64 `json:"size"`
	Change uint64 `json:"change,omitempty"` // the first change of the name; absent for a name without changes
}

func (c *cli) absent(ctx context.Context, o publish.Options, n name.Name) error {
	progress, end := c.counting("proof absent: entries")
	found, err := publish.Absent(ctx, o, store.Subject{Kind: store.KindName, Key: n.Key()}, progress)
	end()
	if err != nil {
		return err
	}
	line := absentLine{n.Key(), found.Origin, found.Size, found.Seq}
	switch {
	case c.json:
		err = c.printJSON(line)
	case found.Seq > 0:
		_, err = fmt.Fprintf(c.out, "%s is in the log %s: change %d\n", printable(n.Key()), found.Origin, found.Seq)
	default:
		_, err = fmt.Fprintf(c.out, "%s is in none of the first %d entries of the log %s\nThis is the result of reading the log here. It is not a proof for others: they must read all entries themselves.\n", printable(n.Key()), found.Size, found.Origin)
	}
	if err == nil && found.Seq > 0 {
		return errNo
	}
	return err
}

func readLimited(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errors.New("the file is too large")
	}
	return b, err
}
