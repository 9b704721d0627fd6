package format

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// The terms are those of schema.org (CreativeWork, MediaObject, PropertyValue) and of Dublin
// Core, with the prefixes that the context defines.
func TestJSONLDTerms(t *testing.T) {
	creativeWork := strings.Fields("identifier name description creator contributor publisher datePublished inLanguage keywords encoding sameAs creativeWorkStatus dateModified version license subjectOf")
	mediaObject := strings.Fields("@type contentUrl encodingFormat inLanguage description")
	terms := strings.Fields("isReplacedBy provenance relation")
	for label, a := range shapes() {
		var o map[string]any
		if err := json.Unmarshal([]byte(written(t, writeJSONLD, a)), &o); err != nil {
			t.Fatalf("%s: %v", label, err)
		}
		want := []any{"https://schema.org", map[string]any{"dc": "http://purl.org/dc/elements/1.1/", "dcterms": "http://purl.org/dc/terms/"}}
		if d := cmp.Diff(o["@context"], any(want)); d != "" || o["@type"] != "CreativeWork" {
			t.Errorf("%s: %v (got -, want +):\n%s", label, o["@type"], d)
		}
		if id, ok := o["@id"]; ok == a.Name.IsZero() || ok && id != a.Name.Key() {
			t.Errorf("%s: @id %v", label, id)
		}
		for member := range o {
			prefix, term, prefixed := strings.Cut(member, ":")
			switch {
			case strings.HasPrefix(member, "@"), !prefixed && slices.Contains(creativeWork, member):
			case prefix == "dc" && slices.Contains(dublinCore[:], term), prefix == "dcterms" && slices.Contains(terms, term):
			default:
				t.Errorf("%s: member %s", label, member)
			}
		}
		encoding, _ := o["encoding"].([]any)
		for _, m := range encoding {
			for member := range m.(map[string]any) {
				if !slices.Contains(mediaObject, member) {
					t.Errorf("%s: member %s of a location", label, member)
				}
			}
		}
	}
}

// Data of others: single values without brackets, objects with names, values with languages.
func TestReadJSONLD(t *testing.T) {
	body := `{"@context":"http://schema.org","@type":"Book","@id":"urn:isbn:9780451450524","name":{"@value":"Lost","@language":"en"},
		"creator":[{"@type":"Person","name":"A. Author"},"B. Author",{"@id":"https://orcid.example/1"},{},7],"inLanguage":"en","datePublished":"1991",
		"encoding":{"@type":"MediaObject","contentUrl":"https://example.org/x"},"sameAs":"https://example.org/same","unknown":{"a":[1]},"version":"second","dateModified":"yesterday"}`
	want := &nomen.Answer{
		Service: nomen.I2C, Name: name.MustParse("urn:isbn:9780451450524"), Names: []string{"https://example.org/same"},
		Locations: []nomen.Location{{URL: "https://example.org/x"}},
		Metadata:  nomen.Metadata{"title": {"Lost"}, "creator": {"A. Author", "B. Author", "https://orcid.example/1"}, "language": {"en"}, "date": {"1991"}},
	}
	got, err := readJSONLD(strings.NewReader(body), nomen.I2C)
	if d := cmp.Diff(got, want, compareNames); d != "" || err != nil {
		t.Errorf("%v (got -, want +):\n%s", err, d)
	}
	for _, body := range []string{
		``, `[]`, `{"@id":1}`, `{"@id":"no name"}`, `{"dcterms:isReplacedBy":{"@id":"no name"}}`, `{"encoding":[1]}`, `{"encoding":1}`,
		`{"name":[` + strings.Repeat("1,", maxItems) + `1]}`,
	} {
		a, err := readJSONLD(strings.NewReader(body), "")
		if e := new(Error); !errors.As(err, &e) || a != nil {
			t.Errorf("%.40s: %v, %v", body, a, err)
		}
	}
}

