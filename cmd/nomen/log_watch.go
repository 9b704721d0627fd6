package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/internal/mail"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/watch"
)

const alertsHelp = `Each alert is a line with its kind and the reason. These kinds mean that the log cannot be
trusted, or that the server does not show what the log has:

  rollback     the log has fewer entries than before: an older backup was restored
  fork         earlier entries were rewritten, or others were shown another history
  origin, key, signature, malformed
               the checkpoint belongs to another log, has no signature by the key, has a
               wrong signature, or breaks a rule of its format
  unwitnessed  too few of the witnesses have cosigned the checkpoint
  tile, bundle, entry
               a file of the log is missing, or does not match the checkpoint
  back-dated, future
               an entry has a time that does not fit its place in the log
  dropped, altered, retargeted
               the server does not have a name that is in the log, shows other content, or
               redirects to a location that its record does not have
  unreadable   the log could not be checked for an hour; watch continues

After these kinds, watch continues: changed, retired, deleted and redacted are about changes of
names below --prefix; stale means that the log has not grown for --max-age.`

const logWatchLong = `Watch follows the published log of a server (log.key) from outside. It keeps the heads that
it has seen in the file of --state, and verifies that the log always continues them. If the
log publishes its entries, watch checks their times, and reports changes of names below
--prefix. It also compares the names below --prefix with what the server shows.

` + alertsHelp + `

The first run stores the head. It trusts the log up to there; 'nomen audit' checks the rest.
With --prefix, the first run reads all entries to learn the names.

Watch runs until it is interrupted, or until the log cannot be trusted: then it exits with 1.
With --once, it checks once, and exits with 1 if there was any alert. The exit status is 3 if
the log could not be read. An alert never replaces the stored heads; the checkpoint of the
alert is stored beside them in a file that ends with .evidence.

With --seen FILE, watch also checks a checkpoint, or a receipt, that another person got: if
the log showed that person another history, this is a fork.`

const auditLong = `Audit checks the whole published log of a server once, from outside, in bounded memory: the
signature and the cosignatures of the checkpoint, all tiles, all entries that are published,
and their times. With --prefix, it also compares the names below the prefix with what the
server shows.

With --state FILE, an audit that was interrupted continues, and the next audit also verifies
that the log continues the audited log. 'nomen log watch' can use the same file.

` + alertsHelp + `

Audit stops at the first file that does not match. The exit status is 1 if there was an
alert, except about changes of names, and 3 if the log could not be read.`

// A watching holds the options and the state of 'nomen log watch' or 'nomen audit'.
type watching struct {
	*cli
	key       string
	witnesses []string
	prefixes  []string
	seen      []string
	webhook   string
	interval  time.Duration
	once      bool
	options   watch.Options
	failed    error // from printing alerts
}

func (c *cli) logWatchCommand() *cobra.Command {
	w := &watching{cli: c}
	cmd := &cobra.Command{
		Use:   "watch --key VKEY --state FILE URL",
		Short: "follow the published log of a server, and report what contradicts it",
		Long:  logWatchLong,
		Example: `  nomen log watch --key names.example.org/-/log+1b2c3d4e+AZq... --state names.watch https://names.example.org/-/log
  nomen log watch --once --prefix urn:nbn:fi --webhook https://chat.example.org/hook --key ... --state names.watch https://names.example.org/-/log`,
		Args: arguments(1, 1),
	}
	f := cmd.Flags()
	w.register(f)
	f.StringVar(&w.options.State, "state", "", "file in which to keep the heads of the log")
	f.DurationVar(&w.interval, "interval", time.Minute, "time between two checks")
	f.DurationVar(&w.options.MaxAge, "max-age", 0, "report a log that has not grown for so long, such as 168h (default never)")
	notNegative(f, "max-age")
	f.Lookup("max-age").DefValue = "0s"
	f.BoolVar(&w.once, "once", false, "check once")
	f.StringVar(&w.webhook, "webhook", "", "URL to which each alert is sent as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case w.options.State == "":
			return usagef("log watch: --state is missing: watch needs a file in which to keep the heads")
		case w.interval < time.Second:
			return usagef("log watch: --interval %v: must be at least 1s", w.interval)
		}
		return w.watch(cmd.Context(), args[0])
	}
	return cmd
}

func (c *cli) auditCommand() *cobra.Command {
	w := &watching{cli: c}
	cmd := &cobra.Command{
		Use:   "audit --key VKEY URL",
		Short: "check the whole published log of a server from outside",
		Long:  auditLong,
		Example: `  nomen audit --key names.example.org/-/log+1b2c3d4e+AZq... https://names.example.org/-/log
  nomen audit --state names.audit --witness witness.example.org+a1b2c3d4+BGx... --need 1 --key ... https://names.example.org/-/log`,
		Args: arguments(1, 1),
	}
	w.register(cmd.Flags())
	cmd.Flags().StringVar(&w.options.State, "state", "", "file in which to save the progress (default none)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w.options.All = true
		return w.audit(cmd.Context(), args[0])
	}
	return cmd
}

