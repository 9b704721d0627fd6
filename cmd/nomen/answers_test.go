package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// answersFromCache returns how many answers of a server have come from its cache of whole answers;
// -1 if it has none.
func answersFromCache(t *testing.T, p *process) int {
	t.Helper()
	metrics := send(t, "GET", "http://"+p.admin+"/-/metrics", "").body
	m := regexp.MustCompile(`(?m)^nomen_cache_hits_total\{cache="answers"\} (\d+)$`).FindStringSubmatch(metrics)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// locationOf returns the location to which a server redirects a name.
func locationOf(t *testing.T, p *process, name string) string {
	t.Helper()
	return send(t, "GET", "http://"+p.public+"/"+name, "").header.Get("Location")
}

// putAt changes a name through a server.
func putAt(t *testing.T, p *process, data, name, location string) {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(data, tokenFile))
	if err != nil {
		t.Fatal(err)
	}
	r := send(t, "PUT", "http://"+p.admin+"/api/v1/names/"+name, fmt.Sprintf(`{"name":%q,"locations":[{"url":%q}]}`, name, location),
		"Authorization", "Bearer "+strings.TrimSpace(string(token)), "Content-Type", "application/json")
	if r.status >= 300 {
		t.Fatalf("%s: %d %s", name, r.status, r.body)
	}
}

// warm asks a server for a name until an answer comes from the cache, because a change of the last
// second is not cached.
func warm(t *testing.T, p *process, name, location string) {
	t.Helper()
	before := answersFromCache(t, p)
	for end := time.Now().Add(soon); answersFromCache(t, p) == before; {
		if got := locationOf(t, p, name); got != location || time.Now().After(end) {
			t.Fatalf("%s: got %q, want %q; %d answers from the cache", name, got, location, before)
		}
	}
}

// TestAnswersInMemory checks that a server answers repeated requests from its cache, and that its
// next answer shows a change.
func TestAnswersInMemory(t *testing.T) {
	t.Parallel()
	for _, options := range [][]string{nil, {"--ask-others", "own", "--own-users", "192.0.2.0/24"}, {"--answer-cache", "1"}} {
		data := t.TempDir()
		p := start(t, data, append(options, "--demo")...)
		const name = "urn:ietf:rfc:2648"
		warm(t, p, name, "https://www.rfc-editor.org/rfc/rfc2648.txt")
		for i := range 3 {
			location := fmt.Sprintf("https://example.org/%d", i)
			putAt(t, p, data, name, location)
			if got := locationOf(t, p, name); got != location {
				t.Errorf("%q: after a change: got %q, want %q", options, got, location)
			}
			warm(t, p, name, location)
		}
	}
	if n := answersFromCache(t, start(t, t.TempDir(), "--answer-cache", "0")); n != -1 {
		t.Errorf("without a cache: %d answers came from it", n)
	}
}

// TestAnswersOfTwoNodes checks that a node stops using a cached answer at most three seconds after
// another node has changed the name.
func TestAnswersOfTwoNodes(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{})
	var data [2]string
	var nodes [2]*process
	for i := range nodes {
		data[i] = t.TempDir()
		nodes[i] = start(t, data[i], "--store", db.URL())
	}
	const name = "urn:example:warm"
	for i := range 4 {
		at, other := nodes[i%2], nodes[1-i%2]
		location := fmt.Sprintf("https://example.org/%d", i)
		putAt(t, at, data[i%2], name, location)
		changed := time.Now()
		if got := locationOf(t, at, name); got != location {
			t.Errorf("at the node that made the change: got %q, want %q", got, location)
		}
		for locationOf(t, other, name) != location {
			if time.Since(changed) > soon {
				t.Fatalf("the other node does not learn of %s", location)
			}
		}
		t.Logf("visible at the other node after %v", time.Since(changed))
		warm(t, at, name, location)
		warm(t, other, name, location)
	}
}
