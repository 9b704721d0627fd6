package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// TestLinksContent checks which report about links is made: about changes only, and not before the end
// of the first round of checks.
func TestLinksContent(t *testing.T) {
	const from, to = "2026-11-16", "2026-11-23"
	changed := `{"hosts":[{"host":"a.example","failing":true},{"host":"b.example","dead":2,"recovered":1,"urls":["https://b.example/1"]}]}`
	for _, tt := range []struct {
		what, round, hosts string
		want, since        string // "" for no report
	}{
		{"no round", "", changed, "", ""},
		{"round ended after the period", "2026-11-23T00:00:00Z", changed, "", ""},
		{"nothing changed", "2026-10-01T00:00:00Z", `{"hosts":[]}`, "", "2026-11-16T00:00:00Z"},
		{"changes", "2026-10-01T00:00:00Z", changed, "Changes of links from 2026-11-16 to 2026-11-22\n\na.example: fails as a whole\nb.example: 2 locations newly dead, such as https://b.example/1; 1 dead location answering again\n\nFor all dead", "2026-11-16T00:00:00Z"},
		{"first report", "2026-11-20T00:00:00Z", changed, "Changes of links from 2026-08-25 to 2026-11-22\n\na.example: fails as a whole\n", "2026-08-25T00:00:00Z"},
	} {
		since := ""
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			answer := `{"round":"` + tt.round + `"}`
			switch {
			case strings.HasSuffix(r.URL.Path, "/changes"):
				if since = r.FormValue("since"); r.FormValue("until") != "2026-11-23T00:00:00Z" {
					t.Errorf("%s: got until %q", tt.what, r.FormValue("until"))
				}
				answer = tt.hosts
			case tt.round == "":
				answer = "{}"
			}
			_, _ = w.Write([]byte(answer))
		}))
		got, err := linksContent(t.Context(), &adminapi.Client{URL: s.URL}, "", date(t, from), date(t, to))
		s.Close()
		if err != nil || since != tt.since || (got == nil) != (tt.want == "") || got != nil && !strings.HasPrefix(got.Text, tt.want) {
			t.Errorf("%s: got %+v, %v since %q, want %q since %q", tt.what, got, err, since, tt.want, tt.since)
		}
	}
}

func date(t *testing.T, text string) time.Time {
	t.Helper()
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return day
}

// checkForDays checks the locations of names each day, as a server does, from a day on. The parameter
// missing says for which URLs the host then answers with status 404.
func checkForDays(t *testing.T, data string, begin time.Time, days int, urls []string, missing func(path string, day int) bool) {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(data, "store")})
	if err != nil {
		t.Fatal(err)
	}
	var day atomic.Int64
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || missing(r.URL.Path, int(day.Load())) {
			http.NotFound(w, r)
		}
	}))
	defer host.Close()
	started := time.Now()
	w, err := links.Open(links.Options{
		Dir: filepath.Join(data, "links"), Store: s, Agent: "nomen/test", Gap: time.Nanosecond,
		Now:   func() time.Time { return begin.AddDate(0, 0, int(day.Load())).Add(time.Since(started)) },
		Allow: func(netip.Addr) error { return nil },
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, host.Listener.Addr().String())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range days {
		for _, u := range urls {
			if err := w.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.Check(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		day.Add(1)
	}
	if err := errors.Join(w.CatchUp(t.Context()), w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestLinksMail checks that a server sends the changes of links in the last week: to the operator a
// line for each host, to the contact of an authority only its names, and nothing to contacts whose
// names have not changed.
func TestLinksMail(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "sendmail")
	script := "#!/bin/sh\nfor a in \"$@\"; do to=$a; done\ncat >" + dir + "/part.$to\nmv " + dir + "/part.$to " + dir + "/mail.$to\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	// The server itself never asks these addresses, because they are private.
	urls := []string{"http://127.0.0.2/dies", "http://127.0.0.3/returns", "http://127.0.0.4/works", "http://127.0.0.2/long-dead"}
	for i, n := range []string{"a.example", "b.example", "c.example", "d.example"} {
		succeeds(t, "--data", data, "authority", "put", "urn:dns:"+n, "--owner", "a", "--owner", "b", "--contact", "mailto:names@"+n)
		succeeds(t, "--data", data, "put", name.MustParse("urn:dns:"+n+":1").Key(), urls[i])
	}
	now := time.Now().UTC().Add(-2 * time.Hour).Truncate(24 * time.Hour)
	monday := now.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	checkForDays(t, data, monday.AddDate(0, 0, -26), 24, urls, func(path string, day int) bool {
		switch path {
		case "/dies":
			return day > 7 // dead a fortnight later, in the last week
		case "/returns":
			return day < 21
		case "/long-dead":
			return true
		}
		return false
	})
	s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(data, "store")})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.PutSecret(t.Context(), "reports.links", []byte(`{"done":"2001-W01"}`)), s.Close()); err != nil {
		t.Fatal(err)
	}
	p := start(t, data, "--links.check", "--reports.to", "z@example.org", "--reports.contacts", "--reports.from", "names@example.org", "--reports.sendmail", program)
	const dies, returns = "127.0.0.2: 1 location newly dead, such as http://127.0.0.2/dies\n", "127.0.0.3: 1 dead location answering again\n"
	for to, want := range map[string]string{"z@example.org": dies + returns, "names@a.example": dies, "names@b.example": returns} {
		var text []byte
		deadline := time.After(startTimeout)
		for tick := time.Tick(50 * time.Millisecond); len(text) == 0; {
			select {
			case <-tick:
				text, _ = os.ReadFile(filepath.Join(dir, "mail."+to))
			case <-deadline:
				t.Fatalf("no mail to %s: %s", to, p.output())
			}
		}
		_, body, _ := strings.Cut(string(text), "\n\n")
		if _, lines, _ := strings.Cut(body, "\n\n"); !strings.HasPrefix(lines, want+"\n") {
			t.Errorf("%s: got\n%s\nwant %s", to, text, want)
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, "mail.*"))
	if err != nil || len(found) != 3 {
		t.Errorf("got mails %q, %v, want 3", found, err)
	}
}
