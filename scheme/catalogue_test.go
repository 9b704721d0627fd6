package scheme

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func TestStandard(t *testing.T) {
	n := map[Status]int{}
	last := ""
	for s := range All() {
		n[s.Status]++
		if s.Name <= last {
			t.Errorf("%q comes after %q", s.Name, last)
		}
		last = s.Name
		if s.Title == "" || !IsName(s.Name) || s.Name != strings.ToLower(s.Name) {
			t.Errorf("%+v: no title, or no name", s)
		}
	}
	if n[StatusPermanent] != 99 || n[StatusProvisional] != 313 || n[StatusHistorical] != 18 || n[StatusUnregistered] == 0 {
		t.Errorf("schemes by status: got %v, want 99 permanent, 313 provisional, 18 historical, and some unregistered", n)
	}
	if got, want := Standard().Len(), len(registered)+n[StatusUnregistered]; got != want {
		t.Errorf("Len: got %d, want %d", got, want)
	}
}

func TestLookup(t *testing.T) {
	for s := range All() {
		for _, name := range []string{s.Name, strings.ToUpper(s.Name)} {
			if got, ok := Lookup(name); !ok || got.Name != s.Name || !Known(name) {
				t.Errorf("Lookup(%q) = %q, %v; want %q", name, got.Name, ok, s.Name)
			}
		}
	}
	for _, name := range []string{"", "h", "httpx", "http:", "x-none", "std", "ｈｔｔｐ", strings.Repeat("h", 1000)} {
		if got, ok := Lookup(name); ok || Known(name) {
			t.Errorf("Lookup(%q) = %q; want none", name, got.Name)
		}
	}
	var empty Catalogue
	if _, ok := empty.Lookup("http"); ok || empty.Known("http") || empty.Len() != 0 {
		t.Error("the empty catalogue knows http")
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Lookup("HTTP"); Lookup("std"); Known("GoPher") }); n != 0 {
		t.Errorf("Lookup: got %v allocations, want 0", n)
	}
}

// Each scheme with rules has a valid example and the fields that a registration
// requires.
func TestRecordsAreComplete(t *testing.T) {
	for s := range All() {
		if s.Rules.Check == nil && s.Rules.Parts == nil {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			if missing := s.Missing(); len(missing) > 0 {
				t.Errorf("missing %s", strings.Join(missing, ", "))
			}
			if s.Kind == KindUnstated || s.Example == "" {
				t.Errorf("no kind or no example: %v, %q", s.Kind, s.Example)
			}
			u, err := uri.Parse(s.Example)
			if err != nil {
				t.Fatal(err)
			}
			if err := FirstError(s.Check(u)); err != nil {
				t.Errorf("Check(%q): %v", s.Example, err)
			}
			if s.Rules.Parts != nil && len(s.Parts(u)) == 0 {
				t.Errorf("Parts(%q): none", s.Example)
			}
			checkInvariants(t, u)
		})
	}
}

// checkInvariants checks what must hold for every URI of every scheme.
func checkInvariants(t *testing.T, u uri.URI) {
	t.Helper()
	text := u.String()
	found := Check(u)
	for _, f := range found {
		if f.Offset < 0 || f.End < f.Offset || f.End > len(text) || f.Rule == "" || f.Message == "" || f.Code == "" {
			t.Errorf("Check(%q): malformed finding: %+v", text, f)
		}
	}
	for _, p := range Parts(u) {
		if p.Name == "" || p.Offset >= 0 && (p.Offset+len(p.Value) > len(text) || text[p.Offset:p.Offset+len(p.Value)] != p.Value) {
			t.Errorf("Parts(%q): wrong offset: %+v", text, p)
		}
		_ = p.Data()
	}
	reassembles(t, u)
	c := Canonical(u)
	if again := Canonical(c); again != c {
		t.Errorf("Canonical(%q) = %q, and of that %q", text, c, again)
	}
	if HasError(Check(c)) && !HasError(found) {
		t.Errorf("Canonical(%q) = %q violates the rules: %v", text, c, Check(c))
	}
}

// reassembles checks that building a URI from its parts gives the same URI,
// apart from a fragment that is not a part.
func reassembles(t *testing.T, u uri.URI) {
	t.Helper()
	name, _ := u.Scheme()
	s, ok := Lookup(name)
	if !ok || s.Rules.Build == nil || HasError(s.Check(u)) {
		return
	}
	parts := s.Parts(u)
	built, err := s.Build(u.Dialect(), parts)
	if _, has := Get(parts, "fragment"); !has {
		u = u.WithoutFragment()
	}
	if err != nil || Canonical(built) != Canonical(u) {
		t.Errorf("Build(Parts(%q)) = %q, %v", u, built, err)
	}
	keepsParts(t, u, parts)
}

// keepsParts checks that the canonical form has the same parts, apart from a
// default port, the case of the host, redundant percent-encodings and implied
// parts.
func keepsParts(t *testing.T, u uri.URI, parts []Part) {
	t.Helper()
	if len(u.Path()) < 2 || strings.Contains(u.Path(), "/.") || strings.Contains(u.Path(), "/%2") {
		return // an empty path becomes "/", dot segments are removed
	}
	read := func(parts []Part) string {
		var b strings.Builder
		for _, p := range parts {
			text, _ := uri.Unescape(p.Value)
			if !slices.Contains([]string{"host", "port", "cell", "fragment"}, p.Name) && (p.Name != "path" || strings.Trim(text, "/") != "") {
				b.WriteString(p.Name + "=" + text + "\n")
			}
		}
		return b.String()
	}
	if c := Canonical(u); read(Parts(c)) != read(parts) {
		t.Errorf("Parts(%q) = %q, and of its canonical spelling %q: %q", u, read(parts), c, read(Parts(c)))
	}
}

// The slashes and ports of U03-60.
func TestRulesMakeOneSpelling(t *testing.T) { // U03-60
	for _, tt := range []struct{ in, want string }{
		{"HTTP://Example.COM:80", "http://example.com/"},
		{"http://example.com:/", "http://example.com/"},
		{"https://example.com:443/a", "https://example.com/a"},
		{"https://example.com:80/a", "https://example.com:80/a"},
		{"ftp://example.com:21", "ftp://example.com/"},
		{"wss://example.com:443", "wss://example.com/"},
	} {
		if got := uri.MustParse(tt.in).Normalize(uri.LevelScheme, Rules()...).String(); got != tt.want {
			t.Errorf("Normalize(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got, want := Standard().Rules(), Rules(); !slices.Equal(got, want) || got[0].Scheme != "http" {
		t.Errorf("Rules: %v and %v, want the same, http first", got, want)
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
	if Known("foo") || Known("x-foo") {
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

// Check does not allocate if there are no findings, and AppendParts allocates
// only its slice.
func TestAllocations(t *testing.T) {
	buffer := make([]Part, 0, 16)
	for s := range All() {
		u, err := uri.Parse(s.Example)
		if err != nil || s.Example == "" || len(s.Check(u)) > 0 {
			continue
		}
		if n := testing.AllocsPerRun(20, func() { Check(u) }); n != 0 {
			t.Errorf("Check(%q): got %v allocations, want 0", u, n)
		}
		if n := testing.AllocsPerRun(20, func() { AppendParts(buffer[:0], u) }); n != 0 {
			t.Errorf("AppendParts(%q): got %v allocations, want 0", u, n)
		}
	}
}
