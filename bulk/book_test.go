package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/xlsx/xlsxtest"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store/memstore"
)

func importBook(t *testing.T, file []byte, o ImportOptions) (s Summary, records, refused string, err error) {
	t.Helper()
	st := memstore.New()
	defer st.Close()
	o.Format = XLSX
	var all []string
	o.Refused = func(r Refusal) { all = append(all, r.String()+" ["+r.Value+"]") }
	o.Warned = func(w Warning) { all = append(all, Place(w.Sheet, w.Line, 0)+": "+w.Code) }
	s, err = Import(t.Context(), registrar.New(st, registrar.Options{}), registrar.Operator(), bytes.NewReader(file), o)
	var out strings.Builder
	if _, failed := Export(t.Context(), st, &out, ExportOptions{Format: CSV}); failed != nil {
		t.Fatal(failed)
	}
	return s, out.String(), strings.Join(all, "\n"), err
}

// TestWorkbookRows checks that a workbook gives the same records as the same table in CSV, and that messages
// name the sheet, the row and the column.
func TestWorkbookRows(t *testing.T) {
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	title := []any{"Identifier", "url", "valid_from", "dc:title", "dc:date", "priority"}
	sheet := xlsxtest.Sheet{Name: "Names", Rows: [][]any{
		nil,
		title,
		{"urn:example:1", "https://example.org/1", day, "two\nlines, \"quoted\"", day, 1},
		{"urn:example:1", "https://example.org/2", nil, nil, nil, 2},
		nil,
		{"urn:example:2", "not a url", nil, 1984},
		{"urn:example:3", "https://example.org/3", nil, nil, nil, "many"},
		{"urn:example:4", xlsxtest.XML(`<c %s t="e"><v>#REF!</v></c>`)},
		{"nonsense", "https://example.org/5"},
		{nil, "https://example.org/6"},
		{"urn:example:7", "https://example.org/7", nil, nil, nil, nil, "beyond"},
		{"urn:example:8", "https://example.org/8", nil, 1984, nil, true},
		{"urn:isbn:9780395363412", "https://example.org/9"},
	}}
	o := ImportOptions{Sheet: Sheet{Columns: []string{"Identifier=name"}}}
	s, records, refused, err := importBook(t, xlsxtest.Workbook(t, sheet, xlsxtest.Sheet{Name: "Empty"}), o)
	if err != nil || s.Read != 9 || s.Created != 2 {
		t.Errorf("got %+v, %v", s, err)
	}
	for _, want := range []string{
		"Names!B6: urn:example:2: url: ", "[not a url]",
		`Names!F7: urn:example:3: priority: expected a whole number, found "many" [many]`,
		"Names!B8: urn:example:4: the cell has the error #REF!",
		"Names!A9: nonsense: name: ",
		"Names!A10: name: missing",
		"Names!G11: urn:example:7: the line has 7 cells, expected 6",
		`Names!F12: urn:example:8: priority: expected a whole number, found "true" [true]`,
		"Names!13: doubtful",
	} {
		if !strings.Contains(refused, want) {
			t.Errorf("missing %q in\n%s", want, refused)
		}
	}
	for _, want := range []string{"2026-11-24T00:00:00Z", ",2026-11-24,", `"two` + "\n" + `lines, ""quoted"""`, "https://example.org/2"} {
		if !strings.Contains(records, want) {
			t.Errorf("missing %q in\n%s", want, records)
		}
	}
}

// TestWorkbookSheets checks how the sheet is chosen, and the errors of files that are not workbooks.
func TestWorkbookSheets(t *testing.T) {
	rows := [][]any{{"name", "url"}, {"urn:example:1", "https://example.org/"}}
	two := xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "A", Rows: rows}, xlsxtest.Sheet{Name: "B", Rows: rows}, xlsxtest.Sheet{Name: "C", Hidden: true, Rows: rows})
	one := xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "Notes"}, xlsxtest.Sheet{Name: "B", Rows: rows}, xlsxtest.Sheet{Name: "C", Hidden: true, Rows: rows})
	for _, tt := range []struct {
		what  string
		file  []byte
		sheet Sheet
		want  string // the error; "" for none
	}{
		{"one with values", one, Sheet{}, ""},
		{"several", two, Sheet{}, "the workbook has several sheets: choose one of A, B"},
		{"chosen", two, Sheet{Name: "B"}, ""},
		{"hidden", two, Sheet{Name: "C"}, ""},
		{"missing", two, Sheet{Name: "D"}, `no sheet "D"`},
		{"empty", xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "A"}), Sheet{}, "the file is empty"},
		{"no name", xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "A", Rows: [][]any{{"url"}}}), Sheet{}, "A!A1: name: the first line must name"},
		{"CSV", []byte("name,url\n"), Sheet{}, "not a workbook"},
		{"old", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), Sheet{}, "save it as .xlsx without a password"},
		{"delimiter", one, Sheet{Delimiter: ";"}, "has no delimiters"},
		{"encoding", one, Sheet{Encoding: "latin1"}, "its encoding itself"},
		{"damaged", xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "A", Rows: [][]any{{"name"}, {"urn:example:1"}, {"urn:example:2"}, {xlsxtest.XML(`<c %s t="s"><v>99</v></c>`)}}}), Sheet{}, "truncated in line 3: the workbook is damaged"},
	} {
		s, _, _, err := importBook(t, tt.file, ImportOptions{Sheet: tt.sheet})
		if got := fmt.Sprint(err); tt.want == "" && (err != nil || s.Created != 1) || tt.want != "" && !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, %+v, want %q", tt.what, got, s, tt.want)
		}
		if tt.what == "damaged" && s.Created != 1 {
			t.Errorf("damaged: got %+v, want the record before the last to be created", s)
		}
	}
	for _, f := range []Format{CSV, JSONLines} {
		var bad *SheetError
		if _, err := newReader(strings.NewReader("name\n"), f, Auto, Sheet{Name: "A"}); !errors.As(err, &bad) {
			t.Errorf("%s: got %v", f, err)
		}
	}
	if _, err := Export(t.Context(), memstore.New(), &bytes.Buffer{}, ExportOptions{Format: XLSX}); err == nil {
		t.Error("a workbook was written")
	}
}

// TestWorkbookRejects checks that the rejected rows of a workbook can be corrected as CSV.
func TestWorkbookRejects(t *testing.T) {
	var rejects bytes.Buffer
	file := xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "A", Rows: [][]any{{"name", "url", "dc:title"}, {"urn:example:1", "x", "a, \"b\"\nc"}}})
	if _, _, _, err := importBook(t, file, ImportOptions{Rejects: &rejects}); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(rejects.String(), "\r\n", "\n")
	if want := "\uFEFFname,url,dc:title,error\nurn:example:1,x,\"a, \"\"b\"\"\nc\",\"A!B2: "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
