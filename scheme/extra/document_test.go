package extra

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// A row of docs/reference/schemes.md.
type documentRow struct{ names, parts, checks, refused, normal, document string }

// readRows reads the table of docs/reference/schemes.md.
func readRows(t *testing.T) []documentRow {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/schemes.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []documentRow
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) != 6 {
			continue
		}
		rows = append(rows, documentRow{strings.TrimPrefix(cells[0], "| "), cells[1], cells[2], cells[3], cells[4], strings.TrimSuffix(cells[5], " |")})
	}
	return rows
}

// quoted returns the texts between pairs of backquotes.
func quoted(s string) []string {
	var list []string
	for i, piece := range strings.Split(s, "`") {
		if i%2 == 1 {
			list = append(list, piece)
		}
	}
	return list
}

// The document lists every scheme with rules exactly once. Its parts are those
// of the examples, what it calls invalid is rejected, and the spellings before
// arrows have the normal form after them.
func TestDocument(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range readRows(t) {
		for _, name := range quoted(row.names) {
			s, ok := Catalogue().Lookup(name)
			if !ok || seen[name] {
				t.Errorf("docs/reference/schemes.md: %s: known: %v, a second time: %v", name, ok, seen[name])
				continue
			}
			seen[name] = true
			checkDocumentRow(t, s, row)
		}
		checkDocumentSpellings(t, row)
	}
	for s := range Catalogue().All() {
		if (s.Rules.Check != nil || s.Rules.Parts != nil) != seen[s.Name] {
			t.Errorf("docs/reference/schemes.md: %s: has rules: %v, has a row: %v", s.Name, !seen[s.Name], seen[s.Name])
		}
	}
}

// checkDocumentRow compares a row with the scheme.
func checkDocumentRow(t *testing.T, s scheme.Scheme, row documentRow) {
	t.Helper()
	if !strings.Contains(row.document, s.Reference) {
		t.Errorf("docs/reference/schemes.md: %s: documents are %q, want %q in it", s.Name, row.document, s.Reference)
	}
	parts := quoted(row.parts)
	for _, p := range s.Parts(uri.MustParse(s.Example)) {
		if !slices.Contains(parts, p.Label()) {
			t.Errorf("docs/reference/schemes.md: %s: parts are %q, want %q among them", s.Name, parts, p.Name)
		}
	}
	changes := s.Rules.Canonical != nil || s.RootPath || s.DefaultPort != ""
	if changes != strings.Contains(row.normal, "→") && !strings.HasPrefix(s.Name, "sip") {
		t.Errorf("docs/reference/schemes.md: %s: has a normal form of its own: %v, and the document says %q", s.Name, changes, row.normal)
	}
}

// checkDocumentSpellings checks the examples of a row.
func checkDocumentSpellings(t *testing.T, row documentRow) {
	t.Helper()
	for _, in := range quoted(row.refused) {
		if !scheme.HasError(Catalogue().Check(uri.MustParse(in))) {
			t.Errorf("docs/reference/schemes.md: Check(%q) finds no error", in)
		}
	}
	before, after, ok := strings.Cut(row.normal, " → ")
	if !ok {
		return
	}
	from, to := quoted(before), quoted(after)
	if got := Catalogue().Canonical(uri.MustParse(from[len(from)-1])).String(); got != to[0] {
		t.Errorf("docs/reference/schemes.md: Canonical(%q) = %q, want %q", from[len(from)-1], got, to[0])
	}
}
