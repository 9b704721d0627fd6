package bulk

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	fromezid "github.com/nomen-project/nomen/bulk/from/ezid"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// fromEZID returns a store with the records of a file of EZID.
func fromEZID(t interface {
	Helper()
	Fatal(args ...any)
}, format, text string,
) *memstore.Store {
	t.Helper()
	var lines bytes.Buffer
	out := from.NewOutput("file", &lines)
	i := slices.IndexFunc(fromezid.Formats(), func(f from.Format) bool { return f.Name == format })
	if err := fromezid.Formats()[i].Convert(context.Background(), &from.Input{Reader: strings.NewReader(text), File: "file"}, out); err != nil {
		t.Fatal(err)
	}
	if r := out.Report(); len(r.Refused) > 0 {
		t.Fatal(format, r.Refused, text)
	}
	s := memstore.New()
	o := ImportOptions{Format: JSONLines, Refused: func(r Refusal) { t.Fatal(format, r, text) }}
	clock := func() time.Time { return time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC) }
	if _, err := Import(context.Background(), registrar.New(s, registrar.Options{Now: clock}), registrar.Operator(), &lines, o); err != nil {
		t.Fatal(err)
	}
	return s
}

// What was imported from EZID is exported, imported and exported again, and is the same.
func TestEZIDRoundTrip(t *testing.T) {
	for _, format := range []string{"csv", "xml", "anvl"} {
		text, err := os.ReadFile("from/ezid/testdata/download." + format)
		if err != nil {
			t.Fatal(err)
		}
		s := fromEZID(t, "ezid-"+format, string(text))
		first, sum, refused := exported(t, s, ExportOptions{Format: EZIDCSV})
		if len(refused) > 0 || sum.Read != 3 || sum.Partial > 0 {
			t.Fatalf("%s: %+v, %v", format, sum, refused)
		}
		again := fromEZID(t, "ezid-csv", first)
		if second, _, _ := exported(t, again, ExportOptions{Format: EZIDCSV}); second != first {
			t.Errorf("%s:\n got %s\nwant %s", format, second, first)
		}
		want, _, _ := exported(t, s, ExportOptions{})
		if format == "csv" { // it has a date that only EZID knows from where: now it is an element
			want = strings.Replace(want, `{"index":10005,"type":"ezid:erc.who","data":"Proust, Marcel"}`, `{"index":10005,"type":"ezid:erc.when","data":"1922"},{"index":10006,"type":"ezid:erc.who","data":"Proust, Marcel"}`, 1)
		}
		if got, _, _ := exported(t, again, ExportOptions{}); got != want {
			t.Errorf("%s:\n got %s\nwant %s", format, got, want)
		}
		if format == "anvl" && first != downloadAgain {
			t.Errorf("got %s\nwant %s", first, downloadAgain)
		}
	}
}

const downloadAgain = "_id,_created,_export,_owner,_ownergroup,_profile,_shadowedby,_status,_target,_updated,dc.title,erc.what,erc.who\r\n" +
	"ark:/99999/fk4one,1400000000,yes,apitest,,erc,,public,https://example.org/1,1400000001,,100% sure,\"Proust, Marcel\"\r\n" +
	"ark:/99999/fk4two,1400000000,no,apitest,,dc,,reserved,https://ezid.cdlib.org/id/ark:/99999/fk4two,1400000001,A title,,\r\n" +
	"doi:10.5072/FK2-THREE,1400000000,yes,apitest,,datacite,ark:/b5072/fk2%2dthree,unavailable | withdrawn,https://example.org/3,1400000001,,,\r\n"