// register registers the options that both commands have.
func (w *watching) register(f *pflag.FlagSet) {
	f.StringVar(&w.key, "key", "", "public key of the log")
	f.StringArrayVar(&w.witnesses, "witness", nil, "public key of a witness whose cosignature counts")
	f.IntVar(&w.options.Need, "need", 0, "number of cosignatures that the checkpoint must have (default as many as --witness)")
	f.StringArrayVar(&w.prefixes, "prefix", nil, "name, or prefix of names, to report changes of and to compare with the server")
	f.StringArrayVar(&w.seen, "seen", nil, "file with a checkpoint or receipt of this log that another person got")
	f.DurationVar(&w.options.Tolerance, "tolerance", watch.DefaultTolerance, "how much the times of entries may be out of order")
	notNegative(f, "need", "tolerance")
}

func (w *watching) prepare(address string) (*watch.Watcher, error) {
	if w.key == "" {
		return nil, usagef("--key is missing: pass the public key of the log, which its operator publishes")
	}
	keys, err := verifiersOf("key", []string{w.key})
	if err != nil {
		return nil, err
	}
	o := &w.options
	o.Key, o.Now, o.Alert = keys[0], clock, w.alert
	if o.Witnesses, err = verifiersOf("witness", w.witnesses); err != nil {
		return nil, err
	}
	if o.Need == 0 {
		o.Need = len(o.Witnesses)
	}
	for _, text := range w.prefixes {
		p, err := name.ParsePrefix(text)
		if err != nil {
			return nil, usagef("--prefix %.80q: %w", text, err)
		}
		o.Prefixes = append(o.Prefixes, p)
	}
	for _, file := range w.seen {
		text, err := readLimited(file, tlog.MaxProof)
		if err != nil {
			return nil, err
		}
		if p, err := tlog.ParseProof(text); err == nil {
			text = p.Checkpoint
		}
		o.Seen = append(o.Seen, text)
	}
	if o.Log, err = watch.NewRemote(address, nil, clock); err != nil {
		return nil, usageError{err}
	}
	if len(o.Prefixes) > 0 {
		server, err := watch.NewServer(address, nil, o.Key, o.Witnesses...)
		if err == nil {
			o.Served = server
		} else {
			fmt.Fprintf(w.err, "nomen: names are not compared with the server: %s\n", printable(err.Error()))
		}
	}
	watcher, err := watch.New(*o)
	if err != nil {
		return nil, usageError{err}
	}
	return watcher, nil
}

// alert prints an alert, and sends it to the webhook.
func (w *watching) alert(a *watch.Alert) {
	w.failed = errors.Join(w.failed, w.say(a, "%s: %s", a.Kind, printable(a.Text)))
	if w.webhook == "" {
		return
	}
	object, err := json.Marshal(a)
	if err == nil {
		hook := &mail.Webhook{URL: w.webhook, Agent: "nomen/" + versionText(), Allow: func(netip.Addr) error { return nil }}
		err = hook.Post(context.Background(), fmt.Sprintf("%s %s %d %d", a.Origin, a.Kind, a.Size, a.Entry), object)
	}
	if err != nil {
		fmt.Fprintf(w.err, "nomen: cannot send an alert to the webhook: %s\n", printable(err.Error()))
	}
}

// watch follows the log at an address and prints alerts.
func (w *watching) watch(ctx context.Context, address string) error {
	if w.webhook != "" {
		if err := (&mail.Webhook{URL: w.webhook}).Check(); err != nil {
			return usagef("--webhook: %w", err)
		}
	}
	watcher, err := w.prepare(address)
	if err != nil {
		return err
	}
	last := uint64(0)
	for first := true; ; first = false {
		r, err := watcher.Check(ctx)
		if w.failed != nil {
			return w.failed
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && w.once:
			return err
		case err != nil:
			fmt.Fprintf(w.err, "nomen: %s\n", printable(err.Error()))
		case r.Alerts > r.Notices || w.once && r.Alerts > 0:
			return errNo
		case first || w.once || r.Size != last && w.verbose:
			if err := w.report(r); err != nil || w.once {
				return err
			}
		}
		last = r.Size
		select {
		case <-time.After(w.interval):
		case <-ctx.Done():
			return nil
		}
	}
}

// report prints the result of a check.
func (w *watching) report(r watch.Report) error {
	text := fmt.Sprintf("%s: %s", printable(r.Origin), count(int64(r.Size), "entry"))
	text = strings.Replace(text, "entrys", "entries", 1)
	if len(w.options.Witnesses) > 0 {
		text += fmt.Sprintf(", %s", count(int64(r.Cosigns), "cosignature"))
	}
	if !r.Entries && (w.options.All || r.Checked > 0) {
		text += "; the log does not publish its entries, so their times and names were not checked"
	}
	if r.Hidden > 0 {
		text += fmt.Sprintf("; entries that are not shown, because their names are not public: %d", r.Hidden)
	}
	if r.Served > 0 {
		text += fmt.Sprintf("; %s compared with the server", count(int64(r.Served), "name"))
	}
	if r.Unanswered > 0 {
		text += fmt.Sprintf("; %s could not be compared, because the server did not answer properly", count(int64(r.Unanswered), "name"))
	}
	return w.say(r, "%s", text)
}

// audit checks all entries of the log at an address.
func (w *watching) audit(ctx context.Context, address string) error {
	bar, end := w.counting("audit")
	w.options.Progress = bar
	watcher, err := w.prepare(address)
	if err != nil {
		end()
		return err
	}
	r, err := watcher.Check(ctx)
	end()
	switch {
	case w.failed != nil:
		return w.failed
	case err != nil:
		return err
	case r.Alerts > r.Notices:
		return errNo
	}
	return w.report(r)
}
