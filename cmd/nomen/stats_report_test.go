package main

import (
	"encoding/csv"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// TestGopherCounts checks that Gopher clients are counted like others: resolutions, requests for
// retired names, and failed lookups with what was probably meant.
func TestGopherCounts(t *testing.T) {
	data := t.TempDir()
	succeeds(t, "--data", data, "authority", "put", "urn:dns:example.org", "--owner", "a", "--owner", "b")
	succeeds(t, "--data", data, "put", "urn:dns:example.org:known", "https://example.org/known")
	succeeds(t, "--data", data, "put", "urn:dns:example.org:gone", "https://example.org/gone")
	succeeds(t, "--data", data, "retire", "urn:dns:example.org:gone", "--reason", "x")
	p := start(t, data, "--gopher", "127.0.0.1:0")
	at := gopherAddress(t, p)
	for _, selector := range []string{"urn:dns:example.org:known", "/-/text/urn:dns:example.org:known", "urn:dns:example.org:gone", "urn:dns:example.org:known:x", "urn:dns:example.org:known:x"} {
		servertest.Exchange(t, at, selector+"\r\n")
	}
	got := succeeds(t, "--data", data, "stats", "urn:dns:example.org")
	for _, want := range []string{"service I2C 0 0 0 1", "retired names 0 0 0 1", "failed lookups 0 0 0 1"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("got %s, want %q", got, want)
		}
	}
	if got := succeeds(t, "--data", data, "misses"); !strings.Contains(got, "urn:dns:example.org:known:x") || !strings.Contains(got, "urn:dns:example.org:known") {
		t.Errorf("failed lookups: got %q, want the name and what was meant", got)
	}
}

// gopherAddress returns the address that a server prints for its Gopher listener.
func gopherAddress(t *testing.T, p *process) net.Addr {
	t.Helper()
	found := regexp.MustCompile(`gopher listener at ([^\s"]+)`).FindStringSubmatch(p.output())
	if found == nil {
		t.Fatalf("no Gopher listener in %s", p.output())
	}
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(found[1]))
}

// TestMonthReport checks the report of a month as a server gives it: what was resolved, what was not
// found and what was meant, and what changed; and that hostile names cannot become formulas.
func TestMonthReport(t *testing.T) {
	data := t.TempDir()
	succeeds(t, "--data", data, "authority", "put", "urn:dns:example.org", "--owner", "a", "--owner", "b", "--contact", "mailto:library@example.org")
	succeeds(t, "--data", data, "put", "urn:dns:example.org:known", "https://example.org/known")
	p := start(t, data)
	for range 3 {
		sendWith(t, "http://"+p.public+"/urn:dns:example.org:known", "User-Agent", "Mozilla/5.0 Firefox/140.0")
		sendWith(t, "http://"+p.public+"/urn:dns:example.org:known:x", "User-Agent", "Mozilla/5.0 Firefox/140.0")
	}
	month := time.Now().UTC().Format(adminapi.MonthLayout)
	rows, err := csv.NewReader(strings.NewReader(succeeds(t, "--data", data, "stats", "report", "urn:dns:example.org", "--month", month, "--csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"summary resolutions": "1", "summary failed lookups": "1", "summary names created": "1",
		"name urn:dns:example.org:known": "1", "failed lookup urn:dns:example.org:known:x": "3",
	}
	for _, r := range rows {
		key := r[0] + " " + r[1]
		if want[key] == r[2] {
			delete(want, key)
		}
		if key == "summary failed lookups" && r[7] != "50.0 % of all lookups, without those of robots" {
			t.Errorf("share of failed lookups: got %q", r[7])
		}
		if r[0] == "failed lookup" && !strings.Contains(r[7], "perhaps meant: urn:dns:example.org:known") {
			t.Errorf("near miss: got %q", r[7])
		}
	}
	if len(want) > 0 {
		t.Errorf("missing %v in %q", want, rows)
	}
	if got := succeeds(t, "--data", data, "stats", "report", "--month", month); !strings.Contains(got, "failed lookups: 1 (50.0 %") || strings.Contains(got, "COUNTER requests") {
		t.Errorf("got %s", got)
	}
}

// setReportState stores which report of a month was sent last.
func setReportState(t *testing.T, data, state string) {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(data, "store")})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.PutSecret(t.Context(), "reports.month", []byte(state)), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestReportMail checks that a server sends the report of the last month through a sendmail program:
// to the operator, and to the contact of an authority about its names.
func TestReportMail(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "sendmail")
	script := "#!/bin/sh\nfor a in \"$@\"; do to=$a; done\ncat >" + dir + "/mail.$to\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	succeeds(t, "--data", data, "authority", "put", "urn:dns:example.org", "--owner", "a", "--owner", "b", "--contact", "mailto:library@example.org")
	succeeds(t, "--data", data, "put", "urn:dns:example.org:known", "https://example.org/known")
	setReportState(t, data, `{"done":"2001-01"}`)
	p := start(t, data, "--reports.to", "all@example.org", "--reports.contacts", "--reports.from", "names@example.org", "--reports.sendmail", program)
	for _, to := range []string{"all@example.org", "library@example.org"} {
		file := filepath.Join(dir, "mail."+to)
		var text []byte
		deadline := time.After(startTimeout)
		for tick := time.Tick(50 * time.Millisecond); !strings.Contains(string(text), "report-20"); {
			select {
			case <-tick:
				text, _ = os.ReadFile(file)
			case <-deadline:
				t.Fatalf("no mail to %s: %s", to, p.output())
			}
		}
		for _, want := range []string{"To: <" + to + ">\n", "Subject: Names: report for ", "Auto-Submitted: auto-generated\n", "filename=report-20"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q in\n%s", to, want, text)
			}
		}
	}
	if got := succeeds(t, "--data", data, "stats", "report", "--test"); got != "all@example.org: accepted\n" {
		t.Errorf("test message: got %q, want that it was accepted", got)
	}
}

