package rule

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// cascade is a set as in the content negotiation of web servers.
func cascade() Set {
	to := func(file string) []nomen.Location { return []nomen.Location{{URL: "https://h.example/" + file}} }
	return Set{
		{
			Regexp: "terms", Locations: to("terms.ttl"), Status: 302,
			When:  []Condition{{On: "accept", Regexp: "text/turtle", Or: true}, {On: "accept", Regexp: `application/x-turtle`}},
			Tests: []Test{{From: "https://w.example/a/terms", To: []string{"https://h.example/terms.ttl"}, Request: Request{Accept: "text/turtle"}, Status: 302}},
		},
		{
			Regexp: "terms", Locations: to("{lang}/{+page}.html"),
			When: []Condition{
				{On: "user_agent", Regexp: "^mozilla", IgnoreCase: true},
				{On: "accept", Regexp: "json", Not: true},
				{On: "languages", Regexp: `(?P<lang>de|en)`},
				{On: "query", Regexp: `(?:^|&)p=(?P<page>[^&]*)`},
			},
			Query: QueryIgnore,
			Parts: map[string]Part{"page": {Escape: true}},
			Tests: []Test{{
				From: "https://w.example/a/terms", To: []string{"https://h.example/de/1.html"},
				Request: Request{UserAgent: "Mozilla/5.0", Languages: "fr, de;q=0.5", Query: "x&p=1"},
			}},
		},
		{
			Regexp: "terms", Status: 406,
			Tests: []Test{{From: "https://w.example/a/terms", Status: 406}},
		},
		{
			Regexp: "^$", Locations: to("root"), When: []Condition{{On: "path", Regexp: "^/a/$"}},
			Tests: []Test{{From: "https://w.example/a/", To: []string{"https://h.example/root"}}, {From: "https://w.example/a/other"}},
		},
		{
			Regexp: "merge/d/(?P<rest>.*)", Merge: true, Locations: to("{+rest}"), When: []Condition{{On: "path", Regexp: "^/a/merge/d"}},
			Tests: []Test{{From: "https://w.example/a/merge//d/x", To: []string{"https://h.example/x"}}},
		},
	}
}

func TestConditions(t *testing.T) {
	c, err := cascade().Check(name.MustParsePrefix("https://w.example/a"))
	if err != nil {
		t.Fatal(err)
	}
	browser := Request{UserAgent: "Mozilla/5.0", Accept: "text/html", Languages: "en", Query: "p=a%23b/c"}
	for _, tt := range []struct {
		name    string
		request Request
		want    string // URL or status
		on      Consulted
	}{
		{"terms", Request{Accept: "text/html, text/turtle;q=0.1"}, "https://h.example/terms.ttl", Consulted{Fields: true}},
		{"terms", Request{Accept: "application/x-turtle"}, "https://h.example/terms.ttl", Consulted{Fields: true}},
		{"terms", browser, "https://h.example/en/a%2523b/c.html", Consulted{true, true}},
		{"terms", Request{UserAgent: "Mozilla/5.0", Accept: "application/json", Languages: "en", Query: "p=1"}, "406", Consulted{true, true}},
		{"terms", Request{UserAgent: "Mozilla/5.0", Languages: "fr", Query: "p=1"}, "406", Consulted{true, true}},
		{"terms", Request{UserAgent: "curl/Mozilla"}, "406", Consulted{true, true}},
		{"terms", Request{Accept: strings.Repeat("x", maxValue) + "text/turtle"}, "406", Consulted{true, true}},
		{"", Request{Accept: "text/turtle"}, "https://h.example/root", Consulted{}},
		{"x", Request{Accept: "text/turtle"}, "", Consulted{}},
		{"merge//d//x/", Request{}, "https://h.example/x/", Consulted{}},
		{"/merge/d/x", Request{}, "https://h.example/x", Consulted{}},
	} {
		r, ok, on := c.Apply(name.MustParse("https://w.example/a/"+tt.name), tt.request)
		got := ""
		switch {
		case ok && len(r.Locations) > 0:
			got = r.Locations[0].URL
		case ok && r.Status == 406:
			got = "406"
		}
		if got != tt.want || on != tt.on {
			t.Errorf("%q, %+v: got %q, %+v, want %q, %+v", tt.name, tt.request, got, on, tt.want, tt.on)
		}
	}
}

