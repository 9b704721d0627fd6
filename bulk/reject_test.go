package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/registrar"
)

// The rejected lines have the columns of the file, and why they were rejected. Corrected and
// imported, they give the records that were missing.
func TestRejects(t *testing.T) {
	const bom = "\uFEFF"
	for _, tt := range []struct {
		what, in, want string
		o              ImportOptions
	}{
		{"nothing rejected", "name,url\nurn:example:1,https://a.example/\n", "", ImportOptions{Format: CSV}},
		{
			"semicolons, a record of two lines, and one with too many cells",
			"name;url;dc:title\r\nurn:example:1;https://a.example/;\"a \"\"b\"\"; c\"\r\nurn:example:1;relative;\r\nurn:example:2;https://b.example/;;more;cells\r\nurn:example:3;https://c.example/;\r\n",
			bom + "name;url;dc:title;error\r\n" +
				"urn:example:1;https://a.example/;\"a \"\"b\"\"; c\";line 3: urn:example:1: url: scheme, offset 8: missing scheme, such as https:\r\n" +
				"urn:example:1;relative;;line 3: urn:example:1: url: scheme, offset 8: missing scheme, such as https:\r\n" +
				"urn:example:2;https://b.example/;\";more;cells\";line 4, column 35: urn:example:2: the line has 5 cells, expected 3\r\n",
			ImportOptions{Format: CSV},
		},
		{
			"what a spreadsheet would execute, and an earlier column error",
			"error,name,dc:title\nold,relative,=1+1\n",
			bom + "name,dc:title,error\r\nrelative,'=1+1,\"line 2: relative: name: ",
			ImportOptions{Format: CSV},
		},
		{"marks that the file has", "name,dc:title\nrelative,'=1+1\n", "\r\nrelative,'=1+1,", ImportOptions{Format: CSV, Sheet: Sheet{Spreadsheet: true}}},
		{"an apostrophe that is not a mark", "name,dc:title\nrelative,'=1+1\n", "\r\nrelative,''=1+1,", ImportOptions{Format: CSV}},
		{"an unreadable line", "name,url\nurn:example:1,\"x\" y\n", "\r\nurn:example:1,\"\"\"x\"\" y\",\"line 2", ImportOptions{Format: CSV}},
		{"another encoding", "name,dc:title\nurn:example:1,caf\xe9\n", "\r\nurn:example:1,caf\uFFFD,\"line 2, column 18", ImportOptions{Format: CSV}},
		{"too few cells", "name,url\nurn:example:1\nurn:example:2,\n", "\r\nurn:example:1,,\"line 2", ImportOptions{Format: CSV}},
		{"tabs", "name\turl\trel\nurn:example:1\ta\\tb\tc\n", bom + "name\turl\trel\terror\r\nurn:example:1\ta\\tb\tc\tline 2: ", ImportOptions{Format: TSV}},
		{"a long line", "name\n" + strings.Repeat("x", maxLine+1) + "\n", bom + "name,error\r\n,\"line 2, column 4194305: the line is longer", ImportOptions{Format: CSV}},
		{"JSON", "{\"name\":\"relative\"}\n{\"name\":\n{}", bom + "text,error\r\n\"{\"\"name\"\":\"\"relative\"\"}\",", ImportOptions{}},
	} {
		b := newBench(t)
		var out bytes.Buffer
		tt.o.Rejects = &out
		sum, err := Import(t.Context(), b.reg, registrar.Operator(), strings.NewReader(tt.in), tt.o)
		if err != nil || !strings.Contains(out.String(), tt.want) || tt.want == "" && out.Len() > 0 {
			t.Errorf("%s: %+v, %v\ngot  %.2000q\nwant %q", tt.what, sum, err, out.String(), tt.want)
		}
	}
}

// The column "error" is ignored, so that corrected lines can be imported as they are.
func TestRejectsAgain(t *testing.T) {
	b := newBench(t)
	var first, second bytes.Buffer
	in := "name;url;dc:title\nurn:example:1;relative;-1\nurn:example:2;relative;b\n"
	if _, err := Import(t.Context(), b.reg, registrar.Operator(), strings.NewReader(in), ImportOptions{Format: CSV, Rejects: &first}); err != nil {
		t.Fatal(err)
	}
	again := strings.Replace(first.String(), "relative", "https://a.example/", 1)
	var titles []string
	sum, err := Import(t.Context(), b.reg, registrar.Operator(), strings.NewReader(again), ImportOptions{Format: CSV, Sheet: Sheet{Spreadsheet: true}, Rejects: &second})
	if err != nil || sum.Created != 1 || sum.Refused != 1 || strings.Count(second.String(), "error") != 1 {
		t.Errorf("%+v, %v, %q", sum, err, &second)
	}
	err = Names(strings.NewReader(again), ImportOptions{Format: CSV}, func(_ int, spelling string) error {
		titles = append(titles, spelling)
		return nil
	})
	if want := []string{"urn:example:1", "urn:example:2"}; err != nil || !slices.Equal(titles, want) {
		t.Errorf("names %q, %v, want %q", titles, err, want)
	}
	if err := Names(strings.NewReader(again), ImportOptions{Format: CSV}, func(int, string) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("an error of the function: %v", err)
	}
}

// A workbook is not a table.
func TestWorkbook(t *testing.T) {
	for _, in := range []string{"PK\x03\x04rest", "\xD0\xCF\x11\xE0rest"} {
		b := newBench(t)
		_, err := Import(t.Context(), b.reg, registrar.Operator(), strings.NewReader(in), ImportOptions{Format: CSV})
		if err == nil || !strings.Contains(err.Error(), "save the sheet as CSV") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// A rejection has the value of the invalid cell. If the record has several lines, the value is from
// the line at fault.
func TestRejectsValue(t *testing.T) {
	const in = "name,url,rel\nurn:example:1,https://a.example/,\nurn:example:1,relative,\nurn:example:2,,item\nurn:example:3,https://a.example/\n"
	var got []string
	b := newBench(t)
	o := ImportOptions{Format: CSV, Rejects: io.Discard, Refused: func(r Refusal) { got = append(got, fmt.Sprintf("%d %s=%s", r.Line, r.Field, r.Value)) }}
	if _, err := Import(t.Context(), b.reg, registrar.Operator(), strings.NewReader(in), o); err != nil {
		t.Fatal(err)
	}
	if want := []string{"3 url=relative", "4 rel=item", "5 rel="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
