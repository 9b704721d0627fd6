package xlsx_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/xlsx"
	"github.com/nomen-project/nomen/internal/xlsx/xlsxtest"
)

// read returns the rows of a sheet as text.
func read(file []byte, sheet string) (all []string, err error) {
	w, err := xlsx.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	if sheet == "" {
		sheet = w.Sheets()[0]
	}
	rows, err := w.Rows(sheet)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		row, err := rows.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		var s []string
		for _, c := range row.Cells {
			s = append(s, fmt.Sprintf("%s%d=%s%s", xlsx.ColumnName(c.Column), row.Number, c.Text, c.Problem))
		}
		all = append(all, strings.Join(s, " "))
	}
}

func TestCells(t *testing.T) {
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	file := xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "A & B", Rows: [][]any{
		{"name", "url", nil, "n"},
		nil,
		{" a\nb_x000D_", "inline!", nil, 1.5, true, day},
		{xlsxtest.XML(`<c %s s="2"><v>46350.5</v></c>`), xlsxtest.XML(`<c %s><v>1.5E+3</v></c>`), xlsxtest.XML(`<c %s t="e"><v>#N/A</v></c>`), xlsxtest.XML(`<c %s t="str"><f>A1</f><v>x</v></c>`), xlsxtest.XML(`<c %s><f>A1</f></c>`)},
		{xlsxtest.XML(`<c %s/>`), xlsxtest.XML(`<c %s t="inlineStr"><is><r><rPr><b/></rPr><t>two </t></r><r><t>runs</t></r><rPh><t>no</t></rPh></is></c>`), xlsxtest.XML(`<c %s s="99"><v>1e400</v></c>`), xlsxtest.XML(`<c %s s="1"><v>60</v></c>`), xlsxtest.XML(`<c %s s="1"><v>1</v></c>`)},
	}}, xlsxtest.Sheet{Name: "hidden", Hidden: true, Rows: [][]any{{"secret"}}})
	got, err := read(file, "")
	want := []string{
		"A1=name B1=url D1=n",
		"A3= a\nb\r B3=inline D3=1.5 E3=true F3=2026-11-24",
		"A4=2026-11-24T12:00:00Z B4=1500 C4=the cell has the error #N/A D4=x E4=the formula has no value: let a spreadsheet program compute the workbook and save it",
		"B5=two runs C5=1e400 D5=60 E5=1900-01-01",
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if got, err := read(file, "hidden"); err != nil || len(got) != 1 {
		t.Errorf("hidden sheet: got %q, %v", got, err)
	}
	if _, err := read(file, "none"); err == nil || !strings.Contains(err.Error(), `no sheet "none"; the workbook has A & B`) {
		t.Errorf("got %v", err)
	}
}

// TestDamaged checks that a file that contradicts itself gives an error, and never fewer cells.
func TestDamaged(t *testing.T) {
	sheet := func(content string) []byte {
		return xlsxtest.Workbook(t, xlsxtest.Sheet{Name: "S", Rows: [][]any{{xlsxtest.XML("<!-- %s -->" + content)}}})
	}
	good := sheet(`<c><v>1</v></c>`)
	for _, tt := range []struct {
		name, want string
		file       []byte
	}{
		{"text", "not a workbook", []byte("name,url\n")},
		{"empty", "not a workbook", nil},
		{"another archive", "not a workbook", xlsxtest.Archive(t, map[string]string{"mimetype": "x"})},
		{"cut off", "not a workbook", good[:len(good)-30]},
		{"no such text", "cell A1 has no text", sheet(`<c t="s"><v>7</v></c>`)},
		{"negative text", "cell A1 has no text", sheet(`<c t="s"><v>-1</v></c>`)},
		{"unknown type", `unknown type "q"`, sheet(`<c t="q"><v>1</v></c>`)},
		{"end of XML", "XML syntax error", sheet(`</row></sheetData><sheetData><row><c><v>1`)},
		{"wrong row", "invalid cell", sheet(`<c r="A2"><v>1</v></c>`)},
		{"order", "invalid order", sheet(`<c r="B1"><v>1</v></c><c r="A1"><v>1</v></c>`)},
		{"column", "invalid order", sheet(`<c r="XFE1"><v>1</v></c>`)},
		{"row order", "invalid row", sheet(`</row><row r="1">`)},
		{"row number", "invalid row", sheet(`</row><row r="1048577">`)},
		{"nested", "nested too deep", sheet(strings.Repeat("<a>", 100))},
		{"long row", "an element is longer than", sheet(strings.Repeat("<c><v>"+strings.Repeat("1", 600)+"</v></c>", 16_000))},
		{"long text", "an element is longer than", sheet("<c><v>" + strings.Repeat("1", 9<<20) + "</v></c>")},
		{"entity", "invalid character entity", sheet(`<c><v>&x;</v></c>`)},
	} {
		got, err := read(tt.file, "")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %.200q, %v, want %s", tt.name, got, err, tt.want)
		}
		if damaged := (*xlsx.DamagedError)(nil); tt.want != "not a workbook" && !errors.As(err, &damaged) {
			t.Errorf("%s: got the error %v", tt.name, err)
		}
	}
}