func TestInvalidConditions(t *testing.T) {
	for _, tt := range []struct {
		what   string
		change func(*Rule)
	}{
		{"when", func(r *Rule) { r.When = []Condition{{On: "cookie", Regexp: "x"}} }},
		{"when", func(r *Rule) { r.When = []Condition{{On: "accept", Regexp: "(?=x)"}} }},
		{"when", func(r *Rule) { r.When = []Condition{{On: "accept", Regexp: ")("}} }},
		{"when", func(r *Rule) { r.When = []Condition{{On: "accept", Regexp: strings.Repeat("x", maxPattern+1)}} }},
		{"when", func(r *Rule) { r.When = []Condition{{On: "accept", Regexp: "x", Or: true}} }},
		{"when", func(r *Rule) { r.When = []Condition{{On: "accept", Regexp: "(?P<name>x)"}} }},
		{"when", func(r *Rule) { r.When = []Condition{{On: "accept", Regexp: "(?P<id>x)"}} }},
		{"when", func(r *Rule) { r.When = slices.Repeat([]Condition{{On: "accept", Regexp: "x"}}, maxConditions+1) }},
		{"locations", func(r *Rule) {
			r.When = []Condition{{On: "query", Regexp: "(?P<q>x)", Not: true}}
			r.Locations[0].URL = "https://h.example/{q}"
		}},
		{"locations", func(r *Rule) {
			r.When = []Condition{{On: "query", Regexp: "(?P<q>.*)"}}
			r.Locations[0].URL = "https://{q}/"
		}},
		{"status", func(r *Rule) { r.Status = 200 }},
		{"locations", func(r *Rule) { r.Status = 404 }},
		{"query", func(r *Rule) { r.Query = "x" }},
	} {
		r := Rule{
			Match: "{id}", Locations: []nomen.Location{{URL: "https://h.example/{id}"}},
			Tests: []Test{{From: "urn:x-t:1", To: []string{"https://h.example/1"}}},
		}
		tt.change(&r)
		_, err := Set{r}.Compile(name.MustParsePrefix("urn:x-t"))
		if e, ok := err.(*IndexError); !ok || e.What != tt.what {
			t.Errorf("%+v: %v, want an error about %s", r, err, tt.what)
		}
	}
}

// A value from a condition cannot change the host, the same as a part of a name.
func TestConditionsDoNotRedirectElsewhere(t *testing.T) {
	set := Set{{
		Match: "{id}", Locations: []nomen.Location{{URL: "https://{h}.example.org/{+rest}"}},
		When:  []Condition{{On: "query", Regexp: "^(?P<h>.*?)/(?P<rest>.*)$"}},
		Tests: []Test{{From: "urn:x-t:1", Request: Request{Query: "a/b"}, To: []string{"https://a.example.org/b"}}},
	}}
	c, err := set.Check(name.MustParsePrefix("urn:x-t"))
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"evil.example%2F/x", "evil.example#/x", "@evil.example/x", "a\r\nx/y", "a/../x", "a/%2e%2e/x"} {
		r, ok, _ := c.Apply(name.MustParse("urn:x-t:1"), Request{Query: query})
		if ok && len(r.Locations) > 0 {
			t.Errorf("%q: %s", query, r.Locations[0].URL)
		}
	}
}

func TestCostOfConditions(t *testing.T) {
	at := name.MustParsePrefix("urn:x-t")
	r := Rule{Match: "a", Locations: []nomen.Location{{URL: "https://h.example/"}}, Tests: []Test{{From: "urn:x-t:a", To: []string{"https://h.example/"}}}}
	var same, different Set
	for i := range 200 {
		for j := range 16 {
			r.When = append(r.When, Condition{On: "accept", Regexp: "text/" + strings.Repeat("a?", 20+j), Not: j > 0, Or: j < 15})
			if i > 0 {
				r.When[j].Regexp += strings.Repeat("b", i)
			}
		}
		if i == 0 {
			same = slices.Repeat(Set{r}, 200)
			for k := range same {
				same[k].Tests = []Test{{From: "urn:x-t:a", Request: Request{Accept: "x"}, To: []string{"https://h.example/"}}}
			}
			same = same[:1]
		}
		different = append(different, r)
		r.When = nil
	}
	different[0].Tests[0].Accept = "x"
	if _, err := same.Check(at); err != nil {
		t.Error(err)
	}
	c, err := different.prepare(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.checkCost(); err == nil {
		t.Error("3,200 different conditions are accepted")
	}
}

// Rules that ignore case cost nothing for names that begin with another text, like all other rules.
func TestCostOfFoldedRules(t *testing.T) {
	var set Set
	for i := range maxRules {
		word := strings.Map(func(r rune) rune { return 'g' + r - '0' }, string(rune('0'+i/1000))+string(rune('0'+i/100%10))+string(rune('0'+i/10%10))+string(rune('0'+i%10)))
		set = append(set, Rule{
			Regexp: "(" + word + "s)/.*", IgnoreCase: true, Locations: []nomen.Location{{URL: "https://h.example/" + word}},
			Tests: []Test{{From: "urn:x-t:" + strings.ToUpper(word) + "S/1", To: []string{"https://h.example/" + word}}},
		})
	}
	c, err := set.Check(name.MustParsePrefix("urn:x-t"))
	if err != nil {
		t.Fatal(err)
	}
	if p := c.rules[0].pattern; p.Match("gggg\u017f/") == nil {
		t.Error("a letter that folds outside ASCII is skipped")
	}
}
