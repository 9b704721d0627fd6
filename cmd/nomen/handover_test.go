package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/tlog"
)

// TestHandover hands a store over to a database and back to a directory: the heads stay the same,
// proofs of the first store hold for the last one, and the chain of notes leads from the first key to
// the last one.
func TestHandover(t *testing.T) {
	d := newDatabase(t)
	key := func(name string) (file, vkey string) {
		t.Helper()
		skey, vkey, err := tlog.GenerateKey(rand.Reader, name, false)
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(t.TempDir(), "log.key")
		if err := os.WriteFile(file, []byte(skey+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return file, vkey
	}
	first, firstKey := key("first.example/-/log")
	second, secondKey := key("second.example/-/log")
	_, thirdKey := key("third.example/-/log")

	d.done("authority", "put", "urn:x-shop", "--owner", "archive", "--owner", "library")
	d.done("put", "urn:x-shop:1", "https://example.org/1")
	d.done("put", "urn:x-shop:2", "https://example.org/private")
	d.done("put", "--replace", "urn:x-shop:2", "https://example.org/2")
	d.done("redact", "urn:x-shop:2", "--revision", "1", "--reason", "law", "--yes")
	d.done("user", "add", "--name", "Bea Baker", "--role", "editor", "--prefix", "urn:x-shop")
	made := d.done("token", "make", "--who", "Anna Archer", "--role", "editor", "--prefix", "urn:x-shop")
	id, secret, ok := strings.Cut(strings.TrimSpace(made), ".")
	if !ok {
		t.Fatalf("token make: %q", made)
	}
	embedded := "pebble:" + filepath.Join(d.dir, storeDir)
	head := verifiedHead(d, embedded)

	// To the database.
	archive := filepath.Join(t.TempDir(), "first.handover")
	d.done("handover", "export", "--log-key", first, "--successor", secondKey, archive)
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(archive); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the archive: %v, %v, want 0600", info.Mode(), err)
	}
	for _, hidden := range []string{secret, "https://example.org/private"} {
		if strings.Contains(string(text), hidden) {
			t.Errorf("the archive has %q", hidden)
		}
	}
	if !strings.Contains(string(text), "Anna Archer") || !strings.Contains(string(text), id) {
		t.Error("the archive does not have the rights of the token")
	}
	database := d.URL()
	d.command(exitFailure, "handover", "import", "--key", secondKey, "--to", database, archive)
	for range 2 { // the second import finds that everything is there
		if out := d.done("handover", "import", "--key", firstKey, "--to", database, archive); !strings.Contains(out, "head "+head) || !strings.Contains(out, secondKey) {
			t.Errorf("import: %s", out)
		}
	}
	if got := verifiedHead(d, database); got != head {
		t.Errorf("head in the database %s, want %s", got, head)
	}

	// And back.
	back := filepath.Join(t.TempDir(), "archives")
	if err := os.Mkdir(back, 0o700); err != nil {
		t.Fatal(err)
	}
	d.done("handover", "export", "--store", database, "--log-key", second, "--successor", thirdKey, back)
	again := filepath.Join(t.TempDir(), "store")
	d.done("handover", "import", "--key", secondKey, "--to", "pebble:"+again, filepath.Join(back, handoverFile))
	if got := verifiedHead(d, "pebble:"+again); got != head {
		t.Errorf("head in the directory %s, want %s", got, head)
	}
	d.command(exitFailure, "handover", "import", "--to", "pebble:"+again, archive) // the directory exists
	if out := d.done("--store", "pebble:"+again, "get", "urn:x-shop:2"); !strings.Contains(out, "https://example.org/2") {
		t.Errorf("a name after two hand-overs: %s", out)
	}
	if out := d.done("--store", "pebble:"+again, "history", "urn:x-shop:2"); !strings.Contains(out, "content removed by revision 3") {
		t.Errorf("history after two hand-overs: %s", out)
	}
	for file, keys := range map[string][2]string{archive: {firstKey, secondKey}, filepath.Join(back, handoverFile): {secondKey, thirdKey}} {
		h, err := tlog.OpenHandover([]byte(d.done("handover", "check", "--note", file)), keys[0])
		if err != nil || h.To != keys[1] {
			t.Errorf("note of %s: %+v, %v", file, h, err)
		}
	}
	if out := d.done("changes", "--store", "pebble:"+again, "--json"); !strings.Contains(out, `"rights":{"id":"`+id) {
		t.Errorf("the log does not have the rights of the token: %s", out)
	}
	if out := d.done("token", "list", "--store", "pebble:"+again); strings.Contains(out, id) {
		t.Errorf("a token was handed over: %s", out)
	}
}

// verifiedHead verifies a store and returns its head.
func verifiedHead(d *database, store string) string {
	d.Helper()
	var line struct {
		Head   string `json:"head"`
		Faults int    `json:"faults"`
	}
	out := d.done("verify", "--store", store, "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil || line.Head == "" || line.Faults > 0 {
		d.Fatalf("verify: %s, %v", out, err)
	}
	return line.Head
}

// TestHandoverImportBreaksOff checks that an import that fails leaves no store under the name that
// was given, and that the next import continues.
func TestHandoverImportBreaksOff(t *testing.T) {
	dir := t.TempDir()
	nomen := func(want int, args ...string) (string, string) {
		t.Helper()
		var out, errs strings.Builder
		if got := run(t.Context(), append([]string{"--data", dir}, args...), streams{strings.NewReader(""), &out, &errs}); got != want {
			t.Fatalf("nomen %s: status %d, want %d: %s%s", strings.Join(args, " "), got, want, &out, &errs)
		}
		return out.String(), errs.String()
	}
	nomen(exitYes, "put", "urn:example:1", "https://example.org/1")
	nomen(exitYes, "put", "urn:example:2", "https://example.org/2")
	archive, to := filepath.Join(dir, "a.handover"), filepath.Join(dir, "new")
	nomen(exitYes, "handover", "export", archive)
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.handover")
	if err := os.WriteFile(bad, text[:len(text)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	nomen(exitFailure, "handover", "import", "--to", "pebble:"+to, bad)
	for _, name := range []string{to, to + handoverPart} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("an invalid archive has left %s", name)
		}
	}
	// A crash after the first change.
	s, err := pebblestore.Open(pebblestore.Options{Dir: to + handoverPart})
	if err != nil {
		t.Fatal(err)
	}
	from, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(dir, storeDir), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context(), upTo(1, func(uint64, uint64) {}, from.Changes(t.Context(), 0))); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*pebblestore.Store{s, from} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	nomen(exitYes, "handover", "import", "--to", "pebble:"+to, archive)
	if out, _ := nomen(exitYes, "get", "--store", "pebble:"+to, "urn:example:2"); !strings.Contains(out, "https://example.org/2") {
		t.Errorf("after the second import: %s", out)
	}
	if _, err := os.Stat(to + handoverPart); err == nil {
		t.Error("the incomplete directory is still there")
	}
}

