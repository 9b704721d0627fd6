package format

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// RFC 9264, 4.2: a single member linkset with an array of contexts. Each relation is an array
// of targets, and hreflang is an array of strings.
func TestLinksetJSONShape(t *testing.T) {
	var o map[string][]map[string]any
	for label, a := range shapes() {
		body := written(t, alone(writeLinksetJSON), a)
		o = nil
		if err := json.Unmarshal([]byte(body), &o); err != nil || len(o) != 1 || len(o["linkset"]) != 1 {
			t.Errorf("%s: %v: %s", label, err, body)
		}
	}
	body := written(t, alone(writeLinksetJSON), rich())
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		t.Fatal(err)
	}
	context := o["linkset"][0]
	if got := context["anchor"]; got != rich().Name.Key() {
		t.Errorf("anchor %q", got)
	}
	first := context["item"].([]any)[0].(map[string]any)
	want := map[string]any{
		"href": "https://example.org/one", "type": "text/html", "hreflang": []any{"fr"},
		"title*": []any{map[string]any{"value": rich().Locations[0].Note, "language": "fr"}},
	}
	if d := cmp.Diff(first, want); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
}

// An invalid relation type never becomes a member or a parameter.
func TestRelations(t *testing.T) {
	for in, want := range map[string][]string{
		"":                          nil,
		"item":                      {"item"},
		" Item  describedby ":       {"item", "describedby"},
		"https://example.org/Rel#x": {"https://example.org/Rel#x"},
		"anchor":                    nil,
		"1a -a a.b-1":               {"a.b-1"},
		"a\"b <x> é":                nil,
		strings.Repeat("a ", 100):   slices.Repeat([]string{"a"}, maxRelations),
	} {
		if got := relations(in); !slices.Equal(got, want) {
			t.Errorf("relations(%q) = %q, want %q", in, got, want)
		}
	}
}

// The examples of the RFC, in both forms, with the name as their first context.
func TestReadLinkset(t *testing.T) {
	text := `<https://authors.example.net/johndoe>
   ; rel="author"
   ; type="application/rdf+xml"
   ; anchor="https://example.org/resource1",
<https://example.org/resource1?version=3>
   ; rel="latest-version"
   ; type="text/html"
   ; anchor="https://example.org/resource1",
<https://example.org/resource1?version=2>
   ; rel="predecessor-version"
   ; anchor="https://example.org/resource1?version=3",
<https://example.org/resource1?version=1>
   ; rel="memento"
   ; datetime="Thu, 13 Jun 2019 09:34:33 GMT"
   ; anchor="https://example.org/resource1"
`
	object := `{ "linkset": [
		{ "anchor": "https://example.org/resource1",
		  "author": [ { "href": "https://authors.example.net/johndoe", "type": "application/rdf+xml" } ],
		  "latest-version": [ { "href": "https://example.org/resource1?version=3", "type": "text/html" } ],
		  "memento": [ { "href": "https://example.org/resource1?version=1", "datetime": ["Thu, 13 Jun 2019 09:34:33 GMT"] } ] },
		{ "anchor": "https://example.org/resource1?version=3",
		  "predecessor-version": [ { "href": "https://example.org/resource1?version=2" } ] } ] }`
	want := &nomen.Answer{
		Service: nomen.I2Ls, Name: name.MustParse("https://example.org/resource1"),
		Locations: []nomen.Location{
			{URL: "https://authors.example.net/johndoe", Rel: "author", Type: "application/rdf+xml"},
			{URL: "https://example.org/resource1?version=3", Rel: "latest-version", Type: "text/html"},
			{URL: "https://example.org/resource1?version=1", Rel: "memento"},
		},
	}
	got, err := ReadLinkset(strings.NewReader(text), nomen.I2Ls)
	if d := cmp.Diff(got, want, compareNames); d != "" || err != nil {
		t.Errorf("text: %v (got -, want +):\n%s", err, d)
	}
	got, err = readLinksetJSON(strings.NewReader(object), nomen.I2Ls)
	if d := cmp.Diff(got, want, compareNames); d != "" || err != nil {
		t.Errorf("JSON: %v (got -, want +):\n%s", err, d)
	}
}