// TestBombs checks that small files cannot use much memory.
func TestBombs(t *testing.T) {
	texts := "<sst>" + strings.Repeat("<si><t>"+strings.Repeat("x", 1<<20)+"</t></si>", 130) + "</sst>"
	parts := map[string]string{
		"_rels/.rels":      `<Relationships><Relationship Type="x/officeDocument" Target="w.xml"/></Relationships>`,
		"_rels/w.xml.rels": `<Relationships><Relationship Id="1" Type="x/worksheet" Target="s.xml"/><Relationship Type="x/sharedStrings" Target="t.xml"/></Relationships>`,
		"w.xml":            `<workbook><sheets><sheet name="S" id="1"/></sheets></workbook>`,
		"s.xml":            `<worksheet/>`,
		"t.xml":            texts,
	}
	file := xlsxtest.Archive(t, parts)
	if _, err := read(file, ""); err == nil || !strings.Contains(err.Error(), "its texts are longer than the limit") || len(file) > 1<<20 {
		t.Errorf("shared texts, %d bytes: got %v", len(file), err)
	}
	for i := range 60_000 {
		parts[fmt.Sprint("a long name of a part that is never read ", i)] = ""
	}
	if _, err := read(xlsxtest.Archive(t, parts), ""); err == nil || !strings.Contains(err.Error(), "the directory of the archive is too long") {
		t.Errorf("directory: got %v", err)
	}
}

// FuzzRead checks that any workbook is read or rejected.
func FuzzRead(f *testing.F) {
	f.Add(`<c r="A1" t="s"><v>0</v></c>`, `<si><t>a</t></si>`, `<xf numFmtId="14"/>`)
	f.Add(`<c r="B1" s="0"><v>46350.5</v></c>`, `<si><r><t>a</t></r><rPh><t>b</t></rPh></si>`, `<xf numFmtId="164"/>`)
	f.Add(`<c t="inlineStr"><is><t>_x000A_</t></is></c><c t="b"><v>1</v></c>`, ``, ``)
	f.Fuzz(func(t *testing.T, row, shared, formats string) {
		if len(row)+len(shared)+len(formats) > 2000 {
			return
		}
		file := xlsxtest.Archive(t, map[string]string{
			"_rels/.rels":      `<Relationships><Relationship Type="x/officeDocument" Target="w.xml"/></Relationships>`,
			"_rels/w.xml.rels": `<Relationships><Relationship Id="1" Type="x/worksheet" Target="s.xml"/><Relationship Type="x/sharedStrings" Target="t.xml"/><Relationship Type="x/styles" Target="y.xml"/></Relationships>`,
			"w.xml":            `<workbook><sheets><sheet name="S" id="1"/></sheets></workbook>`,
			"s.xml":            `<worksheet><sheetData><row r="1">` + row + `</row></sheetData></worksheet>`,
			"t.xml":            `<sst>` + shared + `</sst>`,
			"y.xml":            `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="` + formats + `"/></numFmts><cellXfs>` + formats + `</cellXfs></styleSheet>`,
		})
		all, err := read(file, "")
		if err == nil && strings.Count(strings.Join(all, ""), "=") > strings.Count(row, "<") {
			t.Errorf("%q gave %q", row, all)
		}
	})
}