// A record is written without what EZID cannot have, and each such field is reported.
func TestEZIDLost(t *testing.T) {
	n, at := name.FromKey("ark:99999/x"), []nomen.Location{{URL: "https://example.org/1"}}
	for _, tt := range []struct {
		rec  store.Record
		want string // what is reported
		row  string // without the identifier and the times
	}{
		{store.Record{Name: n, Locations: at}, "", "yes|erc|public|https://example.org/1"},
		{store.Record{Name: n}, "", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Spelling: "ark:99999/x-"}, "", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Locations: append(at, nomen.Location{URL: "https://example.org/2"})}, "locations", "yes|erc|public|https://example.org/1"},
		{store.Record{Name: n, Locations: []nomen.Location{{URL: "https://example.org/1", Lang: "en"}}}, "locations", "yes|erc|public|https://example.org/1"},
		{store.Record{Name: n, Locations: []nomen.Location{{URL: "https://example.org/1", Rel: "archive"}}}, "locations", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Metadata: nomen.Metadata{"title": {"A"}, "subject": {"B"}}}, "", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x|dc.subject=B|erc.what=A"},
		{store.Record{Name: n, Metadata: nomen.Metadata{"title": {"A", "B"}}}, "metadata", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x|erc.what=A; B"},
		{store.Record{Name: n, Metadata: nomen.Metadata{"colour": {"red"}}}, "metadata", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Status: nomen.Retired, Reason: "gone"}, "", "yes|erc|unavailable | gone|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Status: nomen.Retired, Reason: " gone"}, "status", "yes|erc|unavailable |  gone|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Status: nomen.Retired, ShowLocations: true, Successors: []string{"a:b"}, SameAs: []string{"c:d"}}, "same_as, successors, show_locations", "yes|erc|unavailable|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Values: []nomen.Value{{Index: 1, Type: "EMAIL", Data: "a@example.org"}}}, "values", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Values: []nomen.Value{{Index: 1, Type: "ezid:a", Data: "b", Permissions: "1100"}}}, "values", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x"},
		{store.Record{Name: n, Values: []nomen.Value{{Index: 1, Type: "ezid:a", Data: "b\r\nc"}}}, "values", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x|a=b\nc"},
		{store.Record{Name: n, Values: []nomen.Value{{Index: 1, Type: "ezid:a", Data: "b\n\"c\",d"}}}, "", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x|a=b\n\"c\",d"},
		{store.Record{Name: n, Values: []nomen.Value{{Index: 1, Type: "ezid:_id", Data: "b"}, {Index: 2, Type: "ezid:_mappedTitle", Data: "c"}}}, "values", "yes|erc|public|https://ezid.cdlib.org/id/ark:/99999/x"},
	} {
		text, sum, refused := exported(t, put(t, []*store.Record{&tt.rec}), ExportOptions{Format: EZIDCSV})
		got := ""
		for _, r := range refused {
			got += strings.TrimPrefix(r.Reason, "written without ")
		}
		if got != tt.want || sum.Read != 1 || int(sum.Partial) != len(refused) || sum.Refused != 0 {
			t.Errorf("%+v: %+v without %q, want %q", tt.rec, sum, got, tt.want)
		}
		if row := rowOf(t, text); row != tt.row {
			t.Errorf("%+v: got %q, want %q", tt.rec, row, tt.row)
		}
	}
}

// rowOf returns the cells of the only row that have a value: of the usual columns, and of the others with
// their labels.
func rowOf(t *testing.T, text string) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatal(len(rows), err, text)
	}
	var all []string
	for i, label := range rows[0] {
		switch cell := rows[1][i]; {
		case cell == "", label == "_id", label == "_updated":
		case strings.HasPrefix(label, "_"):
			all = append(all, cell)
		default:
			all = append(all, label+"="+cell)
		}
	}
	return strings.Join(all, "|")
}

