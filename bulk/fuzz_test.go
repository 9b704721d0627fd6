package bulk

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nomen-project/nomen/store"
)

// FuzzTables checks that a record stays the same when it is written and read again, that the result
// does not depend on the pieces in which a file arrives, and that rows equal those of encoding/csv
// if both parsers accept them.
func FuzzTables(f *testing.F) {
	for _, s := range []string{
		"name,url\nurn:example:1,https://a.example/\n",
		"\uFEFFname,url,note\r\nurn:example:1,u,\"a \"\"b\"\", c\r\nd\"\r\nURN:EXAMPLE:1,v,\r\n",
		"name,dc:title,same_as\nurn:example:1,A|B \\| C|\\\\D,x\n",
		"name\turl\tnote\tdc:title\nurn:example:1\tu\ta\\tb\\nc\\rd\\\\ \"x\"\tA\\tB|C\\|D\n",
		"name,url,priority,weight,status,reason\nurn:example:1,a,1,2,retired,x\nurn:example:1,b,,,retired,\n",
		"name,note,url\nurn:example:1,\"a,u\nurn:example:2,,\nurn:example:3,\"c\",u\nurn:example:4,,\n",
		"name,note\nurn:example:1,\"a\nb", "name,url\n\"\"\"\",\n,\n\n,a\n", "name\nx\n\"x\"y\nx\n", "url\tname\n\\t\ta\n\\\ta\n",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, tabs bool) {
		format := CSV
		if tabs {
			format = TSV
		}
		records, told := readTable(t, strings.NewReader(text), format)
		_, slowly := readTable(t, iotest.OneByteReader(strings.NewReader(text)), format)
		if !slices.Equal(told, slowly) {
			t.Fatal(cmp.Diff(told, slowly))
		}
		e := &tableEncoder{tabs: tabs}
		file := e.head()
		var want []string
		for i, r := range records {
			r.Spelling += "-" + strings.Repeat("i", i) // so that adjacent records have different names
			b, err := e.record(nil, r.Clone())
			if err != nil {
				t.Fatalf("%+v: %v", r, err)
			}
			file = append(file, b...)
			b, err = jsonEncoder{}.record(nil, r.Clone())
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(b))
		}
		again, _ := readTable(t, bytes.NewReader(file), format)
		var got []string
		for _, r := range again {
			b, err := jsonEncoder{}.record(nil, r.Clone())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(b))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s\nwritten as\n%s", cmp.Diff(want, got), file)
		}
		if !tabs {
			agreeOnRows(t, text)
		}
	})
}

// readTable returns the records of a table, and all messages.
func readTable(t *testing.T, r io.Reader, f Format) (records []*store.Record, told []string) {
	in, err := newReader(r, f, Plain, Sheet{})
	if err != nil {
		return nil, []string{err.Error()}
	}
	defer in.close()
	last := int64(-1)
	for {
		line, err := in.next()
		isLine := errors.As(err, new(*LineError))
		switch {
		case err == nil:
			if line.Offset <= last {
				t.Fatalf("a record at byte %d after one at %d", line.Offset, last)
			}
			last = line.Offset
			records = append(records, line.Record)
			told = append(told, line.Record.Spelling)
		case isLine:
			told = append(told, err.Error())
		default:
			return records, append(told, err.Error())
		}
	}
}

// agreeOnRows compares the rows of CSV with those of encoding/csv.
func agreeOnRows(t *testing.T, text string) {
	text = strings.TrimPrefix(text, "\uFEFF")
	if !utf8.ValidString(text) || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
		return
	}
	theirs := csv.NewReader(strings.NewReader(text))
	theirs.FieldsPerRecord = -1
	want, err := theirs.ReadAll()
	if err != nil {
		return
	}
	l, err := newLines(strings.NewReader(text), Plain, Sheet{})
	if err != nil {
		return // a byte order mark of UTF-16
	}
	var got [][]string
	rows := rowReader{lines: l}
	for {
		r, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || r.bad != nil {
			t.Fatalf("%q: %v, %v; encoding/csv reads it", text, err, r)
		}
		var cells []string
		for _, c := range r.cells {
			cells = append(cells, strings.ReplaceAll(c.text, "\r\n", "\n"))
		}
		got = append(got, cells)
	}
	want = slices.DeleteFunc(want, func(row []string) bool {
		return strings.Trim(strings.Join(row, ""), " \t") == "" && (len(row) == 1 || strings.Join(row, "") == "")
	})
	got = slices.DeleteFunc(got, func(row []string) bool { return len(row) == 1 && strings.Trim(row[0], " \t") == "" })
	if !cmp.Equal(got, want, cmpopts.EquateEmpty()) {
		t.Fatalf("%q: %s", text, cmp.Diff(want, got))
	}
}
