package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// One database serves commands and several servers at once; what is changed
// through one is answered by the others.
func TestDatabase(t *testing.T) {
	db, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Stop(); err != nil {
			t.Error(err)
		}
	})
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
	command(exitYes, "put", "urn:example:1", "https://a.example/1")
	if got := command(exitYes, "get", "urn:example:1"); !strings.Contains(got, "https://a.example/1") {
		t.Errorf("get: %q", got)
	}
	nodes := [2]*process{}
	for i := range nodes {
		nodes[i] = start(t, t.TempDir(), "--store", db.URL(), "--no-access-log")
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

// redirectsTo waits until a server redirects to a location, for as long as nodes may
// take to learn from each other.
func redirectsTo(t *testing.T, p *process, path, location string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
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