// RFC 8288, 3; RFC 8187, 3.2.
func TestReadLinks(t *testing.T) {
	l := func(url, rel string) nomen.Location { return nomen.Location{URL: url, Rel: rel} }
	for _, tt := range []struct {
		body string
		want []nomen.Location
	}{
		{"", nil},
		{" ,\r\n,", nil},
		{"<a:x>;rel=item", []nomen.Location{l("a:x", "")}},
		{"<a:x> ; rel = Archive ,, <a:y>;rel=item", []nomen.Location{l("a:x", "archive"), l("a:y", "")}},
		{`<a:x>;rel="item up";rel=down`, []nomen.Location{l("a:x", ""), l("a:x", "up")}},
		{"<a:x>", nil}, // not a relation
		{"</relative>;rel=item", nil},
		{`<a:x>;rel=item;type="text/html";type=b/c;hreflang=fr;hreflang="de";media=print;x`, []nomen.Location{{URL: "a:x", Type: "text/html", Lang: "fr"}}},
		{`<a:x>;rel=item;title="a \"b\" ; , c"`, []nomen.Location{{URL: "a:x", Note: `a "b" ; , c`}}},
		{`<a:x>;rel=item;title*=UTF-8'fr'%c3%a9t%C3%A9;title=summer`, []nomen.Location{{URL: "a:x", Note: "été", Lang: "fr"}}},
		{`<a:x>;rel=item;title=summer;title*=iso-8859-1''%e9t%E9`, []nomen.Location{{URL: "a:x", Note: "été"}}},
		{`<a:x>;rel=item;title=summer;title*=UTF-8''%ff`, []nomen.Location{{URL: "a:x", Note: "summer"}}},
		{`<a:x>;rel=item;title=summer;title*=UTF-16''x`, []nomen.Location{{URL: "a:x", Note: "summer"}}},
		{`<a:x>;rel=item;title=summer;title*=UTF-8''%4`, []nomen.Location{{URL: "a:x", Note: "summer"}}},
		{`<a:x>;rel=item;title=summer;title*=UTF-8`, []nomen.Location{{URL: "a:x", Note: "summer"}}},
		{`<a:x>;rel=item;anchor="urn:x-y:1",<a:y>;rel=item,<a:z>;rel=item;anchor="urn:x-y:1"`, []nomen.Location{l("a:x", ""), l("a:z", "")}},
		{`<a:x>;;rel=item;`, []nomen.Location{l("a:x", "")}},
	} {
		got, err := ReadLinkset(strings.NewReader(tt.body), nomen.I2Ls)
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if d := cmp.Diff(got.Locations, tt.want); d != "" {
			t.Errorf("%s (got -, want +):\n%s", tt.body, d)
		}
	}
}

func TestReadLinksetRefuses(t *testing.T) {
	for body, rule := range map[string]string{
		"a:x":                  "link-value",
		"<a:x":                 "link-value",
		"<a:x> x":              "link-value",
		"<a:x>;rel=":           "link-value",
		`<a:x>;rel="item`:      "link-value",
		"<a:x>;=item":          "link-value",
		"<a:x>;rel=item <a:y>": "link-value",
		strings.Repeat("<a:x>;rel=a,", maxItems+1): "count",
	} {
		if _, err := ReadLinkset(strings.NewReader(body), ""); !isRule(err, rule) {
			t.Errorf("%.40s: %v, want rule %s", body, err, rule)
		}
	}
	for _, body := range []string{
		``, `[]`, `{}`, `{"linkset":null}`, `{"linkset":{}}`, `{"linkset":[1]}`, `{"linkset":[[]]}`, `{"linkset":[{"anchor":1}]}`, `{"linkset":[{"item":[1]}]}`, `{"linkset":[{"item":[{"href":1}]}]}`,
		`{"linkset":[{"item":[` + strings.Repeat("{},", maxItems) + `{}]}]}`,
	} {
		a, err := readLinksetJSON(strings.NewReader(body), "")
		if e := new(Error); !errors.As(err, &e) {
			t.Errorf("%.40s: %v, %v", body, a, err)
		}
	}
	if _, err := readLinksetJSON(strings.NewReader(`{"linkset":[], "extra":1}`), ""); err != nil {
		t.Error(err)
	}
	if _, err := readLinksetJSON(strings.NewReader(`{"linkset":[{"extension":{"a":1}}]}`), ""); err != nil {
		t.Error(err)
	}
}
