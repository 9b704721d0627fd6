package ezid

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
)

// A line is a line of the output.
type line struct {
	Number    int              `json:"-"`
	Name      string           `json:"name"`
	Status    nomen.Status     `json:"status"`
	Locations []nomen.Location `json:"locations"`
	Metadata  nomen.Metadata   `json:"metadata"`
	Reason    string           `json:"reason"`
	Values    []nomen.Value    `json:"values"`
}

// convert returns the records of a file, and what was refused. The error is that of the conversion.
func convert(t *testing.T, format, text string) ([]line, from.Report, error) {
	t.Helper()
	var b bytes.Buffer
	out := from.NewOutput("file", &b)
	for _, f := range Formats() {
		if f.Name != format {
			continue
		}
		err := f.Convert(t.Context(), &from.Input{Reader: strings.NewReader(text), File: "file"}, out)
		var all []line
		for i, s := range strings.Split(b.String(), "\n") {
			if s == "" {
				continue
			}
			l := line{Number: i + 1}
			if err := json.Unmarshal([]byte(s), &l); err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
		}
		return all, out.Report(), err
	}
	t.Fatal("no format", format)
	return nil, from.Report{}, nil
}

// values returns values with the indexes from 10001.
func values(labels ...string) (all []nomen.Value) {
	for i := 0; i < len(labels); i += 2 {
		all = append(all, nomen.Value{Index: 10001 + i/2, Type: "ezid:" + labels[i], Data: labels[i+1]})
	}
	return all
}

