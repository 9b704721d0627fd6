package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// succeeds runs a command that must succeed, and returns its output.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	status, out, log := command(t.Context(), strings.NewReader(""), args...)
	if status != exitYes {
		t.Fatalf("%q: status %d: %s", args, status, log)
	}
	return out
}

// What /-/privacy says is true: after a run with known addresses and User-Agent fields, no file of the
// data directory has one of them, while the server runs and after it has stopped or was killed. The
// names that were resolved, and the failed lookups, are there.
func TestPrivacyOnDisk(t *testing.T) {
	const agent = "Mozilla/5.0 (X11; Quuxian) Firefox/140.0 Frobnicator/7.31"
	addresses := []string{"203.0.113.77", "198.51.100.201", "2001:db8:1:2::abcd"}
	secrets := [][]byte{[]byte(agent), []byte("Frobnicator"), []byte("Quuxian"), []byte("20010db8000100020000")}
	for _, text := range addresses {
		a := netip.MustParseAddr(text)
		raw := a.As16()
		secrets = append(secrets, []byte(text), raw[:])
		if a.Is4() {
			four := a.As4()
			secrets = append(secrets, four[:], []byte(strings.Join(strings.Split(text, ".")[:3], ".")))
		}
	}
	data := t.TempDir()
	succeeds(t, "--data", data, "put", "urn:example:known", "https://example.org/known")
	p := start(t, data, "--trusted-proxy", "127.0.0.1/32", "--answer-cache", "4")
	ask := func() {
		for _, from := range addresses {
			for _, target := range []string{"/urn:example:known", "/urn:example:known?s=I2C", "/urn:example:missing", "/-/privacy", "/uri-res/N2L?urn:example:known"} {
				sendWith(t, "http://"+p.public+target, "X-Forwarded-For", from, "User-Agent", agent)
			}
		}
		succeeds(t, "--data", data, "stats", "") // writes the counts
	}
	scan := func(when string) {
		t.Helper()
		files, known, missing := 0, false, false
		err := filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			known = known || strings.Contains(path, countsDir) && bytes.Contains(b, []byte("urn:example:known"))
			missing = missing || bytes.Contains(b, []byte("urn:example:missing"))
			for _, s := range secrets {
				if bytes.Contains(b, s) {
					t.Errorf("%s: %s has %q", when, path, s)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if files < 5 || !known {
			t.Errorf("%s: %d files, the counted name is in one: %t", when, files, known)
		}
		if when == "stopped" && !missing {
			t.Error("the failed lookup is in no file")
		}
	}
	ask()
	scan("running")
	ask()
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	scan("stopped")
	p, err := startServer(data, "--trusted-proxy", "127.0.0.1/32")
	if err != nil {
		t.Fatal(err)
	}
	ask()
	if err := p.kill(); err == nil {
		t.Error("a killed server ended well")
	}
	scan("killed")
}

// The counts of the nodes of a database add up, and a command without a server reads them.
func TestCountsOfNodes(t *testing.T) {
	db := startDatabase(t, pgtest.Options{})
	var nodes [2]*process
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for i := range nodes {
		nodes[i] = start(t, dirs[i], "--store", db.URL(), "--no-access-log")
	}
	succeeds(t, "--data", dirs[0], "--store", db.URL(), "put", "urn:example:a", "https://example.org/a")
	for i, p := range nodes {
		redirectsTo(t, p, "/urn:example:a", "https://example.org/a")
		sendWith(t, "http://"+p.public+"/urn:example:a", "User-Agent", "Mozilla/5.0 Firefox/140.0")
		if err := p.stop(); err != nil {
			t.Fatalf("node %d: %v", i, err)
		}
	}
	var r adminapi.Resolutions
	if err := json.Unmarshal([]byte(succeeds(t, "--data", dirs[0], "--store", db.URL(), "stats", "urn:example:a", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Total.Regular != 2 {
		t.Errorf("%+v, want 2 resolutions by a browser, one at each node", r.Total)
	}
}
