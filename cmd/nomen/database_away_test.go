package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// The names that the tests request.
const (
	warmName  = "urn:example:warm"
	coldName  = "urn:example:cold"
	aliasName = "urn:x-other:alias"
	noName    = "urn:example:none"
)

// A response is the response of a server, and how long it took.
type response struct {
	status int
	header http.Header
	body   string
	took   time.Duration
}

// send sends a request to a server. If there is no response, it returns the zero response.
func send(t *testing.T, method, url, body string, header ...string) (r response) {
	t.Helper()
	return sendWithin(t, 30*time.Second, method, url, body, header...)
}

// sendWithin is send with a time limit for the whole response.
func sendWithin(t *testing.T, limit time.Duration, method, url, body string, header ...string) (r response) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Timeout: limit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	begun := time.Now()
	res, err := client.Do(req)
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
		return response{took: time.Since(begun)}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
	}
	return response{res.StatusCode, res.Header, string(text), time.Since(begun)}
}

// isStale reports whether an answer says that it is stale.
func (r response) isStale() bool {
	return r.header.Get("Age") != "" && strings.HasPrefix(r.header.Get("Cache-Status"), "nomen; hit; ttl=-")
}

const (
	// atOnce is how long a response may take that does not wait for the database. On a busy machine
	// it takes longer than usual; a response that waits for the database takes four seconds or
	// more.
	atOnce = 3 * time.Second

	// soon is the time limit for what takes a second or two on an idle machine.
	soon = 30 * time.Second
)

