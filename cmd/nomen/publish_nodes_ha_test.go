//go:build ha

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
	"github.com/nomen-project/nomen/tlog"
)

// TestPublishByNodes kills the publishing one of two servers of a database, several times, while
// names are changed. The other goes on, and all checkpoints that clients got from both continue each
// other.
func TestPublishByNodes(t *testing.T) {
	db := startDatabase(t, pgtest.Options{})
	skey, vkey, err := tlog.GenerateKey(rand.Reader, "names.example.org/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "log.key")
	if err := os.WriteFile(key, []byte(skey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	verifier, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	dirs, nodes := [2]string{t.TempDir(), t.TempDir()}, [2]*process{}
	serve := func(i int) {
		t.Helper()
		p, err := startServer(dirs[i], "--store", db.URL(), "--no-access-log", "--log.key", key, "--public-url", "https://names.example.org")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.kill() })
		nodes[i] = p
	}
	seen := map[string]tlog.Checkpoint{}
	shown := func(i int) (c tlog.Checkpoint, ok bool) {
		res, err := http.Get("http://" + nodes[i].public + "/-/log/checkpoint")
		if err != nil {
			return c, false
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			return c, false
		}
		signed, err := tlog.Open(text, verifier)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		seen[string(text)] = signed.Checkpoint
		return signed.Checkpoint, true
	}
	s, err := pgstore.Open(t.Context(), pgstore.Options{URL: db.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	serve(0)
	serve(1)
	n := 0
	change := func() uint64 {
		t.Helper()
		var out, log strings.Builder
		n++
		args := []string{"--data", t.TempDir(), "--store", db.URL(), "put", fmt.Sprint("urn:example:", n), "https://example.org/"}
		if status := run(t.Context(), args, streams{strings.NewReader(""), &out, &log}); status != exitYes {
			t.Fatal(status, log.String())
		}
		head, err := settledHead(context.WithoutCancel(t.Context()), s)
		if err != nil {
			t.Fatal(err)
		}
		return head.Size
	}
	until := func(size uint64, alive ...int) (took time.Duration) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			all := true
			for _, i := range alive {
				c, ok := shown(i)
				all = all && ok && c.Size >= size
			}
			if took = time.Since(began); all {
				return took
			}
			if took > 2*time.Minute {
				t.Fatalf("no checkpoint of %d entries: %s", size, nodes[alive[0]].output())
			}
		}
	}
	until(change(), 0, 1)
	for round := range 4 {
		i := round % 2
		_ = nodes[i].kill()
		t.Logf("node %d was killed; the other published after %v", i, until(change(), 1-i))
		serve(i)
		until(change(), 0, 1)
	}
	sizes := map[uint64]tlog.Checkpoint{}
	last := tlog.Checkpoint{}
	for _, c := range seen {
		if same, ok := sizes[c.Size]; ok && same.Root != c.Root {
			t.Errorf("two checkpoints of %d entries have different roots", c.Size)
		}
		if sizes[c.Size] = c; c.Size > last.Size {
			last = c
		}
	}
	for _, c := range sizes {
		var proof []tlog.Hash
		if c.Size > 0 && c.Size < last.Size {
			if proof, err = s.ProveHead(t.Context(), last.Size, c.Size); err != nil {
				t.Fatal(err)
			}
		}
		if err := tlog.CheckConsistency(proof, c, last); err != nil {
			t.Errorf("the checkpoints of %d and %d entries contradict each other: %v", c.Size, last.Size, err)
		}
	}
	t.Logf("%d checkpoints of %d sizes", len(seen), len(sizes))
}
