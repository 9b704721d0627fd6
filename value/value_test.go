package value

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

var names = cmp.Comparer(func(a, b name.Name) bool { return a == b })

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, names); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

const locations = `<locations chooseby="locatt,country,weighted" http_sc="303">
  <location id="0" href="https://uk.example.org/?a=1&amp;b=2" country="gb" weight="0"/>
  <location weight="3" href="https://a.example.org/" rel="item" media-type="text/html"></location>
  <location id='2' href="https://b.example.org/" http_role="conneg" ctype="application/json" language="de" weight="0.5"/>
</locations>`

// TestSet checks which locations the values of a Handle server become.
func TestSet(t *testing.T) {
	r := &store.Record{}
	Set(r, []nomen.Value{
		{Index: 100, Type: "HS_ADMIN", Data: `{"index":200}`, Format: "admin"},
		{Index: 5, Type: "URL", Data: "https://second.example/", TTL: "60", Permissions: "1110"},
		{Index: 9, Type: "10320/LOC", Data: locations, Timestamp: "2026-11-22T04:00:00Z"},
		{Index: 1, Type: "URL", Data: "https://first.example/"},
		{Index: 2, Type: "url", Data: "not a view"},
		{Index: 3, Type: "URL", Data: "AP8=", Format: "base64"},
		{Index: 4, Type: "10320/loc", Data: `<locations><location href_template="https://c.example/{hdl}"/></locations>`},
	})
	check(t, "locations", r.Locations, []nomen.Location{
		{URL: "https://uk.example.org/?a=1&b=2", Country: "GB", Priority: 2, Index: 9, Attributes: `id="0" weight="0"`},
		{URL: "https://a.example.org/", Weight: 3, Rel: "item", Type: "text/html", Index: 9},
		{URL: "https://b.example.org/", Lang: "de", Type: "application/json", Index: 9, Attributes: `ctype="" id="2" http_role="conneg" weight="0.5"`},
		{URL: "https://first.example/", Priority: 3, Index: 1},
		{URL: "https://second.example/", Priority: 4, Index: 5},
	})
	check(t, "values", r.Values, []nomen.Value{
		{Index: 1, Type: "URL"},
		{Index: 2, Type: "url", Data: "not a view"},
		{Index: 3, Type: "URL", Data: "AP8=", Format: "base64"},
		{Index: 4, Type: "10320/loc", Data: `<locations><location href_template="https://c.example/{hdl}"/></locations>`},
		{Index: 5, Type: "URL", TTL: "60", Permissions: "1110"},
		{Index: 9, Type: "10320/LOC", Data: `<locations chooseby="locatt,country,weighted" http_sc="303"/>`, Timestamp: "2026-11-22T04:00:00Z"},
		{Index: 100, Type: "HS_ADMIN", Data: `{"index":200}`, Format: "admin"},
	})
	got := Of(r)
	check(t, "all", got[5].Data, `<locations chooseby="locatt,country,weighted" http_sc="303">`+
		`<location href="https://uk.example.org/?a=1&#38;b=2" country="gb" id="0" weight="0"/>`+
		`<location href="https://a.example.org/" weight="3" rel="item" media-type="text/html"/>`+
		`<location href="https://b.example.org/" language="de" ctype="application/json" id="2" http_role="conneg" weight="0.5"/>`+
		`</locations>`)
	check(t, "URLs", []string{got[0].Data, got[4].Data}, []string{"https://first.example/", "https://second.example/"})
}

// TestOf checks the values of a record that nomen made, and that they keep their indexes.
func TestOf(t *testing.T) {
	r := &store.Record{
		Locations: []nomen.Location{
			{URL: "https://third.example/", Priority: 3, Note: "mirror"},
			{URL: "https://first.example/", Lang: "fi"},
			{URL: "https://second.example/", Index: 7}, // no value has this index
		},
		Values: []nomen.Value{{Index: 2, Type: "EMAIL", Data: "a@example.org"}, {Index: 4, Type: "URL", TTL: "60"}}, // no location has the index 4
	}
	before := r.Clone()
	want := []nomen.Value{
		{Index: 1, Type: "URL", Data: "https://first.example/"},
		{Index: 2, Type: "EMAIL", Data: "a@example.org"},
		{Index: 3, Type: "URL", Data: "https://second.example/"},
		{Index: 5, Type: "URL", Data: "https://third.example/"},
	}
	check(t, "values", Of(r), want)
	check(t, "record", r.Locations, before.Locations)
	changed := slices.Clone(want)
	changed[2].Data = "https://moved.example/"
	Set(r, changed)
	check(t, "locations", r.Locations, []nomen.Location{
		{URL: "https://third.example/", Priority: 3, Note: "mirror", Index: 5},
		{URL: "https://first.example/", Lang: "fi", Index: 1},
		{URL: "https://moved.example/", Index: 3},
	})
	r.Locations = r.Locations[1:] // an editor removes the third
	r.Locations = append(r.Locations, nomen.Location{URL: "https://new.example/"})
	changed[3] = nomen.Value{Index: 4, Type: "URL", Data: "https://new.example/"}
	check(t, "values after an edit", Of(r), changed)
}

