package format

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// The members of a record come first, in order, and lists are never null.
func TestJSONFields(t *testing.T) {
	for _, tt := range []struct {
		answer *nomen.Answer
		want   string
	}{
		{&nomen.Answer{}, "name locations metadata same_as successors reason revision"},
		{rich(), "name status locations metadata same_as successors reason modified revision key service max_age why"},
		{shapes()["not same"], "name locations metadata same_as successors reason revision service same"},
		{shapes()["resource"], "name locations metadata same_as successors reason revision service resource"},
	} {
		body := written(t, WriteJSON, tt.answer)
		if strings.Count(body, "\n") != 1 || strings.Contains(body, "null") {
			t.Errorf("not one line, or null: %s", body)
		}
		if got := strings.Join(members(t, body), " "); got != tt.want {
			t.Errorf("got %s\nwant %s", got, tt.want)
		}
	}
	if body := written(t, WriteJSON, rich()); !strings.Contains(body, "<b>gras</b>") {
		t.Error("escapes that only HTML needs")
	}
}

// members returns the names of the members of an object in order.
func members(t *testing.T, body string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names = append(names, key.(string))
	}
	return names
}

func TestReadJSON(t *testing.T) {
	for _, tt := range []struct {
		body string
		want nomen.Answer
	}{
		{`{}`, nomen.Answer{Service: nomen.I2C}},
		{`null`, nomen.Answer{Service: nomen.I2C}},
		{` {"service":"I2L", "unknown": [{"a":1}], "locations":null, "metadata":{"title":[]}} `, nomen.Answer{Service: nomen.I2L}},
		{`{"name":"URN:ietf:RFC:1","max_age":0.5}`, nomen.Answer{Service: nomen.I2C, Name: name.MustParse("urn:ietf:RFC:1"), Spelling: "URN:ietf:RFC:1", MaxAge: time.Second / 2}},
		{`{"name":"urn:dns:a.example:X","key":"urn:dns:a.example:x"}`, nomen.Answer{Service: nomen.I2C, Name: name.MustParse("urn:dns:a.example:x"), Spelling: "urn:dns:a.example:X"}},
		{`{"modified":"2026-11-20T14:00:00+02:00"}`, nomen.Answer{Service: nomen.I2C, Modified: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}},
		{`{"locations":[{"url":"a:","later":1}]}`, nomen.Answer{Service: nomen.I2C, Locations: []nomen.Location{{URL: "a:"}}}},
	} {
		got, err := ReadJSON(strings.NewReader(tt.body), nomen.I2C)
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if d := cmp.Diff(*got, tt.want, compareNames); d != "" {
			t.Errorf("%s (got -, want +):\n%s", tt.body, d)
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for _, tt := range []struct {
		body, rule string
		offset     int
	}{
		{``, "JSON", 0},
		{`{"name":`, "JSON", 8},
		{`{} x`, "JSON", 4},
		{`{"name":"no name"}`, "name", 0},
		{`{"name":"urn:a:b","key":"%"}`, "name", 0},
		{`{"successors":["x"]}`, "successors", 0},
		{`{"revision":-1}`, "revision", 14},
		{`{"revision":"1"}`, "revision", 15},
		{`{"name":1}`, "name", 9},
		{`{"locations":{}}`, "JSON", 0},
		{`{"locations":[1]}`, "", 0},
		{`{"locations":[` + strings.Repeat("{},", maxItems) + `{}]}`, "JSON", 0},
		{`{"modified":"yesterday"}`, "JSON", 0},
		{`{"max_age":-1}`, "JSON", 0},
		{`{"max_age":"1"}`, "JSON", 0},
		{`{"max_age":1e3}`, "JSON", 0},
		{`{"max_age":0.0000000001}`, "JSON", 0},
		{`{"max_age":9223372036.854775808}`, "JSON", 0},
		{strings.Repeat("[", 20_000), "JSON", 0},
	} {
		_, err := ReadJSON(strings.NewReader(tt.body), nomen.I2C)
		var e *Error
		if !errors.As(err, &e) || tt.rule != "" && e.Rule != tt.rule || tt.offset != 0 && e.Offset != tt.offset {
			t.Errorf("ReadJSON(%.60s) = %#v, want rule %s, offset %d", tt.body, err, tt.rule, tt.offset)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", -time.Second: "0", time.Hour: "3600", 1: "0.000000001", 1500 * time.Millisecond: "1.5", math.MaxInt64: "9223372036.854775807",
	} {
		if got := seconds(d).String(); got != want {
			t.Errorf("%d ns: got %s, want %s", d, got, want)
		}
		if got, err := parseSeconds(want); err != nil || time.Duration(got) != max(d, 0) {
			t.Errorf("%s: got %d, %v, want %d", want, got, err, d)
		}
	}
}

// JSON loses nothing of an answer.
func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := answers().Draw(t, "answer")
		got, err := ReadJSON(strings.NewReader(writtenRapid(t, WriteJSON, want)), "")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, want, compareNames); d != "" {
			t.Fatalf("got -, want +:\n%s", d)
		}
	})
}

