package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/mail"
	"github.com/nomen-project/nomen/internal/reports"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/store"
)

type reportFlags struct {
	to                 []string
	contacts           bool
	from               string
	smtp, user         string
	password           string // file or credential
	sendmail           string
	webhook, hookField string // URL; file or credential of the secret
}

func (o *reportFlags) register(f *pflag.FlagSet) {
	f.StringSliceVar(&o.to, "reports.to", nil, "mail address that gets the reports about all names")
	f.BoolVar(&o.contacts, "reports.contacts", false, "send the contact of each naming authority the reports about its names")
	f.StringVar(&o.from, "reports.from", "", "mail address of the sender of the reports")
	f.StringVar(&o.smtp, "reports.smtp", "", "mail server: smtps://HOST for TLS, or smtp://HOST for STARTTLS")
	f.StringVar(&o.user, "reports.smtp-user", "", "user for the mail server (default no authentication)")
	f.StringVar(&o.password, "reports.smtp-password-file", "", "file with the password of this user, or credential:NAME")
	f.StringVar(&o.sendmail, "reports.sendmail", "", "program that sends mail, instead of --reports.smtp")
	f.StringVar(&o.webhook, "reports.webhook", "", "URL that gets the reports about all names as JSON; private addresses are allowed")
	f.StringVar(&o.hookField, "reports.webhook-secret-file", "", "file with the secret that signs requests to the webhook, or credential:NAME")
}

// on reports whether any recipients are configured.
func (o *reportFlags) on() bool { return len(o.to) > 0 || o.contacts || o.webhook != "" }

func (o *reportFlags) checkFlags(must func(ok bool, option string, value any, what string)) {
	address := func(option, text string) {
		_, err := mail.ParseAddress(text)
		must(err == nil, option, fmt.Sprintf("%q", text), "be a mail address, such as library@example.org")
	}
	for _, a := range o.to {
		address("reports.to", a)
	}
	if o.from != "" {
		address("reports.from", o.from)
	}
	if byMail := len(o.to) > 0 || o.contacts; byMail {
		which, value := "reports.contacts", any(true)
		if len(o.to) > 0 {
			which, value = "reports.to", strings.Join(o.to, ",")
		}
		must(o.from != "", which, value, "have --reports.from beside it")
		must(o.smtp != "" || o.sendmail != "", which, value, "have --reports.smtp or --reports.sendmail beside it")
	}
	if o.smtp != "" {
		must((&mail.SMTP{URL: o.smtp}).Check() == nil, "reports.smtp", fmt.Sprintf("%q", o.smtp), "be for example smtps://mail.example.org or smtp://mail.example.org:587")
	}
	must(o.smtp == "" || o.sendmail == "", "reports.sendmail", fmt.Sprintf("%q", o.sendmail), "not be combined with --reports.smtp")
	must(o.sendmail == "" || filepath.IsAbs(o.sendmail), "reports.sendmail", fmt.Sprintf("%q", o.sendmail), "be an absolute path, such as /usr/sbin/sendmail")
	must((o.user == "") == (o.password == ""), "reports.smtp-user", fmt.Sprintf("%q", o.user), "be set together with --reports.smtp-password-file")
	if o.webhook != "" {
		must((&mail.Webhook{URL: o.webhook}).Check() == nil, "reports.webhook", "(hidden)", "be a URL with the scheme http or https")
	}
	for option, file := range map[string]string{"reports.smtp-password-file": o.password, "reports.webhook-secret-file": o.hookField} {
		if file != "" {
			_, err := readSecretLine(file)
			must(err == nil, option, fmt.Sprintf("%q", file), "be a file with one line that is not empty")
		}
	}
}

func readSecretLine(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := readCredential(file)
	line := strings.TrimRight(string(text), "\r\n")
	if err == nil && (line == "" || strings.ContainsAny(line, "\r\n")) {
		err = errors.New("want one line that is not empty")
	}
	return line, err
}

func (c *cli) startReports(ctx context.Context, f *serveFlags, v *liveServer) (end func(), err error) {
	if !f.reports.on() || f.readOnly {
		return func() {}, nil
	}
	vault, err := store.VaultOf(v.parts.store)
	if err != nil {
		return nil, err
	}
	sender, hook, err := f.reports.senders()
	if err != nil {
		return nil, err
	}
	r := reports.New(reports.Options{
		Reports: c.reports(v.api),
		Recipients: func(ctx context.Context) ([]reports.Recipient, error) {
			return f.reports.recipients(ctx, hook, v.parts.table, v.parts.log)
		},
		Sender: sender, From: f.reports.from, Vault: vault, Holder: c.instance, Now: clock, Log: v.parts.log,
	})
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	return func() { cancel(); running.Wait() }, nil
}

func (o *reportFlags) senders() (s mail.Sender, hook *mail.Webhook, err error) {
	password, err := readSecretLine(o.password)
	if err != nil {
		return nil, nil, err
	}
	secret, err := readSecretLine(o.hookField)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case o.smtp != "":
		s = &mail.SMTP{URL: o.smtp, User: o.user, Password: password}
	case o.sendmail != "":
		s = &mail.Sendmail{Path: o.sendmail}
	}
	if o.webhook != "" { // only the operator can set it, so it may have a private address
		hook = &mail.Webhook{URL: o.webhook, Secret: secret, Agent: "nomen/" + versionText(), Allow: func(netip.Addr) error { return nil }}
	}
	return s, hook, nil
}

const testText = "This is a test message of the server that reports on persistent names.\n\nReports reach this address.\n"