// The same identifiers give the same records in all formats.
func TestDownloads(t *testing.T) {
	want := []line{
		{
			Name: "ark:/99999/fk4one", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/1"}},
			Metadata: nomen.Metadata{"creator": {"Proust, Marcel"}, "title": {"100% sure"}},
			Values:   values("_created", "1400000000", "_owner", "apitest", "_updated", "1400000001", "erc.what", "100% sure", "erc.who", "Proust, Marcel"),
		},
		{
			Name: "ark:/99999/fk4two", Status: nomen.Reserved, Metadata: nomen.Metadata{"title": {"A title"}},
			Values: values("_created", "1400000000", "_export", "no", "_owner", "apitest", "_profile", "dc", "_updated", "1400000001", "dc.title", "A title"),
		},
		{
			Name: "doi:10.5072/FK2-THREE", Status: nomen.Retired, Reason: "withdrawn", Locations: []nomen.Location{{URL: "https://example.org/3"}},
			Values: values("_created", "1400000000", "_owner", "apitest", "_updated", "1400000001"),
		},
	}
	lines := map[string][]int{"csv": {2, 3, 4}, "xml": {3, 4, 5}, "anvl": {1, 12, 22}}
	for ext, numbers := range lines {
		text, err := os.ReadFile("testdata/download." + ext)
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := convert(t, "ezid-"+ext, string(text))
		if err != nil || report.Directives != 3 || report.Handled != 3 || len(report.Refused) != 0 || len(got) != 3 {
			t.Fatalf("%s: %v, %+v, %d records", ext, err, report, len(got))
		}
		for i := range got {
			expected := want[i]
			expected.Number = numbers[i]
			if ext == "csv" && i == 0 { // only CSV has columns that EZID has computed
				expected.Metadata = nomen.Metadata{"creator": {"Proust, Marcel"}, "title": {"100% sure"}, "date": {"1922"}}
			}
			if !reflect.DeepEqual(got[i], expected) {
				t.Errorf("%s:\n got %+v\nwant %+v", ext, got[i], expected)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		format, text string
		records      int
		want         from.Refusal
	}{
		{"ezid-csv", "_id,_status\nark:/99999/x,gone\n", 1, from.Refusal{Line: 2, Column: 14, Text: "ark:/99999/x", Reason: "_status: invalid identifier status"}},
		{"ezid-csv", "_id,_created\nark:/99999/x,yesterday\n", 1, from.Refusal{Line: 2, Column: 14, Text: "ark:/99999/x", Reason: `_created: must be a time, not "yesterday"`}},
		{"ezid-csv", "_id\nnonsense\n", 0, from.Refusal{Line: 2, Column: 1, Text: "nonsense", Reason: "invalid identifier"}},
		{"ezid-csv", "_id,a\n\"ark:/99999/x\n\",b\n", 0, from.Refusal{Line: 2, Column: 1, Text: "ark:/99999/x\n", Reason: "invalid identifier"}},
		{"ezid-csv", "_id,a\nark:/99999/x\n", 0, from.Refusal{Line: 2, Column: 1, Text: "ark:/99999/x", Reason: "the row has 1 columns, and the header 2"}},
		{"ezid-xml", "<records>\n<other/></records>", 0, from.Refusal{Line: 2, Column: 1, Text: "other", Reason: "unknown XML element: must be record"}},
		{"ezid-xml", "<records><record identifier='ark:/99999/x'><element name='a'>1</element><element name='a'>2</element></record></records>", 1, from.Refusal{Line: 1, Column: 73, Text: "ark:/99999/x", Reason: "a: occurs twice"}},
		{"ezid-anvl", "# comment\n:: ark:/99999/x\na: b\nno colon\n", 0, from.Refusal{Line: 1, Column: 1, Text: "# comment", Reason: `before the first identifier: a block begins with ":: " and an identifier`}},
		{"ezid-anvl", ":: ark:/99999/x\na: b\nno colon\n", 0, from.Refusal{Line: 3, Column: 1, Text: "ark:/99999/x", Reason: "no colon in line"}},
		{"ezid-anvl", ":: ark:/99999/x\na: b\nc: 100%\n", 0, from.Refusal{Line: 3, Column: 7, Text: "ark:/99999/x", Reason: "percent-decode error"}},
		{"ezid-anvl", ":: ark:/99999/x\na: b\n_status: gone\n", 1, from.Refusal{Line: 3, Column: 1, Text: "ark:/99999/x", Reason: "_status: invalid identifier status"}},
		{"ezid-anvl", ":: nonsense\na: b\n", 0, from.Refusal{Line: 1, Column: 4, Text: "nonsense", Reason: "invalid identifier"}},
		{"ezid-xml", "<records>\n<record identifier='ark:/99999/x'>\n  <element name='_status'>gone</element></record></records>", 1, from.Refusal{Line: 3, Column: 3, Text: "ark:/99999/x", Reason: "_status: invalid identifier status"}},
		{"ezid-xml", "<records>\n  <record identifier='nonsense'/></records>", 0, from.Refusal{Line: 2, Column: 3, Text: "nonsense", Reason: "invalid identifier"}},
		{"ezid-xml", "<records><record identifier='ark:/99999/x'>\n<note/></record></records>", 1, from.Refusal{Line: 2, Column: 1, Text: "ark:/99999/x", Reason: "note: unknown XML element: must be element"}},
	} {
		got, report, err := convert(t, tt.format, tt.text)
		if err != nil || len(got) != tt.records || len(report.Refused) == 0 || report.Refused[0] != tt.want {
			t.Errorf("%s: %q: %v, %d records, refused %+v; want %d records and %+v", tt.format, tt.text, err, len(got), report.Refused, tt.records, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ format, text, want string }{
		{"ezid-csv", "", "line 1: the file is empty"},
		{"ezid-csv", "id,_target\n", `column "_id" not found`},
		{"ezid-csv", "_id\n\"a", "row: parse error on line 2"},
		{"ezid-xml", "<html/>", "the root element must be records, not html"},
		{"ezid-xml", "<records><record>", "XML syntax error on line 1"},
		{"ezid-csv", "_id,a\nark:/99999/x," + strings.Repeat("x", 2*maxEntry), errTooLong.Error()},
		{"ezid-anvl", ":: ark:/99999/x\na: " + strings.Repeat("x", maxEntry), errTooLong.Error()},
		{"ezid-xml", "<records><record identifier='" + strings.Repeat("x", maxEntry), errTooLong.Error()},
	} {
		if _, _, err := convert(t, tt.format, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got the error %v, want %q", tt.format, err, tt.want)
		}
	}
}

// XML of DataCite is kept as it is.
func TestXMLElement(t *testing.T) {
	const inner = `<resource xmlns="http://datacite.org/schema/kernel-4"><titles><title>A &amp; B</title></titles></resource>`
	got, _, err := convert(t, "ezid-xml", `<records><record identifier="ark:/99999/x"><element name="datacite">`+inner+`</element></record></records>`)
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0].Values, values("datacite", inner)) || !reflect.DeepEqual(got[0].Metadata, nomen.Metadata{"title": {"A & B"}}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