// TestSetKeeps checks that a set of locations keeps the fields that only nomen has.
func TestSetKeeps(t *testing.T) {
	r := &store.Record{}
	Set(r, []nomen.Value{{Index: 1, Type: "10320/loc", Data: locations}})
	r.Locations[1].Note, r.Locations[1].Down, r.Locations[1].Priority = "mirror", true, 5
	Set(r, []nomen.Value{{Index: 1, Type: "10320/loc", Data: `<locations><location href="https://new.example/"/><location href="https://a.example.org/" weight="4"/></locations>`}})
	check(t, "locations", r.Locations, []nomen.Location{
		{URL: "https://new.example/", Index: 1},
		{URL: "https://a.example.org/", Weight: 4, Note: "mirror", Down: true, Priority: 5, Index: 1},
	})
	Set(r, nil)
	check(t, "an empty record", r, &store.Record{})
}

// TestVerbatim checks that values that locations cannot represent stay as they are.
func TestVerbatim(t *testing.T) {
	for _, data := range []string{
		"", "text", "<locations>", "<locations/>x", "<locations/><locations/>", "<location href='u:1'/>",
		"<locations><location href='u:1'/>text</locations>", "<locations><!-- c --><location href='u:1'/></locations>",
		"<locations><location href='u:1'>x</location></locations>", "<locations><location href='u:1'><a/></location></locations>",
		"<locations><location/></locations>", "<locations><location href=''/></locations>", "<locations><include handle='1/2'/></locations>",
		"<locations><location href='u:1' href='u:2'/></locations>", "<locations><location href='u:1' ctype=''/></locations>",
		"<x:locations xmlns:x='u:x'><x:location href='u:1'/></x:locations>", "<locations xmlns='u:x'><location href='u:1'/></locations>",
		"<!DOCTYPE locations><locations><location href='u:1'/></locations>", "<locations><location href='&other;'/></locations>",
		"<locations><location href='u:1'></locations></location>", "<?php x?><locations><location href='u:1'/></locations>",
		"<?xml version='1.0' encoding='latin1'?><locations><location href='u:1'/></locations>",
		"<locations>" + strings.Repeat("<location href='u:1'/>", store.MaxLocations+1) + "</locations>",
	} {
		want := []nomen.Value{{Index: 1, Type: "10320/loc", Data: data}}
		r := &store.Record{}
		Set(r, want)
		if len(r.Locations) > 0 || !slices.Equal(r.Values, want) || !slices.Equal(Of(r), want) {
			t.Errorf("%.80q became %+v, %+v", data, r, Of(r))
		}
	}
}

// TestAttributesOfPeople checks that what people write into Attributes cannot break the XML.
func TestAttributesOfPeople(t *testing.T) {
	for _, attributes := range []string{`id="0`, `id=0`, `/><location href="u:2"`, `><location href="u:2"/`, `x:id="0"`, `a="1" a="2"`, `></locations><!--`} {
		r := &store.Record{
			Locations: []nomen.Location{{URL: "u:1", Index: 1, Attributes: attributes}},
			Values:    []nomen.Value{{Index: 1, Type: "10320/loc", Data: "<locations/>"}},
		}
		if got := Of(r)[0].Data; got != `<locations><location href="u:1"/></locations>` {
			t.Errorf("%s: got %s", attributes, got)
		}
	}
}

