package registrar

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

func TestDates(t *testing.T) {
	for _, s := range []string{
		"2024", "2024-12", "2024-12-31", "2024-12-31T10:00:00Z", "2024-12-31 10:00", "1999/2001", "1999-01-01/1999-02-01", "20241231", "850",
		"c1999", "[1999]", "19th century", "ca. 1850", "", "1999-2001", "between 1.2.3 and 4",
	} {
		if got := doubtDate(s); got != "" {
			t.Errorf("doubtDate(%q) = %q", s, got)
		}
	}
	for s, want := range map[string]string{
		"31.12.2024": "ambiguous date", "12/31/24": "ambiguous date", "1-2-2024": "ambiguous date", "31.12.2024 00:00": "ambiguous date",
		"45291": "2023-12-31", "2024-13-01": "no such day", "2024-02-30": "no such day", "20241331": "not a date", "4529112": "not a date",
		"99999999999999999999999": "not a date",
	} {
		if got := doubtDate(s); !strings.Contains(got, want) {
			t.Errorf("doubtDate(%q) = %q, want %q", s, got, want)
		}
	}
}

// Whatever 'nomen check' reports as an error causes a warning, and is rejected if Strict is
// set; existing names can be changed nevertheless.
func TestDoubts(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct{ name, code, message string }{
		{"urn:isbn:9780306406158", WarnDoubtful, "did you mean urn:isbn:9780306406157"},
		{"urn:isbn:9.78951E+12", WarnDoubtful, "offset"},
		{"urn:oid:1.02.3", WarnDoubtful, "offset 10"},
		{"doi:https://doi.org/10.5072/A", WarnDoubtful, "did you mean doi:10.5072/A"},
		{"ark:12345/a:b", WarnDoubtful, "offset 11"},
		{"https://doi.org/10.5072/ABC", WarnResolver, "the name is doi:10.5072/ABC"},
		{"http://hdl.handle.net/10138/99", WarnResolver, "the name is hdl:10138/99"},
		{"https://n2t.net/ark:/12345/b9", WarnResolver, "the name is ark:/12345/b9"},
	} {
		d := newDesk(t)
		req := Request{Record: &store.Record{Spelling: tt.name}, Fields: FieldName, Add: true, Expected: store.AnyRevision, Strict: true}
		if _, err := d.Put(ctx, Operator(), req, ""); err == nil || !strings.Contains(err.Error(), `"`+tt.name+`": name: `+tt.code) || strings.Count(err.Error(), tt.name) != 1 {
			t.Errorf("%s, strict: %v", tt.name, err)
		}
		req.Strict = false
		for range 2 { // the second request changes the existing name, to which Strict does not apply
			out, err := d.Put(ctx, Operator(), req, "")
			if err != nil || !slices.ContainsFunc(out.Warnings, func(w Warning) bool { return w.Code == tt.code && strings.Contains(w.Message, tt.message) }) {
				t.Errorf("%s: %+v, %v", tt.name, out.Warnings, err)
			}
			req.Strict = true
		}
		req = Request{Record: &store.Record{Spelling: "urn:example:x", SameAs: []string{tt.name}, Metadata: nomen.Metadata{"date": {"2024", "31.12.2024"}}}, Expected: store.AnyRevision}
		out, err := d.Put(ctx, Operator(), req, "")
		if err != nil || len(out.Warnings) != 3 || out.Warnings[0].Code != tt.code || !strings.HasPrefix(out.Warnings[0].Message, "same_as[0]: ") || out.Warnings[1].Code != WarnDate {
			t.Errorf("the same as %s: %+v, %v", tt.name, out.Warnings, err)
		}
	}
	d := newDesk(t)
	for name, hint := range map[string]string{"10.5072/ABD": "did you mean doi:10.5072/ABD", "9.78951E+12": ""} {
		_, err := d.Put(ctx, Operator(), Request{Record: &store.Record{Spelling: name}, Expected: store.AnyRevision}, "")
		if err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
