package scheme

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func TestLookup(t *testing.T) {
	for s := range standard().All() {
		for _, name := range []string{s.Name, strings.ToUpper(s.Name)} {
			if got, ok := standard().Lookup(name); !ok || got.Name != s.Name || !standard().Known(name) {
				t.Errorf("Lookup(%q) = %q, %v; want %q", name, got.Name, ok, s.Name)
			}
		}
	}
	for _, name := range []string{"", "h", "httpx", "http:", "x-none", "std", "ｈｔｔｐ", strings.Repeat("h", 1000)} {
		if got, ok := standard().Lookup(name); ok || standard().Known(name) {
			t.Errorf("Lookup(%q) = %q; want none", name, got.Name)
		}
	}
	var empty Catalogue
	if _, ok := empty.Lookup("http"); ok || empty.Known("http") || empty.Len() != 0 {
		t.Error("the empty catalogue knows http")
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { standard().Lookup("HTTP"); standard().Lookup("std"); standard().Known("GoPher") }); n != 0 {
		t.Errorf("Lookup: got %v allocations, want 0", n)
	}
}

// TestWith checks what may be registered.
func TestWith(t *testing.T) {
	good := Scheme{
		Name: "Foo", Title: "a scheme of foos", Reference: "a document", Kind: KindLocator,
		Retrieval: "ask for it", Example: "foo://h.example/x",
		Rules: RuleSet{Check: checkHTTP},
	}
	with := func(change func(*Scheme)) Scheme {
		s := good
		change(&s)
		return s
	}
	for _, tt := range []struct {
		name string
		s    Scheme
		want error
	}{
		{"U93-65 complete", good, nil},
		{"U93-66 experimental needs its name only", Scheme{Name: "x-foo"}, nil},
		{"U93-66 the same without x-", Scheme{Name: "foo"}, ErrIncomplete},
		{"U93-67 urn is reserved", with(func(s *Scheme) { s.Name = "URN"; s.Example = "" }), ErrReserved},
		{"U93-68 no algorithm", with(func(s *Scheme) { s.Retrieval = "" }), ErrIncomplete},
		{"U93-68 no locator, so no algorithm", with(func(s *Scheme) { s.Retrieval, s.Kind, s.Properties = "", KindName, "unique" }), nil},
		{"U93-68 no locator, and no properties", with(func(s *Scheme) { s.Kind = KindName }), ErrIncomplete},
		{"no name", with(func(s *Scheme) { s.Name = "" }), ErrName},
		{"a digit first", with(func(s *Scheme) { s.Name = "1foo" }), ErrName},
		{"a colon", with(func(s *Scheme) { s.Name = "fo:o" }), ErrName},
		{"missing title", with(func(s *Scheme) { s.Title = "" }), ErrIncomplete},
		{"missing reference", with(func(s *Scheme) { s.Reference = "" }), ErrIncomplete},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Standard().With(tt.s)
			if !errors.Is(err, tt.want) {
				t.Errorf("With(%q): got %v, want %v", tt.s.Name, err, tt.want)
			}
			if got := c.Known(tt.s.Name); got != (tt.want == nil || tt.s.Name == "URN") {
				t.Errorf("Known(%q) after it: %v", tt.s.Name, got)
			}
		})
	}
	for _, s := range []Scheme{
		with(func(s *Scheme) { s.Example = "bar://h.example/" }),
		with(func(s *Scheme) { s.Example = "foo:x" }), // no host
		with(func(s *Scheme) { s.Example = "foo://h.example/ " }),
	} {
		if _, err := Standard().With(s); err == nil {
			t.Errorf("With(example %q): no error", s.Example)
		}
	}
	if standard().Known("foo") || standard().Known("x-foo") {
		t.Error("With has changed the standard catalogue")
	}
}

// Documented dangers are reported, and so are findings about an inner URI, with
// the offset in the whole text.
func TestCheckLooksInside(t *testing.T) {
	c, err := Standard().With(Scheme{
		Name: "x-show", Danger: "shows",
		Rules: RuleSet{Inner: func(u uri.URI) (int, int, bool) {
			return len("x-show:"), len(u.String()), u.Path() != ""
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"x-show:http://u@h/":            "dangerous 0-6, credentials 14-15",
		"x-show:x-show:ftp:x":           "dangerous 0-6, dangerous 7-13, scheme-syntax 18-18",
		"x-show:":                       "dangerous 0-6",
		"x-show:a%20b":                  "dangerous 0-6",
		"x-show:" + "x-show:x-show:x:y": "dangerous 0-6, dangerous 7-13, dangerous 14-20",
		strings.Repeat("x-show:", 9):    "dangerous 0-6, dangerous 7-13, dangerous 14-20, dangerous 21-27",
	} {
		var got []string
		for _, f := range c.Check(uri.MustParse(in)) {
			got = append(got, fmt.Sprintf("%s %d-%d", f.Code, f.Offset, f.End))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("Check(%q): %s, want %s", in, got, want)
		}
	}
}

func TestWithReplaces(t *testing.T) {
	c, err := Standard().With(Scheme{Name: "http", Title: "mine", Reference: "r", Retrieval: "as ever"})
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := c.Lookup("http"); s.Title != "mine" || c.Len() != Standard().Len() {
		t.Errorf("Lookup: got %q, of %d schemes; want mine, of %d", s.Title, c.Len(), Standard().Len())
	}
	x, err := c.With(Scheme{Name: "x-foo"})
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := x.Lookup("X-Foo"); s.Status != StatusExperimental || x.Len() != c.Len()+1 {
		t.Errorf("x-foo: status %v, %d schemes", s.Status, x.Len())
	}
}
