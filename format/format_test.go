package format

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

var update = flag.Bool("update", false, "write the golden files anew")

// compareNames lets cmp look at names.
var compareNames = cmp.Comparer(func(a, b name.Name) bool { return a == b })

// rich has a value in every field.
func rich() *nomen.Answer {
	return &nomen.Answer{
		Service:  nomen.I2C,
		Name:     name.MustParse("urn:dns:example.org:Alb-002"),
		Spelling: "URN:dns:Example.ORG:Alb%2D002",
		Status:   nomen.Active,
		Locations: []nomen.Location{
			{URL: "https://example.org/one", Type: "text/html", Lang: "fr", Charset: "ISO-8859-1", Note: "Numéro périmé,\n\n===== & <b>gras</b>", Priority: 1, Weight: 2},
			{URL: "https://example.org/a-very-long-one/" + strings.Repeat("folded-", 10) + "?eq=" + strings.Repeat("=", 30) + "&x", Type: "application/pdf", Country: "FI"},
			{URL: "gopher://g.example/0sp%C3%A9cial%20text", Down: true, Lang: "pl", Note: "Zażółć — 雪", Component: "toc", ValidFrom: "2001-01-01T00:00:00Z"},
			{URL: "ftp://ftp.example.org/kept", Rel: "archive describedby", Charset: "UTF-8", Note: "  indented\n\ttab\x1b[31m"},
		},
		Metadata: nomen.Metadata{
			"title":     {"Two lines\nof a title", "Żółw"},
			"creator":   {"B. Author", "A. Author"},
			"date":      {"1999-08"},
			"x:invent ": {"&#x41; stays"},
		},
		Names:      []string{"urn:doi:10.17487/rfc2648", "https://example.com/another", "not a URI"},
		Successors: []name.Name{name.MustParse("urn:dns:example.org:next")},
		MaxAge:     90 * time.Minute,
		Modified:   time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.UTC),
		Revision:   3,
		Why:        []string{"found in the store", "the authority is urn:dns:example.org"},
	}
}

func tombstone() *nomen.Answer {
	return &nomen.Answer{
		Service:    nomen.I2C,
		Name:       name.MustParse("urn:dns:example.org:gone"),
		Status:     nomen.Retired,
		Metadata:   nomen.Metadata{"title": {"What it was"}},
		Reason:     "split in two",
		Successors: []name.Name{name.MustParse("urn:dns:example.org:a"), name.MustParse("ark:12345/b")},
		Modified:   time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Revision:   2,
	}
}

// kinds has an error of each kind.
func kinds() []*nomen.Error {
	return []*nomen.Error{
		{Kind: nomen.Malformed, Name: "urn:dns:example.org:a%2", Service: nomen.I2L, Offset: 21, Rule: "escape", Message: "a percent sign must be followed by two hexadecimal digits"},
		{Kind: nomen.Unknown, Name: "urn:dns:example.org:alb003", Service: nomen.I2C, Message: "not known here", Suggestions: []string{"urn:dns:example.org:alb002", "no <URI>"}},
		{Kind: nomen.NoResult, Name: "urn:dns:example.org:bare", Service: nomen.I2L, Message: "no location is known"},
		{Kind: nomen.Gone, Name: "urn:dns:example.org:gone", Service: nomen.I2C, Message: "split in two", Answer: tombstone()},
		{Kind: nomen.Denied, Name: "urn:dns:example.org:secret", Service: nomen.I2L, Message: "ask the archive", Legal: true},
	}
}

