package rewrite

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/rule"
)

// An expression that must match a whole element gives the same groups as a search, and so the samples
// of an expression match it.
func TestWhole(t *testing.T) {
	texts := []string{"", "a", "ab", "abc", "xabcx", "a/b", "/a", "b", "ABC", "a1", "1a2", "aaa", "b.ttl", "x/y/z.html"}
	for _, tt := range []struct {
		pattern string
		fold    bool
	}{
		{"", false},
		{"^$", false},
		{"^", false},
		{"$", false},
		{"a", false},
		{"^a", false},
		{"b$", false},
		{"^abc$", false},
		{"^a|b$", false},
		{"^(a|b)$", false},
		{"^a$|^b$", false},
		{"(^a)(b?)", false},
		{"(.+)/(.*)$", false},
		{"^abc$", true},
		{"(a+?)", false},
		{"^(?:a|(b))", false},
		{"([0-9])(a)?", false},
		{"^(.*)\\.(ttl|html)$", false},
		{"(^|/)b$", false},
		{"^()$", false},
	} {
		flags := ""
		if tt.fold {
			flags = "(?i)"
		}
		e, err := Parse(tt.pattern, tt.fold, "g")
		if err != nil {
			t.Fatal(err)
		}
		p, err := rule.ParseRegexp(e.Whole("g0"), false)
		if err != nil {
			t.Fatalf("%s: %v", tt.pattern, err)
		}
		searched := regexp.MustCompile(flags + "(" + tt.pattern + ")")
		for _, s := range texts {
			want := searched.FindStringSubmatch(s)
			got := p.Match(s)
			if (got != nil) != (want != nil) {
				t.Errorf("%s as %s on %q: got %q, want %q", tt.pattern, e.Whole("g0"), s, got, want)
				continue
			}
			for i := range want {
				if label := "g" + string(rune('0'+max(i-1, 0))); i > 0 && got[label] != want[i] {
					t.Errorf("%s as %s on %q: %s is %q, want %q", tt.pattern, e.Whole("g0"), s, label, got[label], want[i])
				}
			}
		}
		matched := slices.ContainsFunc([]int{0, 1, 2, 3, 4, 5, 6, 7}, func(variant int) bool { return searched.MatchString(e.Sample(variant)) })
		if !matched {
			t.Errorf("%s: no sample matches", tt.pattern)
		}
	}
}

func TestMatchesAll(t *testing.T) {
	for pattern, want := range map[string]bool{".*": true, "^(.+)$": true, "^(.*)": true, "^": true, "^a": false, "^$": false, "a|.*": false, "": true} {
		e, err := Parse(pattern, false, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := e.MatchesAll(); got != want {
			t.Errorf("%q: got %v, want %v", pattern, got, want)
		}
	}
}

func TestMayMatchAfter(t *testing.T) {
	for pattern, want := range map[string]bool{
		".*": true, "a": true, "": true, "^a": false, "^h": true, "^$": false, "^(ont|data)": false, "^(ont|http)": true, "^.ttl": false, "^.ttps://.": true,
		"^[a-z]+/?$": false, "^[a-z:/.]+$": true, "^(core|code)(/|#)*": false, "ttl$": true, "^https://a.example/$": true, "^https://a.example$": false,
		`^\w+\b:`: true, "(?i)^HTTPS": true, "^https://b": false, "^https://a.example/b": true, "^.{17}": true, "^[^/]*$": false,
	} {
		e, err := Parse(pattern, false, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := e.MayMatchAfter("https://a.example/"); got != want {
			t.Errorf("%q: got %v, want %v", pattern, got, want)
		}
	}
}

func TestNever(t *testing.T) {
	for pattern, want := range map[string]bool{"": false, "^$": false, "a$1": true, "^view-$1": true, "a^b": true, "(a$)b|c": false, "a$b*": false, "^^a$$": false, "a.*$": false, "(?:$a)+": true} {
		e, err := Parse(pattern, false, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Never(); got != want {
			t.Errorf("%q: got %v, want %v", pattern, got, want)
		}
	}
}

func TestLiteral(t *testing.T) {
	for pattern, want := range map[string]string{"^$": "", "^a/b$": "a/b", `^a\.b$`: "a.b", "^(a)$": "a", "^a": "-", "a$": "-", "^a.$": "-", "^(?i:a)$": "-", "^a|b$": "-"} {
		e, err := Parse(pattern, false, "")
		if err != nil {
			t.Fatal(err)
		}
		got, ok := e.Literal()
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", pattern, got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for _, tt := range []struct {
		build func(*Target)
		want  string // "" if it is rejected
	}{
		{func(x *Target) { x.Literal("https://a.example/b c#d%20{e}", true) }, "https://a.example/b%20c%23d%2520%7Be%7D"},
		{func(x *Target) { x.Literal("https://a.example/b c#d%20", false) }, "https://a.example/b%20c#d%20"},
		{func(x *Target) { x.Literal("https://a.example/", false); x.Part("g1", true, false) }, "https://a.example/{+g1}"},
		{func(x *Target) {
			x.Literal("https://", false)
			x.Part("g1", true, false)
			x.Literal(".a.example/", false)
		}, "https://{g1}.a.example/"},
		{func(x *Target) { x.Part("g1", true, false); x.Literal("://a.example/", false) }, ""},
		{func(x *Target) { x.Literal("https://", false); x.Part("g1", true, false) }, ""},
		{func(x *Target) { x.Literal("https://", false); x.Part("g1", true, false); x.Literal("/x.y", false) }, ""},
	} {
		var x Target
		tt.build(&x)
		if got, err := x.Template(); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("got %q, %v, want %q", got, err, tt.want)
		}
	}
}

func TestWitness(t *testing.T) {
	for _, tt := range []struct {
		all         []string // "!" for a text that the expression must not match
		text        string
		found, none bool
	}{
		{nil, "", true, false},
		{[]string{"^/w/$"}, "", true, false},
		{[]string{"^/w$"}, "", false, true},
		{[]string{`^/w/(\d+\.\d+)$`, "^/w/(.*)$"}, "7.7", true, false},
		{[]string{`^/w/(\d+\.\d+)$`, "!^/w/(.*)$"}, "", false, true},
		{[]string{"!^/w/a", "!^/w/$", "[a-c]$"}, "b", true, false},
		{[]string{"a", "!b", "c$", "!^/w/ac"}, "aac", true, false},
		{[]string{"^/w/[^ -~]$"}, "é", true, false},
		{[]string{"^/w/ж$"}, "ж", true, false},
		{[]string{"^/w/a$", "!^/W/A$"}, "a", true, false},
		{[]string{"a\\b"}, "", false, false},
		{[]string{"(a.?){1000}y"}, "", false, false},
		{slices.Repeat([]string{"a"}, maxRequirements+1), "", false, false},
	} {
		var all []Requirement
		for _, s := range tt.all {
			s, not := strings.CutPrefix(s, "!")
			e, err := Parse(s, false, "")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Requirement{Expression: e, Before: "/w/", Not: not})
		}
		if text, found, none := Witness(all); text != tt.text || found != tt.found || none != tt.none {
			t.Errorf("%q: got %q, %v, %v", tt.all, text, found, none)
		}
	}
}
