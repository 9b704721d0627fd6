package ezid

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func TestParseID(t *testing.T) {
	for _, tt := range []struct{ id, key, canonical string }{
		{"ark:/99999/fk4test", "ark:99999/fk4test", "ark:/99999/fk4test"},
		{"ark:99999/fk4test", "ark:99999/fk4test", "ark:/99999/fk4test"},
		{"ark:/99999/fk4-te-st/", "ark:99999/fk4test", "ark:/99999/fk4test"},
		{"ark:/99999//fk4//a..b.", "ark:99999/fk4/a.b", "ark:/99999/fk4/a.b"},
		{"ark:/b5072/fk4", "ark:b5072/fk4", "ark:/b5072/fk4"},
		{"ark:/123456789/x", "ark:123456789/x", "ark:/123456789/x"},
		{"ark:/99999/a%41#", "ark:99999/aA%23", "ark:/99999/aA%23"},
		{"ark:/99999/a%2fb", "ark:99999/a%2Fb", "ark:/99999/a%2Fb"},
		{"doi:10.5072/fk2-x", "doi:10.5072/fk2-x", "doi:10.5072/FK2-X"},
		{"doi:10.12345/FK2.(x)", "doi:10.12345/fk2.(x)", "doi:10.12345/FK2.(X)"},
		{"uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
	} {
		n, ok := ParseID(tt.id)
		if !ok || n.Key() != tt.key || ID(n) != tt.canonical {
			t.Errorf("ParseID(%q) = %q, %v with the identifier %q; want %q and %q", tt.id, n, ok, ID(n), tt.key, tt.canonical)
		}
	}
	for _, id := range []string{
		"", "ark:/", "ark:/99999/", "ark:/99999/-", "ark:/9999/x", "ark:/a9999/x", "ark:/99999/a./b", "ark:/99999/a/.b", "ark:/99999/a b",
		"ark:/99999/é", "ark:/99999/%zz", "ark:/99999/a%", "ARK:/99999/x", "doi:10.1/x", "doi:10.0123/x", "doi:10.123456/x", "doi:10.5072/",
		"doi:10.5072/a//b", "doi:10.5072/a/", "doi:10.5072/a#b", "uuid:1", "urn:isbn:0", "ark:/99999/" + strings.Repeat("x", 250),
	} {
		if n, ok := ParseID(id); ok {
			t.Errorf("ParseID(%q) = %q, want it to be invalid", id, n)
		}
	}
}

func TestShadow(t *testing.T) {
	for id, want := range map[string]string{
		"doi:10.9999/TEST":   "ark:/b9999/test",
		"doi:10.5060/FOO":    "ark:/b5060/foo",
		"doi:10.12345/FOO":   "ark:/c2345/foo",
		"doi:10.5072/A-B%":   "ark:/b5072/a%2db%25",
		"doi:10.5072/A..B.":  "ark:/b5072/a.%2eb%2e",
		"doi:10.5072/A(B)":   "ark:/b5072/a%28b%29",
		"doi:10.123456/FOO":  "",
		"ark:/99999/fk4":     "",
		"doi:10.5072":        "",
		"doi:10.5072x/FOO":   "",
		"uuid:1-2-3-4-12345": "",
	} {
		if got := Shadow(id); got != want {
			t.Errorf("Shadow(%q) = %q, want %q", id, got, want)
		}
	}
}

func record(t *testing.T, given Elements) *store.Record {
	t.Helper()
	rec := &store.Record{Name: name.MustParse("ark:99999/fk4x"), Status: nomen.Active, Modified: time.Unix(1795320000, 0), Revision: 1}
	if err := Apply(rec, given, Rules{Base: "https://id.example", New: true}); err != nil {
		t.Fatal(err)
	}
	return rec
}

// base are the elements of every record of the tests.
var base = Elements{"_export": "yes", "_profile": "erc", "_status": "public", "_target": "https://id.example/id/ark:/99999/fk4x", "_updated": "1795320000"}

func with(e Elements) Elements {
	all := maps.Clone(base)
	maps.Copy(all, e)
	return all
}

const dataCite = `<d:resource xmlns:d="http://datacite.org/schema/kernel-4"><d:identifier identifierType="DOI">x</d:identifier>
<d:creators><d:creator><d:creatorName>A</d:creatorName></d:creator><d:creator><d:creatorName> B
 C </d:creatorName></d:creator></d:creators><d:titles><d:title>T &amp; U</d:title></d:titles>
<d:relatedItems><d:relatedItem><d:titles><d:title>no</d:title></d:titles></d:relatedItem></d:relatedItems>
<d:resourceType resourceTypeGeneral="Dataset">table</d:resourceType></d:resource>`

// Every element is returned as it was given, and sets the metadata.
func TestMetadata(t *testing.T) {
	for _, tt := range []struct {
		given Elements
		want  nomen.Metadata
	}{
		{nil, nil},
		{Elements{"erc.who": "A", "erc.what": "B", "erc.when": "1922"}, nomen.Metadata{"creator": {"A"}, "title": {"B"}, "date": {"1922"}}},
		{Elements{"erc.who": "(:unav)", "erc.what": "(:unkn) anonymous"}, nomen.Metadata{"title": {"(:unkn) anonymous"}}},
		{Elements{"dc.subject": "S", "dc.nothing": "N", "own": "O"}, nomen.Metadata{"subject": {"S"}}},
		{Elements{"erc.who": "A", "dc.creator": "B", "dc.title": "T"}, nomen.Metadata{"creator": {"A"}, "title": {"T"}}},
		{Elements{"erc": "who: A\nwhat: B"}, nomen.Metadata{"creator": {"A"}, "title": {"B"}}},
		{Elements{"erc": "no colon"}, nil},
		{Elements{"dc": `<dc:record xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>A</dc:creator><dc:creator>B</dc:creator></dc:record>`}, nomen.Metadata{"creator": {"A", "B"}}},
		{Elements{"datacite.resourcetype": "Dataset/table", "datacite.publicationyear": "2026"}, nomen.Metadata{"type": {"Dataset/table"}, "date": {"2026"}}},
	} {
		rec := record(t, tt.given)
		if got := rec.Metadata; len(got)+len(tt.want) > 0 && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q sets the metadata %q, want %q", tt.given, got, tt.want)
		}
		if got, want := Of(rec, "https://id.example"), with(tt.given); !maps.Equal(got, want) {
			t.Errorf("%q is returned as %q, want %q", tt.given, got, want)
		}
	}
}

