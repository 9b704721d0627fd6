package bulk

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// readAll returns the content of a file as text: the number of the line and the JSON of each
// record, and each error as it is reported.
func readAll(t testing.TB, f Format, text string) []string {
	t.Helper()
	in, err := newReader(strings.NewReader(text), f, Auto, Sheet{})
	if err != nil {
		return []string{"header: " + err.Error()}
	}
	defer in.close()
	var all []string
	for {
		line, err := in.next()
		var bad *LineError
		isLine := errors.As(err, &bad)
		switch {
		case err == nil:
			b, err := line.Record.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			s := strings.NewReplacer(`,"metadata":{}`, ``, `,"same_as":[]`, ``, `,"successors":[]`, ``, `,"reason":""`, ``,
				`,"revision":0`, ``, `,"status":""`, ``, `,"locations":[]`, ``).Replace(string(b))
			all = append(all, fmt.Sprintf("%d@%d %s", line.Number, line.Offset, s))
		case isLine:
			at := fmt.Sprintf("@%d ", bad.Offset)
			if bad.Name != "" {
				at += bad.Name + ": "
			}
			all = append(all, at+bad.Error())
		default:
			if !errors.Is(err, io.EOF) {
				all = append(all, err.Error())
			}
			return all
		}
	}
}

func TestFiles(t *testing.T) {
	const u = `{"name":"urn:example:`
	known := "; there are " + strings.Join(titles(), " ") + " (map TITLE=COLUMN says what a title means, and TITLE= leaves it out)"
	for _, c := range []struct {
		what   string
		format Format
		text   string
		want   []string
	}{
		{"lines of JSON", JSONLines, "\uFEFF{\"name\":\"urn:example:1\"}\r\n\n{\"name\":\"urn:example:2\",\"odd\":1}\n\xff\n{\"name\":\"urn:example:3\"}", []string{
			`1@3 ` + u + `1"}`, `@54 urn:example:2: line 3, column 25: odd: unknown field`, `@63 line 4, column 1: is not UTF-8; save the file as UTF-8, or specify its encoding, such as windows-1252`, `5@65 ` + u + `3"}`,
		}},
		{"nothing", CSV, "", []string{"header: line 1, column 1: the file is empty: a table must begin with a line that names its columns, even if no record follows"}},
		{"a header alone", CSV, "name,url\n", nil},
		{"a header without an end", CSV, "name,url", nil},
		{"one record", CSV, "name,url\nurn:example:1,https://a.example/\n", []string{`2@9 ` + u + `1","locations":[{"url":"https://a.example/"}]}`}},
		{"byte order mark, CRLF, no last end", CSV, "\uFEFFname,url\r\nurn:example:1,https://a.example/\r\nurn:example:2,", []string{
			`2@13 ` + u + `1","locations":[{"url":"https://a.example/"}]}`, `3@47 ` + u + `2"}`,
		}},
		{"columns in any order, and a quoted header", CSV, "\"url\",\"name\"\nhttps://a.example/,urn:example:1\n", []string{`2@13 ` + u + `1","locations":[{"url":"https://a.example/"}]}`}},
		{"blank lines and rows", CSV, "name,url\n\n  \n,\nurn:example:1,\n\n", []string{`5@15 ` + u + `1"}`}},
		{"every column", CSV, "name,url,type,lang,rel,priority,weight,country,component,charset,valid_from,valid_until,note,down,status,reason,successors,same_as,dc:title\n" +
			"urn:example:1,u,t,l,r,1,2,c,p,s,f,v,n,true,retired,gone,a|b,c,T\n", []string{
			`2@140 ` + u + `1","status":"retired","locations":[{"url":"u","type":"t","lang":"l","rel":"r","priority":1,"weight":2,"country":"c","component":"p","charset":"s","note":"n","down":true,"valid_from":"f","valid_until":"v"}],"metadata":{"title":["T"]},"same_as":["c"],"successors":["a","b"],"reason":"gone"}`,
		}},
		{"typed values", CSV, "name,url,index,attributes,values\n" +
			"urn:example:1,a,1,\"id=\"\"0\"\"\",\"[{\"\"index\"\":1,\"\"type\"\":\"\"URL\"\",\"\"data\"\":\"\"\"\",\"\"ttl\"\":60}]\"\nurn:example:1,b,,,\n", []string{
			`2@33 ` + u + `1","locations":[{"url":"a","index":1,"attributes":"id=\"0\""},{"url":"b"}],"values":[{"index":1,"type":"URL","data":"","ttl":60}]}`,
		}},
		{"invalid typed values", CSV, "name,values\nurn:example:1,[{]\nurn:example:2,[]\nurn:example:3,[]x\n", []string{
			`@26 urn:example:1: line 2, column 15: values: byte 3 of the value: values[0]: expected a string, found ']'`,
			`3@30 ` + u + `2"}`,
			`@61 urn:example:3: line 4, column 15: values: byte 3 of the value: unexpected data after the record: 'x'`,
		}},
		{"several locations", CSV, "name,url,status,dc:title\nurn:example:1,a,active,T\nurn:example:1,b,,\nURN:example:1,c,active,T\nurn:example:2,d,,\n", []string{
			`2@25 ` + u + `1","status":"active","locations":[{"url":"a"},{"url":"b"},{"url":"c"}],"metadata":{"title":["T"]}}`,
			`5@93 ` + u + `2","locations":[{"url":"d"}]}`,
		}},
		{"quotes", CSV, "name,note,url\r\nurn:example:1,\"a \"\"b\"\", c\r\nd\",u\r\n\"urn:example:2\",\"\",\"\"\n", []string{
			`2@15 ` + u + `1","locations":[{"url":"u","note":"a \"b\", c\r\nd"}]}`, `4@48 ` + u + `2"}`,
		}},
		{"lists", CSV, "name,dc:creator\nurn:example:1,A|B \\| C|\\\\D\n", []string{`2@16 ` + u + `1","metadata":{"creator":["A","B | C","\\D"]}}`}},
		{"bars outside of lists", CSV, "name,url,note\nurn:example:1,u,a|b\\c\n", []string{`2@14 ` + u + `1","locations":[{"url":"u","note":"a|b\\c"}]}`}},
		{"tabs", TSV, "name\turl\tnote\tdc:title\nurn:example:1\tu\ta\\tb\\nc\\rd\\\\ \"x\"\tA\\tB|C\\|D\r\nurn:example:2\t\t\t\n", []string{
			`2@23 ` + u + `1","locations":[{"url":"u","note":"a\tb\nc\rd\\ \"x\""}],"metadata":{"title":["A\tB","C|D"]}}`, `3@67 ` + u + `2"}`,
		}},

		{"unknown column", CSV, "name,url,colour\n", []string{`header: line 1, column 10: colour: unknown columns: colour (number 3)` + known}},
		{"capital letters", CSV, "name,URL\n", []string{`header: line 1, column 6: URL: unknown columns: URL (number 2: write "url")` + known}},
		{"an element", CSV, "name,Creator\n", []string{`header: line 1, column 6: Creator: unknown columns: Creator (number 2: write "dc:creator")` + known}},
		{"no element", CSV, "name,dc:colour\n", []string{`header: line 1, column 6: dc:colour: unknown columns: dc:colour (number 2)` + known}},
		{"what no cell can hold", CSV, "name,revision\n", []string{`header: line 1, column 6: revision: unknown columns: revision (number 2)` + known}},
		{"an invalid state", CSV, "name,url,down\nurn:example:1,u,yes\nurn:example:2,u,false\n", []string{`@30 urn:example:1: line 2, column 17: down: expected true or false, found "yes"`, `3@34 ` + u + `2","locations":[{"url":"u"}]}`}},
		{"all at once", CSV, "size,Name,url,dc.title\n", []string{`header: line 1, column 1: size: unknown columns: size (number 1), Name (number 2: write "name"), dc.title (number 4: write "dc:title")` + known}},
		{"semicolons", CSV, "name;url;note\nurn:example:1;u;a,b\n\"urn:example:2\";;\n", []string{`2@14 ` + u + `1","locations":[{"url":"u","note":"a,b"}]}`, `3@34 ` + u + `2"}`}},
		{"semicolons and quotes", CSV, "\"name\";\"url\"\n\"urn:example:1\";\"u;v\"\n", []string{`2@13 ` + u + `1","locations":[{"url":"u;v"}]}`}},
		{"told by a line", CSV, "sep=;\nurl;name\nu;urn:example:1\n", []string{`3@15 ` + u + `1","locations":[{"url":"u"}]}`}},
		{"tabs in CSV", CSV, "name\turl\nurn:example:1\t\"u\"\n", []string{`2@9 ` + u + `1","locations":[{"url":"u"}]}`}},
		{"commas in TSV", TSV, "name,url\n", []string{`header: line 1, column 1: name,url: unknown columns: name,url (number 1: the file has no tabs between its columns; set the format to csv)` + known}},
		{"twice", CSV, "name,url,name\n", []string{`header: line 1, column 10: name: the column is repeated`}},
		{"no title", CSV, "name,,url\n", []string{`header: line 1, column 6: column 2 has no title`}},
		{"no name", CSV, "url,note\n", []string{`header: line 1, column 1: name: the first line must name the columns, and one of them must be name`}},
		{"no header", CSV, "urn:example:1,https://a.example/\n", []string{`header: line 1, column 1: urn:example:1: unknown columns: urn:example:1 (number 1), https://a.example/ (number 2)` + known}},
		{"UTF-16", CSV, "\xFF\xFEn\x00a\x00m\x00e\x00\n\x00u\x00r\x00n\x00:\x00a\x00:\x001\x00", []string{`2@5 {"name":"urn:a:1"}`}},
		{"UTF-32", CSV, "\xFF\xFE\x00\x00n\x00\x00\x00", []string{`header: input truncated in line 1: it is UTF-32; save it as UTF-8; the records before it were read`}},

		{"too many cells", CSV, "name,url\nurn:example:1,u,x\nurn:example:2,\n", []string{`@25 urn:example:1: line 2, column 17: the line has 3 cells, expected 2`, `3@27 ` + u + `2"}`}},
		{"too few cells", CSV, "name,url,note\nurn:example:1,u\nurn:example:2,,\n", []string{`@29 urn:example:1: line 2, column 16: note: the line has 2 cells, expected 3`, `3@30 ` + u + `2"}`}},
		{"no name in a row", CSV, "name,url\n,u\nurn:example:2,\n", []string{`@9 line 2, column 1: name: missing: every line must have a name`, `3@12 ` + u + `2"}`}},
		{"no url", CSV, "name,url,lang\nurn:example:1,,en\n", []string{`@29 urn:example:1: line 2, column 16: lang: belongs to a location, but the line has no url`}},
		{"no number", CSV, "name,url,priority\nurn:example:1,u,1.0\nurn:example:2,u,07\nurn:example:3,u,+1\nurn:example:4,u,-1\n", []string{
			`@34 urn:example:1: line 2, column 17: priority: expected a whole number, found "1.0"`,
			`@54 urn:example:2: line 3, column 17: priority: expected a whole number, found "07"`,
			`@73 urn:example:3: line 4, column 17: priority: expected a whole number, found "+1"`,
			`5@76 ` + u + `4","locations":[{"url":"u","priority":-1}]}`,
		}},
		{"contradiction", CSV, "name,url,status\nurn:example:1,a,active\nurn:example:1,b,retired\nurn:example:1,c,\nurn:example:2,d,\n", []string{
			`@55 urn:example:1: line 3, column 17: status: differs from line 2 of the same name; put several values into one cell, separated by bars`,
			`5@80 ` + u + `2","locations":[{"url":"d"}]}`,
		}},
		{"escapes", CSV, "name,dc:title\nurn:example:1,a\\b\nurn:example:2,a\\\nurn:example:3,a\\t\n", []string{
			`@28 urn:example:1: line 2, column 15: dc:title: byte 2 of the value: invalid escape; write a backslash as \\; the escapes are \\ \|`,
			`@46 urn:example:2: line 3, column 15: dc:title: byte 2 of the value: invalid escape; write a backslash as \\; the escapes are \\ \|`,
			`@63 urn:example:3: line 4, column 15: dc:title: byte 2 of the value: invalid escape; write a backslash as \\; the escapes are \\ \|`,
		}},
		{"escapes in TSV", TSV, "name\tnote\turl\nurn:example:1\t\\|\tu\nurn:example:2\t\\x\tu\n", []string{
			`@28 urn:example:1: line 2, column 15: note: byte 1 of the value: invalid escape; write a backslash as \\; the escapes are \\ \t \n \r`,
			`@47 urn:example:2: line 3, column 15: note: byte 1 of the value: invalid escape; write a backslash as \\; the escapes are \\ \t \n \r`,
		}},
		{"empty value", CSV, "name,dc:title\nurn:example:1,a||b\n", []string{`@28 urn:example:1: line 2, column 15: dc:title: a value is empty: a bar separates two values; write \| for a bar within a value`}},
		{"not UTF-8", CSV, "name,note,url\nurn:example:1,caf\xe9,u\nurn:example:2,,\n", []string{`@31 urn:example:1: line 2, column 18: is not UTF-8; save the file as UTF-8, or specify its encoding, such as windows-1252`, `3@35 ` + u + `2"}`}},

		{"a quote inside", CSV, "name,note,url\nurn:example:1,a\"b,u\nurn:example:2,,\n", []string{
			`@29 urn:example:1: line 2, column 16: a quote in a cell that does not begin with one; put the cell in quotes, and double the quote`, `3@34 ` + u + `2"}`,
		}},
		{"text after a quote", CSV, "name,note,url\nurn:example:1,\"a\"b,u\nurn:example:2,,\n", []string{
			`@31 urn:example:1: line 2, column 18: unexpected 'b' after the closing quote of a cell`, `3@35 ` + u + `2"}`,
		}},
		{"a quote too many swallows nothing", CSV, "name,note,url\nurn:example:1,\"a,u\nurn:example:2,,\nurn:example:3,\"c\",u\nurn:example:4,,\n", []string{
			`@64 urn:example:1: line 4, column 16: unexpected 'c' after the closing quote of a cell`,
			`3@33 ` + u + `2"}`,
			`4@49 ` + u + `3","locations":[{"url":"u","note":"c"}]}`,
			`5@69 ` + u + `4"}`,
		}},
		{"a carriage return", CSV, "name,note,url\nurn:example:1,a\rb,u\nurn:example:2,,\n", []string{
			`@29 urn:example:1: line 2, column 16: a carriage return without a line feed; put a cell that contains one in quotes`, `3@34 ` + u + `2"}`,
		}},
		{"a bad line between those of a name", CSV, "name,url\nurn:example:1,a\n,b\nurn:example:1,c\nurn:example:2,d\n", []string{
			`@25 line 3, column 1: name: missing: every line must have a name`,
			`@28 urn:example:1: line 4, column 1: line 3, between the lines of this name, cannot be read`,
			`5@44 ` + u + `2","locations":[{"url":"d"}]}`,
		}},
		{"a bad line of a name", CSV, "name,url\nurn:example:1,a\nurn:example:1,b,c\nurn:example:1,d\nurn:example:2,e\n", []string{
			`@41 urn:example:1: line 3, column 17: the line has 3 cells, expected 2`,
			`5@59 ` + u + `2","locations":[{"url":"e"}]}`,
		}},

		{"broken off in a quote", CSV, "name,url,note\nurn:example:1,a,\nurn:example:2,b,\"x\ny", []string{
			`2@14 ` + u + `1","locations":[{"url":"a"}]}`,
			`input truncated in line 3: the quote in line 3, column 17 is never closed: unexpected EOF; the records before it were read`,
		}},
		{"broken off in a line", CSV, "name,url,note\nurn:example:1,a,\nurn:example:2,b", []string{
			`2@14 ` + u + `1","locations":[{"url":"a"}]}`,
			`input truncated in line 3: the last line has too few cells: unexpected EOF; the records before it were read`,
		}},
		{"broken off in a record", CSV, "name,url,note\nurn:example:1,a,\nurn:example:2,b,\nurn:example:2,c", []string{
			`2@14 ` + u + `1","locations":[{"url":"a"}]}`,
			`input truncated in line 3: the last line has too few cells: unexpected EOF; the records before it were read`,
		}},
	} {
		if got := readAll(t, c.format, c.text); !cmp.Equal(got, c.want) {
			t.Errorf("%s:\n%s", c.what, cmp.Diff(c.want, got))
		}
	}
}

