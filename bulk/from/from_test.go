package from

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// TestRecord checks that records are on the lines that they have in the file, with only the fields
// that have values.
func TestRecord(t *testing.T) {
	var b bytes.Buffer
	out := NewOutput("f", &b)
	for _, r := range []struct {
		line   int
		record store.Record
	}{
		{1, store.Record{Spelling: "urn:example:a"}},
		{5, store.Record{Spelling: "urn:example:b", Status: nomen.Reserved, SameAs: []string{"doi:10.1/x"}, Reason: "<&>"}},
		{5, store.Record{Spelling: "urn:example:c"}},
		{9000, store.Record{Spelling: "urn:example:d", ShowLocations: true}},
	} {
		if err := out.Record(r.line, &r.record); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(b.String(), "\n")
	for n, want := range map[int]string{
		1: `{"name":"urn:example:a"}`, 2: "", 5: `{"name":"urn:example:b","status":"reserved","same_as":["doi:10.1/x"],"reason":"\u003c\u0026\u003e"}`,
		6: `{"name":"urn:example:c"}`, 9000: `{"name":"urn:example:d","show_locations":true}`,
	} {
		if got := lines[n-1]; got != want {
			t.Errorf("line %d: got %s, want %s", n, got, want)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// TestRecordFails checks that a converter ends if the import has ended.
// TestPlaces checks that a rejected record has the place of the file, also if several are in one line.
func TestPlaces(t *testing.T) {
	out := NewOutput("f", io.Discard)
	for _, at := range [][2]int{{2, 3}, {2, 40}, {7, 1}} {
		if err := out.RecordAt(at[0], at[1], &store.Record{Spelling: "urn:example:a"}); err != nil {
			t.Fatal(err)
		}
		out.Handled(1)
	}
	for _, output := range []int{2, 3, 7} {
		out.Reject(output, "a", "reason")
	}
	var got [][2]int
	for _, r := range out.Report().Refused {
		got = append(got, [2]int{r.Line, r.Column})
	}
	if want := [][2]int{{2, 3}, {2, 40}, {7, 1}}; !slices.Equal(got, want) || out.Report().Handled != 0 {
		t.Errorf("got %v, %+v, want %v", got, out.Report(), want)
	}
}

func TestRecordFails(t *testing.T) {
	broken := errors.New("broken")
	for _, line := range []int{1, 3} {
		if err := NewOutput("f", brokenWriter{broken}).Record(line, &store.Record{}); !errors.Is(err, broken) {
			t.Errorf("line %d: got %v", line, err)
		}
	}
}

// TestReport checks that each directive is counted once, and that reports have a limit.
func TestReport(t *testing.T) {
	out := NewOutput("f", nil)
	told := 0
	out.OnRefusal = func(Refusal) { told++ }
	out.Handled(3)
	out.Refuse(7, "a\xff"+strings.Repeat("x", 1000), "odd")
	out.Reject(1, "urn:example:a", "invalid")
	r := out.Report()
	if got := fmt.Sprint(r.Directives, r.Handled, len(r.Refused), told); got != "4 2 2 2" || r.File != "f" {
		t.Errorf("got %s", got)
	}
	if l := r.Refused[0]; l.Line != 7 || l.Reason != "odd" || len(l.Text) > maxText+4 || !strings.HasPrefix(l.Text, `"a\xffxxx`) {
		t.Errorf("got %+v", l)
	}
	out = NewOutput("f", nil)
	out.Reject(1, "x", "y")
	for range maxRefusals {
		out.Refuse(1, "x", "y")
	}
	if r := out.Report(); len(r.Refused) != maxRefusals || r.Omitted != 1 || r.Directives != maxRefusals+1 {
		t.Errorf("got %d refusals, %d omitted, %d entries", len(r.Refused), r.Omitted, r.Directives)
	}
}

func TestAuthority(t *testing.T) {
	out := NewOutput("f", nil)
	out.Authority(4, name.MustParsePrefix("ark:12345"), func(a *store.Authority) { a.List = true })
	var a store.Authority
	all := out.Authorities()
	if len(all) != 1 || all[0].Line != 4 || all[0].Prefix.String() != "ark:12345" {
		t.Fatalf("got %+v", all)
	}
	if all[0].Change(&a); !a.List {
		t.Error("the change was not made")
	}
}
