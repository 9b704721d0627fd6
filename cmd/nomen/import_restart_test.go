package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// manyOfImport is the number of records of an import. The database cannot store so many between two
// checks of the test.
const manyOfImport = 60_000

// restartFile makes a file whose names are in no other file.
func restartFile(t *testing.T, of string) string {
	t.Helper()
	var lines strings.Builder
	for i := range manyOfImport {
		fmt.Fprintf(&lines, "{\"name\":\"urn:example:%s-%06d\",\"locations\":[{\"url\":\"https://h.example/%[2]d\"}]}\n", of, i)
	}
	file := filepath.Join(t.TempDir(), of+".jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

var firstRevision = regexp.MustCompile(`"revision":1\b`)

// The database is killed in the middle of an import, and restarted. The import ends, whether it was
// started by a command, a request or a job. No record that it has reported as imported is lost, and
// no record is imported twice.
func TestImportAcrossRestart(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{Fsync: true})
	command := func(data string, args ...string) (status int, out, log string) {
		var o, l strings.Builder
		status = run(t.Context(), append([]string{"--data", data, "--store", db.URL()}, args...), streams{strings.NewReader(""), &o, &l})
		return status, o.String(), l.String()
	}
	if status, _, log := command(t.TempDir(), "put", "urn:example:1", "https://h.example/"); status != exitYes {
		t.Fatal(log)
	}
	data := t.TempDir()
	p := start(t, data, "--store", db.URL(), "--no-access-log")
	text, err := os.ReadFile(filepath.Join(data, tokenFile))
	if err != nil {
		t.Fatal(err)
	}
	bearer := []string{"Authorization", "Bearer " + strings.TrimSpace(string(text)), "Content-Type", "application/jsonl"}
	api := "http://" + p.admin + "/api/v1/"
	post := func(file string, header ...string) response {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		return sendWithin(t, 5*time.Minute, http.MethodPost, api+"import", string(body), append(header, bearer...)...)
	}
	for i, door := range []struct {
		what   string
		bring  func(file string) string // runs the import and returns its output
		killed time.Duration            // how long the database is unavailable
	}{
		{"command", func(file string) string {
			status, out, log := command(t.TempDir(), "import", file)
			return fmt.Sprint(status, " ", out, log)
		}, time.Second},
		{"request", func(file string) string { return post(file).body }, time.Second},
		{"job", func(file string) string {
			var job struct {
				ID, State string
				Complete  bool
			}
			r := post(file, "Prefer", "respond-async")
			if err := json.Unmarshal([]byte(r.body), &job); err != nil || r.status != http.StatusAccepted {
				t.Errorf("%d %s: %v", r.status, r.body, err)
				return r.body
			}
			for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				r = send(t, http.MethodGet, api+"jobs/"+job.ID, "", bearer...)
				if err := json.Unmarshal([]byte(r.body), &job); r.status == http.StatusOK && err == nil && job.State != "running" {
					break
				}
			}
			return r.body
		}, 3 * time.Second},
	} {
		if testing.Short() && i > 0 {
			break
		}
		file := restartFile(t, door.what)
		said := make(chan string, 1)
		go func() { said <- door.bring(file) }()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if status, _, _ := command(t.TempDir(), "get", "urn:example:"+door.what+"-001000"); status == exitYes {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: it does not begin", door.what)
			}
		}
		if err := db.Kill(); err != nil {
			t.Fatal(err)
		}
		select {
		case end := <-said:
			t.Fatalf("%s: the import ended before the database was killed, or gave up: %s", door.what, end)
		case <-time.After(door.killed):
		}
		if err := db.Restart(); err != nil {
			t.Fatal(err)
		}
		select {
		case end := <-said:
			t.Logf("%s: %s", door.what, end[max(0, len(end)-400):])
			if !strings.Contains(end, fmt.Sprint("created ", manyOfImport)) && !strings.Contains(end, `"complete":true`) {
				t.Errorf("%s: it is not complete: %s", door.what, end)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: it does not end", door.what)
		}
		status, out, log := command(t.TempDir(), "export", "--prefix", "urn:example:"+door.what+"-", "--revisions")
		if lines, first := strings.Count(out, "\n"), len(firstRevision.FindAllString(out, -1)); status != exitYes || lines != manyOfImport || first != manyOfImport {
			t.Errorf("%s: %d names, %d of them at revision 1, want %d: %s", door.what, lines, first, manyOfImport, log)
		}
		if status, out, log := command(t.TempDir(), "verify"); status != exitYes {
			t.Errorf("%s: verify: %s%s", door.what, out, log)
		}
	}
}

// The database is unavailable for longer than an import waits. The command fails, and says why and
// which records are imported. If the same import is started again, it imports the rest, and no name
// is changed twice.
func TestImportGivesUp(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{Fsync: true})
	data := t.TempDir()
	file := restartFile(t, "given-up")
	command := func(args ...string) (status int, out, log string) {
		var o, l strings.Builder
		status = run(t.Context(), append([]string{"--data", data, "--store", db.URL()}, args...), streams{strings.NewReader(""), &o, &l})
		return status, o.String(), l.String()
	}
	type end struct {
		status   int
		out, log string
	}
	ended := make(chan end, 1)
	go func() {
		status, out, log := command("import", file)
		ended <- end{status, out, log}
	}()
	within(t, soon, "the import begins", func() bool {
		status, _, _ := command("get", "urn:example:given-up-001000")
		return status == exitYes
	})
	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	var e end
	select {
	case e = <-ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("the import does not end")
	}
	if took := time.Since(killed); took < store.LongPatience-time.Second {
		t.Errorf("it gave up after %v, want %v", took, store.LongPatience)
	}
	read := regexp.MustCompile(`read \d+, created (\d+), changed 0, unchanged 0, rejected 0`).FindStringSubmatch(e.out + e.log)
	if e.status != exitFailure || read == nil || !strings.Contains(e.log, ": import, from line ") || !strings.Contains(e.log, "can be reached: cannot connect") && !strings.Contains(e.log, "the database cannot be reached") {
		t.Fatalf("status %d: %s%s", e.status, e.out, e.log)
	}
	said, _ := strconv.Atoi(read[1])
	if err := db.Restart(); err != nil {
		t.Fatal(err)
	}
	_, out, log := command("export", "--prefix", "urn:example:given-up-")
	there := strings.Count(out, "\n")
	if there < said || there == manyOfImport {
		t.Errorf("%d names are there, and %d were reported: %s", there, said, log)
	}
	status, out, log := command("import", file)
	if want := fmt.Sprintf("created %d, changed 0, unchanged %d, rejected 0", manyOfImport-there, there); status != exitYes || !strings.Contains(out+log, want) {
		t.Errorf("again: status %d: %s%s, want %q", status, out, log, want)
	}
	_, out, _ = command("export", "--prefix", "urn:example:given-up-", "--revisions")
	if first := len(firstRevision.FindAllString(out, -1)); first != manyOfImport {
		t.Errorf("%d names are at revision 1, want %d", first, manyOfImport)
	}
	if status, out, log := command("verify"); status != exitYes {
		t.Errorf("verify: %s%s", out, log)
	}
}