// TestQuoteThatIsNeverClosed shows that a superfluous quote makes only one record invalid, however
// many lines follow.
func TestQuoteThatIsNeverClosed(t *testing.T) {
	var text strings.Builder
	text.WriteString("name,url\nurn:example:bad,\"u\n")
	n := 0
	for ; text.Len() < 3*maxLine; n++ {
		fmt.Fprintf(&text, "urn:example:%d,https://example.org/%s\n", n, strings.Repeat("x", 1000))
	}
	text.WriteString(strings.Repeat("y", 2*maxLine) + "\n")
	text.WriteString("urn:example:last,u\n")
	got := readAll(t, CSV, text.String())
	if len(got) != n+3 {
		t.Fatalf("%d answers, want %d", len(got), n+3)
	}
	if want := `@25 urn:example:bad: line 2, column 17: the quote is not closed within 4194304 bytes`; got[0] != want {
		t.Errorf("got %q, want %q", got[0], want)
	}
	if want := fmt.Sprintf("line %d, column %d: the line is longer than", n+3, maxLine+1); !strings.Contains(got[n+1], want) {
		t.Errorf("got %.200q, want %q", got[n+1], want)
	}
	if want := fmt.Sprintf(`%d@%d {"name":"urn:example:last","locations":[{"url":"u"}]}`, n+4, text.Len()-len("urn:example:last,u\n")); got[n+2] != want {
		t.Errorf("got %q, want %q", got[n+2], want)
	}
}