// answers generates answers in canonical form with arbitrary text.
func answers() *rapid.Generator[*nomen.Answer] {
	names := rapid.SampledFrom([]name.Name{
		name.MustParse("urn:ietf:rfc:2648"), name.MustParse("urn:dns:example.org:a%2Fb"), name.MustParse("ark:12345/x"), name.MustParse("https://purl.example/x?y"),
	})
	return rapid.Custom(func(t *rapid.T) *nomen.Answer {
		a := &nomen.Answer{
			Service:    rapid.SampledFrom([]nomen.Service{nomen.I2L, nomen.I2Ls, nomen.I2C, nomen.I2Cs, nomen.I2N, nomen.I2Ns, nomen.IisI}).Draw(t, "service"),
			Name:       names.Draw(t, "name"),
			Status:     rapid.SampledFrom([]nomen.Status{nomen.Active, nomen.Retired, nomen.Reserved, ""}).Draw(t, "status"),
			Locations:  orNil(rapid.SliceOfN(locationsOf(), 0, 4).Draw(t, "locations")),
			Names:      orNil(rapid.SliceOfN(texts(), 0, 3).Draw(t, "names")),
			Same:       rapid.Bool().Draw(t, "same"),
			Reason:     texts().Draw(t, "reason"),
			Successors: orNil(rapid.SliceOfN(names, 0, 3).Draw(t, "successors")),
			Redirect:   texts().Draw(t, "redirect"),
			MaxAge:     time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "max age")),
			Modified:   time.UnixMilli(rapid.Int64Range(1, 4e12).Draw(t, "modified")).UTC(),
			Revision:   rapid.Uint64().Draw(t, "revision"),
			Why:        orNil(rapid.SliceOfN(texts(), 0, 2).Draw(t, "why")),
			StaleSince: rapid.SampledFrom([]time.Time{{}, time.UnixMilli(1_800_000_000_123).UTC()}).Draw(t, "stale since"),
		}
		for element, values := range rapid.MapOfN(texts(), rapid.SliceOfN(texts(), 1, 3), 0, 3).Draw(t, "metadata") {
			if a.Metadata == nil {
				a.Metadata = nomen.Metadata{}
			}
			a.Metadata[element] = values
		}
		return a
	})
}