func TestDataCite(t *testing.T) {
	rec := record(t, Elements{"datacite": dataCite})
	if want := (nomen.Metadata{"creator": {"A", "B C"}, "title": {"T & U"}, "type": {"Dataset/table"}}); !reflect.DeepEqual(rec.Metadata, want) {
		t.Errorf("the metadata is %q, want %q", rec.Metadata, want)
	}
	want := strings.Replace(dataCite, `<d:identifier identifierType="DOI">x</d:identifier>`, `<d:identifier identifierType="ARK">99999/fk4x</d:identifier>`, 1)
	if got := kept(rec)["datacite"]; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	for _, bad := range []string{"no XML", "<resource/>", "<other><identifier/></other>", "<resource><identifier></resource>", "<resource><x><identifier/></x></resource>"} {
		var e *FieldError
		if err := Apply(rec, Elements{"datacite": bad}, Rules{}); !errors.As(err, &e) || e.Label != "datacite" {
			t.Errorf("%q: got %v, want an error about the element datacite", bad, err)
		}
	}
}

// Very many nested elements take time in proportion to their number.
func TestDeepXML(t *testing.T) {
	if got := readXML(strings.Repeat("<a>", 300_000)); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// If the metadata is changed in another way, the elements have the metadata of the record.
func TestMend(t *testing.T) {
	rec := record(t, Elements{"erc.who": "A", "dc.creator": "B", "erc.what": "T", "my": "own"})
	rec.Metadata = nomen.Metadata{"creator": {"C", "D"}, "publisher": {"P"}}
	want := with(Elements{"erc.who": "C; D", "dc.publisher": "P", "my": "own"})
	got := Of(rec, "https://id.example")
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// Elements that a client sends back unchanged change nothing.
	delete(got, "_updated")
	before := rec.Clone()
	if err := Apply(rec, got, Rules{Base: "https://id.example"}); err != nil || !rec.Clone().SameContent(before) {
		t.Errorf("Apply of the elements of the record: %v, and %+v instead of %+v", err, rec, before)
	}
	if err := Apply(rec, Elements{"erc.who": ""}, Rules{}); err != nil || rec.Metadata["creator"] == nil || rec.Metadata["creator"][0] != "B" {
		t.Errorf("without erc.who, %v, the metadata is %q, want the creator B", err, rec.Metadata)
	}
}

func TestTarget(t *testing.T) {
	rec := record(t, nil)
	rec.Locations = []nomen.Location{{URL: "https://example.org/about", Rel: "describedby"}, {URL: "https://example.org/1", Type: "text/html", Priority: 2}, {URL: "https://example.org/2"}}
	for _, tt := range []struct {
		target string
		want   []string
	}{
		{"https://example.org/1", []string{"https://example.org/about", "https://example.org/1", "https://example.org/2"}},
		{"HTTPS://example.org/${identifier}", []string{"https://example.org/about", "https://example.org/ark:/99999/fk4x", "https://example.org/2"}},
		{"", []string{"https://example.org/about", "https://example.org/2"}},
		{"https://id.example/id/ark:/99999/fk4x", []string{"https://example.org/about"}},
		{"https://example.org/3", []string{"https://example.org/3", "https://example.org/about"}},
	} {
		if err := Apply(rec, Elements{"_target": tt.target}, Rules{Base: "https://id.example"}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range rec.Locations {
			got = append(got, l.URL)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("after the target %q, the locations are %q, want %q", tt.target, got, tt.want)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		before nomen.Status
		rules  Rules
		value  string
		want   string // the status of nomen with the reason, or the error
	}{
		{nomen.Active, Rules{New: true}, "reserved", "reserved"},
		{nomen.Active, Rules{New: true}, "public", "active"},
		{nomen.Active, Rules{New: true}, "unavailable", "_status: invalid identifier status change"},
		{nomen.Reserved, Rules{}, "public", "active"},
		{nomen.Reserved, Rules{}, "unavailable", "_status: invalid identifier status change"},
		{nomen.Active, Rules{}, "reserved", "_status: invalid identifier status change"},
		{nomen.Active, Rules{}, "unavailable", "retired"},
		{nomen.Active, Rules{}, "unavailable|gone", "retired gone"},
		{nomen.Active, Rules{}, "unavailable  | gone | lost", "retired gone | lost"},
		{nomen.Active, Rules{}, "unavailable: gone", "_status: invalid identifier status"},
		{nomen.Active, Rules{}, "unavailablex", "_status: invalid identifier status"},
		{nomen.Active, Rules{}, "", "_status: invalid identifier status"},
		{nomen.Retired, Rules{}, "public", "active"},
		{nomen.Active, Rules{New: true, Import: true}, "unavailable | gone", "retired gone"},
	} {
		rec := record(t, nil)
		rec.Status = tt.before
		got := ""
		if err := Apply(rec, Elements{"_status": tt.value}, tt.rules); err != nil {
			got = err.Error()
		} else {
			got = strings.TrimSpace(string(rec.Status) + " " + rec.Reason)
		}
		if got != tt.want {
			t.Errorf("%s, %+v, %q: got %q, want %q", tt.before, tt.rules, tt.value, got, tt.want)
		}
	}
}

// The indexes of values stay the same, and are not used again for another element.
func TestIndexes(t *testing.T) {
	rec := record(t, Elements{"a": "1", "b": "2"})
	rec.Values = append([]nomen.Value{{Index: 1, Type: "EMAIL", Data: "x"}}, rec.Values...)
	if err := Apply(rec, Elements{"a": "", "b": "3", "c": "4"}, Rules{}); err != nil {
		t.Fatal(err)
	}
	want := []nomen.Value{{Index: 1, Type: "EMAIL", Data: "x"}, {Index: 10002, Type: "ezid:b", Data: "3"}, {Index: 10003, Type: "ezid:c", Data: "4"}}
	if !slices.Equal(rec.Values, want) {
		t.Errorf("got %+v, want %+v", rec.Values, want)
	}
}

// FuzzParseID checks that the identifier of a name is an identifier of the same name.
func FuzzParseID(f *testing.F) {
	for _, s := range []string{"ark:/99999/fk4-x", "doi:10.5072/a%b<", "uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "ark:/99999/a%2f.b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := ParseID(s)
		if !ok {
			return
		}
		if again, ok := ParseID(ID(n)); !ok && len(ID(n)) <= maxID || ok && again != n {
			t.Errorf("ParseID(%q) = %q with the identifier %q, which is the name %q, %v", s, n, ID(n), again, ok)
		}
	})
}
