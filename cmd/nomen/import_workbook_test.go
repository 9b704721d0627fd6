package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/xlsx/xlsxtest"
)

// A workbook is imported by the command into a store and on a server, from standard input, and by a request.
// Messages name the cell.
func TestImportWorkbook(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "names.xlsx")
	content := xlsxtest.Workbook(t,
		xlsxtest.Sheet{Name: "Albums", Rows: [][]any{{"Id", "url"}, {"urn:example:alb1", "https://example.org/1"}, {"urn:example:alb2", "nowhere"}}},
		xlsxtest.Sheet{Name: "Notes", Rows: [][]any{{"nothing"}}})
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(in string, args ...string) (status int, out, log string) {
		var o, l strings.Builder
		status = run(t.Context(), args, streams{strings.NewReader(in), &o, &l})
		return status, o.String(), l.String()
	}
	data := t.TempDir()
	p := start(t, data, "--no-access-log")
	text, err := os.ReadFile(filepath.Join(data, tokenFile))
	if err != nil {
		t.Fatal(err)
	}
	const refused = "names.xlsx:Albums!B3: urn:example:alb2: url: "
	for _, tt := range []struct {
		what, in     string
		args         []string
		status       int
		out, message string
	}{
		{"store", "", []string{"--data", t.TempDir(), "import", "--sheet", "Albums", "--map", "Id=name", file}, exitNo, "read 2, created 1", refused},
		{"server", "", []string{"--data", data, "import", "--sheet", "Albums", "--map", "Id=name", file}, exitNo, "read 2, created 1", refused},
		{"dry run", "", []string{"--data", data, "import", "--dry-run", "-v", "--sheet", "Albums", "--map", "Id=name", "--on-conflict", "replace", file}, exitNo, "unchanged 1", refused},
		{"standard input", string(content), []string{"--data", t.TempDir(), "import", "--format", "xlsx", "--sheet", "Albums", "--map", "Id=name", "-"}, exitNo, "created 1", "-:Albums!B3: "},
		{"no sheet", "", []string{"--data", t.TempDir(), "import", file}, exitNo, "", "the workbook has several sheets: choose one of Albums, Notes"},
		{"no sheet, server", "", []string{"--data", data, "import", file}, exitNo, "", "the workbook has several sheets: choose one of Albums, Notes"},
		{"unknown column, server", "", []string{"--data", data, "import", "--sheet", "Albums", file}, exitNo, "", "names.xlsx:Albums!A1: Id: unknown columns"},
		{"sheet of CSV", "", []string{"--data", data, "import", "--sheet", "A", "names.csv"}, exitUsage, "", `--sheet "A": only workbooks`},
		{"export", "", []string{"--data", data, "export", "-o", filepath.Join(data, "x.xlsx")}, exitUsage, "", "cannot export the format xlsx"},
	} {
		status, out, log := command(tt.in, tt.args...)
		if status != tt.status || !strings.Contains(out, tt.out) || !strings.Contains(log, tt.message) {
			t.Errorf("%s: got %d, %s%s, want %d, %s, %s", tt.what, status, out, log, tt.status, tt.out, tt.message)
		}
	}
	bearer := []string{"Authorization", "Bearer " + strings.TrimSpace(string(text)), "Content-Type", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
	r := send(t, http.MethodPost, "http://"+p.admin+"/api/v1/import?sheet=Albums&map=Id%3Dname&dry_run=1", string(content), bearer...)
	if r.status != http.StatusOK || !strings.Contains(r.body, `"sheet":"Albums","line":3,"column":2`) {
		t.Errorf("got %d %s", r.status, r.body)
	}
	r = send(t, http.MethodPost, "http://"+p.admin+"/api/v1/import?sheet=Albums", string(content), bearer...)
	if r.status != http.StatusOK || !strings.Contains(r.body, `"sheet":"Albums","line":1,"column":1`) {
		t.Errorf("got %d %s", r.status, r.body)
	}
}
