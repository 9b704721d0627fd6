package bulk

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// withRules returns a store with authorities, and two names.
func withRules(t *testing.T, all ...*store.Authority) store.Store {
	t.Helper()
	s := put(t, []*store.Record{
		{Name: name.FromKey("https://id.example/x/a.b"), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://h.example/a?x=$1#y"}}},
		{Name: name.FromKey("https://id.example/x/sub/c"), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://h.example/c"}}},
	})
	for _, a := range all {
		if _, err := s.Apply(context.Background(), []store.Change{{Authority: a, Time: time.Unix(1, 0)}}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func authority(prefix string, rules ...rule.Rule) *store.Authority {
	return &store.Authority{Prefix: name.MustParsePrefix(prefix), Policy: store.Policy{Rules: rules}}
}

func to(url string) []nomen.Location { return []nomen.Location{{URL: url}} }

// TestExportRules compares exported rules with directives that were written by hand from the manuals
// of mod_rewrite and of the PURL server.
func TestExportRules(t *testing.T) {
	s := withRules(
		t,
		authority("https://id.example/x",
			rule.Rule{Match: "doc/{id}", Locations: to("https://h.example/d/{id}"), Status: 302},
			rule.Rule{
				Regexp: `(?P<rest>v[0-9]+/.*)`, Locations: to("https://h.example/{+rest}?v=1"), Query: rule.QueryAppend,
				When: []rule.Condition{{On: "accept", Regexp: `text/html`, IgnoreCase: true}},
			},
			rule.Rule{Match: "gone", Status: 410},
			rule.Rule{Regexp: `say"(?P<w>.)`, Locations: to("https://h.example/{w}")},
		),
		authority("https://id.example/x/sub", rule.Rule{Match: "1", Locations: to("https://h.example/1")}),
	)
	for _, tt := range []struct {
		format  Format
		want    []string
		refused []string
	}{
		{
			Htaccess,
			[]string{
				`RewriteEngine On`,
				`RewriteRule "^a\.b\z" "https://h.example/a?x=\$1#y" [R=303,NE,L]`,
				`RewriteRule "^sub/c\z" "https://h.example/c" [R=303,NE,L,QSD]`,
				`RewriteRule "^sub(?:/(?![/:])|(?=[:]|/[/:]))1\z" "https://h.example/1" [R=303,L,NE,QSD]`,
				`RewriteRule "^sub(?:/(?![/:])|(?=[:]|/[/:]))" "-" [R=404,L]`,
				`RewriteRule "^doc/([^/:]+)\z" "https://h.example/d/$1" [R=302,L,NE,B,BNP,QSD]`,
				`RewriteCond %{HTTP_ACCEPT} "(?:text/html)" [NC]`,
				`RewriteRule "^(?s:(v[0-9]+/.*))\z" "https://h.example/$1?v=1" [R=303,L,NE,QSA]`,
				`RewriteRule "^gone\z" "-" [G]`,
				`RewriteRule "^(?s:say\x22(.))\z" "https://h.example/$1" [R=303,L,NE,B,BNP,QSD]`,
			},
			nil,
		},
		{
			OBOYAML,
			[]string{
				`idspace: "X"`,
				`base_url: "/x"`,
				`term_browser: custom`,
				`products: []`,
				`entries:`,
				`- exact: "/a.b"`,
				`  replacement: "https://h.example/a?x=$1#y"`,
				`  status: see other`,
				`- exact: "/sub/c"`,
				`  replacement: "https://h.example/c"`,
				`  status: see other`,
				`- regex: "^/x/sub(?:/(?![/:])|(?=[:]|/[/:]))1$"`,
				`  replacement: "https://h.example/1"`,
				`  status: see other`,
			},
			[]string{
				"https://id.example/x/sub rules: names without a rule here get rules of an authority above",
				"https://id.example/x rules[0]: its template percent-encodes the delimiters of a part",
				"https://id.example/x rules[1]: it has conditions",
				"https://id.example/x rules[2]: the OBO Foundry does not have the status 410",
				"https://id.example/x rules[3]: its template percent-encodes the delimiters of a part",
			},
		},
	} {
		text, sum, refused := exported(t, s, ExportOptions{Format: tt.format, Prefix: "https://id.example/x"})
		var got, reasons []string
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
				got = append(got, line)
			}
		}
		for _, r := range refused {
			reasons = append(reasons, r.Name+" "+r.Field+": "+r.Reason)
		}
		if !slices.Equal(got, tt.want) || !slices.Equal(reasons, tt.refused) || sum.Read != 2 || int(sum.Refused) != len(tt.refused) {
			t.Errorf("%s: %+v %s\n%s", tt.format, sum, cmp.Diff(tt.want, got), cmp.Diff(tt.refused, reasons))
		}
	}
}

// TestRulesNotExported has the reasons for which a web server cannot do what a rule does.
func TestRulesNotExported(t *testing.T) {
	ok := rule.Rule{Regexp: `(?P<w>.+)`, Locations: to("https://h.example/{w}")}
	change := func(f func(r *rule.Rule)) rule.Rule {
		r := ok
		f(&r)
		return r
	}
	for _, tt := range []struct {
		rule rule.Rule
		want string
	}{
		{ok, ""},
		{change(func(r *rule.Rule) { r.Raw = true }), "matched with the escapes"},
		{change(func(r *rule.Rule) { r.Locations, r.SameAs = nil, []string{"urn:example:{w}"} }), "only aliases"},
		{change(func(r *rule.Rule) { r.Locations = append(to("https://b.example/"), to("https://c.example/")...) }), "several locations"},
		{change(func(r *rule.Rule) { r.Parts = map[string]rule.Part{"w": {Trim: "0"}} }), `converts the part "w"`},
		{change(func(r *rule.Rule) { r.Locations = to("https://h.example/{name}") }), "its template has {name}"},
		{change(func(r *rule.Rule) { r.Locations = to("https://h.example/{w}/{+w}") }), "escapes some parts, and not others"},
		{change(func(r *rule.Rule) { r.Locations = to(`https://h.example/"{w}`) }), "quotation mark"},
		{change(func(r *rule.Rule) { r.Regexp = "(?P<w>é+)" }), "not visible ASCII"},
		{change(func(r *rule.Rule) { r.Regexp = `(?P<w>\p{L}+)` }), "not visible ASCII"},
	} {
		a := authority("https://id.example/x", tt.rule)
		_, _, refused := exported(t, withRules(t, a), ExportOptions{Format: Htaccess, Prefix: "https://id.example/x"})
		if (len(refused) > 0) != (tt.want != "") || len(refused) > 0 && !strings.Contains(refused[0].Reason, tt.want) {
			t.Errorf("%+v: %v, want %q", tt.rule, refused, tt.want)
		}
	}
	if _, err := (ExportOptions{Format: OBOYAML, Prefix: "urn:example"}).encoder(time.Now()); err == nil {
		t.Error("obo-yaml without a directory is accepted")
	}
}
