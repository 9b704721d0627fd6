package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// startDatabase starts a database that ends with the test.
func startDatabase(t *testing.T, o pgtest.Options) *pgtest.Server {
	t.Helper()
	db, err := pgtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Stop(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Commands and several servers use one database at the same time. What is changed through one is
// visible at the others.
func TestDatabase(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{})
	command := func(want int, args ...string) string {
		t.Helper()
		var out, log strings.Builder
		args = append([]string{"--data", t.TempDir(), "--store", db.URL()}, args...)
		if status := run(t.Context(), args, streams{strings.NewReader(""), &out, &log}); status != want {
			t.Fatalf("%q: status %d, want %d: %s", args[4:], status, want, log.String())
		}
		return out.String()
	}
	command(exitFailure, "get", "urn:example:1") // no store is there yet, and reading makes none
	for _, args := range [][]string{
		{"verify"},
		{"retire", "urn:example:1", "--reason", "x"},
		{"token", "make", "--who", "x"},
		{"relocate", "https://a.example/", "https://b.example/"},
		{"relocate", "--dry-run", "https://a.example/", "https://b.example/"},
		{"undo", "--change", "1"},
		{"redact", "urn:example:1", "--revision", "1", "--reason", "x", "--yes"},
	} {
		command(exitFailure, args...)
	}
	command(exitYes, "put", "urn:example:1", "https://a.example/1")
	file := filepath.Join(t.TempDir(), "names.csv")
	if err := os.WriteFile(file, []byte("name,url\nurn:example:1,https://wrong.example/1\nurn:example:2,https://wrong.example/2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(command(exitYes, "import", file), "--import ")
	id, _, _ = strings.Cut(id, "'")
	if got := command(exitYes, "undo", "--import", id); !strings.Contains(got, "2 changes undone: restored 1, retired 1, deleted 0, unchanged 0, rejected 0") {
		t.Errorf("undo: %q", got)
	}
	if got := command(exitYes, "undo", "--import", id); !strings.Contains(got, "unchanged 2") {
		t.Errorf("undo again: %q", got)
	}
	if got := command(exitYes, "changes", "--import", id); strings.Count(got, "import "+id) != 2 {
		t.Errorf("changes: %q", got)
	}
	command(exitYes, "verify")
	if got := command(exitYes, "get", "urn:example:1"); !strings.Contains(got, "https://a.example/1") {
		t.Errorf("get: %q", got)
	}
	command(exitYes, "token", "make", "--who", "administrator", "--role", "administrator")
	own := command(exitYes, "token", "list")
	nodes := [2]*process{}
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for i := range nodes {
		nodes[i] = start(t, dirs[i], "--store", db.URL(), "--no-access-log")
	}
	tokensOfNodes(t, nodes, dirs)
	if got := command(exitYes, "token", "list"); got != own {
		t.Errorf("the tokens after two nodes have started: %s, want %s", got, own)
	}
	for i, url := range []string{"https://a.example/1", "https://a.example/2", "https://a.example/3"} {
		if i > 0 {
			command(exitYes, "put", "--replace", "urn:example:1", url)
		}
		for _, p := range nodes {
			redirectsTo(t, p, "/urn:example:1", url)
		}
	}
}

// tokensOfNodes checks that the administrator's token of a node is valid only at this node.
func tokensOfNodes(t *testing.T, nodes [2]*process, dirs [2]string) {
	t.Helper()
	for i, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, tokenFile))
		if err != nil {
			t.Fatal(err)
		}
		for j, p := range nodes {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.admin+"/api/v1/tokens", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(text)))
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			want := http.StatusUnauthorized
			if i == j {
				want = http.StatusOK
			}
			if res.StatusCode != want {
				t.Errorf("the token of node %d at node %d: %d, want %d", i, j, res.StatusCode, want)
			}
		}
	}
}

// redirectsTo waits until a server redirects to a location. It waits for at most the time within
// which nodes see the changes of other nodes.
func redirectsTo(t *testing.T, p *process, path, location string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		res, err := client.Get("http://" + p.public + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		got := res.Header.Get("Location")
		if got == location {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %s to %q, want %q: %s", path, res.Status, got, location, p.output())
		}
	}
}