func anyValue(t *rapid.T) nomen.Value {
	v := nomen.Value{
		Type:        rapid.SampledFrom([]string{"URL", "10320/loc", "10320/LOC", "HS_ADMIN"}).Draw(t, "type"),
		TTL:         rapid.SampledFrom([]nomen.TTL{"", "60"}).Draw(t, "ttl"),
		Permissions: rapid.SampledFrom([]string{"", "1100"}).Draw(t, "permissions"),
	}
	url := rapid.SampledFrom([]string{"u:1", "u:2", `u:"<&>'`})
	if v.Data = url.Draw(t, "url"); !strings.HasPrefix(v.Type, "10320") {
		return v
	}
	var set locationSet
	for range rapid.IntRange(0, 3).Draw(t, "locations") {
		attributes := []attribute{{"href", url.Draw(t, "href")}}
		for _, key := range []string{"country", "weight", "rel", "language", "media-type", "ctype", "id"} {
			if rapid.Bool().Draw(t, key) {
				attributes = append(attributes, attribute{key, rapid.SampledFrom([]string{"gb", "0", "7", "0.5", "70000", "item", "text/html", "a b", "\n\t\u2028ä"}).Draw(t, "value of "+key)})
			}
		}
		set.locations = append(set.locations, attributes)
	}
	v.Data = set.text()
	return v
}

// meaning returns values with the attributes of locations in a fixed order.
func meaning(t *rapid.T, values []nomen.Value) []nomen.Value {
	values = slices.Clone(values)
	for i := range values {
		if !isSet(&values[i]) {
			continue
		}
		set, ok := parseSet(values[i].Data)
		if !ok {
			t.Fatalf("not a set: %s", values[i].Data)
		}
		for _, l := range set.locations {
			slices.SortFunc(l, func(a, b attribute) int { return strings.Compare(a.name, b.name) })
		}
		values[i].Data = set.text()
	}
	return values
}

// TestRoundTrip checks that Of returns what Set was given, whatever the record had before, and that
// nothing changes when the values are set again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &store.Record{}
		for range rapid.IntRange(0, 3).Draw(t, "before") {
			r.Locations = append(r.Locations, nomen.Location{
				URL: rapid.SampledFrom([]string{"u:1", "u:2"}).Draw(t, "there"), Priority: rapid.IntRange(0, 3).Draw(t, "priority"),
				Note: "n", Index: rapid.IntRange(0, 3).Draw(t, "index of a location"),
			})
		}
		for range 2 {
			var given []nomen.Value
			for i := range rapid.IntRange(0, 4).Draw(t, "values") {
				v := anyValue(t)
				v.Index = 2*i + rapid.IntRange(1, 2).Draw(t, "index")
				given = append(given, v)
			}
			Set(r, given)
			got := Of(r)
			if diff := cmp.Diff(meaning(t, given), meaning(t, got)); diff != "" {
				t.Fatalf("(-given +got)\n%s", diff)
			}
			again := r.Clone()
			Set(again, got)
			if diff := cmp.Diff(r.Clone(), again.Clone(), names); diff != "" {
				t.Fatalf("set again (-before +after)\n%s", diff)
			}
		}
	})
}

// FuzzSet checks that any data of 10320/loc are read back with the same meaning, and that the result
// is stable.
func FuzzSet(f *testing.F) {
	f.Add(locations)
	f.Add(`<?xml version="1.0"?><locations><location href="u:1" ctype="a/b" media-type="c/d"/></locations>`)
	f.Fuzz(func(t *testing.T, data string) {
		r := &store.Record{}
		Set(r, []nomen.Value{{Index: 1, Type: "10320/loc", Data: data}})
		got := Of(r)
		if len(r.Locations) == 0 {
			if len(got) != 1 || got[0].Data != data {
				if set, ok := parseSet(data); !ok || set.text() != got[0].Data {
					t.Fatalf("%q became %+v", data, got)
				}
			}
			return
		}
		was, _ := parseSet(data)
		is, ok := parseSet(got[0].Data)
		if !ok || len(was.locations) != len(is.locations) || len(was.locations) != len(r.Locations) || !slices.Equal(was.attributes, is.attributes) {
			t.Fatalf("%q became %q", data, got[0].Data)
		}
		for i, l := range was.locations {
			for _, a := range l {
				same := func(b attribute) bool { return b.name == a.name && strings.EqualFold(b.value, a.value) }
				if len(l) != len(is.locations[i]) || !slices.ContainsFunc(is.locations[i], same) {
					t.Fatalf("%q became %q: %+v", data, got[0].Data, a)
				}
			}
		}
		Set(r, got)
		if again := Of(r); !slices.Equal(again, got) {
			t.Fatalf("%+v became %+v", got, again)
		}
	})
}
