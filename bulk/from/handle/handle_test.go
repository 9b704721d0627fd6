package handle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A shelf is a store of records, to which imports write.
type shelf struct {
	records map[name.Name]*store.Record
	pending bytes.Buffer
	imports int
}

// finish imports what the output has.
func (s *shelf) finish(t *testing.T) {
	if s.pending.Len() == 0 {
		return
	}
	s.imports++
	d := json.NewDecoder(&s.pending)
	for d.More() {
		var given struct {
			Name string `json:"name"`
			store.Record
		}
		if err := d.Decode(&given); err != nil {
			t.Fatal(err)
		}
		n := name.MustParse(given.Name)
		r := s.records[n]
		if r == nil {
			r = &store.Record{Name: n, Spelling: given.Name}
			s.records[n] = r
		}
		if given.Locations != nil {
			r.Locations = given.Locations
		}
		if given.Values != nil {
			r.Values = given.Values
		}
		r.Status = given.Status
	}
	s.pending.Reset()
}

// convert imports a text into the shelf.
func (s *shelf) convert(t *testing.T, format, text string, dryRun bool) (from.Report, error) {
	t.Helper()
	if s.records == nil {
		s.records = map[name.Name]*store.Record{}
	}
	out := from.NewOutput("file", &s.pending)
	in := &from.Input{Reader: strings.NewReader(text), File: "file"}
	in.Current = func(_ context.Context, n name.Name) (*store.Record, error) {
		if dryRun {
			return nil, nil
		}
		s.finish(t)
		out.Restart()
		if r := s.records[n]; r != nil {
			return r.Clone(), nil
		}
		return nil, nil
	}
	var err error
	for _, f := range Formats() {
		if f.Name == format {
			err = f.Convert(t.Context(), in, out)
		}
	}
	if !dryRun {
		s.finish(t)
	}
	return out.Report(), err
}

// urls returns the URLs of the locations of a handle.
func (s *shelf) urls(handle string) (all []string) {
	if r := s.records[name.MustParse("hdl:"+handle)]; r != nil && r.Status != nomen.Retired {
		for _, l := range r.Locations {
			all = append(all, l.URL)
		}
	}
	return all
}

// TestWindow checks operations on handles that have left the window.
func TestWindow(t *testing.T) {
	var b strings.Builder
	const n = 2*maxHandles + 10
	for i := range n {
		fmt.Fprintf(&b, "CREATE 20.5/%d\n1 URL 86400 1110 UTF8 https://example.org/%d\n\n", i, i)
	}
	for i := range n {
		fmt.Fprintf(&b, "MODIFY 20.5/%d\n1 URL 86400 1110 UTF8 https://example.org/new/%d\nADD 20.5/%d\n2 EMAIL 86400 1110 UTF8 a\n", i, i, i)
	}
	b.WriteString("DELETE 20.5/3\nCREATE 20.5/7\n5 URL 1 1110 UTF8 https://example.org/again\n")
	s := &shelf{}
	report, err := s.convert(t, "handle-batch", b.String(), false)
	if err != nil || report.Directives != 6*n+3 || len(report.Refused) != 0 {
		t.Fatalf("%v, %+v", err, report)
	}
	if s.imports > 9 {
		t.Errorf("%d imports", s.imports)
	}
	for handle, want := range map[string]string{"20.5/0": "[https://example.org/new/0]", fmt.Sprintf("20.5/%d", n-1): fmt.Sprintf("[https://example.org/new/%d]", n-1), "20.5/3": "[]", "20.5/7": "[https://example.org/again]"} {
		if got := fmt.Sprint(s.urls(handle)); got != want {
			t.Errorf("%s: got %s, want %s", handle, got, want)
		}
	}
	if r := s.records[name.MustParse("hdl:20.5/9")]; len(r.Values) != 2 || r.Values[1].Type != "EMAIL" {
		t.Errorf("got %+v", r.Values)
	}
}

