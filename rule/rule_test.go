package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

func TestMatch(t *testing.T) {
	type parts = map[string]string
	for _, tt := range []struct {
		pattern, element string
		fold             bool
		want             parts
	}{
		{"rfc{n:d1-5}", "rfc2648", false, parts{"n": "2648"}},
		{"rfc{n:d1-5}", "rfc", false, nil},
		{"rfc{n:d1-5}", "rfc123456", false, nil},
		{"rfc{n:d1-5}", "RFC2648", false, nil},
		{"rfc{n:d1-5}", "RFC2648", true, parts{"n": "2648"}},
		{"{year:d4}-{rest:*}", "2026-a/b:c\nd", false, parts{"year": "2026", "rest": "a/b:c\nd"}},
		{"{year:d4}-{rest:*}", "2026-", false, parts{"year": "2026", "rest": ""}},
		{"{a}:{b}", "x:y", false, parts{"a": "x", "b": "y"}},
		{"{a}:{b}", "x:y:z", false, nil},
		{"{a:a}{d:d}", "abc12", false, parts{"a": "abc", "d": "12"}},
		{"{h:x8}", "00fFaA12", false, parts{"h": "00fFaA12"}},
		{"{h:x8}", "00fFaA1", false, nil},
		{"{h:x2-}", "00f", false, parts{"h": "00f"}},
		{"{n:n}", "a_b", false, nil},
		{`\{{n}\}.\\`, `{a}.\`, false, parts{"n": "a"}},
		{"a.c", "abc", false, nil},
		{"", "", false, parts{}},
		{"", "a", false, nil},
		{"{s}", "\u017f", true, parts{"s": "\u017f"}},
		{"s", "\u017f", true, parts{}}, // folded as in package regexp; only matters outside names, which are ASCII
	} {
		p, err := ParsePattern(tt.pattern, tt.fold)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := p.Match(tt.element); !maps.Equal(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%s on %q: %q, want %q", tt.pattern, tt.element, got, tt.want)
		}
	}
}

func TestRegexpMatch(t *testing.T) {
	for _, tt := range []struct {
		re, element string
		want        map[string]string
	}{
		{`(?P<n>\d+)|(?P<w>\w+)`, "12", map[string]string{"n": "12"}},
		{`(?P<n>\d+)|(?P<w>\w+)`, "ab", map[string]string{"w": "ab"}},
		{`(?P<n>\d+)|(?P<w>\w+)`, "12 ab", nil},
		{`^(?P<n>\d+)$`, "12", map[string]string{"n": "12"}},
		{`^(?P<n>\d+)$`, "12\n", nil},
	} {
		p, err := ParseRegexp(tt.re, false)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := p.Match(tt.element); !maps.Equal(got, tt.want) {
			t.Errorf("%s on %q: %q, want %q", tt.re, tt.element, got, tt.want)
		}
	}
}

func TestPatternRefused(t *testing.T) {
	for _, tt := range []struct {
		in     string
		offset int
		rule   string
	}{
		{"a{b", 1, "part"},
		{"a}", 1, "literal"},
		{`a\`, 1, "literal"},
		{"{}", 1, "name"},
		{"{1a}", 1, "name"},
		{"{a-b}", 2, "name"},
		{"{a:}", 3, "class"},
		{"{a:q}", 3, "class"},
		{"{a:d-}", 4, "count"},
		{"{a:d5-2}", 4, "count"},
		{"{a:d1001}", 4, "count"},
		{"{a}{a}", 4, "name"},
		{strings.Repeat("{a:d1000}", 1) + strings.Repeat("x", 1) + "{b:*1000}{c:n1000}{d:n1000}{e:n1000}{f:n1000}{g:n1000}{h:n1000}{i:n1000}{j:n1000}", 0, "pattern"},
		{strings.Repeat("x", maxPattern+1), maxPattern, "pattern"},
	} {
		_, err := ParsePattern(tt.in, false)
		checkRefusal(t, tt.in, err, tt.offset, tt.rule)
	}
	for _, tt := range []struct {
		in     string
		offset int
	}{
		{"a(", 0},
		{")(", 0},
		{`(a)\1`, 3},
		{"(?=a)", 0},
		{strings.Repeat("x", maxPattern+1), maxPattern},
	} {
		_, err := ParseRegexp(tt.in, false)
		checkRefusal(t, tt.in, err, tt.offset, "regular expression")
	}
}

func checkRefusal(t *testing.T, in string, err error, offset int, rule string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Offset != offset || e.Rule != rule || e.Message == "" {
		t.Errorf("%.40q: %v, want %s at %d", in, err, rule, offset)
	}
}

var rfcs = name.MustParsePrefix("urn:ietf:rfc")

const rfcRules = `[{
	"match": "{number:d1-5}",
	"parts": {"number": {"trim": "0"}},
	"locations": [
		{"url": "https://www.rfc-editor.org/rfc/rfc{number}.txt", "type": "text/plain"},
		{"url": "https://www.rfc-editor.org/info/rfc{number}", "rel": "describedby", "priority": 2}
	],
	"same_as": ["urn:doi:10.17487/rfc{number}"],
	"tests": [
		{"from": "urn:ietf:rfc:2648", "to": ["https://www.rfc-editor.org/rfc/rfc2648.txt", "https://www.rfc-editor.org/info/rfc2648"]},
		{"from": "URN:IETF:RFC:0020", "to": ["https://www.rfc-editor.org/rfc/rfc20.txt", "https://www.rfc-editor.org/info/rfc20"]},
		{"from": "urn:ietf:rfc:x"}
	]
}]`

func parseSet(t testing.TB, s string) Set {
	t.Helper()
	var set Set
	if err := json.Unmarshal([]byte(s), &set); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestApply(t *testing.T) {
	c, err := parseSet(t, rfcRules).Compile(rfcs)
	if err != nil {
		t.Fatal(err)
	}
	r, ok, _ := c.Apply(name.MustParse("urn:ietf:rfc:9110"), Request{})
	want := []nomen.Location{
		{URL: "https://www.rfc-editor.org/rfc/rfc9110.txt", Type: "text/plain"},
		{URL: "https://www.rfc-editor.org/info/rfc9110", Rel: "describedby", Priority: 2},
	}
	if !ok || !slices.Equal(r.Locations, want) || !slices.Equal(r.SameAs, []string{"urn:doi:10.17487/rfc9110"}) ||
		r.Rule != 0 || r.Pattern != "{number:d1-5}" || r.Left != nil {
		t.Errorf("Apply: %+v, %v", r, ok)
	}
	for _, other := range []string{"urn:ietf:rfc:1a", "urn:ietf:std:1", "urn:ietf:rfc"} {
		if r, ok, _ := c.Apply(name.MustParse(other), Request{}); ok || r != nil {
			t.Errorf("Apply(%s): %+v", other, r)
		}
	}
}

func TestFirstRuleDecides(t *testing.T) {
	set := parseSet(t, `[
		{"match": "1{rest:*}", "locations": [{"url": "https://one.example/{rest}"}], "tests": [{"from": "urn:ietf:rfc:12", "to": ["https://one.example/2"]}]},
		{"match": "{all:*}", "locations": [{"url": "https://all.example/{all}"}], "tests": [{"from": "urn:ietf:rfc:2", "to": ["https://all.example/2"]}]}
	]`)
	c, err := set.Compile(rfcs)
	if err != nil {
		t.Fatal(err)
	}
	for element, want := range map[string]string{"1": "https://one.example/", "21": "https://all.example/21"} {
		if r, _, _ := c.Apply(name.MustParse("urn:ietf:rfc:"+element), Request{}); len(r.Locations) != 1 || r.Locations[0].URL != want {
			t.Errorf("Apply(%s): %+v, want %s", element, r, want)
		}
	}
	slices.Reverse(set)
	var e *TestError
	if _, err := set.Compile(rfcs); !errors.As(err, &e) || e.Matched != 0 || e.Rule != 1 {
		t.Errorf("a rule that an earlier one hides: %v", err)
	}
}

func TestPartsAreChanged(t *testing.T) {
	for _, tt := range []struct {
		part     Part
		in, want string
	}{
		{Part{}, "aB-0", "aB-0"},
		{Part{Case: "lower"}, "aB\u00c4", "ab\u00c4"},
		{Part{Case: "upper"}, "aB{", "AB{"},
		{Part{Drop: "- "}, "978-3 16", "978316"},
		{Part{Trim: "0"}, "0020", "20"},
		{Part{Trim: "0"}, "000", "0"},
		{Part{Pad: 4}, "20", "0020"},
		{Part{Pad: 4}, "12345", "12345"},
		{Part{Drop: "-", Trim: "0", Case: "upper", Pad: 6}, "00-0a-b", "0000AB"},
		{Part{Trim: "0"}, "", ""},
		{Part{Trim: "é0"}, "0éé", "é"}, // whole characters
		{Part{Pad: 4}, "éé", "00éé"},
	} {
		if got := tt.part.apply(tt.in); got != tt.want {
			t.Errorf("%+v on %q: %q, want %q", tt.part, tt.in, got, tt.want)
		}
	}
}

func TestEscapes(t *testing.T) {
	rule := Rule{
		Match:     "{x:*}",
		Locations: []nomen.Location{{URL: "https://e.example/{x}"}, {URL: "https://e.example/{+x}"}, {URL: "https://e.example/?q={x}"}},
		Tests:     []Test{{From: "urn:x-t:a%2Fb%C3%A4", To: []string{"https://e.example/a%2Fb%C3%A4", "https://e.example/a/b%C3%A4", "https://e.example/?q=a%2Fb%C3%A4"}}},
	}
	if _, err := (Set{rule}).Compile(name.MustParsePrefix("urn:x-t")); err != nil {
		t.Error(err)
	}
	rule.Raw = true
	rule.Tests[0].To = []string{"https://e.example/a%252Fb%25C3%25A4", "https://e.example/a%2Fb%C3%A4", "https://e.example/?q=a%252Fb%25C3%25A4"}
	if _, err := (Set{rule}).Compile(name.MustParsePrefix("urn:x-t")); err != nil {
		t.Error(err)
	}
}

// TestApostropheInALocation has a key of OData between apostrophes.
func TestApostropheInALocation(t *testing.T) {
	rule := Rule{
		Match:     "{x:*}",
		Locations: []nomen.Location{{URL: "https://e.example/Products('{x}')?$select='{x}'"}},
		Tests:     []Test{{From: "urn:x-t:o'brien", To: []string{"https://e.example/Products('o%27brien')?$select='o%27brien'"}}},
	}
	if _, err := (Set{rule}).Compile(name.MustParsePrefix("urn:x-t")); err != nil {
		t.Error(err)
	}
}

// TestNoNameLeadsElsewhere checks that the host is the literal one for every name.
func TestNoNameLeadsElsewhere(t *testing.T) {
	rule := Rule{
		Match:     "{a}:{b:*}",
		Locations: []nomen.Location{{URL: "https://{a}.example.org/docs/{+b}"}, {URL: "https://example.org/docs/{b}"}},
		Tests:     []Test{{From: "urn:x-t:a:b", To: []string{"https://a.example.org/docs/b", "https://example.org/docs/b"}}},
	}
	c, err := (Set{rule}).Compile(name.MustParsePrefix("urn:x-t"))
	if err != nil {
		t.Fatal(err)
	}
	for element, left := range map[string]int{
		"a%40evil:b":       1,
		"a%23:b":           1,
		"-a:b":             1,
		"a.b:b":            1,
		"a:..%2F..%2Fx":    2, // "{b}" escapes the slash, but some readers decode it
		"a:..":             2,
		"a:.":              2,
		"a:x%2F%2E%2E%2Fy": 2,
		"a:%255C..%255Cx":  1,
		"a:x%0D%0AY:%20z":  0,
		"a:%252e%252e":     1,
	} {
		r, ok, _ := c.Apply(name.MustParse("urn:x-t:"+element), Request{})
		if !ok {
			t.Errorf("%s: no rule", element)
			continue
		}
		if len(r.Left) != left {
			t.Errorf("%s: %+v, want %d locations left out", element, r, left)
		}
		for _, l := range r.Locations {
			u, err := uri.Parse(l.URL)
			if host, _ := u.Host(); err != nil || !strings.HasSuffix("."+host, ".example.org") || !strings.HasPrefix(u.Path(), "/docs/") {
				t.Errorf("%s: leads to %q", element, l.URL)
			}
		}
	}
}

func TestPlacesRefused(t *testing.T) {
	for _, tt := range []struct{ url, rule string }{
		{"{x}", "scheme"},
		{"{x}://example.org/", "scheme"},
		{"htt{x}://example.org/", "scheme"},
		{"/a/{x}", "scheme"},
		{"1x:{x}", "scheme"},
		{"https:{x}", "hier-part"},
		{"https:{+x}", "hier-part"},
		{"https:/{x}", "hier-part"},
		{"https://", "host"},
		{"https:///{x}", "host"},
		{"https://{x}", "host"},
		{"https://{x}/", "host"},
		{"https://{x}.org/", "host"},
		{"https://{x}example.org/", "host"},
		{"https://example.{x}/", "host"},
		{"https://example.org:{x}/", "host"},
		{"https://example.org{x}/", "host"},
		{"https://example.org{/x}/", "authority"},
		{"https://example.org{?x}", "authority"},
		{"https://{+x}.example.org/", "authority"},
		{"https://{x,x}.example.org/", "authority"},
		{"https://{x:3}.example.org/", "authority"},
		{"https://u@example.org/{x}", "userinfo"},
		{"https://{x}@example.org/", "userinfo"},
		{"https:example.org/{x}", "hier-part"},
		{"x:{+x}", "hier-part"},
		{"x:/{x}", "hier-part"},
		{"x:{/x}", "hier-part"},
		{"https://{x}@a.example.org/", "userinfo"},
		{"https://{x}.example.org:65536/", "port"},
		{"ssh://example.org/{x}", "scheme"},
		{"file:///a/{x}", "host"},
		{"telnet://-oX/{x}", "host"},
	} {
		set := Set{{Match: "{x}", Locations: []nomen.Location{{URL: tt.url}}}}
		_, err := set.Compile(rfcs)
		var e *Error
		if !errors.As(err, &e) || e.Rule != tt.rule || e.Offset > len(tt.url) {
			t.Errorf("%s: %v, want %s", tt.url, err, tt.rule)
		}
	}
	for _, url := range []string{
		"https://example.org", "https://example.org/{x}", "https://example.org?{x}", "https://{x}.example.org",
		"https://a-{x}.{x}.example.org:8080/{x}", "urn:isbn:{x}", "mailto:{x}@example.org",
	} {
		template, err := parseTemplate(url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newPlace(nomen.Location{URL: url}, template); err != nil {
			t.Error(err)
		}
	}
}

// TestRefused checks that an invalid set is rejected with a helpful message.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ change, with, want string }{
		{`"match": "{number:d1-5}",`, ``, `rule 1: match: missing pattern`},
		{`"match": "{number:d1-5}",`, `"match": "{number:d1-5}", "regexp": "a",`, `rule 1: regexp: "match" is also given`},
		{`"{number:d1-5}"`, `"{number:q}"`, `rule 1: match: rule: "{number:q}": offset 8: class`},
		{`"{number:d1-5}"`, `"{number}{name}"`, `the name of the part "name" is reserved`},
		{`rfc{number}.txt`, `rfc{nr}.txt`, `unknown variable "nr": must be one of name, element, prefix, number`},
		{`"number": {`, `"nr": {`, `the pattern has no part "nr"`},
		{`"trim": "0"`, `"case": "title"`, `invalid case "title": must be "lower" or "upper"`},
		{`"trim": "0"`, `"pad": 9999`, `pad must be 1 to 256`},
		{`"urn:ietf:rfc:x"`, `"urn:ietf:std:1"`, `urn:ietf:std:1 is not under urn:ietf:rfc`},
		{`"urn:ietf:rfc:x"`, `"urn:ietf:rfc:3"`, `test 3 of rule 1: urn:ietf:rfc:3: rule 1 gives https://www.rfc-editor.org/rfc/rfc3.txt https://www.rfc-editor.org/info/rfc3, but the name may match no rule`},
		{`"URN:IETF:RFC:0020"`, `"URN:IETF:RFC:0021"`, `rule 1 gives https://www.rfc-editor.org/rfc/rfc21.txt`},
		{`"URN:IETF:RFC:0020"`, `"URN:IETF:RFC:002x"`, `urn:ietf:rfc:002x: no rule matches, but the test expects https://www.rfc-editor.org/rfc/rfc20.txt`},
		{`"URN:IETF:RFC:0020"`, `"URN:IETF:RFC:%"`, `rule 1: tests: name:`},
	} {
		s := strings.Replace(rfcRules, tt.change, tt.with, 1)
		if s == rfcRules {
			t.Fatalf("%s is not in the rules", tt.change)
		}
		_, err := parseSet(t, s).Compile(rfcs)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(tt.want)) {
			t.Errorf("%s instead of %s: %v, want %s", tt.with, tt.change, err, tt.want)
		}
	}
	set := parseSet(t, rfcRules)
	set[0].Tests = set[0].Tests[2:]
	if _, err := set.Compile(rfcs); err == nil || !strings.Contains(err.Error(), "at least one test must match") {
		t.Errorf("a rule without a test that shows what it gives: %v", err)
		t.Errorf("a rule without a test that shows what it gives: %v", err)
	}
	set[0].Locations, set[0].SameAs = nil, nil
	if _, err := set.Compile(rfcs); err == nil || !strings.Contains(err.Error(), "locations") {
		t.Errorf("a rule that gives nothing: %v", err)
	}
	if _, err := make(Set, maxRules+1).Compile(rfcs); err == nil {
		t.Error("more rules than a set may have")
	}
	var many *IndexError
	if _, err := make(Set, maxRules).Compile(rfcs); errors.As(err, &many) && many.Rule == maxRules {
		t.Errorf("as many rules as a set may have: %v", err)
	}
}

func FuzzRules(f *testing.F) {
	f.Add("{x}", "https://{x}.example.org/{+x}", "a%2Fb")
	f.Add("(?P<x>.)+", "urn:isbn:{x}{name}", "..")
	f.Fuzz(func(t *testing.T, pattern, template, element string) {
		n, err := name.Parse("urn:x-t:" + element)
		if err != nil {
			return
		}
		p, err := ParsePattern(pattern, false)
		if err != nil {
			if p, err = ParseRegexp(pattern, false); err != nil {
				return
			}
		}
		tmpl, err := parseTemplate(template)
		if err != nil {
			return
		}
		where, err := newPlace(nomen.Location{}, tmpl)
		if err != nil {
			return
		}
		if p.re.MatchString(element) && p.steps(element) == 0 {
			t.Fatalf("%q matches %q, and is not tried: it begins with %q, and is at most %d bytes long", pattern, element, p.begin, p.most)
		}
		c := &Compiled{prefix: name.MustParsePrefix("urn:x-t"), rules: []compiledRule{{pattern: p, locations: []place{where}}}}
		r, ok, _ := c.Apply(n, Request{})
		if !ok {
			return
		}
		for _, l := range r.Locations {
			u, err := uri.Parse(l.URL)
			if err != nil {
				t.Fatalf("%q gives %q: %v", template, l.URL, err)
			}
			if _, ok := u.Userinfo(); ok {
				t.Fatalf("%q gives %q", template, l.URL)
			}
		}
	})
}

func BenchmarkApply(b *testing.B) {
	c, err := parseSet(b, rfcRules).Compile(rfcs)
	if err != nil {
		b.Fatal(err)
	}
	n := name.MustParse("urn:ietf:rfc:9110")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, _ := c.Apply(n, Request{}); !ok {
			b.Fatal("no rule")
		}
	}
}

func ExampleSet_Compile() {
	var set Set
	err := json.Unmarshal([]byte(`[{
		"match": "{year:d4}-{number:d}",
		"parts": {"number": {"pad": 5}},
		"locations": [{"url": "https://archive.example.org/{year}/{number}.pdf", "type": "application/pdf"}],
		"tests": [{"from": "urn:example:2026-7", "to": ["https://archive.example.org/2026/00007.pdf"]}]
	}]`), &set)
	if err != nil {
		panic(err)
	}
	rules, err := set.Compile(name.MustParsePrefix("urn:example"))
	if err != nil {
		panic(err)
	}
	r, ok, _ := rules.Apply(name.MustParse("urn:example:1999-4711"), Request{})
	fmt.Println(ok, r.Locations[0].URL)
	// Output: true https://archive.example.org/1999/04711.pdf
}