// checkAway checks what a server shows while its database is unavailable.
func checkAway(t *testing.T, p *process, token string) {
	t.Helper()
	public, admin := "http://"+p.public, "http://"+p.admin+"/api/v1/"
	bearer := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
	record := `{"name":"urn:example:new","locations":[{"url":"https://a.example/new"}]}`
	for _, tt := range []struct {
		method, url, body string
		header            []string
		want              int
		stale             bool
	}{
		{"GET", public + "/" + warmName, "", nil, 303, true},
		{"HEAD", public + "/" + warmName, "", nil, 303, true},
		{"GET", public + "/" + warmName, "", []string{"X-Not-Plain", "1", "If-None-Match", `"x"`}, 303, true}, // by net/http
		{"GET", public + "/" + warmName + "?s=I2C", "", nil, 200, true},
		{"GET", public + "/uri-res/N2L?" + warmName, "", nil, 303, true},
		{"GET", public + "/" + aliasName, "", nil, 303, true},
		{"GET", public + "/" + noName, "", nil, 404, true},
		{"GET", public + "/urn:example:urn+m", "", nil, 200, true},
		{"POST", public + "/-/resolve", warmName + "\r\n", []string{"Content-Type", "text/uri-list"}, 200, true},
		{"GET", public + "/" + coldName, "", nil, 503, false},
		{"GET", public + "/" + warmName + "?at=2026-01-01", "", nil, 503, false},
		{"GET", public + "/" + warmName, "", []string{"Accept-Datetime", "Thu, 01 Jan 2026 00:00:00 GMT"}, 503, false},
		{"GET", public + "/-/timemap/" + warmName, "", nil, 503, false},
		{"GET", public + "/-/list/urn:example", "", nil, 503, false},
		{"GET", public + "/uri-res/L2Ns?https://a.example/warm", "", nil, 503, false},
		{"GET", admin + "names/" + warmName, "", bearer, 503, false},
		{"GET", admin + "export", "", bearer, 503, false},
		{"GET", admin + "find?location=https://a.example/", "", bearer, 503, false},
		{"GET", admin + "authorities", "", bearer, 503, false},
		{"PUT", admin + "names/urn:example:new", record, bearer, 503, false},
		{"POST", admin + "names", `{"requests":[{"record":` + record + `}]}`, bearer, 503, false},
		{"GET", admin + "names/" + warmName, "", []string{"Authorization", "Bearer AAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAA"}, 401, false},
	} {
		r := send(t, tt.method, tt.url, tt.body, tt.header...)
		if tt.want == 401 && r.status == 503 {
			tt.want = 503 // the token is well-formed, but cannot be checked without the database
		}
		if r.status != tt.want || r.took > atOnce {
			t.Errorf("%s %s: %d after %v, want %d at once: %s", tt.method, tt.url, r.status, r.took, tt.want, r.body)
		}
		if got := r.isStale(); got != tt.stale {
			t.Errorf("%s %s: stale %v, want %v: %v", tt.method, tt.url, got, tt.stale, r.header)
		}
		if r.status == 503 && r.header.Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", tt.method, tt.url)
		}
	}
	checkAwayRaw(t, p)
	var line struct {
		Answer struct {
			Stale time.Time `json:"stale_since"`
		}
		Error struct {
			Code  string
			Stale time.Time `json:"stale_since"`
		}
	}
	batch := send(t, "POST", public+"/-/resolve", strings.Join([]string{warmName, noName, coldName}, "\r\n"), "Content-Type", "text/uri-list")
	lines := strings.Split(strings.TrimSpace(batch.body), "\n")
	for i, want := range []func() bool{
		func() bool { return !line.Answer.Stale.IsZero() },
		func() bool { return line.Error.Code == "unknown-name" && !line.Error.Stale.IsZero() },
		func() bool { return line.Error.Code == "unavailable" && line.Error.Stale.IsZero() },
	} {
		clear := line
		clear.Answer.Stale, clear.Error.Stale, clear.Error.Code = time.Time{}, time.Time{}, ""
		line = clear
		if len(lines) != 3 || json.Unmarshal([]byte(lines[i]), &line) != nil || !want() {
			t.Errorf("line %d of a batch: %q", i+1, batch.body)
		}
	}
	if r := send(t, "GET", public+"/-/healthz", ""); r.status != 200 || r.took > atOnce {
		t.Errorf("healthz: %d after %v", r.status, r.took)
	}
	if r := send(t, "GET", public+"/-/readyz", ""); r.status != 503 || !strings.HasPrefix(r.body, "degraded: storage: the database ") {
		t.Errorf("readyz: %d %q", r.status, r.body)
	}
	metrics := send(t, "GET", "http://"+p.admin+"/-/metrics", "").body
	for _, want := range []string{"nomen_storage_readable 0", "nomen_storage_writable 0", "nomen_storage_degraded_seconds{cause=\"the database "} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics without %q", want)
		}
	}
	if strings.Contains(metrics, "nomen_stale_answers_total 0") {
		t.Error("stale answers are not counted")
	}
}