// TestScatteredRows checks a dump whose rows are not sorted.
func TestScatteredRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("COPY handles (handle, idx, type, data, ttl_type, ttl, admin_read, admin_write, pub_read, pub_write) FROM stdin;\n")
	const n = maxHandles + 5
	for idx := range 2 {
		for i := range n {
			fmt.Fprintf(&b, "20.5/%d\t%d\tURL\thttps://example.org/%d/%d\t0\t86400\tt\tt\tt\tf\n", i, idx+1, i, idx)
		}
	}
	b.WriteString("\\.\n")
	s := &shelf{}
	for range 2 {
		report, err := s.convert(t, "handle-sql", b.String(), false)
		if err != nil || report.Handled != 2*n || len(report.Refused) != 0 {
			t.Fatalf("%v, %+v", err, report)
		}
		for _, i := range []int{0, n - 1} {
			if got, want := fmt.Sprint(s.urls(fmt.Sprintf("20.5/%d", i))), fmt.Sprintf("[https://example.org/%d/0 https://example.org/%d/1]", i, i); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// TestLimits checks that no handle takes more memory than a record may have.
func TestLimits(t *testing.T) {
	var b strings.Builder
	b.WriteString("CREATE 20.5/a\n")
	for i := range store.MaxRecordValues + 1 {
		fmt.Fprintf(&b, "%d URL 1 1110 UTF8 https://example.org/\n", i+1)
	}
	fmt.Fprintf(&b, "CREATE 20.5/b\n1 DESC 1 1110 UTF8 %s\n", strings.Repeat("x", store.MaxText+1))
	fmt.Fprintf(&b, "2 DESC 1 1110 UTF8 %s\n3 URL 1 1110 UTF8 https://example.org/\n", strings.Repeat("x", maxLine))
	s := &shelf{}
	report, err := s.convert(t, "handle-batch", b.String(), false)
	if err != nil || len(report.Refused) != 3 || len(s.urls("20.5/a")) != store.MaxRecordValues || len(s.urls("20.5/b")) != 1 {
		t.Fatalf("%v, %+v", err, report)
	}
	for i, want := range []string{"more values than the limit of 1000", "more than the limit of 65536", "the line is longer than"} {
		if got := report.Refused[i].Reason; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestSecrets checks that no report repeats a secret, wherever it stands.
func TestSecrets(t *testing.T) {
	for format, text := range map[string]string{
		"handle-batch": "AUTHENTICATE SECKEY:300:1/a\nhunter2 hunter2\nhunter2 x\nAUTHENTICATE PUBKEY:300:1/a\n\nhunter2 a b\nhunter2\nCREATE 20.5/a\n1 HS_SECKEY 86400 1110 UTF8 hunter2\n2 hs_seckey x hunter2\nhunter2 hunter2 hunter2\nDELETE 20.5/a\n5 HUNTER 1 1110 UTF8 hunter2\n",
		"handle-json":  `{"responseCode":1,"handle":"20.5/a","values":[{"index":1,"type":"HS_SECKEY","data":"hunter2"},{"index":2,"type":"Hs_Seckey","data":{"format":"hunter2"}}]}`,
		"handle-sql":   "INSERT INTO handles (handle,idx,type,data) VALUES ('20.5/a',1,'HS_SECKEY','hunter2')",
	} {
		s := &shelf{}
		report, _ := s.convert(t, format, text, true)
		if got := fmt.Sprint(report) + s.pending.String(); strings.Contains(got, "hunter2") || len(report.Refused) == 0 {
			t.Errorf("%s: got %s", format, got)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE nothing":                                  "1:1: CREATE nothing: ",
		"REMOVE 5":                                        "1:1: REMOVE 5: want REMOVE INDEXES:HANDLE",
		"CREATE 20.5/a\n\nREMOVE 5,x:20.5/a":              `3:1: REMOVE 5,x: invalid index "x"`,
		"CREATE 20.5/a\nCREATE 20.5/A":                    "",
		"CREATE 20.5/a\nCREATE 20.5/a\n1 URL 1":           "2:1: CREATE 20.5/a: the handle exists since line 1",
		"DELETE 20.5/a":                                   "1:1: DELETE 20.5/a: the handle does not exist",
		"CREATE 20.5/a\n1 HS_ADMIN 1 1110 ADMIN\n\n":      "2:1: 1 HS_ADMIN ...: the data are missing",
		"CREATE 20.5/a\n1 HS_ADMIN 1 1110 ADMIN":          "2:1: 1 HS_ADMIN ...: the data are missing",
		"CREATE 20.5/a\n1 HS_ADMIN 1 1110 ADMIN\nx":       "3:1: 1 HS_ADMIN ...: invalid data of HS_ADMIN",
		"CREATE 20.5/a\nDELETE 20.5/a\n1 U 1 1110 UTF8 x": "3:1: 1 U ...: DELETE has no values",
	} {
		report, err := (&shelf{}).convert(t, "handle-batch", text, false)
		got := ""
		if len(report.Refused) > 0 {
			r := report.Refused[0]
			got = strings.ReplaceAll(fmt.Sprintf("%d:%d: %s: %s", r.Line, r.Column, r.Text, r.Reason), ":0: ", ": ")
		}
		if err != nil || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestBrokenDumps(t *testing.T) {
	for text, want := range map[string]string{
		"": "no rows of the table handles found",
		"INSERT INTO handles (handle,idx) VALUES ('20.5/a'": "ends within a statement",
	} {
		if _, err := (&shelf{}).convert(t, "handle-sql", text, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	for row, want := range map[string]string{
		"'20.5/a',0,'URL','x',0,1,1,1,1,0":    "no valid idx and type",
		"'20.5/a',1,'','x',0,1,1,1,1,0":       "no valid idx and type",
		"'20.5/a',1,'URL','x',0,'a',1,1,1,0":  "invalid ttl",
		"'20.5/a',1,'URL','x',0,1,NULL,1,1,0": "invalid admin_read",
		"'a',1,'URL','x',0,1,1,1,1,0":         "local-name",
	} {
		report, _ := (&shelf{}).convert(t, "handle-sql", "INSERT INTO handles (handle,idx,type,data,ttl_type,ttl,admin_read,admin_write,pub_read,pub_write) VALUES ("+row+");", false)
		if len(report.Refused) != 1 || !strings.Contains(report.Refused[0].Reason, want) {
			t.Errorf("%s: got %+v, want %s", row, report.Refused, want)
		}
	}
}

// FuzzConvert checks that any file ends, and that each directive is counted once.
func FuzzConvert(f *testing.F) {
	f.Add("CREATE 20.5/a\n100 HS_ADMIN 86400 1110 ADMIN\n300:111111111111:0.NA/20.5\nMODIFY 20.5/a\n1 URL 1 1110 UTF8 x\n\nREMOVE 5:20.5/a\nDELETE 20.5/a\n")
	f.Add(`{"responseCode":1,"handle":"20.5/a","values":[{"index":1,"type":"URL","data":{"format":"hex","value":"ff"},"references":[1],"timestamp":"x"}]}`)
	f.Add("INSERT INTO handles (handle,idx,type,data,ttl_type,ttl,admin_read,admin_write,pub_read,pub_write) VALUES ('20.5/a',1,'URL','x',0,1,1,1,1,0)")
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range Formats() {
			report, _ := (&shelf{}).convert(t, format.Name, text, false)
			if report.Handled+int64(len(report.Refused)) != report.Directives {
				t.Fatalf("%s: %+v", format.Name, report)
			}
		}
	})
}
