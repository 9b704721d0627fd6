package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// The data directory of a server with a database is moved away, comes back and is deleted. Names
// are answered and changed as before. Jobs are saved, because they are in the database. Requests
// that need the directory are rejected or reported, and the server never creates the directory
// again.
func TestDataDirectoryAway(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{})
	data := filepath.Join(t.TempDir(), "data")
	p, err := startServer(data, "--store", db.URL(), "--no-access-log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.kill() }()
	token, err := os.ReadFile(filepath.Join(data, tokenFile))
	if err != nil {
		t.Fatal(err)
	}
	bearer := []string{"Authorization", "Bearer " + strings.TrimSpace(string(token)), "Content-Type", "application/json"}
	api := "http://" + p.admin + "/api/v1/"
	command := func(want int, args ...string) string {
		t.Helper()
		var out, log strings.Builder
		if got := run(t.Context(), append([]string{"--data", data}, args...), streams{strings.NewReader(""), &out, &log}); got != want {
			t.Errorf("nomen %s: status %d, want %d: %s%s", strings.Join(args, " "), got, want, &out, &log)
		}
		return out.String() + log.String()
	}
	use := func(what string, imports int) {
		t.Helper()
		r := send(t, http.MethodPut, api+"names/urn:example:"+what, `{"name":"urn:example:`+what+`","locations":[{"url":"https://h.example/"}]}`, bearer...)
		if r.status != http.StatusCreated {
			t.Errorf("%s: put: %d %s", what, r.status, r.body)
		}
		if r := send(t, http.MethodGet, "http://"+p.public+"/urn:example:"+what, ""); r.status != http.StatusSeeOther || r.isStale() {
			t.Errorf("%s: get: %d %v", what, r.status, r.header)
		}
		for _, at := range []string{"/-/healthz", "/-/readyz"} {
			if r := send(t, http.MethodGet, "http://"+p.public+at, ""); r.status != http.StatusOK {
				t.Errorf("%s: %s: %d %s", what, at, r.status, r.body)
			}
		}
		if r := send(t, http.MethodPost, api+"verify", "", bearer...); r.status != http.StatusOK || !strings.Contains(r.body, `"done":true`) {
			t.Errorf("%s: verify: %d %s", what, r.status, r.body)
		}
		record := `{"name":"urn:example:imported-` + what + `","locations":[{"url":"https://h.example/"}]}`
		if r := send(t, http.MethodPost, api+"import", record, bearer...); r.status != http.StatusOK || !strings.Contains(r.body, `"complete":true`) {
			t.Errorf("%s: import: %d %s", what, r.status, r.body)
		}
		r = send(t, http.MethodPost, api+"import", record, append(bearer, "Prefer", "respond-async")...)
		if r.status != imports || imports != http.StatusAccepted && (strings.Contains(r.body, "truncated") || strings.Contains(r.body, data) || r.header.Get("Retry-After") == "") {
			t.Errorf("%s: import as a job: %d %v %s, want %d", what, r.status, r.header, r.body, imports)
		}
	}
	use("before", http.StatusAccepted)
	away := data + "-moved"
	if err := os.Rename(data, away); err != nil {
		t.Fatal(err)
	}
	use("away", http.StatusServiceUnavailable)
	use("longer", http.StatusServiceUnavailable)
	if said := command(exitFailure, "get", "urn:example:away"); !strings.Contains(said, "no store found; check --data and --store") {
		t.Errorf("a command: %s", said)
	}
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is there again: %v", err)
	}

	if err := os.Rename(away, data); err != nil {
		t.Fatal(err)
	}
	use("back", http.StatusAccepted)
	command(exitYes, "get", "urn:example:away")
	if said := command(exitYes, "jobs"); strings.Count(said, "verify") != 4 {
		t.Errorf("jobs: %s", said)
	}

	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	use("deleted", http.StatusServiceUnavailable)
	send(t, http.MethodGet, "http://"+p.public+"/urn:example:missed", "")
	if err := p.stop(); err == nil || !strings.Contains(p.output(), "misses: ") || strings.Contains(p.output(), "jobs cannot be saved") {
		t.Errorf("the end: %v", err)
	}
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is there again after the end: %v", err)
	}
}

// A server that stops leaves the address of another one, which was started at the path from
// which the first one's data directory was moved away.
func TestAddressOfAnotherServer(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	first, err := startServer(data, "--no-access-log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.kill() }()
	if err := os.Rename(data, data+"-moved"); err != nil {
		t.Fatal(err)
	}
	second := start(t, data, "--no-access-log")
	_ = first.stop() // its store is away, which may be reported
	text, err := os.ReadFile(filepath.Join(data, urlFile))
	if want := "http://" + second.admin + "\n"; string(text) != want {
		t.Errorf("the address of the second server: %q, %v; want %q", text, err, want)
	}
}