// TestHandoverIntoDatabase checks imports into databases that are not empty: one that an interrupted
// import has left is continued, and one with another log, or with later changes, is not changed.
func TestHandoverIntoDatabase(t *testing.T) {
	d := newDatabase(t)
	d.done("put", "urn:x-shop:1", "https://example.org/1")
	d.done("put", "urn:x-shop:2", "https://example.org/2")
	d.done("put", "urn:x-shop:3", "https://example.org/3")
	archive := filepath.Join(t.TempDir(), "a.handover")
	d.done("handover", "export", archive)
	head := verifiedHead(d, "pebble:"+filepath.Join(d.dir, storeDir))
	c := d.connect(d.URL())
	for i, what := range []string{"interrupted", "another log", "later changes"} {
		schema := fmt.Sprint("target", i)
		d.execute(c, "create schema "+schema)
		url := d.URL() + "&search_path=" + schema
		want, status := head, exitYes
		switch what {
		case "interrupted":
			d.beginImport(url)
		case "another log":
			d.done("put", "--store", url, "urn:x-shop:1", "https://example.org/other")
			want, status = verifiedHead(d, url), exitFailure
		case "later changes":
			d.done("handover", "import", "--to", url, archive)
			d.done("put", "--store", url, "urn:x-shop:4", "https://example.org/4")
			want, status = verifiedHead(d, url), exitFailure
		}
		_, all := d.command(status, "handover", "import", "--to", url, archive)
		if got := verifiedHead(d, url); got != want {
			t.Errorf("%s: the head is %s, want %s: %s", what, got, want, all)
		}
	}
}

// beginImport loads the first change of the store of the data directory into a database.
func (d *database) beginImport(url string) {
	d.Helper()
	from, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(d.dir, storeDir), ReadOnly: true})
	if err != nil {
		d.Fatal(err)
	}
	to, err := pgstore.Open(d.Context(), pgstore.Options{URL: url})
	if err != nil {
		d.Fatal(err)
	}
	err = to.Load(d.Context(), upTo(1, func(uint64, uint64) {}, from.Changes(d.Context(), 0)))
	if err := errors.Join(err, to.Close(), from.Close()); err != nil {
		d.Fatal(err)
	}
}