// checkAwayRaw checks requests that net/http clients do not send: targets in absolute form, the
// protocol of 1995, whose oldest form has no header, and Gopher.
func checkAwayRaw(t *testing.T, p *process) {
	t.Helper()
	gopher := regexp.MustCompile(`gopher listener at ([^\s"]+)`).FindStringSubmatch(p.output())
	if gopher == nil {
		t.Fatal("no Gopher listener")
	}
	const stale, no = "\r\nCache-Status: nomen; hit; ttl=-", "HTTP/1.0 503 "
	for _, tt := range []struct {
		at, request string
		want        []string // in the answer
	}{
		{p.public, "GET http://localhost/" + warmName + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []string{"HTTP/1.1 303 ", stale, "\r\nAge: "}},
		{p.public, "GET http://" + p.public + "/uri-res/N2L?" + warmName + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []string{"HTTP/1.1 303 ", stale, "\r\nAge: "}},
		{p.public, "GET http://localhost/" + coldName + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []string{"HTTP/1.1 503 ", "\r\nRetry-After: "}},
		{p.public, "GET " + warmName + " HTTP/1.0\r\n\r\n", []string{"HTTP/1.0 200 ", stale, "\r\nAge: ", "stale-since: "}},
		{p.public, "GET " + coldName + " HTTP/1.0\r\n\r\n", []string{no, "\r\nRetry-After: "}},
		{p.public, "GET urn:example:urn+m HTTP/1.0\r\n\r\n", []string{"HTTP/1.0 200 ", stale}},
		{p.public, "GET urn:example:urn+a HTTP/1.0\r\n\r\n", []string{no, "\r\nRetry-After: "}},
		{p.public, "GET " + warmName + "\r\n", []string{"stale-since: "}},
		{p.public, "GET " + coldName + "\r\n", []string{"temporarily unavailable"}},
		{p.public, "GET /uri-res/N2C?" + warmName + " HTTP/1.0\r\n\r\n", []string{"HTTP/1.0 200 ", stale, "\r\nAge: "}},
		{p.public, "GET /uri-res/N2C?" + coldName + " HTTP/1.0\r\n\r\n", []string{no, "\r\nRetry-After: "}},
		{gopher[1], warmName + "\r\n", []string{"The storage is unavailable: this was current at "}},
		{gopher[1], "/-/text/" + warmName + "\r\n", []string{"Stale-since: "}},
		{gopher[1], coldName + "\r\n", []string{"the storage is unavailable; please try again in "}},
		{gopher[1], "/-/list/urn:example\r\n", []string{"the storage is unavailable; please try again in "}},
	} {
		begun := time.Now()
		c, err := net.Dial("tcp", tt.at)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(begun.Add(30 * time.Second))
		_, _ = io.WriteString(c, tt.request)
		b, err := io.ReadAll(c)
		c.Close()
		if took := time.Since(begun); err != nil || took > atOnce+time.Second/2 { // the server waits for the end of a Gopher client's input
			t.Errorf("%q: %v after %v", tt.request, err, took)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(b), want) {
				t.Errorf("%q: an answer without %q:\n%s", tt.request, want, b)
			}
		}
	}
}

// warmUp fills a database, and the cache of a server with this database.
func warmUp(t *testing.T, p *process, token string) {
	t.Helper()
	bearer := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
	for path, body := range map[string]string{
		"authorities/urn:example": `{"prefix":"urn:example","owners":["a","b"],"list":true}`,
		"names/" + warmName:       `{"name":"` + warmName + `","same_as":["` + aliasName + `"],"locations":[{"url":"https://a.example/warm"}]}`,
		"names/" + coldName:       `{"name":"` + coldName + `","locations":[{"url":"https://a.example/cold"}]}`,
	} {
		if r := send(t, "PUT", "http://"+p.admin+"/api/v1/"+path, body, bearer...); r.status != 201 {
			t.Fatalf("PUT %s: %d %s", path, r.status, r.body)
		}
	}
	time.Sleep(3 * time.Second) // until the changes are in the log and on all replicas
	for _, name := range []string{warmName, aliasName, noName} {
		send(t, "GET", "http://"+p.public+"/"+name, "")
	}
	time.Sleep(time.Second)
}

