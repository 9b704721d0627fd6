package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/bulk/bulktest"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// TestTransferDocument checks that the files in the document can be imported, and that the document
// names every column.
func TestTransferDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/record.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		fence  string
		format bulk.Format
		want   int64
	}{{"```json\n", bulk.JSONLines, 2}, {"```csv\n", bulk.CSV, 2}} {
		_, block, _ := strings.Cut(string(text), f.fence)
		block, _, _ = strings.Cut(block, "```")
		reg := registrar.New(memstore.New(), registrar.Options{})
		o := bulk.ImportOptions{Format: f.format, Refused: func(r bulk.Refusal) { t.Errorf("%s: %s", f.format, r) }}
		sum, err := bulk.Import(t.Context(), reg, registrar.Operator(), strings.NewReader(block), o)
		if err != nil || sum.Created != f.want {
			t.Errorf("%s: %+v, %v; want %d created", f.format, sum, err, f.want)
		}
	}
	var head bytes.Buffer
	if _, err := bulk.Export(t.Context(), memstore.New(), &head, bulk.ExportOptions{Format: bulk.CSV}); err != nil {
		t.Fatal(err)
	}
	words := strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" `,.:\n", r) && r != ':' })
	for _, title := range strings.Split(strings.TrimSpace(head.String()), ",") {
		found := false
		for _, w := range words {
			found = found || w == title
		}
		if !found {
			t.Errorf("the column %s is not in the document", title)
		}
	}
}

// TestKillImport kills an import and starts it again, many times. In the end every record is in the
// store and has only one revision.
func TestKillImport(t *testing.T) {
	const records = 60_000
	dir := t.TempDir()
	file, data := filepath.Join(dir, "names.jsonl"), filepath.Join(dir, "data")
	text, err := io.ReadAll(bulktest.NewReader(records, bulktest.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Each import lives longer than the one before, until one leaves something.
	killed, before := 0, int64(0)
	for life := 40 * time.Millisecond; before == 0; life += life / 2 {
		cmd := exec.Command(exe, "import", "--data", data, file)
		cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(life)
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		before = countIn(t, filepath.Join(data, storeDir))
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(data, storeDir)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sum, err := bulk.Import(t.Context(), registrar.New(s, registrar.Options{}), registrar.Operator(), bytes.NewReader(text), bulk.ImportOptions{})
	if err != nil || sum.Read != records || sum.Unchanged != before || sum.Created != records-before {
		t.Errorf("the last import: %+v, %v; want %d unchanged and all others created", sum, err, before)
	}
	var out bytes.Buffer
	sum, err = bulk.Export(t.Context(), s, &out, bulk.ExportOptions{Revisions: true})
	once := bytes.Count(out.Bytes(), []byte(`,"revision":1}`+"\n"))
	if err != nil || sum.Read != records || once != records {
		t.Errorf("export: %+v, %v; %d of revision 1, want all %d", sum, err, once, records)
	}
	t.Logf("%d imports killed, %d records were in before the last", killed, before)
	if killed == 0 {
		t.Error("no import was killed")
	}
}

// countIn counts the records of an embedded store, of which there may be nothing yet.
func countIn(t *testing.T, dir string) int64 {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, _, err := s.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDryRunOfFile checks that a dry run of a large file keeps its results in a temporary file, and
// removes this file.
func TestDryRunOfFile(t *testing.T) {
	const names = 6_000 // more than one batch
	var text strings.Builder
	for round := range 2 {
		for i := range names {
			fmt.Fprintf(&text, `{"name":"urn:example:%d","locations":[{"url":"https://example.org/%d"}]}`+"\n", i, round*(i%2))
		}
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out, said bytes.Buffer
	status := run(t.Context(), []string{"--data", t.TempDir(), "import", "--format", "jsonl", "--dry-run", "-"}, streams{strings.NewReader(text.String()), &out, &said})
	want := fmt.Sprintf("read %d, would create %d, would change %d, unchanged %d, rejected 0 ", 2*names, names, names/2, names/2)
	if status != exitYes || !strings.HasPrefix(out.String(), want) {
		t.Errorf("status %d, %q, %q; want %q", status, out.String(), said.String(), want)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A command that imports a batch file of a Handle server is killed, and repeated: the export is the file,
// and no handle was changed twice.
func TestKillForeignImport(t *testing.T) {
	const handles = 60_000
	dir := t.TempDir()
	file, data := filepath.Join(dir, "handles.txt"), filepath.Join(dir, "data")
	var text strings.Builder
	for i := range handles {
		fmt.Fprintf(&text, "CREATE 20.500.9999/%06d\n1 URL 86400 1110 UTF8 https://example.org/%06[1]d\n100 HS_ADMIN 86400 1110 ADMIN 300:111111111111:0.NA/20.500.9999\n\n", i)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := int64(0)
	for life := 40 * time.Millisecond; before == 0; life += life / 2 {
		cmd := exec.Command(exe, "import", "--data", data, "--format", "handle-batch", file)
		cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(life)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		before = countIn(t, filepath.Join(data, storeDir))
	}
	var out, log strings.Builder
	if status := run(t.Context(), []string{"--data", data, "--json", "import", "--format", "handle-batch", file}, streams{strings.NewReader(""), &out, &log}); status != exitYes {
		t.Fatalf("status %d: %s%s", status, out.String(), log.String())
	}
	if want := fmt.Sprintf(`"records":%d,"created":%d,"changed":0,"unchanged":%d,`, handles, handles-before, before); !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %s", out.String(), want)
	}
	out.Reset()
	if status := run(t.Context(), []string{"--data", data, "export", "--format", "handle-batch"}, streams{strings.NewReader(""), &out, &log}); status != exitYes || out.String() != text.String() {
		t.Errorf("status %d, %d bytes exported, want the file of %d bytes", status, out.Len(), text.Len())
	}
}
