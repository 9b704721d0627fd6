// Package reports sends periodic reports by email and webhook. The operator gets reports about all
// names, and the contacts of a naming authority get reports about its names.
//
// A [Runner] sends a report after the end of each period, once to each recipient. If a delivery
// fails, the Runner repeats it for up to three days. It records each delivery in the store, so that
// the delivery is not repeated after a restart or by other servers that use the same database.
// After a crash between a delivery and its record, this delivery is repeated with the same
// Message-ID.
package reports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/mail"
	"github.com/nomen-project/nomen/store"
)

// A Period is the time that a report covers: a week or a month.
type Period uint8

// The periods, in UTC.
const (
	Weekly  Period = iota // from Monday to Sunday
	Monthly               // a calendar month
)

// ended returns the last period that ended before a time: its begin, its end and its ID, such as
// 2026-W47 or 2026-11. The IDs of later periods are greater.
func (p Period) ended(now time.Time) (from, to time.Time, id string) {
	day := now.UTC().Truncate(24 * time.Hour)
	if p == Monthly {
		to = day.AddDate(0, 0, 1-day.Day())
		from = to.AddDate(0, -1, 0)
		return from, to, from.Format("2006-01")
	}
	to = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	from = to.AddDate(0, 0, -7)
	year, week := from.ISOWeek()
	return from, to, fmt.Sprintf("%04d-W%02d", year, week)
}

// A Report produces the content of reports of one kind.
type Report struct {
	Name   string // such as "month"; part of the IDs of messages
	Period Period

	// Make returns the content about the names with a prefix, or about all names if the prefix is "".
	// It returns nil if there is nothing to report.
	Make func(ctx context.Context, prefix string, from, to time.Time) (*Content, error)
}

// A Content is the content of a report for a recipient. Webhooks get Object, and email has the
// other fields.
type Content struct {
	Subject, Text string
	Files         []mail.File
	Object        any // encoded as JSON
}

// A Recipient gets reports about all names, or about the names with a prefix. Either Address or
// Hook is set.
type Recipient struct {
	Prefix  string
	Address string
	Hook    *mail.Webhook
}

func (r *Recipient) key() string {
	if r.Hook != nil {
		return r.Prefix + " " + r.Hook.URL
	}
	return r.Prefix + " " + r.Address
}

// Options configure a [Runner]. All fields are required, except Log.
type Options struct {
	Reports    []Report
	Recipients func(context.Context) ([]Recipient, error)
	Sender     mail.Sender // may be nil if no recipient has an address
	From       string      // address of the sender
	Vault      store.Vault // keeps the state of deliveries
	Holder     string      // identifies this process among the servers that use the same store
	Now        func() time.Time
	Log        *slog.Logger
}

// A Runner sends reports.
type Runner struct{ o Options }

// New returns a Runner.
func New(o Options) *Runner {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{o}
}

const (
	pause     = time.Minute      // interval at which the Runner checks for due reports
	delay     = 2 * time.Hour    // after the end of a period, so that all servers have written their counts
	leaseTime = 10 * time.Minute // must be longer than making and sending a report takes
	firstWait = 5 * time.Minute  // wait after the first failure of a delivery; doubled after each further failure
	lastWait  = 6 * time.Hour
	giveUp    = 72 * time.Hour // after the end of the period
	maxFailed = 1000           // maximum number of recipients whose deliveries are repeated
)

func secretKey(report string) string { return "reports." + report }

type state struct {
	Done   string            `json:"done"`             // the last period that is complete
	Now    string            `json:"now,omitempty"`    // the period that is being sent
	After  string            `json:"after,omitempty"`  // recipients up to this key were handled for the period Now
	Failed map[string]failed `json:"failed,omitempty"` // failed deliveries of the period Now, by the key of the recipient
}

type failed struct {
	Times int       `json:"times"`
	Next  time.Time `json:"next"`
}

// Run sends reports until ctx ends.
func (r *Runner) Run(ctx context.Context) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	wrong := false
	for {
		err := r.Step(ctx)
		if err != nil && ctx.Err() == nil && !wrong {
			r.o.Log.Warn("cannot send reports; trying again", "err", err)
		}
		wrong = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Step sends all due reports. It returns an error only if the store fails, and logs failed
// deliveries.
func (r *Runner) Step(ctx context.Context) error {
	for i := range r.o.Reports {
		if err := r.report(ctx, &r.o.Reports[i]); err != nil {
			return err
		}
	}
	return nil
}

// report sends a report to all recipients if it is due.
func (r *Runner) report(ctx context.Context, rep *Report) error {
	s, known, err := r.load(ctx, rep)
	if err != nil {
		return err
	}
	from, to, id := rep.Period.ended(r.o.Now().Add(-delay))
	switch {
	case s.Done >= id && known:
		return nil
	case !known: // the first report covers a period that the server has seen from near its beginning
		s.Done = id
		return r.mine(ctx, func() error { return r.save(ctx, rep, s) })
	}
	return r.mine(ctx, func() error {
		if s, _, err = r.load(ctx, rep); err != nil || s.Done >= id { // another server may have sent the report
			return err
		}
		if s.Now != id {
			s = state{Done: s.Done, Now: id}
		}
		return r.send(ctx, rep, &s, from, to)
	})
}

func (r *Runner) mine(ctx context.Context, do func() error) error {
	if ok, err := r.o.Vault.Lease(ctx, "reports", r.o.Holder, leaseTime); err != nil || !ok {
		return err
	}
	err := do()
	_, free := r.o.Vault.Lease(context.WithoutCancel(ctx), "reports", r.o.Holder, 0)
	return errors.Join(err, free)
}

func (r *Runner) load(ctx context.Context, rep *Report) (s state, known bool, err error) {
	text, err := r.o.Vault.Secret(ctx, secretKey(rep.Name))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return s, false, nil
	case err != nil:
		return s, false, err
	}
	return s, json.Unmarshal(text, &s) == nil && s.Done != "", nil
}

