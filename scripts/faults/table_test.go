//go:build faults

package faults

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The document that has the table of faults, between two comments.
const (
	document   = "../../docs/reference/failures.md"
	tableBegin = "<!-- measured by make faults: begin -->"
	tableEnd   = "<!-- measured by make faults: end -->"
)

// A Row is what was measured during one fault.
type Row struct {
	Fault   string // what the test did
	Reads   string // what clients that read see
	Writes  string // what clients that write see
	Healthz string
	Readyz  string
	Metrics string
	Log     string
	After   string // what is needed to continue
}

func (r Row) cells() []string {
	return []string{r.Fault, r.Reads, r.Writes, r.Healthz, r.Readyz, r.Metrics, r.Log, r.After}
}

func (r Row) String() string { return "| " + strings.Join(r.cells(), " | ") + " |" }

var columns = Row{"Fault", "Reads", "Writes", "`/-/healthz`", "`/-/readyz`", "Metrics", "Log", "Recovery"}

// A table collects the rows of one run.
type table struct {
	mu   sync.Mutex
	rows map[string]string // rows by fault
}

var measured = table{rows: map[string]string{}}

// emit adds the row of a test to the table.
func emit(t *testing.T, r Row) {
	t.Helper()
	for _, cell := range r.cells() {
		if cell == "" || strings.ContainsAny(cell, "|\n") {
			t.Errorf("row %q: a cell is empty or has characters that a table cannot hold: %q", r.Fault, cell)
		}
	}
	measured.mu.Lock()
	defer measured.mu.Unlock()
	if _, twice := measured.rows[r.Fault]; twice {
		t.Errorf("two tests emit the row %q", r.Fault)
	}
	measured.rows[r.Fault] = r.String()
}

// binary is the program under test. TestMain builds it.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "faults: this needs root: it mounts file systems and ends databases")
		return 1
	}
	dir, err := os.MkdirTemp("", "nomen-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "nomen")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/nomen")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "faults: %v\n%s", err, out)
		return 1
	}
	status := m.Run()
	all := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
	return max(status, measured.compare(all))
}

// compare prints the table, and returns 1 if the document has other rows. If all is true, a row of
// the document that was not measured also counts as a difference.
func (m *table) compare(all bool) int {
	documented, err := readTable(document)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
	var order []string // the faults in the order of the document, then the new ones
	for _, line := range documented {
		order = append(order, fault(line))
	}
	var fresh []string
	for f := range m.rows {
		if !slices.Contains(order, f) {
			fresh = append(fresh, f)
		}
	}
	slices.Sort(fresh)
	status := 0
	fmt.Printf("\n%s\n%s\n", columns, "|"+strings.Repeat(" --- |", len(columns.cells())))
	for i, f := range append(order, fresh...) {
		row, ok := m.rows[f]
		switch {
		case ok && i < len(documented) && row == documented[i]:
			fmt.Println(row)
		case ok:
			fmt.Println(row)
			fmt.Fprintf(os.Stderr, "faults: %s has another row, or none, for %q\n", document, f)
			status = 1
		case all:
			fmt.Fprintf(os.Stderr, "faults: %s has a row %q, which no test has measured\n", document, f)
			status = 1
		}
	}
	return status
}

// readTable returns the rows of the table in a document.
func readTable(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_, rest, begun := strings.Cut(string(text), tableBegin+"\n")
	body, _, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		return nil, fmt.Errorf("%s: no table between %q and %q", file, tableBegin, tableEnd)
	}
	lines := strings.Split(strings.TrimSpace(body), "\n")
	if len(lines) < 2 || lines[0] != columns.String() {
		return nil, fmt.Errorf("%s: the table must begin with %s", file, columns)
	}
	return lines[2:], nil
}

// fault returns the first cell of a row.
func fault(line string) string {
	cells := strings.SplitN(line, "|", 3)
	if len(cells) < 3 {
		return line
	}
	return strings.TrimSpace(cells[1])
}