// TestLongLineInAQuote checks that a line that is too long is reported even if an unclosed quote
// has made it part of a cell.
func TestLongLineInAQuote(t *testing.T) {
	text := "name,url\nurn:example:1,\"u\nurn:example:2,\n" + strings.Repeat("y", 2*maxLine) + "\nurn:example:3,\n"
	want := []string{
		`@23 urn:example:1: line 2, column 15: the quote is not closed within 4194304 bytes`,
		`3@26 {"name":"urn:example:2"}`,
		fmt.Sprintf(`@%d line 4, column %d: the line is longer than 4194304 bytes`, 41+maxLine, maxLine+1),
		fmt.Sprintf(`5@%d {"name":"urn:example:3"}`, 42+2*maxLine),
	}
	if got := readAll(t, CSV, text); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// TestManyLinesOfOneName checks that the size of a record is bounded, however many lines it has.
func TestManyLinesOfOneName(t *testing.T) {
	text := "name,url\n" + strings.Repeat("urn:example:1,u\n", store.MaxLocations+1) + "urn:example:2,u\n"
	got := readAll(t, CSV, text)
	if len(got) != 2 || !strings.Contains(got[0], fmt.Sprintf("line %d, column 1: url: a record has at most 1000 locations", store.MaxLocations+2)) {
		t.Errorf("got %q", got)
	}
	text = "name,url,note\n" + strings.Repeat("urn:example:1,u,"+strings.Repeat("n", 1<<20)+"\n", 6) + "urn:example:2,u,\n"
	got = readAll(t, CSV, text)
	if len(got) != 2 || !strings.Contains(got[0], "the lines of this name have more than 4194304 bytes") {
		t.Errorf("got %.200q", got)
	}
}

// TestRefusedColumns checks that refusals by the registrar are reported with the line of the
// location and the column.
func TestRefusedColumns(t *testing.T) {
	b := newBench(t)
	const text = "name,url,lang,dc:title,successors\n" +
		"urn:example:1,https://a.example/,,,\nurn:example:1,https://b.example/,en,,\nurn:example:1,https://c.example/,e_n,,\n" +
		"urn:example:2,https://d.example/,,a\x01,\n" +
		"urn:example:3,https://d.example/,,,urn:example:4|x\n" +
		"urn:x,https://d.example/,,,\n"
	sum, refused, err := b.bring(strings.NewReader(text), ImportOptions{Format: CSV})
	if want := (Summary{Read: 4, Refused: 4}); err != nil || sum != want {
		t.Errorf("%+v, %v; want %+v", sum, err, want)
	}
	want := []string{
		`line 4: urn:example:1: lang: Language-Tag, offset 1: unexpected character '_'`,
		`line 5: urn:example:2: dc:title: text, offset 1: contains the control character U+0001`,
		`line 6: urn:example:3: successors: `,
		`line 7: urn:x: name: `,
	}
	for i := range want {
		if i >= len(refused) || !strings.HasPrefix(refused[i], want[i]) {
			t.Fatalf("refused %q, want %q", refused, want)
		}
	}
}

// TestTablesTouchOnlyWhatTheyHave checks that an empty cell changes nothing.
func TestTablesTouchOnlyWhatTheyHave(t *testing.T) {
	for _, policy := range []Conflict{Merge, Replace} {
		b := newBench(t)
		b.good(`{"name":"urn:example:1","status":"reserved","locations":[{"url":"https://a.example/"}],"metadata":{"title":["T"]},"same_as":["a:b"]}`, ImportOptions{})
		const text = "name,url,status,dc:creator,same_as,reason\nurn:example:1,,,C,,\n"
		b.good(text, ImportOptions{Format: CSV, OnConflict: policy})
		rec := &store.Record{}
		for r, err := range b.store.List(t.Context(), store.Scan{}) {
			if err != nil {
				t.Fatal(err)
			}
			rec = r
		}
		title := map[Conflict][]string{Merge: {"T"}}[policy] // metadata is one field
		want := nomen.Metadata{"creator": {"C"}}
		if title != nil {
			want["title"] = title
		}
		if rec.Status != nomen.Reserved || len(rec.Locations) != 1 || len(rec.SameAs) != 1 || !cmp.Equal(rec.Metadata, want) {
			t.Errorf("%s: %+v", policy, rec)
		}
	}
}
