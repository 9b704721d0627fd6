package bulk

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// text draws a text that the registrar accepts.
func text(lines bool) *rapid.Generator[string] {
	parts := []string{`"`, `""`, `'`, ",", ";", "|", `\`, `\\`, `\|`, `\t`, "\t", " ", "a", "Z", "é", "漢", "😀", "\u2028", "<b>", "&", "null", "0", "=1+1", "\uFEFF"}
	if lines {
		parts = append(parts, "\n", "\n\n")
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 6).Draw(t, "parts"), "")
	})
}

func optional(g *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), g)
}

func values(g *rapid.Generator[string]) *rapid.Generator[[]string] { return rapid.SliceOfN(g, 0, 3) }

// someLocation draws a location that the registrar accepts.
func someLocation() *rapid.Generator[nomen.Location] {
	return rapid.Custom(func(t *rapid.T) nomen.Location {
		return nomen.Location{
			URL:       rapid.SampledFrom([]string{"https://a.example/", "https://b.example/?q=1,2;(3)", "ftp://c.example/%22", "mailto:x@example.org", "urn:example:'x'"}).Draw(t, "url"),
			Type:      optional(rapid.SampledFrom([]string{"text/html", `text/plain; charset="utf-8"`})).Draw(t, "type"),
			Lang:      optional(rapid.SampledFrom([]string{"en", "de-CH"})).Draw(t, "lang"),
			Rel:       optional(rapid.SampledFrom([]string{"item", "archive"})).Draw(t, "rel"),
			Priority:  rapid.IntRange(0, 3).Draw(t, "priority"),
			Weight:    rapid.IntRange(0, 65535).Draw(t, "weight"),
			Country:   optional(rapid.SampledFrom([]string{"de", "FI"})).Draw(t, "country"),
			Component: optional(text(false)).Draw(t, "component"),
			Charset:   optional(rapid.SampledFrom([]string{"us-ascii", "ISO-8859-1"})).Draw(t, "charset"),
			Note:      optional(text(true)).Draw(t, "note"),
			Down:      rapid.Bool().Draw(t, "down"),
			ValidFrom: optional(rapid.Just("2026-01-01T00:00:00Z")).Draw(t, "from"),

			Index:      rapid.IntRange(0, 4).Draw(t, "index"),
			Attributes: optional(text(false)).Draw(t, "attributes"),
		}
	})
}

// someValue draws a typed value that the registrar accepts.
func someValue() *rapid.Generator[nomen.Value] {
	return rapid.Custom(func(t *rapid.T) nomen.Value {
		v := nomen.Value{
			Type: text(false).Draw(t, "type"), Data: rapid.String().Draw(t, "data"),
			TTL:         rapid.SampledFrom([]nomen.TTL{"", "0", "86400", "2147483647", "2027-01-01T00:00:00Z"}).Draw(t, "ttl"),
			Permissions: optional(rapid.SampledFrom([]string{"1110", "1100"})).Draw(t, "permissions"),
			Timestamp:   optional(rapid.Just("2026-11-22T13:00:00Z")).Draw(t, "timestamp"),
			References:  optional(rapid.Just(`[{"handle":"1/2","index":3}]`)).Draw(t, "references"),
		}
		switch rapid.IntRange(0, 3).Draw(t, "format") {
		case 0:
			v.Format, v.Data = nomen.FormatBase64, base64.StdEncoding.EncodeToString([]byte(v.Data))
		case 1:
			b, err := json.Marshal([]string{v.Data})
			if err != nil {
				t.Fatal(err)
			}
			v.Format, v.Data = "vlist", string(b)
		}
		return v
	})
}

// record draws a record that the registrar accepts.
func record() *rapid.Generator[*store.Record] {
	return rapid.Custom(func(t *rapid.T) *store.Record {
		r := &store.Record{
			Spelling:   rapid.SampledFrom([]string{"urn:example:", "URN:EXAMPLE:", "ark:12345/x", "https://example.org/,"}).Draw(t, "prefix") + fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "element")),
			Status:     rapid.SampledFrom([]nomen.Status{nomen.Active, nomen.Reserved, nomen.Retired}).Draw(t, "status"),
			Locations:  rapid.SliceOfN(someLocation(), 0, 4).Draw(t, "locations"),
			SameAs:     values(rapid.SampledFrom([]string{"urn:isbn:1", "https://example.org/a,b", "a:b'c"})).Draw(t, "same_as"),
			Successors: values(rapid.SampledFrom([]string{"urn:example:s", "urn:example:t(1)"})).Draw(t, "successors"),
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "values") {
			v := someValue().Draw(t, "value")
			v.Index = 3*i + rapid.IntRange(1, 3).Draw(t, "value index")
			r.Values = append(r.Values, v)
		}
		if r.Status == nomen.Retired {
			r.Reason = optional(text(true)).Draw(t, "reason")
		}
		for _, e := range elements() {
			if rapid.IntRange(0, 5).Draw(t, e) == 0 {
				if r.Metadata == nil {
					r.Metadata = nomen.Metadata{}
				}
				r.Metadata[e] = values(text(true)).Draw(t, e)
			}
		}
		return r
	})
}

// TestEveryFormatHoldsEverything checks that an export can be imported into an empty store, that an
// export from that store has the same bytes, and that importing it again changes nothing, for any
// Conflict.
func TestEveryFormatHoldsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var reqs []registrar.Request
		for _, r := range rapid.SliceOfN(record(), 0, 5).Draw(t, "records") {
			reqs = append(reqs, registrar.Request{Record: r, Expected: store.AnyRevision})
		}
		s := memstore.New()
		outs, err := registrar.New(s, registrar.Options{}).Apply(context.Background(), registrar.Operator(), reqs, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, out := range outs {
			if out.Err != nil && !strings.Contains(out.Err.Error(), "reserved again") && !strings.Contains(out.Err.Error(), "reactivate it") {
				t.Fatal(out.Err)
			}
		}
		for _, x := range []ExportOptions{{Format: JSONLines}, {Format: CSV}, {Format: TSV}, {Format: CSV, Spreadsheet: true}, {Format: TSV, Spreadsheet: true}} {
			f := x.Format
			first, sum, refused := exported(t, s, x)
			if len(refused) > 0 || sum.LeftOut > 0 {
				t.Fatalf("%s: %+v, %v", f, sum, refused)
			}
			other := memstore.New()
			for i, o := range []ImportOptions{{}, {}, {OnConflict: Replace}, {OnConflict: Fail}, {OnConflict: Keep}, {DryRun: true}} {
				o.Format, o.Sheet.Spreadsheet = f, x.Spreadsheet
				o.Refused = func(r Refusal) { t.Fatalf("%s: %v\n%s", f, r, first) }
				got, err := Import(context.Background(), registrar.New(other, registrar.Options{}), registrar.Operator(), strings.NewReader(first), o)
				got.Import = ""                // it is random
				got.Seconds, got.Warned = 0, 0 // a retired record without a reason goes in with a warning
				want := Summary{Read: sum.Read, Unchanged: sum.Read}
				if i == 0 {
					want = Summary{Read: sum.Read, Created: sum.Read}
				}
				if err != nil || got != want {
					t.Fatalf("%s, import %d: %+v, %v; want %+v\n%s", f, i, got, err, want, first)
				}
			}
			if again, _, _ := exported(t, other, x); again != first {
				t.Fatalf("%s:\n got %s\nwant %s", f, again, first)
			}
			if f == JSONLines {
				continue
			}
			want, _, _ := exported(t, s, ExportOptions{})
			if got, _, _ := exported(t, other, ExportOptions{}); got != want {
				t.Fatalf("%s lost something:\n got %s\nwant %s", f, got, want)
			}
		}
	})
}

// TestWhatCannotBeHeld checks that a record that a format cannot represent is reported, and that
// all other records are written. The registrar accepts no such record.
func TestWhatCannotBeHeld(t *testing.T) {
	s := put(t, []*store.Record{
		{Name: name.FromKey("urn:example:1"), Metadata: nomen.Metadata{"colour": {"red"}}},
		{Name: name.FromKey("urn:example:2"), SameAs: []string{"a:b", ""}},
		{Name: name.FromKey("urn:example:3"), Locations: []nomen.Location{{URL: "a:b"}, {Note: "where?"}}},
		{Name: name.FromKey("urn:example:4"), Reason: "caf\xe9", Status: nomen.Retired},
		{Name: name.FromKey("urn:example:5")},
	})
	for _, c := range []struct {
		format Format
		want   string
	}{
		{JSONLines, "urn:example:4  is not UTF-8;"},
		{CSV, "urn:example:1 metadata.colour there is no column for it;urn:example:2 same_as[1] is empty;urn:example:3 locations[1].url is empty;urn:example:4  is not UTF-8;"},
		{TSV, "urn:example:1 metadata.colour there is no column for it;urn:example:2 same_as[1] is empty;urn:example:3 locations[1].url is empty;urn:example:4  is not UTF-8;"},
	} {
		text, sum, refused := exported(t, s, ExportOptions{Format: c.format})
		got := ""
		for _, r := range refused {
			got += r.Name + " " + r.Field + " " + r.Reason + ";"
		}
		if got != c.want || int(sum.Refused) != len(refused) || !strings.Contains(text, "urn:example:5") {
			t.Errorf("%s: refused %s, %+v\n%s", c.format, got, sum, text)
		}
	}
}

// TestJSONIsThatOfTheRecord checks that the encoder of this package writes the same bytes as
// encoding/json.
func TestJSONIsThatOfTheRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := record().Draw(t, "record")
		r.Reason = rapid.String().Draw(t, "reason")
		r.Revision = rapid.Uint64Range(1, math.MaxInt64).Draw(t, "revision")
		r.Modified = r.Modified.AddDate(2025, 1, 1)
		got, err := jsonEncoder{revisions: true}.record(nil, r.Clone())
		if err != nil {
			t.Fatal(err)
		}
		want, err := r.Clone().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want)+"\n" {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
		var v map[string]any
		if err := json.Unmarshal(bytes.TrimSpace(got), &v); err != nil {
			t.Fatal(err)
		}
	})
}