// tester returns a function that sends a test message to each recipient of the reports about all names,
// or nil without recipients.
func (o *reportFlags) tester() (func(context.Context) []adminapi.Delivery, error) {
	if len(o.to) == 0 && o.webhook == "" {
		return nil, nil
	}
	sender, hook, err := o.senders()
	if err != nil {
		return nil, err
	}
	deliver := func(to string, err error) adminapi.Delivery {
		d := adminapi.Delivery{To: to}
		if err != nil {
			d.Error = err.Error()
		}
		return d
	}
	return func(ctx context.Context) (all []adminapi.Delivery) {
		now := clock()
		id := "test-" + now.UTC().Format("20060102T150405")
		for _, to := range o.to {
			all = append(all, deliver(to, sender.Send(ctx, &mail.Message{From: o.from, To: to, Subject: "Names: test message", Text: testText, Date: now, ID: id})))
		}
		if hook != nil {
			all = append(all, deliver("webhook", hook.Post(ctx, id, []byte(`{"test":true}`))))
		}
		return all
	}, nil
}

// recipients returns the current recipients of reports.
func (o *reportFlags) recipients(ctx context.Context, hook *mail.Webhook, table *store.Table, log *slog.Logger) (all []reports.Recipient, err error) {
	for _, a := range o.to {
		all = append(all, reports.Recipient{Address: a})
	}
	if hook != nil {
		all = append(all, reports.Recipient{Hook: hook})
	}
	if !o.contacts {
		return all, nil
	}
	set, err := table.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	for _, a := range set.All() {
		if to := mailOf(a.Contact); to != "" {
			all = append(all, reports.Recipient{Prefix: a.Prefix.String(), Address: to})
		} else if a.Contact != "" {
			log.Debug("the contact of an authority is not a mail address", "prefix", a.Prefix)
		}
	}
	return all, nil
}

func mailOf(contact string) string {
	u, err := url.Parse(contact)
	if err != nil || u.Scheme != "mailto" {
		return ""
	}
	text, err := url.PathUnescape(u.Opaque)
	if err != nil {
		return ""
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text {
		return ""
	}
	return text
}

// reports returns the reports that a server sends.
func (c *cli) reports(api *admin.API) []reports.Report {
	return []reports.Report{
		{Name: "month", Period: reports.Monthly, Make: func(ctx context.Context, prefix string, from, _ time.Time) (*reports.Content, error) {
			return monthContent(ctx, api, prefix, from)
		}},
		{Name: "links", Period: reports.Weekly, Make: func(ctx context.Context, prefix string, from, to time.Time) (*reports.Content, error) {
			a, err := reportActor(prefix)
			if err != nil {
				return nil, err
			}
			return linksContent(ctx, api.Client(a), prefix, from, to)
		}},
	}
}

const linkChangesTime = 90 * 24 * time.Hour

// linksContent returns a report about changes of links in a period, with a line for each host. It
// returns nil if nothing has changed, if the server does not check links, or if the first round of
// checks did not end before the end of the period. The first report after this round also includes
// earlier changes.
func linksContent(ctx context.Context, api *adminapi.Client, prefix string, from, to time.Time) (*reports.Content, error) {
	status, err := api.LinkStatus(ctx)
	var no *adminapi.StatusError
	switch {
	case errors.As(err, &no) && no.Kind == adminapi.KindNoLinks:
		return nil, nil
	case err != nil:
		return nil, err
	case status.Round.IsZero() || !status.Round.Before(to):
		return nil, nil
	case !status.Round.Before(from):
		from = to.Add(-linkChangesTime)
	}
	changes, err := api.LinkChanges(ctx, from, to)
	if err != nil || len(changes.Hosts) == 0 {
		return nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Changes of links from %s to %s\n\n", from.Format(time.DateOnly), to.AddDate(0, 0, -1).Format(time.DateOnly))
	for i := range changes.Hosts {
		text.WriteString(hostChangeLine(&changes.Hosts[i]) + "\n")
	}
	text.WriteString("\nFor all dead locations: nomen links list, or the page Links.\n")
	return &reports.Content{Subject: "Names: changes of links for " + cmp.Or(prefix, "all names"), Text: text.String(), Object: changes}, nil
}

// reportActor returns the actor whose rights determine the content of a report. A report for an
// authority has the rights of a reader, because the contact of the authority may not be an owner.
// Such a report omits low counts.
func reportActor(prefix string) (registrar.Actor, error) {
	if prefix == "" {
		return registrar.Operator(), nil
	}
	p, err := name.ParsePrefix(prefix)
	return registrar.Actor{Who: "report", Grants: []registrar.Grant{{Role: registrar.Reader, Prefixes: []name.Prefix{p}}}}, err
}

func monthContent(ctx context.Context, api *admin.API, prefix string, month time.Time) (*reports.Content, error) {
	a, err := reportActor(prefix)
	if err != nil {
		return nil, err
	}
	r, err := whenMonthCounted(ctx, api, a, prefix, month.Format(adminapi.MonthLayout))
	if err != nil {
		return nil, err
	}
	var table bytes.Buffer
	if err := monthCSV(&table, &r); err != nil {
		return nil, err
	}
	return &reports.Content{
		Subject: fmt.Sprintf("Names: report for %s, %s", cmp.Or(prefix, "all names"), r.Month),
		Text:    r.Text(),
		Files:   []mail.File{{Name: "report-" + r.Month + ".csv", Type: "text/csv; charset=utf-8", Content: table.Bytes()}},
		Object:  r,
	}, nil
}
