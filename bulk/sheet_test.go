package bulk

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Files of spreadsheet programs can be imported unchanged.
func TestSheets(t *testing.T) {
	const one = `{"name":"urn:example:1","status":"active","locations":[{"url":"https://example.org/1"}],"metadata":{"creator":["Müller, A.","Öz, B."]},"same_as":[],"successors":[],"reason":""}` + "\n"
	const table = "Link;Kennung;Verfasser;Preis\nhttps://example.org/1;urn:example:1;Müller, A.||Öz, B.;3\n"
	utf16 := func(s string) string {
		b := []byte("\xff\xfe")
		for _, r := range s {
			b = append(b, byte(r), byte(r>>8))
		}
		return string(b)
	}
	latin1 := func(s string) string {
		var b []byte
		for _, r := range s {
			b = append(b, byte(r))
		}
		return string(b)
	}
	columns := []string{"Kennung=name", "Link=url", "Verfasser=dc:creator", "Preis="}
	split := []string{"dc:creator=||"}
	for _, tt := range []struct {
		what, text string
		sheet      Sheet
	}{
		{"semicolons", table, Sheet{Columns: columns, Split: split}},
		{"UTF-16", utf16(table), Sheet{Columns: columns, Split: split}},
		{"UTF-16, said", utf16(table)[2:], Sheet{Encoding: "UTF-16LE", Columns: columns, Split: split}},
		{"byte order mark", "\uFEFF" + table, Sheet{Columns: columns, Split: split}},
		{"windows-1252", latin1(table), Sheet{Encoding: "windows-1252", Columns: columns, Split: split}},
		{"latin1", latin1(table), Sheet{Encoding: "ISO-8859-1", Columns: columns, Split: split}},
		{"said", strings.ReplaceAll(table, ";", "|"), Sheet{Delimiter: "|", Columns: columns, Split: []string{"dc:creator=/"}}},
		{"tab", strings.ReplaceAll(table, ";", "\t"), Sheet{Delimiter: "tab", Columns: columns, Split: split}},
	} {
		text := tt.text
		if tt.what == "said" {
			text = strings.ReplaceAll(text, "||", "/")
		}
		b := newBench(t)
		b.good(text, ImportOptions{Format: CSV, Sheet: tt.sheet})
		if diff := cmp.Diff(one, b.export(true)); diff != "" {
			t.Errorf("%s:\n%s", tt.what, diff)
		}
	}
	for _, tt := range []struct {
		sheet Sheet
		want  string
	}{
		{Sheet{Encoding: "klingon"}, `encoding "klingon": must be one of utf-8 utf-16 `},
		{Sheet{Delimiter: "::"}, `delimiter "::": must be `},
		{Sheet{Columns: []string{"a"}}, `map "a": expected TITLE=COLUMN`},
		{Sheet{Columns: []string{"a=colour"}}, `map "a=colour": unknown column`},
		{Sheet{Columns: []string{"a=b=name"}}, `map "a=b=name": the file has no column with this title`},
		{Sheet{Split: []string{"url=;"}}, `split "url=;": only successors`},
		{Sheet{Split: []string{"dc:creator"}}, `split "dc:creator": expected COLUMN=SEPARATOR`},
	} {
		_, _, err := newBench(t).bring(strings.NewReader("name\n"), ImportOptions{Format: CSV, Sheet: tt.sheet})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.sheet, err, tt.want)
		}
	}
	b := newBench(t) // 0x81 is unassigned in Windows-1252
	_, refused, err := b.bring(strings.NewReader("name,note,url\nurn:example:1,\x81,https://a.example/\nurn:example:2,,\n"), ImportOptions{Format: CSV, Sheet: Sheet{Encoding: "windows-1252"}})
	if err != nil || len(refused) != 1 || !strings.Contains(refused[0], "line 2, column 15: urn:example:1: is not windows-1252") {
		t.Errorf("an unassigned character: %q, %v", refused, err)
	}
	var bad *SheetError
	if _, err := newReader(strings.NewReader(""), CSV, Auto, Sheet{Delimiter: "x"}); !errors.As(err, &bad) {
		t.Errorf("NewReader: %v", err)
	}
}

// Refusals are reported in the order of lines. This includes a line that cannot be read between the
// lines of a record that is rejected later.
func TestOrderOfRefusals(t *testing.T) {
	text := "name,url\n" +
		"urn:example:1,bad\n" + // 2: refused by the registrar
		"x\"y,\n" + // 3: unreadable
		"urn:example:2,https://a.example/\n" + // 4
		",https://a.example/\n" + // 5: no name
		"urn:example:2,https://b.example/\n" + // 6: invalid because of line 5
		",nothing\n" + // 7: no name
		"urn:example:3,https://a.example/,more\n" // 8
	_, refused, err := newBench(t).bring(strings.NewReader(text), ImportOptions{Format: CSV})
	var lines []string
	for _, r := range refused {
		line, _, _ := strings.Cut(r, ":")
		line, _, _ = strings.Cut(line, ",")
		lines = append(lines, line)
	}
	want := []string{"line 2", "line 3", "line 5", "line 6", "line 7", "line 8"}
	if diff := cmp.Diff(want, lines); diff != "" || err != nil {
		t.Errorf("%v\n%s\n%q", err, diff, refused)
	}
}

// TestFormulas checks that a cell that a spreadsheet would execute is marked on request, and that
// no other cell is changed. A cell that seems to have a mark gets another mark, so that an import
// restores what was exported.
func TestFormulas(t *testing.T) {
	texts := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "'=1", "''x", "x=1", "'", "cmd|' /C calc'!A0", "\uFF1D1+1", "'\uFF0B1", "\uFF0D1", "\uFF20A", "\uFF21"}
	marked := []string{"'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "''=1", "''x", "x=1", "'", "cmd\\|' /C calc'!A0", "'\uFF1D1+1", "''\uFF0B1", "'\uFF0D1", "'\uFF20A", "\uFF21"}
	var records []*store.Record
	for i, title := range texts {
		records = append(records, &store.Record{Name: name.FromKey(fmt.Sprintf("urn:example:%02d", i)), Metadata: nomen.Metadata{"title": {title}}})
	}
	s := put(t, records)
	at := slices.Index(titles(), "dc:title")
	for _, on := range []bool{false, true} {
		text, _, _ := exported(t, s, ExportOptions{Format: CSV, Spreadsheet: on})
		for i, line := range strings.Split(strings.TrimSpace(text), "\r\n")[1:] {
			want := texts[i]
			if on {
				want = marked[i]
			} else if strings.Contains(want, "|") {
				want = marked[i] // a bar is always escaped, because it separates the values of a list
			}
			if got := strings.Split(line, ",")[at]; got != want {
				t.Errorf("spreadsheet %t: %q, want %q", on, got, want)
			}
		}
		tsv, _, _ := exported(t, s, ExportOptions{Format: TSV, Spreadsheet: on})
		if strings.Contains(tsv, "\t=1+1") == on || strings.Contains(tsv, "\t'=1+1") != on || !strings.Contains(tsv, "\t\\tx") {
			t.Errorf("spreadsheet %t: %s", on, tsv)
		}
	}
	for _, f := range []Format{JSONLines, NginxMap, URIList} {
		if _, err := Export(t.Context(), s, io.Discard, ExportOptions{Format: f, Spreadsheet: true}); err == nil {
			t.Errorf("%s: no error", f)
		}
	}
	var bad *SheetError
	if _, err := newReader(strings.NewReader(""), JSONLines, Auto, Sheet{Spreadsheet: true}); !errors.As(err, &bad) {
		t.Errorf("JSON Lines: %v", err)
	}
}