func (r *Runner) save(ctx context.Context, rep *Report, s state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return r.o.Vault.PutSecret(ctx, secretKey(rep.Name), text)
}

// send sends a report to the recipients that have not received it.
func (r *Runner) send(ctx context.Context, rep *Report, s *state, from, to time.Time) error {
	all, err := r.o.Recipients(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b Recipient) int { return strings.Compare(a.key(), b.key()) })
	all = slices.CompactFunc(all, func(a, b Recipient) bool { return a.key() == b.key() })
	made := contents{rep: rep, from: from, to: to}
	for i := range all {
		to, key := &all[i], all[i].key()
		before, again := s.Failed[key]
		if key <= s.After && (!again || r.o.Now().Before(before.Next)) {
			continue
		}
		if ok, err := r.o.Vault.Lease(ctx, "reports", r.o.Holder, leaseTime); err != nil || !ok {
			return err
		}
		err := r.deliver(ctx, &made, s.Now, to)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.note(s, key, before, err)
		s.After = max(s.After, key)
		if err := r.save(ctx, rep, *s); err != nil {
			return err
		}
	}
	if len(s.Failed) == 0 || r.o.Now().After(to.Add(giveUp)) {
		if len(s.Failed) > 0 {
			r.o.Log.Error("giving up: some recipients did not get a report", "report", rep.Name, "period", s.Now, "recipients", len(s.Failed))
		}
		return r.save(ctx, rep, state{Done: s.Now})
	}
	return nil
}

func (r *Runner) note(s *state, key string, before failed, err error) {
	switch {
	case err == nil:
		delete(s.Failed, key)
		return
	case !mail.IsTemporary(err):
		delete(s.Failed, key)
		r.o.Log.Error("a report cannot be delivered", "to", shown(key), "err", err)
		return
	case before.Times == 0:
		r.o.Log.Warn("a report was not delivered; trying again", "to", shown(key), "err", err)
	}
	wait := min(firstWait<<min(before.Times, 10), lastWait)
	if s.Failed == nil {
		s.Failed = map[string]failed{}
	}
	if _, again := s.Failed[key]; again || len(s.Failed) < maxFailed {
		s.Failed[key] = failed{before.Times + 1, r.o.Now().Add(wait)}
	}
}

// shown returns the key of a recipient for a log. It hides the URLs of webhooks, which may contain
// secrets.
func shown(key string) string {
	prefix, to, _ := strings.Cut(key, " ")
	if strings.Contains(to, "://") {
		to = "webhook"
	}
	return strings.TrimSpace(prefix + " " + to)
}

// contents makes the content of a report once for each prefix. Recipients must be in the order of
// their prefixes.
type contents struct {
	rep      *Report
	from, to time.Time

	made   bool
	prefix string
	last   *Content
}

func (c *contents) of(ctx context.Context, prefix string) (*Content, error) {
	if c.made && c.prefix == prefix {
		return c.last, nil
	}
	content, err := c.rep.Make(ctx, prefix, c.from, c.to)
	if err == nil {
		c.made, c.prefix, c.last = true, prefix, content
	}
	return content, err
}

// deliver sends a report to a recipient, if there is something to report.
func (r *Runner) deliver(ctx context.Context, made *contents, period string, to *Recipient) error {
	c, err := made.of(ctx, to.Prefix)
	if c == nil || err != nil {
		return err
	}
	id := strings.Trim(made.rep.Name+"-"+period+"-"+to.Prefix, "-")
	if to.Hook != nil {
		object, err := json.Marshal(c.Object)
		if err != nil {
			return err
		}
		return to.Hook.Post(ctx, id, object)
	}
	if r.o.Sender == nil {
		return errNoSender
	}
	return r.o.Sender.Send(ctx, &mail.Message{From: r.o.From, To: to.Address, Subject: c.Subject, Text: c.Text, Files: c.Files, Date: r.o.Now(), ID: cmp.Or(id, "report")})
}

var errNoSender = errors.New("reports: no mail server is configured")