// within calls f until it returns true, and fails the test if that takes longer than d.
func within(t *testing.T, d time.Duration, what string, f func() bool) {
	t.Helper()
	begun := time.Now()
	for !f() {
		if time.Since(begun) > d {
			t.Fatalf("not within %v: %s", d, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("%s: %v", what, time.Since(begun).Round(time.Millisecond))
}

func ready(t *testing.T, p *process) bool {
	t.Helper()
	return send(t, "GET", "http://"+p.public+"/-/readyz", "").status == 200
}

// While the database is killed, hangs, or has not started yet, a server answers from its cache and
// rejects everything else at once. When the database is back, the server recovers by itself.
func TestDatabaseAway(t *testing.T) {
	db := startDatabase(t, pgtest.Options{})
	data := t.TempDir()
	p := start(t, data, "--store", db.URL(), "--no-access-log", "--gopher", "127.0.0.1:0", "--proxy", "all")
	text, err := os.ReadFile(filepath.Join(data, tokenFile))
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(text))
	warmUp(t, p, token)
	put := func(n int) int {
		url := fmt.Sprintf("http://%s/api/v1/names/urn:example:put-%d", p.admin, n)
		record := fmt.Sprintf(`{"name":"urn:example:put-%d","locations":[{"url":"https://a.example/%[1]d"}]}`, n)
		return send(t, "PUT", url, record, "Authorization", "Bearer "+token, "Content-Type", "application/json").status
	}
	for i, fault := range []struct {
		what       string
		begin, end func() error
	}{{"killed", db.Kill, db.Restart}, {"hangs", db.Pause, db.Resume}} {
		if err := fault.begin(); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for time.Since(begun) < 5*time.Second {
			noticed := !ready(t, p)
			r := send(t, "GET", "http://"+p.public+"/"+warmName, "")
			if r.status != 303 || r.took > atOnce || noticed && !r.isStale() {
				t.Errorf("%s: after %v a warm name gets %d after %v, stale %v; readyz says so %v", fault.what, time.Since(begun), r.status, r.took, r.isStale(), noticed)
			}
			time.Sleep(20 * time.Millisecond)
		}
		within(t, soon, fault.what+": readyz says so", func() bool { return !ready(t, p) })
		checkAway(t, p, token)
		if err := fault.end(); err != nil {
			t.Fatal(err)
		}
		within(t, soon, fault.what+": writing again", func() bool { return put(i) == 201 })
		within(t, soon, fault.what+": ready again", func() bool { return ready(t, p) })
		within(t, soon, fault.what+": current answers again", func() bool {
			r := send(t, "GET", "http://"+p.public+"/"+warmName, "")
			return r.status == 303 && !r.isStale()
		})
	}
	if n := strings.Count(p.output(), "\n"); n > 20 {
		t.Errorf("%d lines of log:\n%s", n, p.output())
	}

	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	late := start(t, t.TempDir(), "--store", db.URL(), "--no-access-log")
	if r := send(t, "GET", "http://"+late.public+"/-/healthz", ""); r.status != 200 {
		t.Errorf("healthz of a server that starts without its database: %d", r.status)
	}
	if r := send(t, "GET", "http://"+late.public+"/-/readyz", ""); r.status != 503 || !strings.Contains(r.body, "degraded: storage: the database cannot be reached") {
		t.Errorf("readyz of a server that starts without its database: %d %q", r.status, r.body)
	}
	if r := send(t, "GET", "http://"+late.public+"/"+warmName, ""); r.status != 503 || r.took > atOnce {
		t.Errorf("a server that starts without its database: %d after %v", r.status, r.took)
	}
	begun := time.Now()
	var out, log strings.Builder
	args := []string{"--data", t.TempDir(), "--store", db.URL(), "get", warmName}
	if status := run(t.Context(), args, streams{strings.NewReader(""), &out, &log}); status != exitFailure || time.Since(begun) > soon ||
		!strings.Contains(log.String(), "the database cannot be reached") {
		t.Errorf("get: status %d after %v: %s", status, time.Since(begun), log.String())
	}
	log.Reset()
	begun = time.Now()
	args = []string{"--data", data, "put", "urn:example:other", "https://a.example/other"}
	if status := run(t.Context(), args, streams{strings.NewReader(""), &out, &log}); status != exitFailure || time.Since(begun) > 5*time.Second ||
		!strings.Contains(log.String(), "the database cannot be reached") {
		t.Errorf("put by way of the server: status %d after %v: %s", status, time.Since(begun), log.String())
	}
	if err := db.Restart(); err != nil {
		t.Fatal(err)
	}
	within(t, soon, "a server that started without its database is ready", func() bool { return ready(t, late) })
	within(t, soon, "and answers", func() bool { return send(t, "GET", "http://"+late.public+"/"+warmName, "").status == 303 })
}
