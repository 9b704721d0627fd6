package misses

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const firstLine = `{"format":"nomen-misses","version":2,"names":2,"since":"2026-11-20T12:00:00Z","asked":5,"other":1}` + "\n"

const twoLines = `{"name":"urn:x-y:a","count":3,"first":"2026-11-20T12:00:00Z","last":"2026-11-20T13:00:00Z","suggestions":["urn:x-y:b"],"bots":1,"months":5}
{"name":"urn:x-y:<é>","count":1,"first":"2026-11-20T12:00:00Z","last":"2026-11-20T12:00:00Z"}
`

// two are the misses of twoLines.
func two() []Miss {
	return []Miss{
		{Name: "urn:x-y:a", Count: 3, First: hour(12), Last: hour(13), Suggestions: []string{"urn:x-y:b"}, Bots: 1, Months: 5},
		{Name: "urn:x-y:<é>", Count: 1, First: hour(12), Last: hour(12)},
	}
}

// The format of version 2, as docs/reference/files.md has it.
func TestFormat(t *testing.T) {
	totals := Totals{Since: hour(12), Asked: 5, Other: 1}
	var b strings.Builder
	if err := write(&b, two(), totals); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b.String(), firstLine+twoLines); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
	list, got, err := read(strings.NewReader(firstLine + twoLines))
	if d := cmp.Diff(list, two()); d != "" || got != totals || err != nil {
		t.Errorf("%v, %v; got -, want +:\n%s", got, err, d)
	}
}

func TestReadRefuses(t *testing.T) {
	line := func(s string) string { return strings.Replace(firstLine, `"names":2`, `"names":1`, 1) + s + "\n" }
	for _, tt := range []struct {
		text, want string
		line       int
	}{
		{"", "not a file of failed lookups", 1},
		{"{}\n", "not a file of failed lookups", 1},
		{"names,count\n", "not a file of failed lookups", 1},
		{strings.Replace(firstLine, `"version":2`, `"version":3`, 1), "version 3", 1},
		{strings.Replace(firstLine, `"names":2`, `"names":-1`, 1), "-1 names", 1},
		{strings.Replace(firstLine, `"names":2`, `"names":9999999`, 1), "9999999 names", 1},
		{strings.Replace(firstLine, `"since":"2026-11-20T12:00:00Z",`, ``, 1), "missing time", 1},
		{firstLine, "ends after 0 of 2", 2},
		{firstLine + twoLines[:150], "unexpected end", 3},
		{firstLine + twoLines + "{}\n", "more than the 2", 4},
		{firstLine + strings.Repeat(twoLines[:strings.Index(twoLines, "\n")+1], 2), "duplicate name", 3},
		{line(`{"name":"","count":1,"first":"2026-11-20T12:00:00Z","last":"2026-11-20T12:00:00Z"}`), "missing name", 2},
		{line(`{"name":"a","count":0,"first":"2026-11-20T12:00:00Z","last":"2026-11-20T12:00:00Z"}`), "missing name", 2},
		{line(`{"name":"a","count":-1}`), "number -1", 2},
		{line(`{"name":"a","count":1,"last":"2026-11-20T12:00:00Z"}`), "missing name", 2},
		{line(`{"name":"a","count":1,"first":"2026-11-20T13:00:00Z","last":"2026-11-20T12:00:00Z"}`), "missing name", 2},
		{line(`{"name":"a","count":1,"first":"2026-11-20T12:00:00Z","last":"2026-11-20T12:00:00Z","suggestions":[""]}`), "missing name", 2},
		{line(`{"name":"` + strings.Repeat("a", maxName+1) + `","count":1,"first":"2026-11-20T12:00:00Z","last":"2026-11-20T12:00:00Z"}`), "too long", 2},
		{line(strings.Repeat(" ", maxLine+1)), "token too long", 2},
	} {
		list, totals, err := read(strings.NewReader(tt.text))
		var bad *fileError
		if !errors.As(err, &bad) || bad.Line != tt.line || !strings.Contains(err.Error()+errors.Join(bad.Err, io.EOF).Error(), tt.want) {
			t.Errorf("%.200q: %v, want line %d: %s", tt.text, err, tt.line, tt.want)
		}
		if list != nil || totals != (Totals{}) {
			t.Errorf("%.200q: %v, %v", tt.text, list, totals)
		}
	}
}

// A disk error says nothing about the file.
func TestReadError(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		_, err := io.WriteString(w, firstLine)
		w.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	}()
	_, _, err := read(r)
	if bad := new(fileError); errors.As(err, &bad) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%T %v", err, err)
	}
}

func TestMerge(t *testing.T) {
	other := []Miss{
		{Name: "urn:x-y:<é>", Count: 7, First: hour(10), Last: hour(11), Suggestions: []string{"urn:x-y:e"}},
		{Name: "urn:x-y:a", Count: 1, First: hour(14), Last: hour(14)},
		{Name: "urn:x-y:new", Count: 4, First: hour(14), Last: hour(14)},
	}
	third := []Miss{{Name: "urn:x-y:a", Count: 1, First: hour(15), Last: hour(15), Suggestions: []string{"urn:x-y:late"}}}
	want := []Miss{
		{Name: "urn:x-y:<é>", Count: 8, First: hour(10), Last: hour(12), Suggestions: []string{"urn:x-y:e"}},
		{Name: "urn:x-y:a", Count: 5, First: hour(12), Last: hour(15), Suggestions: []string{"urn:x-y:late"}, Bots: 1, Months: 5},
		{Name: "urn:x-y:new", Count: 4, First: hour(14), Last: hour(14)},
	}
	if d := cmp.Diff(Merge(two(), other, third), want); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
	if d := cmp.Diff(Merge(third, other, two()), want); d != "" {
		t.Errorf("in another order: got -, want +:\n%s", d)
	}
	a, b := Totals{Since: hour(12), Asked: 5, Other: 1}, Totals{Since: hour(10), Asked: 2, Other: 2}
	if got, want := a.Join(b), (Totals{Since: hour(10), Asked: 7, Other: 3}); got != want || b.Join(a) != want {
		t.Errorf("Join: %v, want %v", got, want)
	}
	if got := (Totals{}).Join(a).Join(Totals{}); got != a {
		t.Errorf("Join with nothing: %v, want %v", got, a)
	}
}

// Whatever is read is the same after writing and reading it again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(firstLine + twoLines))
	f.Add([]byte(strings.Replace(firstLine, `"names":2`, `"names":0`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, totals, err := read(bytes.NewReader(text))
		if err != nil {
			var bad *fileError
			if !errors.As(err, &bad) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		var b bytes.Buffer
		if err := write(&b, list, totals); err != nil {
			t.Fatal(err)
		}
		again, totalsAgain, err := read(&b)
		if d := cmp.Diff(again, list); d != "" || !totalsAgain.Since.Equal(totals.Since) || totalsAgain.Asked != totals.Asked || err != nil {
			t.Fatalf("%v, %v, want %v; got -, want +:\n%s", err, totalsAgain, totals, d)
		}
	})
}