// Names that EZID cannot have are not written.
func TestEZIDNames(t *testing.T) {
	s := put(t, []*store.Record{
		{Name: name.FromKey("ark:99999/x")},
		{Name: name.FromKey("doi:10.5072/fk2x"), Spelling: "doi:10.5072/Fk2x"},
		{Name: name.FromKey("doi:10.5072/fk2y")},
		{Name: name.FromKey("urn:example:1")},
		{Name: name.FromKey("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6")},
		{Name: name.FromKey("ark:abc/x")},
	})
	text, sum, refused := exported(t, s, ExportOptions{Format: EZIDCSV})
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var ids, not []string
	for _, row := range rows {
		ids = append(ids, row[0])
	}
	for _, r := range refused {
		not = append(not, r.Name+" "+r.Field)
	}
	if want := []string{"_id", "ark:/99999/x", "doi:10.5072/Fk2x", "doi:10.5072/FK2Y", "uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}; !slices.Equal(ids, want) {
		t.Errorf("got %q, want %q", ids, want)
	}
	if want := []string{"ark:abc/x name", "urn:example:1 name"}; !slices.Equal(not, want) || sum.Refused != 2 || sum.Read != 4 {
		t.Errorf("not written: %q, %+v; want %q", not, sum, want)
	}
}

// The number of columns is limited. The other elements are reported.
func TestEZIDColumns(t *testing.T) {
	rec := store.Record{Name: name.FromKey("ark:99999/x")}
	for i := range ezidLabels {
		rec.Values = append(rec.Values, nomen.Value{Index: i + 1, Type: fmt.Sprintf("ezid:a%d", i), Data: "b"})
	}
	text, sum, _ := exported(t, put(t, []*store.Record{&rec}), ExportOptions{Format: EZIDCSV})
	if head, _, _ := strings.Cut(text, "\r\n"); strings.Count(head, ",") != ezidLabels || sum.Partial != 1 {
		t.Errorf("%d columns, %+v; want %d and one record written partly", strings.Count(head, ","), sum, ezidLabels)
	}
}

// Whatever elements records have, what is not reported is the same after an import.
func TestEZIDHoldsWhatItDoesNotReport(t *testing.T) {
	labels := []string{"erc.who", "erc.what", "erc", "dc.title", "dc", "datacite", "own", "a,b", `"`, "é", "_owner", "_created", "_profile", "_crossref", "_export", "_status", "_target", "_x"}
	rapid.Check(t, func(t *rapid.T) {
		r := record().Draw(t, "record")
		r.Name = name.FromKey(rapid.SampledFrom([]string{"ark:99999/x", "doi:10.5072/fk2x"}).Draw(t, "name"))
		r.Spelling, r.Modified = r.Name.Key(), time.Unix(1400000000, 0)
		if rapid.Bool().Draw(t, "plain") { // otherwise there is nearly always something to report
			r.Locations, r.SameAs, r.Successors, r.Values, r.Metadata = nil, nil, nil, nil, nil
		}
		for i, label := range rapid.SliceOfNDistinct(rapid.SampledFrom(labels), 0, 4, rapid.ID).Draw(t, "labels") {
			r.Values = append(r.Values, nomen.Value{Index: 20 + i, Type: "ezid:" + label, Data: rapid.OneOf(text(true), rapid.String()).Draw(t, "data")})
		}
		s := memstore.New()
		if _, err := s.Apply(context.Background(), []store.Change{{Record: r, Time: r.Modified}}); err != nil {
			t.Skip(err)
		}
		out, sum, _ := exported(t, s, ExportOptions{Format: EZIDCSV})
		if sum.Partial+sum.Refused > 0 {
			return
		}
		r, err := s.Get(context.Background(), r.Name, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := fromEZID(t, "ezid-csv", out).Get(context.Background(), r.Name, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		again.Modified = r.Modified
		if got, want := ezid.Of(again, ezid.Home), ezid.Of(r, ezid.Home); !maps.Equal(got, want) || again.Status != r.Status || again.Reason != r.Reason || !slices.Equal(again.Locations, r.Locations) || !maps.EqualFunc(again.Metadata, r.Metadata, slices.Equal) {
			t.Fatalf("got %v in %+v\nwant %v in %+v\n%s", got, again, want, r, out)
		}
	})
}
