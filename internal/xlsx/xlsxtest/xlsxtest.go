// Package xlsxtest makes workbooks for tests.
package xlsxtest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/xlsx"
)

// A Sheet is a sheet with its rows. A cell is a string, a number, a bool, a [time.Time] for a date,
// an [XML], or nil.
type Sheet struct {
	Name   string
	Hidden bool
	Rows   [][]any
}

// XML is a cell as it is in the file. %s is replaced by the attribute with its address.
type XML string

// Workbook returns a workbook. Strings are shared, as in spreadsheet programs, except for strings
// that end in an exclamation mark.
func Workbook(t testing.TB, sheets ...Sheet) []byte {
	t.Helper()
	parts := map[string]string{}
	var list, rel strings.Builder
	b := builder{index: map[string]int{}}
	for i, s := range sheets {
		state := ""
		if s.Hidden {
			state = ` state="hidden"`
		}
		fmt.Fprintf(&list, `<sheet name="%s" sheetId="%d"%s r:id="rId%d"/>`, text(s.Name), i+1, state, i+1)
		fmt.Fprintf(&rel, `<Relationship Id="rId%d" Type="%s/worksheet" Target="worksheets/sheet%[1]d.xml"/>`, i+1, relations)
		parts[fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1)] = b.sheet(s.Rows)
	}
	fmt.Fprintf(&rel, `<Relationship Id="s1" Type="%s/sharedStrings" Target="/xl/sharedStrings.xml"/><Relationship Id="s2" Type="%[1]s/styles" Target="styles.xml"/>`, relations)
	parts["xl/workbook.xml"] = `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="` + relations + `"><sheets>` + list.String() + `</sheets></workbook>`
	parts["xl/_rels/workbook.xml.rels"] = `<Relationships>` + rel.String() + `</Relationships>`
	parts["xl/sharedStrings.xml"] = `<sst>` + b.shared.String() + `</sst>`
	parts["xl/styles.xml"] = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd hh:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>`
	parts["_rels/.rels"] = `<Relationships><Relationship Id="r" Type="` + relations + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`
	return Archive(t, parts)
}

const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

// Archive returns a ZIP archive with these files.
func Archive(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, xml.Header+content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type builder struct {
	shared strings.Builder
	index  map[string]int
}

func (b *builder) sheet(rows [][]any) string {
	var s strings.Builder
	s.WriteString("<worksheet><sheetData>")
	for i, row := range rows {
		if row == nil {
			continue
		}
		fmt.Fprintf(&s, `<row r="%d">`, i+1)
		for k, cell := range row {
			b.cell(&s, fmt.Sprintf(`r="%s%d"`, xlsx.ColumnName(k), i+1), cell)
		}
		s.WriteString("</row>")
	}
	s.WriteString("</sheetData></worksheet>")
	return s.String()
}

func (b *builder) cell(s *strings.Builder, at string, cell any) {
	switch c := cell.(type) {
	case nil:
	case XML:
		fmt.Fprintf(s, string(c), at)
	case bool:
		fmt.Fprintf(s, `<c %s t="b"><v>%d</v></c>`, at, map[bool]int{true: 1}[c])
	case time.Time:
		fmt.Fprintf(s, `<c %s s="1"><v>%d</v></c>`, at, int(c.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours())/24)
	case string:
		if strings.HasSuffix(c, "!") {
			fmt.Fprintf(s, `<c %s t="inlineStr"><is><t>%s</t></is></c>`, at, text(strings.TrimSuffix(c, "!")))
			return
		}
		i, ok := b.index[c]
		if !ok {
			i = len(b.index)
			b.index[c] = i
			fmt.Fprintf(&b.shared, `<si><t xml:space="preserve">%s</t></si>`, text(c))
		}
		fmt.Fprintf(s, `<c %s t="s"><v>%d</v></c>`, at, i)
	default:
		fmt.Fprintf(s, `<c %s><v>%v</v></c>`, at, c)
	}
}

func text(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}
