package registrar

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

func TestGoodValues(t *testing.T) {
	d := newDesk(t)
	given := []nomen.Value{
		{Index: 1, Type: "0.TYPE/EMAIL", Data: "Zwölf\r\n\x00", TTL: "0", Permissions: "0000", Timestamp: "2026-11-22T13:00:00.123+01:00"},
		{Index: 2, Type: "B", Data: "AP8=", Format: "base64", TTL: "2147483647"},
		{Index: 3, Type: "C", Format: "base64", TTL: "2026-11-22T13:00:00Z"},
		{Index: 100, Type: "HS_ADMIN", Data: ` {"index": 200}`, Format: "admin"},
		{Index: 1<<31 - 1, Type: "D", References: `[{"handle":"20.500/ä","index":0}, {"index":2147483647, "handle":"1/2"}]`},
	}
	got := d.good(d.put(&store.Record{Spelling: alb, Values: given}))
	if !slices.Equal(got.Record.Values, given) {
		t.Errorf("kept %+v, want %+v", got.Record.Values, given)
	}
}

func TestBadValues(t *testing.T) {
	ok := nomen.Value{Index: 1, Type: "K"}
	bad := func(change func(*nomen.Value)) []nomen.Value {
		v := ok
		change(&v)
		return []nomen.Value{v}
	}
	for _, c := range []struct {
		field  string
		values []nomen.Value
		part   string // of the message
	}{
		{"values[0].index", bad(func(v *nomen.Value) { v.Index = 0 }), "0 must be between 1 and 2147483647"},
		{"values[0].index", bad(func(v *nomen.Value) { v.Index = -1 }), "-1"},
		{"values[0].index", bad(func(v *nomen.Value) { v.Index = 1 << 31 }), "2147483648"},
		{"values[2].index", []nomen.Value{ok, {Index: 2, Type: "L"}, ok}, "also the index of values[0]"},
		{"values[0].type", bad(func(v *nomen.Value) { v.Type = "" }), "empty"},
		{"values[0].type", bad(func(v *nomen.Value) { v.Type = "a\nb" }), "U+000A"},
		{"values[0].data", bad(func(v *nomen.Value) { v.Data = "\xff" }), "base64"},
		{"values[0].data", bad(func(v *nomen.Value) { v.Format, v.Data = "base64", "AP8" }), "padding"},
		{"values[0].data", bad(func(v *nomen.Value) { v.Format, v.Data = "base64", "AP9=" }), "base64"},
		{"values[0].data", bad(func(v *nomen.Value) { v.Format, v.Data = "base64", "AP8=\n" }), "line breaks"},
		{"values[0].data", bad(func(v *nomen.Value) { v.Format, v.Data = "admin", "{" }), "JSON"},
		{"values[0].format", bad(func(v *nomen.Value) { v.Format, v.Data = "Admin", "{}" }), "lower-case"},
		{"values[0].format", bad(func(v *nomen.Value) { v.Format, v.Data = strings.Repeat("a", 33), "{}" }), "32"},
		{"values[0].ttl", bad(func(v *nomen.Value) { v.TTL = "-1" }), "seconds"},
		{"values[0].ttl", bad(func(v *nomen.Value) { v.TTL = "01" }), "seconds"},
		{"values[0].ttl", bad(func(v *nomen.Value) { v.TTL = "+1" }), "seconds"},
		{"values[0].ttl", bad(func(v *nomen.Value) { v.TTL = "2147483648" }), "seconds"},
		{"values[0].ttl", bad(func(v *nomen.Value) { v.TTL = "tomorrow" }), "seconds"},
		{"values[0].permissions", bad(func(v *nomen.Value) { v.Permissions = "110" }), "four digits"},
		{"values[0].references", bad(func(v *nomen.Value) { v.References = "[]" }), "JSON list"},
		{"values[0].references", bad(func(v *nomen.Value) { v.References = `[{"handle":"1/2"}]` }), "JSON list"},
		{"values[0].references", bad(func(v *nomen.Value) { v.References = `[{"handle":"1/2","index":-1}]` }), "JSON list"},
		{"values[0].references", bad(func(v *nomen.Value) { v.References = `[{"handle":"","index":1}]` }), "JSON list"},
		{"values[0].references", bad(func(v *nomen.Value) { v.References = `[{"handle":"1/2","index":1,"x":1}]` }), "JSON list"},
		{"values[0].references", bad(func(v *nomen.Value) { v.References = `[{"handle":"1/2","index":1}] x` }), "JSON list"},
		{"values[0].references", bad(func(v *nomen.Value) { v.References = "[{\"handle\":\"\xff\",\"index\":1}]" }), "JSON list"},
		{"values[0].permissions", bad(func(v *nomen.Value) { v.Permissions = "1112" }), "four digits"},
		{"values[0].timestamp", bad(func(v *nomen.Value) { v.Timestamp = "2026-11-22" }), "RFC 3339"},
	} {
		checkRefused(t, &store.Record{Spelling: alb, Values: c.values}, c.field, c.part)
	}
	for field, l := range map[string]nomen.Location{
		"locations[0].index":      {URL: "https://a.example/", Index: -1},
		"locations[0].attributes": {URL: "https://a.example/", Attributes: "a\nb"},
	} {
		checkRefused(t, &store.Record{Spelling: alb, Locations: []nomen.Location{l}}, field, "")
	}
}

func checkRefused(t *testing.T, rec *store.Record, field, part string) {
	t.Helper()
	var e *RefusalError
	if err := newDesk(t).put(rec).Err; !errors.As(err, &e) || e.Field != field || !strings.Contains(e.Message, part) {
		t.Errorf("%+v: %v, want a refusal of %s with %q", rec, err, field, part)
	}
}

// TestRulesHaveNoViews checks that a location of a rule cannot be a view of a value.
func TestRulesHaveNoViews(t *testing.T) {
	for field, l := range map[string]nomen.Location{
		"rules[0].locations[0].index":      {URL: "https://a.example/{n}", Index: 1},
		"rules[0].locations[0].attributes": {URL: "https://a.example/{n}", Attributes: `id="0"`},
	} {
		a := &store.Authority{Policy: store.Policy{Rules: rule.Set{{
			Match: "{n:d}", Locations: []nomen.Location{l}, Tests: []rule.Test{{From: "urn:x-a:7", To: []string{"https://a.example/7"}}},
		}}}}
		var e *RefusalError
		if err := checkRules("urn:x-a", a); !errors.As(err, &e) || e.Field != field {
			t.Errorf("%+v: %v, want a refusal of %s", l, err, field)
		}
	}
}