// shapes are answers of every kind that a resolver gives.
func shapes() map[string]*nomen.Answer {
	n := name.MustParse("urn:dns:example.org:x")
	one := []nomen.Location{{URL: "https://example.org/x"}}
	return map[string]*nomen.Answer{
		"rich":        rich(),
		"tombstone":   tombstone(),
		"one":         {Service: nomen.I2L, Name: n, Status: nomen.Active, Locations: one},
		"several":     {Service: nomen.I2Ls, Name: n, Status: nomen.Active, Locations: rich().Locations},
		"none":        {Service: nomen.I2Ls, Name: n, Status: nomen.Active},
		"name":        {Service: nomen.I2N, Name: n, Status: nomen.Active, Names: []string{"urn:isbn:0451450523"}},
		"names":       {Service: nomen.I2Ns, Name: n, Status: nomen.Active, Names: []string{"urn:isbn:0451450523", "https://example.org/y"}},
		"no names":    {Service: nomen.I2Ns, Name: n, Status: nomen.Active},
		"same":        {Service: nomen.IisI, Name: n, Same: true},
		"not same":    {Service: nomen.IisI, Name: n},
		"redirect":    {Service: nomen.I2L, Name: n, Status: nomen.Retired, Redirect: "urn:dns:example.org:y", MaxAge: time.Hour},
		"nameless":    {Service: nomen.I2Ns, Names: []string{"urn:isbn:0451450523"}},
		"bare":        {},
		"not public?": {Service: nomen.I2C, Name: n, Status: nomen.Reserved, Locations: one},
		"raw text":    {Service: nomen.I2C, Name: n, Raw: &nomen.Raw{Type: "text/plain", Body: []byte("one\r\ntwo")}},
		"raw latin":   {Service: nomen.I2C, Name: n, Raw: &nomen.Raw{Type: "text/html; charset=iso-8859-1", Body: []byte("gr\xf6\xdfe")}},
		"raw bytes":   {Service: nomen.I2C, Name: n, Raw: &nomen.Raw{Type: "application/x-foo", Body: []byte("\x00\xff")}},
		"resource":    {Service: nomen.I2R, Name: n, Resource: &nomen.Resource{Type: "text/plain", Size: -1, URL: "https://example.org/x", Body: io.NopCloser(strings.NewReader("x"))}},
	}
}

// Every answer can be written in every format, and none is empty in the formats for people.
func TestEveryAnswerInEveryFormat(t *testing.T) {
	for label, a := range shapes() {
		for _, f := range Formats() {
			var b bytes.Buffer
			if err := f.Write(&b, a); err != nil {
				t.Errorf("Y95-40: %s of %q: %v", f.Name, label, err)
			}
			if strings.Contains(b.String(), "%!") {
				t.Errorf("%s of %q has a broken layout: %s", f.Name, label, b.String())
			}
			if f.Name != "linkset" && f.Name != "uri-list" && b.Len() == 0 {
				t.Errorf("Y95-40: %s of %q is empty", f.Name, label)
			}
		}
	}
}

// Every format contains every location.
func TestEveryLocationInEveryFormat(t *testing.T) {
	for _, f := range Formats() {
		got := strings.NewReplacer("&amp;", "&", "\\u0026", "&", "\r\n =", "=", "\r\n", "", "<URL:", "").Replace(written(t, f.Write, rich()))
		for _, l := range rich().Locations {
			if !strings.Contains(got, l.URL) {
				t.Errorf("Y95-69: %s: no %q in %s", f.Name, l.URL, got)
			}
		}
	}
}

// The data that each format carries comes back from it.
func TestReadersReadWhatWritersWrote(t *testing.T) {
	for label, a := range shapes() {
		for _, f := range Formats() {
			if f.Read == nil {
				continue
			}
			want := carried(f.Name, a)
			if want == nil {
				continue
			}
			got, err := f.Read(strings.NewReader(written(t, f.Write, a)), a.Service)
			if err != nil {
				t.Errorf("%s of %q: %v", f.Name, label, err)
				continue
			}
			if a.Resource != nil && got.Resource != nil {
				if _, err := io.ReadAll(got.Resource.Body); err == nil {
					t.Errorf("%s: the body of a resource that was not sent can be read", f.Name)
				}
				got.Resource.Body, want.Resource.Body = nil, nil
			}
			if d := cmp.Diff(got, want, compareNames); d != "" {
				t.Errorf("%s of %q (got -, want +):\n%s", f.Name, label, d)
			}
		}
	}
}

