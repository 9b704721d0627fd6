package resolve_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// order asks about a record with these locations and returns the URLs of the answer.
func order(t *testing.T, q nomen.Question, locations ...nomen.Location) []string {
	t.Helper()
	const spelling = "urn:example:a"
	e := resolve.New(fill(t, []*store.Record{record(spelling, locations...)}, nil), resolve.Options{})
	q.Name = name.MustParse(spelling)
	a, err := e.Resolve(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, l := range a.Locations {
		urls = append(urls, l.URL)
	}
	return urls
}

// The client's preference takes precedence over priority, then country, then weight, then the
// order of registration.
func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		name     string
		question nomen.Question
		a, b     nomen.Location // b is better
	}{
		{"type over language", nomen.Question{Accept: "text/html, text/plain;q=0.9", Languages: "de"}, nomen.Location{Type: "text/plain", Lang: "de"}, nomen.Location{Type: "text/html"}},
		{"type over priority", nomen.Question{Accept: "text/html"}, nomen.Location{Type: "text/plain", Priority: 1}, nomen.Location{Type: "text/html", Priority: 9}},
		{"quoted text is not a range", nomen.Question{Accept: `text/html;x="a,\",text/plain;q=1";q=0.1, text/plain;q=0.5`}, nomen.Location{Type: "text/html"}, nomen.Location{Type: "text/plain"}},
		{"a range without parameters is nearer", nomen.Question{Accept: "text/html;level=1;q=0.1, text/html, text/plain;q=0.5"}, nomen.Location{Type: "text/plain"}, nomen.Location{Type: "text/html"}},
		{"and so it is where it comes first", nomen.Question{Accept: "text/html;q=0.1, text/html;level=1, text/plain;q=0.5"}, nomen.Location{Type: "text/html"}, nomen.Location{Type: "text/plain"}},
		{"refused type last", nomen.Question{Accept: "text/plain;q=0"}, nomen.Location{Type: "text/plain"}, nomen.Location{}},
		{"language over priority", nomen.Question{Languages: "de"}, nomen.Location{Lang: "en", Priority: 1}, nomen.Location{Lang: "de", Priority: 9}},
		{"the language of a dialect", nomen.Question{Languages: "de-AT"}, nomen.Location{Lang: "en"}, nomen.Location{Lang: "de"}},
		{"the dialect itself", nomen.Question{Languages: "zh-Hant-TW"}, nomen.Location{Lang: "zh-Hant"}, nomen.Location{Lang: "zh-Hant-TW"}},
		{"the longest beginning", nomen.Question{Languages: "zh-Hant-TW"}, nomen.Location{Lang: "zh"}, nomen.Location{Lang: "zh-Hant"}},
		{"what the field says of a language", nomen.Question{Languages: "de-AT, en;q=0.5, de;q=0.1"}, nomen.Location{Lang: "de"}, nomen.Location{Lang: "en"}},
		{"a refused dialect is not its language", nomen.Question{Languages: "de-AT;q=0"}, nomen.Location{Lang: "de-AT"}, nomen.Location{Lang: "de"}},
		{"priority over country", nomen.Question{Country: "FI"}, nomen.Location{Country: "FI", Priority: 2}, nomen.Location{Priority: 1}},
		{"country over weight", nomen.Question{Country: "fi"}, nomen.Location{Weight: 9}, nomen.Location{Country: "FI"}},
		{"weight", nomen.Question{}, nomen.Location{Weight: 1}, nomen.Location{Weight: 2}},
		{"down is last", nomen.Question{Accept: "text/html"}, nomen.Location{Type: "text/html", Priority: 1, Down: true}, nomen.Location{Type: "text/plain", Priority: 9}},
		{"the thing before a copy", nomen.Question{}, nomen.Location{Rel: "archive", Weight: 9}, nomen.Location{Rel: "item"}},
		{"a copy before what is about it", nomen.Question{}, nomen.Location{Rel: "describedby"}, nomen.Location{Rel: "memento"}},
		{"priority over relation", nomen.Question{}, nomen.Location{Priority: 2}, nomen.Location{Rel: "describedby", Priority: 1}},
		{"type over relation", nomen.Question{Accept: "text/turtle"}, nomen.Location{Type: "text/html"}, nomen.Location{Type: "text/turtle", Rel: "describedby"}},
		{"relation over country", nomen.Question{Country: "FI"}, nomen.Location{Country: "FI", Rel: "archive"}, nomen.Location{}},
		{"no priority is the first", nomen.Question{}, nomen.Location{Priority: 2}, nomen.Location{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.a.URL, tt.b.URL = "https://h.example/a", "https://h.example/b"
			tt.question.Service = nomen.I2Ls
			if got, want := order(t, tt.question, tt.a, tt.b), []string{tt.b.URL, tt.a.URL}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	got := order(t, nomen.Question{Service: nomen.I2Ls}, nomen.Location{URL: "https://h.example/1"}, nomen.Location{URL: "https://h.example/2"})
	if want := []string{"https://h.example/1", "https://h.example/2"}; !slices.Equal(got, want) {
		t.Errorf("equal: got %q, want %q", got, want)
	}
}

// A licence is not a location of the resource, whatever its media type, unless there is nothing
// else. A description shows it.
func TestLocationsBeside(t *testing.T) {
	file := nomen.Location{URL: "https://h.example/file", Type: "application/pdf", Priority: 2}
	licence := nomen.Location{URL: "https://h.example/licence", Type: "text/html", Rel: "license"}
	about := nomen.Location{URL: "https://h.example/about", Type: "text/html", Rel: "describedby", Priority: 3}
	for _, tt := range []struct {
		service   nomen.Service
		locations []nomen.Location
		want      []string
	}{
		{nomen.I2Ls, []nomen.Location{licence, file, about}, []string{file.URL, about.URL}},
		{nomen.I2L, []nomen.Location{licence, file}, []string{file.URL}},
		{nomen.I2L, []nomen.Location{licence, file, about}, []string{about.URL}}, // by its media type
		{nomen.I2L, []nomen.Location{licence}, []string{licence.URL}},
		{nomen.I2C, []nomen.Location{licence, file}, []string{licence.URL, file.URL}},
	} {
		q := nomen.Question{Service: tt.service}
		if tt.service == nomen.I2L {
			q.Accept = "text/html"
		}
		if got := order(t, q, tt.locations...); !slices.Equal(got, tt.want) {
			t.Errorf("%s of %v: got %q, want %q", tt.service, tt.locations, got, tt.want)
		}
	}
}

// TestShares checks that equal locations share I2L by weight, and that no others do.
func TestShares(t *testing.T) {
	locations := []nomen.Location{
		{URL: "https://h.example/b"},
		{URL: "https://h.example/later", Weight: 100, Priority: 2},
		{URL: "https://h.example/a", Weight: 3},
		{URL: "https://h.example/c", Weight: 1},
		{URL: "https://h.example/d", Weight: 3},
		{URL: "https://h.example/down", Weight: 9, Down: true},
	}
	const total = 8
	shares := func(p store.Policy) map[string]int {
		t.Helper()
		turn, got := 0, map[string]int{}
		e := resolve.New(fill(t, []*store.Record{record("urn:x-a:1", locations...)}, []*store.Authority{{Prefix: name.MustParsePrefix("urn:x-a"), Policy: p}}), resolve.Options{
			Pick: func(n int) int {
				if n != total {
					t.Errorf("picked among %d, want %d", n, total)
				}
				return turn % n
			},
		})
		for ; turn < 4*total; turn++ {
			a, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-a:1"), Service: nomen.I2L})
			if err != nil {
				t.Fatal(err)
			}
			got[a.Locations[0].URL]++
		}
		return got
	}
	if got, want := shares(store.Policy{}), map[string]int{"https://h.example/a": 12, "https://h.example/b": 4, "https://h.example/c": 4, "https://h.example/d": 12}; !maps.Equal(got, want) {
		t.Errorf("by weight: %v, want %v", got, want)
	}
	// The location with the greatest weight is chosen; of two such locations, the first.
	if got, want := shares(store.Policy{Choice: store.ChoiceFixed}), map[string]int{"https://h.example/a": 32}; !maps.Equal(got, want) {
		t.Errorf("fixed: %v, want %v", got, want)
	}
}
