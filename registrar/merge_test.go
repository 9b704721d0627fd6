package registrar

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func TestMerge(t *testing.T) {
	there := &store.Record{
		Spelling: "urn:DNS:example.org:alb002", Status: nomen.Reserved,
		Locations: []nomen.Location{
			{URL: "https://a.example/", Type: "text/html", Lang: "en", Priority: 1},
			{URL: "https://a.example/", Type: "text/plain", Component: "toc"},
			{URL: "https://b.example/", Note: "mirror"},
		},
		Metadata: nomen.Metadata{"title": {"T"}, "creator": {"C"}},
		SameAs:   []string{"ark:12345/x"}, Successors: []string{"urn:dns:example.org:s"},
		Values: []nomen.Value{{Index: 2, Type: "K", Data: "k"}, {Index: 5, Type: "L", Data: "l"}},
	}
	for _, c := range []struct {
		what   string
		fields Fields
		add    bool
		given  store.Record
		want   func(*store.Record) // what the request changes in the existing record
	}{
		{"a name alone", FieldName, false, store.Record{}, func(*store.Record) {}},
		{"all", 0, false, store.Record{Locations: places("https://c.example/")}, func(r *store.Record) {
			*r = store.Record{Spelling: alb, Status: nomen.Reserved, Locations: places("https://c.example/")}
		}},
		{"only what is meant", FieldStatus, false, store.Record{Status: nomen.Active, Locations: places("https://c.example/")}, func(r *store.Record) {
			r.Status = nomen.Active
		}},
		{"empty lists", FieldLocations | FieldMetadata | FieldSameAs | FieldSuccessors, false, store.Record{}, func(r *store.Record) {
			r.Locations, r.Metadata, r.SameAs, r.Successors = nil, nil, nil, nil
		}},
		{"empty lists added", FieldLocations | FieldMetadata | FieldSameAs | FieldSuccessors, true, store.Record{}, func(*store.Record) {}},
		{"values added", FieldSameAs | FieldSuccessors, true, store.Record{
			SameAs: []string{"ark:12345/y", "ark:12345/x", "ark:12345/y"}, Successors: []string{"urn:dns:example.org:t"},
		}, func(r *store.Record) {
			r.SameAs = []string{"ark:12345/x", "ark:12345/y"}
			r.Successors = []string{"urn:dns:example.org:s", "urn:dns:example.org:t"}
		}},
		{"element replaced", FieldMetadata, true, store.Record{Metadata: nomen.Metadata{"title": {"U", "V"}, "date": {"1999"}}}, func(r *store.Record) {
			r.Metadata = nomen.Metadata{"title": {"U", "V"}, "creator": {"C"}, "date": {"1999"}}
		}},
		{"typed values", FieldValues, false, store.Record{Values: []nomen.Value{{Index: 7, Type: "B"}, {Index: 3, Type: "A"}}}, func(r *store.Record) {
			r.Values = []nomen.Value{{Index: 3, Type: "A"}, {Index: 7, Type: "B"}}
		}},
		{"no typed values", FieldValues, false, store.Record{}, func(r *store.Record) { r.Values = nil }},
		{"typed values added", FieldValues, true, store.Record{Values: []nomen.Value{{Index: 5, Type: "M"}, {Index: 1, Type: "A"}}}, func(r *store.Record) {
			r.Values = []nomen.Value{{Index: 1, Type: "A"}, {Index: 2, Type: "K", Data: "k"}, {Index: 5, Type: "M"}}
		}},
		{"view completed", FieldLocations, true, store.Record{Locations: []nomen.Location{{URL: "https://b.example/", Index: 5, Attributes: `id="0"`}}}, func(r *store.Record) {
			r.Locations[2].Index, r.Locations[2].Attributes = 5, `id="0"`
		}},
		{"location added", FieldLocations, true, store.Record{Locations: []nomen.Location{{URL: "https://c.example/", Country: "de", Charset: "us-ascii"}}}, func(r *store.Record) {
			r.Locations = append(r.Locations, nomen.Location{URL: "https://c.example/", Country: "DE", Charset: "US-ASCII"})
		}},
		{"location known", FieldLocations, true, store.Record{Locations: places("https://a.example/", "https://b.example/", "https://a.example/")}, func(*store.Record) {}},
		{"location completed", FieldLocations, true, store.Record{Locations: []nomen.Location{{URL: "https://b.example/", Lang: "de", Weight: 3}}}, func(r *store.Record) {
			r.Locations[2].Lang, r.Locations[2].Weight = "de", 3
		}},
		{"location corrected", FieldLocations, true, store.Record{Locations: []nomen.Location{{URL: "https://a.example/", Type: "text/plain"}}}, func(r *store.Record) {
			r.Locations[0].Type = "text/plain"
		}},
		{"two of one URL", FieldLocations, true, store.Record{Locations: []nomen.Location{
			{URL: "https://b.example/", Lang: "de"}, {URL: "https://b.example/", Lang: "fr"},
		}}, func(r *store.Record) {
			r.Locations[2].Lang = "de"
			r.Locations = append(r.Locations, nomen.Location{URL: "https://b.example/", Lang: "fr"})
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			d := newDesk(t)
			d.good(d.put(there))
			c.given.Spelling = alb
			req := Request{Record: &c.given, Fields: c.fields, Add: c.add, Expected: store.AnyRevision}
			got := d.good(d.ask(Operator(), req))
			want := there.Clone()
			c.want(want)
			want.Name, want.Modified, want.Revision = name.MustParse(alb), got.Record.Modified, got.Result.Revision
			if diff := cmp.Diff(want, got.Record, cmp.Comparer(func(a, b name.Name) bool { return a == b })); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if again := d.good(d.ask(Operator(), req)); again.Result.Changed {
				t.Errorf("asked again it changes to %+v", again.Record)
			}
		})
	}
}

func TestCompletedInterval(t *testing.T) {
	d := newDesk(t)
	d.good(d.put(&store.Record{Spelling: alb, Locations: []nomen.Location{{URL: "https://a.example/", ValidFrom: "2026-01-01T00:00:00Z"}}}))
	given := &store.Record{Spelling: alb, Locations: []nomen.Location{{URL: "https://a.example/", ValidUntil: "2025-01-01T00:00:00Z"}}}
	out := d.ask(Operator(), Request{Record: given, Fields: FieldLocations, Add: true, Expected: store.AnyRevision})
	if field, _, _ := refusal(out.Err); field != "locations[0].valid_until" {
		t.Errorf("until before from: %v", out.Err)
	}
}