// carried returns the part of a that a format carries, or nil if it carries something else.
func carried(format string, whole *nomen.Answer) *nomen.Answer {
	a := *whole
	if r := a.Resource; r != nil {
		copied := *r
		a.Resource = &copied
	}
	a.Locations = append([]nomen.Location(nil), whole.Locations...)
	if format == "json" || format == "cbor" {
		return &a
	}
	a.Raw = nil
	switch format {
	case "urc":
		return urcCarries(&a)
	case "json-ld":
		return jsonLDCarries(&a)
	case "uri-list":
		c := &nomen.Answer{Service: a.Service, Name: a.Name, Same: a.Same}
		if aboutNames(a.Service) {
			c.Names = a.Names
			return c
		}
		for _, l := range a.Locations {
			c.Locations = append(c.Locations, nomen.Location{URL: l.URL})
		}
		return c
	}
	return linksetCarries(format, &a)
}

func urcCarries(a *nomen.Answer) *nomen.Answer {
	a.Resource, a.Why = nil, nil
	if len(a.Locations) > 0 && (a.Service == nomen.I2L || a.Service == nomen.I2Ls) {
		*a = nomen.Answer{Service: a.Service, Locations: a.Locations}
	}
	for i, l := range a.Locations {
		var c charset
		if l.Note == "" {
			c = bestCharset(l.Charset, "", "", charset{})
		}
		switch l.Charset {
		case "ISO-8859-1":
			c, _ = lookupCharset(l.Charset)
		case "", "UTF-8":
			c = bestCharset("", l.Note, "", charset{})
		}
		if a.Service == nomen.I2C && i == 0 && l.Charset == "" {
			c = bestCharset("", l.Note, text(describe(a)), charset{})
		}
		a.Locations[i] = nomen.Location{URL: l.URL, Lang: l.Lang, Note: l.Note, Charset: c.name}
		if c.name == defaultCharset {
			a.Locations[i].Charset = ""
		}
	}
	return a
}

func jsonLDCarries(a *nomen.Answer) *nomen.Answer {
	c := &nomen.Answer{
		Service: a.Service, Name: a.Name, Spelling: a.Spelling, Status: a.Status, Same: a.Same, Reason: a.Reason,
		Successors: a.Successors, Modified: a.Modified, Revision: a.Revision,
	}
	for _, s := range a.Names {
		if isAbsolute(s) {
			c.Names = append(c.Names, s)
		}
	}
	for element, values := range a.Metadata {
		if !strings.Contains(element, ":") { // of Dublin Core
			for _, v := range values {
				addMetadata(c, element, v)
			}
		}
	}
	for _, l := range a.Locations {
		c.Locations = append(c.Locations, nomen.Location{URL: l.URL, Type: l.Type, Lang: l.Lang, Note: l.Note})
	}
	return c
}

func linksetCarries(format string, a *nomen.Answer) *nomen.Answer {
	c := &nomen.Answer{Service: a.Service, Name: a.Name, Successors: a.Successors}
	for _, s := range a.Names {
		if isAbsolute(s) {
			c.Names = append(c.Names, s)
		}
	}
	for _, l := range a.Locations {
		for rel := range strings.FieldsSeq(orDefault(l.Rel, itemRelation)) {
			if rel == itemRelation {
				rel = ""
			}
			kind, _, _ := strings.Cut(l.Type, ";") // RFC 8288, 3.4.1: without parameters
			c.Locations = append(c.Locations, nomen.Location{URL: l.URL, Type: kind, Lang: l.Lang, Rel: rel, Note: l.Note})
		}
	}
	if format == "linkset" && len(c.Locations)+len(c.Names)+len(c.Successors) == 0 {
		c.Name = name.Name{} // an empty set has no context
	}
	return c
}