// TestTestMail checks which results the command for test messages prints, and that contacts of
// authorities get none.
func TestTestMail(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "sendmail")
	script := "#!/bin/sh\nfor a in \"$@\"; do to=$a; done\ncase $to in bad*) echo unknown user >&2; exit 67;; esac\ncat >" + dir + "/mail.$to\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer hook.Close()
	succeeds(t, "--data", data, "authority", "put", "urn:dns:example.org", "--owner", "a", "--owner", "b", "--contact", "mailto:library@example.org")
	if status, _, log := command(t.Context(), strings.NewReader(""), "--data", data, "stats", "report", "--test"); status != exitFailure || !strings.Contains(log, "only a running server sends reports") {
		t.Errorf("without a server: status %d: %s", status, log)
	}
	p := start(t, data)
	if status, _, log := command(t.Context(), strings.NewReader(""), "--data", data, "stats", "report", "--test"); status != exitFailure || !strings.Contains(log, "this server sends no reports") {
		t.Errorf("without recipients: status %d: %s", status, log)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	start(t, data, "--reports.to", "good@example.org,bad@example.org", "--reports.contacts", "--reports.from", "names@example.org", "--reports.sendmail", program, "--reports.webhook", hook.URL+"/secret")
	status, out, log := command(t.Context(), strings.NewReader(""), "--data", data, "stats", "report", "--test")
	if status != exitFailure || !strings.Contains(out, "good@example.org: accepted\nbad@example.org: ") || !strings.Contains(out, "unknown user") || !strings.Contains(out, "webhook: ") || !strings.Contains(out, "status 403") || strings.Contains(out+log, "secret") {
		t.Errorf("status %d: %s%s", status, out, log)
	}
	text, err := os.ReadFile(filepath.Join(dir, "mail.good@example.org"))
	if err != nil || !strings.Contains(string(text), "Subject: Names: test message\n") {
		t.Errorf("got %s, %v", text, err)
	}
	if found, err := filepath.Glob(filepath.Join(dir, "mail.*")); err != nil || len(found) != 1 {
		t.Errorf("got mails %q, %v, want 1", found, err)
	}
	if status, _, _ := command(t.Context(), strings.NewReader(""), "--data", data, "stats", "report", "--test", "--month", "2026-10"); status != exitUsage {
		t.Errorf("with a month: status %d, want %d", status, exitUsage)
	}
}

// TestReportMailOfNodes checks that two servers of a database send each report once.
func TestReportMailOfNodes(t *testing.T) {
	db := startDatabase(t, pgtest.Options{})
	dir := t.TempDir()
	program := filepath.Join(dir, "sendmail")
	script := "#!/bin/sh\nfor a in \"$@\"; do to=$a; done\nfile=$(mktemp " + dir + "/part.XXXXXX)\ncat >$file\nmv $file " + dir + "/mail.$to.${file##*.}\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	first := t.TempDir()
	at := []string{"--data", first, "--store", db.URL()}
	succeeds(t, append(at, "authority", "put", "urn:dns:example.org", "--owner", "a", "--owner", "b", "--contact", "mailto:library@example.org")...)
	s, err := pgstore.Open(t.Context(), pgstore.Options{URL: db.URL()})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.PutSecret(t.Context(), "reports.month", []byte(`{"done":"2001-01"}`)), s.Close()); err != nil {
		t.Fatal(err)
	}
	var nodes []*process
	for i := range 3 { // the third begins when the others have sent the report
		data := first
		if i > 0 {
			data = t.TempDir()
		}
		nodes = append(nodes, start(t, data, "--store", db.URL(), "--reports.to", "all@example.org", "--reports.contacts", "--reports.from", "names@example.org", "--reports.sendmail", program))
		if i == 0 {
			continue
		}
		deadline := time.After(startTimeout)
		for tick := time.Tick(50 * time.Millisecond); ; {
			found, err := filepath.Glob(filepath.Join(dir, "mail.*"))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) >= 2 {
				break
			}
			select {
			case <-tick:
			case <-deadline:
				t.Fatalf("got mails %q, want 2: %s%s", found, nodes[0].output(), nodes[1].output())
			}
		}
	}
	for _, p := range nodes { // a server waits for what it is sending
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []string{"all@example.org", "library@example.org"} {
		if found, err := filepath.Glob(filepath.Join(dir, "mail."+to+".*")); err != nil || len(found) != 1 {
			t.Errorf("%s: got mails %q, %v, want 1", to, found, err)
		}
	}
}