// The head of a page contains the JSON-LD and Dublin Core of the answer, also on the page of a
// tombstone.
func TestHTMLHead(t *testing.T) {
	a := rich()
	a.Metadata["language"] = []string{"fr"}
	gone := NewProblem(&nomen.Error{Kind: nomen.Gone, Name: "urn:dns:example.org:gone", Answer: tombstone()}, 410)
	for _, tt := range []struct {
		label, body string
		answer      *nomen.Answer
		metas       []string // name, language, content
	}{
		{"answer", written(t, alone(writeHTML), a), a, []string{
			"DC.identifier  urn:dns:example.org:Alb-002", "DC.title fr Two lines\nof a title", "DC.title fr Żółw", "DC.creator  B. Author", "DC.creator  A. Author",
			"DC.date  1999-08", "DC.language  fr", "DCTERMS.modified  2026-11-20T12:00:00.005Z", "DCTERMS.isReplacedBy  urn:dns:example.org:next",
		}},
		{"tombstone", written(t, WriteProblemHTML, gone), tombstone(), []string{
			"DC.identifier  urn:dns:example.org:gone", "DC.title  What it was", "DCTERMS.modified  2026-11-20T12:00:00Z",
			"DCTERMS.isReplacedBy  urn:dns:example.org:a", "DCTERMS.isReplacedBy  ark:12345/b",
		}},
	} {
		doc, err := html.Parse(strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		var metas []string
		schemas, data := map[string]string{}, ""
		for n := range doc.Descendants() {
			attr := map[string]string{}
			for _, a := range n.Attr {
				attr[a.Key] = a.Val
			}
			switch {
			case n.Data == "meta" && strings.HasPrefix(attr["name"], "DC"):
				metas = append(metas, attr["name"]+" "+attr["lang"]+" "+attr["content"])
			case n.Data == "link" && strings.HasPrefix(attr["rel"], "schema."):
				schemas[attr["rel"]] = attr["href"]
			case n.Data == "script":
				data = n.FirstChild.Data
			}
		}
		if d := cmp.Diff(metas, tt.metas); d != "" {
			t.Errorf("%s (got -, want +):\n%s", tt.label, d)
		}
		if want := map[string]string{"schema.DC": "http://purl.org/dc/elements/1.1/", "schema.DCTERMS": "http://purl.org/dc/terms/"}; !cmp.Equal(schemas, want) {
			t.Errorf("%s: %v, want %v", tt.label, schemas, want)
		}
		if want := written(t, writeJSONLD, tt.answer); data+"\n" != want {
			t.Errorf("%s: %s, want %s", tt.label, data, want)
		}
	}
}

// A page says what kind of name it is about, which locations are unavailable, and what to do
// about a problem.
func TestHTMLForPeople(t *testing.T) {
	page := func(n string, l nomen.Location) string {
		return written(t, alone(writeHTML), &nomen.Answer{Service: nomen.I2C, Name: name.MustParse(n), Locations: []nomen.Location{l}})
	}
	problem := func(k nomen.Kind, n string) string {
		return written(t, WriteProblemHTML, NewProblem(&nomen.Error{Kind: k, Name: n, Legal: k == nomen.Denied, Suggestions: []string{"urn:x-y:near"}}, 404))
	}
	for _, tt := range []struct{ body, want string }{
		{page("urn:isbn:9780451450524", nomen.Location{}), "A name in the namespace <code>isbn</code>: "},
		{page("ark:12345/x", nomen.Location{}), "An identifier of the scheme <code>ark</code>: "},
		{page("urn:x-y:1", nomen.Location{URL: "https://example.org/", Type: "text/html", Down: true}), "<small>text/html, currently unavailable</small>"},
		{problem(nomen.Unknown, "urn:x-y:1"), `<LI><A HREF="/urn:x-y:near">urn:x-y:near</A></LI>`},
		{problem(nomen.Unknown, "urn:x-y:1"), "<p>Check the name against its source"},
		{problem(nomen.Malformed, "urn:x-y:%"), "<p>Check the name against its source"},
		{problem(nomen.NoResult, "urn:x-y:1"), `<A HREF="/urn:x-y:1?s=I2C">Show its description</A>`},
		{problem(nomen.Denied, "urn:x-y:1"), "This is for legal reasons."},
		{problem(nomen.Denied, "urn:x-y:1"), "Contact the publisher of the name for more information."},
	} {
		if !strings.Contains(tt.body, tt.want) {
			t.Errorf("no %s in %s", tt.want, tt.body)
		}
	}
	if body := page("urn:x-y:1", nomen.Location{}); strings.Contains(body, "A name in the namespace") {
		t.Errorf("an unknown namespace is described: %s", body)
	}
	if body := problem(nomen.NoResult, "javascript:alert(1)//"); strings.Contains(body, `HREF="javascript`) {
		t.Error(body)
	}
}

// I=I is answered in each format that can express it (RFC 2483, 4.9).
func TestSameInEveryFormat(t *testing.T) {
	for _, same := range []bool{true, false} {
		a := &nomen.Answer{Service: nomen.IisI, Name: name.MustParse("urn:x-y:1"), Same: same}
		want := map[bool]string{true: "true", false: "false"}[same]
		for _, f := range Formats() {
			body := strings.ToLower(written(t, f.Write, a))
			if f.MediaType == TypeCBOR { // RFC 8949, 3.3
				body = strings.NewReplacer("\xf5", "true", "\xf4", "false").Replace(written(t, f.Write, a))
			}
			linkset := f.MediaType == TypeLinkset || f.MediaType == TypeLinksetJSON // a link cannot express that two are different
			if !linkset && !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", f.Name, want, body)
			}
		}
	}
}

// No format has an experimental type.
func TestNoExperimentalTypes(t *testing.T) {
	for _, f := range Formats() {
		if _, subtype, _ := strings.Cut(f.MediaType, "/"); strings.HasPrefix(subtype, "x-") {
			t.Errorf("%s is %s", f.Name, f.MediaType)
		}
	}
}