func locationsOf() *rapid.Generator[nomen.Location] {
	urls := rapid.SampledFrom([]string{"https://example.org/", "a:", "gopher://g.example/0x", "https://example.org/" + strings.Repeat("=", 200), "urn:x-y:" + strings.Repeat("z", 9000)})
	langs := rapid.SampledFrom([]string{"", "fr", "en-GB", "x-klingon", "zh-Hant-TW"})
	return rapid.Custom(func(t *rapid.T) nomen.Location {
		return nomen.Location{
			URL: urls.Draw(t, "url"), Lang: langs.Draw(t, "lang"), Note: texts().Draw(t, "note"),
			Charset:  rapid.SampledFrom([]string{"", "US-ASCII", "ISO-8859-1", "ISO-8859-7", "UTF-8"}).Draw(t, "charset"),
			Type:     rapid.SampledFrom([]string{"", "text/plain", "text/html;level=1"}).Draw(t, "type"),
			Rel:      rapid.SampledFrom([]string{"", "archive", "describedby"}).Draw(t, "rel"),
			Priority: rapid.IntRange(0, 3).Draw(t, "priority"), Weight: rapid.IntRange(0, 3).Draw(t, "weight"),
			Country: "FI", Component: texts().Draw(t, "component"), ValidFrom: "2001-01-01T00:00:00Z",
		}
	})
}

// texts generates texts that are awkward in some format.
func texts() *rapid.Generator[string] {
	pieces := rapid.SampledFrom([]string{
		"a", "b c", " ", "  ", "\n", "\n\n", "\t", "=====", " =====", "\n=====", "name:", "\nname: urn:x-y:z", "name: -\n", "dc:", ":", "&", "&#x", "&#x41;", ";", "é", "Ж", "ł",
		"雪", "—", "\x1b", "\u0085", "\u202e", "\u2028", "\ufeff", "<script>", "\"", "'", "\\", "%", "https://example.org/", "<URL:", ">", "\U0001F600", "status: x", "#",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(pieces, 0, 6).Draw(t, "pieces"), "")
	})
}

func writtenRapid(t *rapid.T, write func(w io.Writer, a *nomen.Answer) error, a *nomen.Answer) string {
	var b strings.Builder
	if err := write(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Locations, notes, languages and the whole description come back from text/urc-0, and every
// note follows Y95-49.
func TestURCRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := answers().Draw(t, "answer")
		body := writtenRapid(t, WriteURC, want)
		got, err := readURC(strings.NewReader(body), want.Service)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Locations {
			got.Locations[i].Charset = ""
		}
		for i, l := range want.Locations {
			want.Locations[i] = nomen.Location{URL: l.URL, Lang: l.Lang, Note: l.Note}
		}
		want.Why = nil
		if got.Revision == 0 && got.Name.IsZero() { // without a description
			if want.Service != nomen.I2L && want.Service != nomen.I2Ls {
				t.Fatalf("no description: %q", body)
			}
			want = &nomen.Answer{Service: want.Service, Locations: want.Locations}
		}
		if d := cmp.Diff(got, want, compareNames); d != "" {
			t.Fatalf("%q (got -, want +):\n%s", body, d)
		}
		if n := strings.Count("\r\n"+body, "\r\n====="); n != max(1, len(want.Locations)) {
			t.Fatalf("%d headers for %d locations: %q", n, len(want.Locations), body)
		}
	})
}

// RFC 9264: what a linkset carries comes back, in both forms.
func TestLinksetRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := answers().Draw(t, "answer")
		want := linksetCarries("", whole)
		slices.SortStableFunc(want.Locations, func(a, b nomen.Location) int { return strings.Compare(a.Rel, b.Rel) })
		for _, f := range Formats() {
			if !strings.HasPrefix(f.Name, "linkset") {
				continue
			}
			got, err := f.Read(strings.NewReader(writtenRapid(t, f.Write, whole)), whole.Service)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortStableFunc(got.Locations, func(a, b nomen.Location) int { return strings.Compare(a.Rel, b.Rel) })
			if len(got.Locations)+len(got.Names)+len(got.Successors) == 0 {
				got.Name = want.Name
			}
			if d := cmp.Diff(got, want, compareNames); d != "" {
				t.Fatalf("%s (got -, want +):\n%s", f.Name, d)
			}
		}
	})
}