// written returns the output of write for v.
func written[T any](t testing.TB, write func(io.Writer, T) error, v T) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// alone returns write for an answer without a page.
func alone(write func(io.Writer, *nomen.Answer, Page) error) func(io.Writer, *nomen.Answer) error {
	return func(w io.Writer, a *nomen.Answer) error { return write(w, a, Page{}) }
}

// golden compares a text with a file. The file does not have the style sheet of pages.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if begin, rest, ok := strings.Cut(got, "<style>"); ok {
		_, rest, _ = strings.Cut(rest, "</style>")
		got = begin + "<style></style>" + rest
	}
	file = filepath.Join("testdata", file+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, string(want)); d != "" {
		t.Errorf("%s (got -, want +; -update writes it anew):\n%s", file, d)
	}
}

func TestGolden(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			golden(t, "rich."+f.Name, written(t, f.Write, rich()))
			golden(t, "tombstone."+f.Name, written(t, f.Write, tombstone()))
		})
	}
	for _, accept := range []string{TypeProblem, TypeHTML, TypeText, TypeURC} {
		t.Run("problem "+accept, func(t *testing.T) {
			f := ProblemFormat(accept)
			ext := strings.NewReplacer("/", "-", "+", "-").Replace(f.MediaType)
			golden(t, "malformed."+ext, written(t, f.Write, NewProblem(kinds()[0], 400)))
			golden(t, "unknown."+ext, written(t, f.Write, NewProblem(kinds()[1], 404)))
		})
	}
}

// A failing writer makes every format fail.
func TestWriteErrors(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	for _, f := range Formats() {
		if err := f.Write(w, rich()); err == nil {
			t.Errorf("%s: no error", f.Name)
		}
	}
	for _, accept := range []string{TypeProblem, TypeHTML, TypeText, TypeURC} {
		if err := ProblemFormat(accept).Write(w, NewProblem(kinds()[0], 400)); err == nil {
			t.Errorf("%s: no error", accept)
		}
	}
	if err := GopherMenu(w, rich()); err == nil {
		t.Error("menu: no error")
	}
}

// Readers read no more than their limit and return errors of the underlying reader.
func TestReadErrors(t *testing.T) {
	for _, f := range Formats() {
		if f.Read == nil {
			continue
		}
		if _, err := f.Read(strings.NewReader(strings.Repeat(" ", maxSize+1)), ""); !isRule(err, "size") {
			t.Errorf("%s of too much: %v", f.Name, err)
		}
		r, w := io.Pipe()
		w.CloseWithError(io.ErrUnexpectedEOF)
		if _, err := f.Read(r, ""); err == nil || !strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()) {
			t.Errorf("%s of a broken body: %v", f.Name, err)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, tt := range []struct{ contentType, want string }{
		{"text/urc-0", "urc"},
		{"Text/HTML; charset=utf-8", "html"},
		{" application/json ;x", "json"},
		{"application/linkset", "linkset"},
		{"application/x-foo", ""}, // Y95-35
		{"", ""},
	} {
		f, ok := Lookup(tt.contentType)
		if f.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("Lookup(%q) = %q, %t, want %q", tt.contentType, f.Name, ok, tt.want)
		}
	}
	for _, f := range Formats() {
		if g, ok := ByName(f.Name); !ok || g.MediaType != f.MediaType {
			t.Errorf("ByName(%q) = %q, %t", f.Name, g.MediaType, ok)
		}
	}
	if f := Formats()[1]; f.ContentType() != "text/html; charset=utf-8" {
		t.Errorf("ContentType() = %q", f.ContentType())
	}
}

// isRule reports whether err is an *Error of a rule.
func isRule(err error, rule string) bool {
	e, ok := err.(*Error)
	return ok && e.Rule == rule && e.Error() != ""
}
