package resolve_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// A desk is an engine with two authorities, urn:x-a and ark:12345, that have the same policy.
type desk struct {
	t      *testing.T
	engine *resolve.Engine
}

func newDesk(t *testing.T, p store.Policy, o resolve.Options, records ...*store.Record) *desk {
	t.Helper()
	if o.Pick == nil {
		o.Pick = func(int) int { return 0 }
	}
	s := fill(t, records, []*store.Authority{
		{Prefix: name.MustParsePrefix("urn:x-a"), Policy: p}, {Prefix: name.MustParsePrefix("ark:12345"), Policy: p},
	})
	return &desk{t, resolve.New(s, o)}
}

// named returns the name with this element under urn:x-a, or with this spelling.
func named(element string) name.Name {
	if strings.HasPrefix(element, "ark:") {
		return name.MustParse(element)
	}
	return name.MustParse("urn:x-a:" + element)
}

// ask asks for a service of the name with this element.
func (d *desk) ask(s nomen.Service, element string, change ...func(*nomen.Question)) (*nomen.Answer, error) {
	q := nomen.Question{Name: named(element), Service: s}
	for _, c := range change {
		c(&q)
	}
	return d.engine.Resolve(d.t.Context(), q)
}

// leads checks that I2L of an element returns a URL.
func (d *desk) leads(element, want string, change ...func(*nomen.Question)) {
	d.t.Helper()
	a, err := d.ask(nomen.I2L, element, change...)
	if err != nil {
		d.t.Errorf("%s: %v, want %s", element, err, want)
		return
	}
	if len(a.Locations) != 1 || a.Locations[0].URL != want || a.Redirect != "" || a.Service != nomen.I2L || a.Name != named(element) {
		d.t.Errorf("%s: %+v, want %s", element, a, want)
	}
}

// refuses checks that a question returns an error of this kind.
func (d *desk) refuses(k nomen.Kind, s nomen.Service, element string, change ...func(*nomen.Question)) *nomen.Error {
	d.t.Helper()
	a, err := d.ask(s, element, change...)
	var e *nomen.Error
	if !errors.As(err, &e) || e.Kind != k || a != nil || e.Message == "" {
		d.t.Errorf("%s of %s: %+v, %v, want %s", s, element, a, err, k)
		return &nomen.Error{}
	}
	return e
}

func urls(a *nomen.Answer) (all []string) {
	for _, l := range a.Locations {
		all = append(all, l.URL)
	}
	return all
}

func at(url string) nomen.Location { return nomen.Location{URL: url} }

var numbers = rule.Set{{
	Match: "n{id:d1-9}", Locations: []nomen.Location{at("https://h.example/{id}"), {URL: "https://mirror.example/{id}", Priority: 2}},
	SameAs: []string{"urn:x-b:{id}"},
	Tests:  []rule.Test{{From: "urn:x-a:n1", To: []string{"https://h.example/1", "https://mirror.example/1"}}},
}}

// A record takes precedence over a suffix, a suffix over the rules, and the rules over the
// delegation.
func TestOrderOfKnowledge(t *testing.T) {
	d := newDesk(t, store.Policy{
		Rules:  slices.Concat(numbers, rule.Set{{Match: "doc:{rest:*}", Locations: []nomen.Location{at("https://rule.example/{+rest}")}, Tests: []rule.Test{{From: "urn:x-a:doc:1", To: []string{"https://rule.example/1"}}}}}),
		Suffix: store.SuffixAppend, Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://other.example/{+name}"}, MaxAge: 60,
	}, resolve.Options{},
		record("urn:x-a:n7", at("https://record.example/7")),
		record("urn:x-a:doc:b", at("https://suffix.example/b")),
		&store.Record{Name: name.MustParse("urn:x-a:n8"), Status: nomen.Reserved},
		&store.Record{Name: name.MustParse("urn:x-a:n9"), Status: nomen.Retired, Reason: "wrong"},
	)
	d.leads("n7", "https://record.example/7")
	d.leads("n6", "https://h.example/6")
	d.leads("doc:b:c", "https://suffix.example/b:c")
	d.leads("doc:c:c", "https://rule.example/c:c")
	d.refuses(nomen.Unknown, nomen.I2L, "n8")
	d.refuses(nomen.Gone, nomen.I2L, "n9")
	a, err := d.ask(nomen.I2C, "n6")
	if err != nil || !slices.Equal(urls(a), []string{"https://h.example/6", "https://mirror.example/6"}) ||
		!slices.Equal(a.Names, []string{"urn:x-b:6"}) || a.Status != nomen.Active || a.Revision != 0 || a.Modified.IsZero() || a.MaxAge != time.Minute {
		t.Errorf("a description by rule: %+v, %v", a, err)
	}
	if a, err := d.ask(nomen.I2N, "n6"); err != nil || !slices.Equal(a.Names, []string{"urn:x-b:6"}) {
		t.Errorf("a name by rule: %+v, %v", a, err)
	}
	a, err = d.ask(nomen.I2L, "z")
	if err != nil || a.Redirect != "https://other.example/urn:x-a:z" || len(a.Locations) != 0 || a.MaxAge != time.Minute {
		t.Errorf("a delegated name: %+v, %v", a, err)
	}
}

// TestRulesWithConditions checks what conditions see, and what a rule says about the answer.
func TestRulesWithConditions(t *testing.T) {
	to := func(url string) []nomen.Location { return []nomen.Location{at(url)} }
	on := func(what, regexp string) []rule.Condition { return []rule.Condition{{On: what, Regexp: regexp}} }
	d := newDesk(t, store.Policy{Query: store.PassAppend, Rules: rule.Set{
		{Match: "gone", Status: 410, Tests: []rule.Test{{From: "urn:x-a:gone", Status: 410}}},
		{Match: "no", Status: 404, Tests: []rule.Test{{From: "urn:x-a:no", Status: 404}}},
		{Match: "secret", Status: 403, Tests: []rule.Test{{From: "urn:x-a:secret", Status: 403}}},
		{
			Match: "{id}", Status: 307, Query: rule.QueryIgnore, When: on("accept", "turtle"), Locations: to("https://ttl.example/{id}"),
			Tests: []rule.Test{{From: "urn:x-a:1", Request: rule.Request{Accept: "turtle"}, To: []string{"https://ttl.example/1"}}},
		},
		{
			Match: "{id}", When: on("languages", "de"), Locations: to("https://de.example/{id}"),
			Tests: []rule.Test{{From: "urn:x-a:1", Request: rule.Request{Languages: "de"}, To: []string{"https://de.example/1"}}},
		},
		{
			Match: "{id}", When: on("query", "^v="), Locations: to("https://v.example/{id}"),
			Tests: []rule.Test{{From: "urn:x-a:1", Request: rule.Request{Query: "v=1"}, To: []string{"https://v.example/1"}}},
		},
		{
			Match: "{id}", When: on("user_agent", "Mozilla"), Locations: to("https://html.example/{id}"),
			Tests: []rule.Test{{From: "urn:x-a:1", Request: rule.Request{UserAgent: "Mozilla"}, To: []string{"https://html.example/1"}}},
		},
		{Match: "{id}", Status: 406, Tests: []rule.Test{{From: "urn:x-a:1", Status: 406}}},
	}}, resolve.Options{}, record("urn:x-a:7", at("https://record.example/7")))
	d.refuses(nomen.Gone, nomen.I2L, "gone")
	d.refuses(nomen.Unknown, nomen.I2C, "no")
	d.refuses(nomen.Denied, nomen.I2L, "secret")
	if e := d.refuses(nomen.NoResult, nomen.I2L, "1"); e.Status != 406 {
		t.Errorf("got status %d, want 406", e.Status)
	}
	d.leads("7", "https://record.example/7?x", func(q *nomen.Question) { q.Query = "x" })
	for _, tt := range []struct {
		ask    func(*nomen.Question)
		url    string
		status int
		agent  bool
	}{
		{func(q *nomen.Question) { q.Accept, q.Query = "text/turtle", "v=1" }, "https://ttl.example/1", 307, false},
		{func(q *nomen.Question) { q.Languages, q.Query = "de", "x" }, "https://de.example/1?x", 0, false},
		{func(q *nomen.Question) { q.Query = "v=1" }, "https://v.example/1?v=1", 0, false},
		{func(q *nomen.Question) { q.UserAgent = "Mozilla/5.0" }, "https://html.example/1", 0, true},
	} {
		a, err := d.ask(nomen.I2L, "1", tt.ask)
		if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != tt.url || a.RedirectStatus != tt.status || !a.Direct || a.ByAgent != tt.agent {
			t.Errorf("got %+v, %v, want %s, %d", a, err, tt.url, tt.status)
		}
	}
	if a, err := d.ask(nomen.I2L, "7"); err != nil || a.Direct || a.ByAgent {
		t.Errorf("a record: got %+v, %v", a, err)
	}
}

func TestAccess(t *testing.T) {
	for access, legal := range map[store.Access]bool{store.AccessDenied: false, store.AccessLegal: true} {
		d := newDesk(t, store.Policy{Access: access, AccessNote: "by order"}, resolve.Options{}, record("urn:x-a:1", at("https://h.example/")))
		for _, s := range []nomen.Service{nomen.I2L, nomen.I2Ls, nomen.I2C, nomen.I2N, nomen.IisI, ""} {
			for _, element := range []string{"1", "none"} {
				if e := d.refuses(nomen.Denied, s, element); e.Legal != legal || e.Message != "by order" {
					t.Errorf("%s of %s: %+v", s, element, e)
				}
			}
		}
		before := func(q *nomen.Question) { q.At = time.Now().Add(-time.Hour) }
		if e := d.refuses(nomen.Denied, nomen.I2L, "1", before); e.Legal != legal { // the authority did not exist yet
			t.Errorf("as of before: %+v", e)
		}
	}
	d := newDesk(t, store.Policy{Access: store.AccessDenied}, resolve.Options{})
	if e := d.refuses(nomen.Denied, nomen.I2L, "1"); e.Message == "" || e.Legal {
		t.Errorf("without a note: %+v", e)
	}
	q := nomen.Question{Name: name.MustParse("urn:x-b:1"), Other: uri.MustParse("urn:x-a:1"), Service: nomen.IisI}
	if _, err := d.engine.Resolve(t.Context(), q); !errors.Is(err, &nomen.Error{Kind: nomen.Denied}) {
		t.Errorf("compared with a name that is not open: %v", err)
	}
}

// N12-32: a service that is not offered is replaced by the default.
func TestServicesOfAuthority(t *testing.T) {
	full := record("urn:x-a:1", at("https://h.example/"))
	full.SameAs = []string{"https://h.example/other", "urn:x-b:1"}
	answered := func(d *desk, s nomen.Service) nomen.Service {
		t.Helper()
		a, err := d.ask(s, "1")
		if err != nil {
			t.Errorf("%q: %v", s, err)
			return ""
		}
		return a.Service
	}
	all := newDesk(t, store.Policy{}, resolve.Options{}, full)
	some := newDesk(t, store.Policy{Services: []nomen.Service{nomen.I2Ls, nomen.I2C}}, resolve.Options{}, full)
	for _, tt := range []struct{ asked, all, some nomen.Service }{
		{"", nomen.I2L, nomen.I2Ls},
		{"I2X", nomen.I2L, nomen.I2Ls},
		{"i2c", nomen.I2L, nomen.I2Ls}, // N12-61
		{nomen.I2L, nomen.I2L, nomen.I2Ls},
		{nomen.I2Ls, nomen.I2Ls, nomen.I2Ls},
		{nomen.I2C, nomen.I2C, nomen.I2C},
		{nomen.I2N, nomen.I2N, nomen.I2Ls},
		{nomen.I2R, nomen.I2L, nomen.I2Ls},
		{nomen.I2Rs, nomen.I2L, nomen.I2Ls},
	} {
		if got := answered(all, tt.asked); got != tt.all {
			t.Errorf("%q of all: answered %s, want %s", tt.asked, got, tt.all)
		}
		if got := answered(some, tt.asked); got != tt.some {
			t.Errorf("%q of some: answered %s, want %s", tt.asked, got, tt.some)
		}
	}
	if a, err := all.ask(nomen.I2N, "1"); err != nil || !slices.Equal(a.Names, []string{"urn:x-b:1"}) { // RFC 2483, 4.7
		t.Errorf("I2N: %+v, %v", a, err)
	}
	if a, err := all.ask(nomen.I2Ns, "1"); err != nil || !slices.Equal(a.Names, []string{"urn:x-b:1", "https://h.example/other"}) {
		t.Errorf("I2Ns: %+v, %v", a, err)
	}
}

// N12-30, N12-31, N12-34, N12-35.
func TestComponentsOfAuthority(t *testing.T) {
	rec := record("urn:x-a:1", nomen.Location{URL: "https://h.example/toc", Component: "toc"}, nomen.Location{URL: "https://h.example/index", Component: "index"}, at("https://h.example/whole"))
	component := func(c string) func(*nomen.Question) { return func(q *nomen.Question) { q.Component = c } }
	for _, tt := range []struct {
		keywords         map[string][]string
		toc, index, none string
	}{
		{nil, "toc", "index", "whole"},
		{map[string][]string{"c": nil}, "toc", "index", "whole"},
		{map[string][]string{"c": {"toc"}}, "toc", "whole", "whole"},
		{map[string][]string{"s": nil}, "whole", "whole", "whole"},
	} {
		d := newDesk(t, store.Policy{Keywords: tt.keywords}, resolve.Options{}, rec)
		d.leads("1", "https://h.example/"+tt.toc, component("toc"))
		d.leads("1", "https://h.example/"+tt.index, component("index"))
		d.leads("1", "https://h.example/"+tt.none, component("nope"))
	}
}

// RFC 8141, 2.3.1: an r-component is for resolvers. It is ignored unless the authority gives it
// a meaning.
func TestRComponent(t *testing.T) {
	rec := record("urn:x-a:1",
		nomen.Location{URL: "https://h.example/toc", Component: "table of contents"}, at("https://h.example/whole"),
		nomen.Location{URL: "https://h.example/uk", Country: "UK"}, nomen.Location{URL: "https://h.example/fi", Lang: "fi"},
		nomen.Location{URL: "https://h.example/pdf", Type: "application/pdf"})
	d := newDesk(t, store.Policy{Choice: store.ChoiceFixed, RComponent: map[string]string{
		"toc": "c=table%20of%20contents", "cc": "country=UK", "fi": "lang=fi", "pdf": "type=application/pdf", "all": "s=I2Ls",
	}}, resolve.Options{}, rec)
	r := func(r string) func(*nomen.Question) { return func(q *nomen.Question) { q.R = r } }
	d.leads("1", "https://h.example/whole", r("other"))
	d.leads("1", "https://h.example/whole", r(""))
	d.leads("1", "https://h.example/toc", r("toc"))
	d.leads("1", "https://h.example/fi", r("fi"))
	d.leads("1", "https://h.example/pdf", r("pdf"))
	d.leads("1", "https://h.example/whole", r("all")) // a service was named
	a, err := d.ask("", "1", r("all"))
	if err != nil || a.Service != nomen.I2Ls {
		t.Errorf("a service by r-component: %+v, %v", a, err)
	}
	a, err = d.ask(nomen.I2L, "1", r("cc"))
	if err != nil || a.Locations[0].URL != "https://h.example/uk" || a.Private {
		t.Errorf("a country by r-component: %+v, %v: the answer is the same for every client", a, err)
	}
	a, err = d.ask(nomen.I2L, "1", func(q *nomen.Question) { q.Country = "uk" })
	if err != nil || a.Locations[0].URL != "https://h.example/uk" || !a.Private {
		t.Errorf("by the country of the client: %+v, %v", a, err)
	}
	a, err = d.ask(nomen.I2L, "1", func(q *nomen.Question) { q.Country = "FR" })
	if err != nil || a.Locations[0].URL != "https://h.example/whole" || !a.Private {
		t.Errorf("from elsewhere: %+v, %v: others get another answer", a, err)
	}
}

// RFC 8141, 2.3.2.
func TestQComponent(t *testing.T) {
	for _, tt := range []struct{ location, q, want string }{
		{"https://h.example/a", "x=1", "https://h.example/a?x=1"},
		{"https://h.example", "op=map&lat=39.56", "https://h.example?op=map&lat=39.56"},
		{"https://h.example/a?y=2", "x=1", "https://h.example/a?y=2&x=1"},
		{"https://h.example/a?", "x=1", "https://h.example/a?x=1"},
		{"https://h.example/a#top", "x=1", "https://h.example/a?x=1#top"},
		{"https://h.example/a?y#top", "x=?/1", "https://h.example/a?y&x=?/1#top"},
		{"https://h.example/a", "x#1", "https://h.example/a"},
		{"https://h.example/a", "x 1", "https://h.example/a"},
		{"https://h.example/a", "x\r\nSet-Cookie: y", "https://h.example/a"},
		{"https://h.example/a", "%zz", "https://h.example/a"},
		{"https://h.example/a?y=2&", "x=1", "https://h.example/a?y=2&x=1"},
		{"HTTP://h.example", "x", "HTTP://h.example?x"},
		{"rtsp://h.example/a", "x", "rtsp://h.example/a?x"},
		{"rtsp://h.example/a", "x%0D%0Ay", "rtsp://h.example/a"}, // it would end a line of the client's request
		// A location without a query in this sense is unchanged.
		{"mailto:a@h.example", "subject=x", "mailto:a@h.example"},
		{"mailto:a@h.example?subject=y", "bcc=z@h.example", "mailto:a@h.example?subject=y"},
		{"swh:1:rel:22ece559cc7cc2364edc5e5593d63ae8bd229f9f", "x", "swh:1:rel:22ece559cc7cc2364edc5e5593d63ae8bd229f9f"},
		{"doi:10.1000/1", "x", "doi:10.1000/1"},
		{"ftp://h.example/a", "x", "ftp://h.example/a"},
		{"gopher://h.example/7/s", "x", "gopher://h.example/7/s"},
		{"LDAP://h.example/o=x?cn", "x", "LDAP://h.example/o=x?cn"},
		// The query of a URN is its q-component.
		{"urn:x-b:1", "x=1", "urn:x-b:1?=x=1"},
		{"urn:x-b:1?=y", "x=1", "urn:x-b:1?=y&x=1"},
		{"urn:x-b:1?+r", "x=1", "urn:x-b:1?+r?=x=1"},
		{"urn:x-b:1?+r?=y", "x=1", "urn:x-b:1?+r?=y&x=1"},
		{"urn:x-b:1#f", "x=1", "urn:x-b:1?=x=1#f"},
		{"urn:x-b:1?s=I2C", "x=1", "urn:x-b:1?s=I2C"},
		{"urn:x-b:1", "/x", "urn:x-b:1"},
		{"urn:x-b:1", "?x", "urn:x-b:1"},
		{"urn:x-b:1", "x/?", "urn:x-b:1?=x/?"},
	} {
		d := newDesk(t, store.Policy{}, resolve.Options{}, record("urn:x-a:1", at(tt.location)))
		d.leads("1", tt.want, func(q *nomen.Question) { q.Q = tt.q })
		ignored := newDesk(t, store.Policy{QComponent: store.PassIgnore}, resolve.Options{}, record("urn:x-a:1", at(tt.location)))
		ignored.leads("1", tt.location, func(q *nomen.Question) { q.Q = tt.q })
		plain := newDesk(t, store.Policy{Query: store.PassAppend}, resolve.Options{}, record("urn:x-a:1", at(tt.location)))
		plain.leads("1", tt.want, func(q *nomen.Question) { q.Query = tt.q })
		d.leads("1", tt.location, func(q *nomen.Question) { q.Query = tt.q })
	}
	d := newDesk(t, store.Policy{}, resolve.Options{}, record("urn:x-a:1", at("https://h.example/1"), at("https://h.example/2")))
	q := func(q *nomen.Question) { q.Q = "x" }
	if a, err := d.ask(nomen.I2Ls, "1", q); err != nil || !slices.Equal(urls(a), []string{"https://h.example/1?x", "https://h.example/2?x"}) {
		t.Errorf("a list: %+v, %v", a, err)
	}
	if a, err := d.ask(nomen.I2C, "1", q); err != nil || !slices.Equal(urls(a), []string{"https://h.example/1", "https://h.example/2"}) {
		t.Errorf("a description: %+v, %v", a, err)
	}
}

// TestNothingBreaksLines puts escaped line breaks into names, which must not reach protocols
// with line-based commands. The complete location is checked, not only its parts.
func TestNothingBreaksLines(t *testing.T) {
	for _, host := range []string{"ftp://h.example/pub", "gopher://h.example/0pub", "gemini://h.example/pub", "https://h.example/pub"} {
		good := strings.HasPrefix(host, "https")
		appended := newDesk(t, store.Policy{Suffix: store.SuffixAppend}, resolve.Options{}, record("urn:x-a:b", at(host)))
		appended.leads("b:c", host+":c")
		ruled := newDesk(t, store.Policy{Rules: rule.Set{
			{Match: "raw:{rest:*}", Raw: true, Locations: []nomen.Location{at(host + "/{+rest}")}, Tests: []rule.Test{{From: "urn:x-a:raw:1", To: []string{host + "/1"}}}},
			{Match: "{rest:*}", Locations: []nomen.Location{at(host + "/{rest}")}, Tests: []rule.Test{{From: "urn:x-a:1", To: []string{host + "/1"}}}},
		}}, resolve.Options{})
		ruled.leads("c", host+"/c")
		for _, evil := range []string{"x%0D%0ADELE%20y", "x%0A", "x%7F", "x%09y"} {
			if good {
				appended.leads("b:"+evil, host+":"+evil)
				continue
			}
			appended.refuses(nomen.NoResult, nomen.I2L, "b:"+evil)
			ruled.refuses(nomen.NoResult, nomen.I2L, evil)
			ruled.refuses(nomen.NoResult, nomen.I2L, "raw:"+evil)
		}
	}
}

func TestSuffix(t *testing.T) {
	base := func(url string) []*store.Record {
		return []*store.Record{record("urn:x-a:b", at(url)), record("ark:12345/b", at(url))}
	}
	for _, tt := range []struct{ location, rest, want string }{
		{"https://h.example/x", "/c/d", "https://h.example/x/c/d"},
		{"https://h.example/x/", "/c", "https://h.example/x/c"},
		{"https://h.example/x", ":c", "https://h.example/x:c"},
		{"https://h.example", "/c", "https://h.example/c"},
		{"https://h.example", ".evil.example/", "https://h.example/.evil.example"},
		{"https://h.example", ":80", "https://h.example/:80"},
		{"https://h.example", ":80@evil.example", "https://h.example/:80@evil.example"},
		{"https://h.example?id=", "/c", "https://h.example?id=/c"},
		{"https://h.example/x?id=b", ":c", "https://h.example/x?id=b:c"},
		{"https://h.example/x#top", "/c", "https://h.example/x/c#top"},
		{"urn:x-other:1", ":c", "urn:x-other:1:c"},
	} {
		d := newDesk(t, store.Policy{Suffix: store.SuffixAppend}, resolve.Options{}, base(tt.location)...)
		if tt.rest[0] == ':' {
			d.leads("b"+tt.rest, tt.want)
		} else {
			d.leads("ark:12345/b"+tt.rest, tt.want)
		}
	}
	for _, rest := range []string{":c/../../d", ":c/..", ":c/%2e%2E/d", ":c%2F..%2F.."} {
		d := newDesk(t, store.Policy{Suffix: store.SuffixAppend}, resolve.Options{}, base("https://h.example/x")...)
		d.refuses(nomen.NoResult, nomen.I2L, "b"+rest)
	}
	for _, location := range []string{"mailto:names@example.org", "mailto:names@example.org?subject=x", "tel:+1-201-555-0123", "news:x"} {
		d := newDesk(t, store.Policy{Suffix: store.SuffixAppend}, resolve.Options{}, base(location)...)
		d.refuses(nomen.NoResult, nomen.I2L, "ark:12345/b.evil.example")
	}
	without := newDesk(t, store.Policy{}, resolve.Options{}, base("https://h.example/x")...)
	without.refuses(nomen.Unknown, nomen.I2L, "b:c")
	without.refuses(nomen.Unknown, nomen.I2L, "ark:12345/b/c")

	d := newDesk(t, store.Policy{Suffix: store.SuffixAppend}, resolve.Options{},
		record("urn:x-a:b", at("https://h.example/x")), record("urn:x-a:b:c:d", at("https://h.example/deep")),
		&store.Record{Name: named("r"), Status: nomen.Reserved, Locations: []nomen.Location{at("https://h.example/secret")}},
		&store.Record{Name: named("gone"), Status: nomen.Retired, Reason: "wrong", Successors: []string{"urn:x-a:b"}})
	d.leads("b:c:d:e", "https://h.example/deep:e") // the longest beginning
	d.leads("b:c:x", "https://h.example/x:c:x")
	d.refuses(nomen.Unknown, nomen.I2L, "bc:d")
	d.refuses(nomen.Unknown, nomen.I2L, "r:1")
	if e := d.refuses(nomen.Gone, nomen.I2L, "gone:1"); e.Answer == nil || e.Answer.Name != named("gone") {
		t.Errorf("behind a tombstone: %+v", e)
	}
	a, err := d.ask(nomen.I2C, "b:c")
	if err != nil || a.Name != named("b:c") || len(a.Metadata) != 0 || !slices.Equal(urls(a), []string{"https://h.example/x:c"}) {
		t.Errorf("a description: %+v, %v: what is known of the beginning is not known of it", a, err)
	}
}

// TestSuffixIsBounded checks that a name with many parts does not cost as many look-ups.
func TestSuffixIsBounded(t *testing.T) {
	s := fill(t, nil, []*store.Authority{{Prefix: name.MustParsePrefix("urn:x-a"), Policy: store.Policy{Suffix: store.SuffixAppend}}})
	c := &counting{Reader: s}
	e := resolve.New(c, resolve.Options{})
	_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-a:" + strings.Repeat("a:", 900) + "a")})
	if !errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) || c.gets > 40 {
		t.Errorf("%v after %d look-ups", err, c.gets)
	}
}

type counting struct {
	store.Reader
	gets int
}

func (c *counting) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	c.gets++
	return c.Reader.Get(ctx, n, at)
}

// TestSuccessorsInACircle checks that a name whose successors form a loop is gone.
func TestSuccessorsInACircle(t *testing.T) {
	retired := func(element, successor string) *store.Record {
		return &store.Record{Name: named(element), Status: nomen.Retired, Reason: "moved", Successors: []string{"urn:x-a:" + successor}}
	}
	d := newDesk(t, store.Policy{}, resolve.Options{},
		retired("a", "b"), retired("b", "c"), retired("c", "a"), retired("in", "a"),
		retired("x", "y"), retired("y", "z"), record("urn:x-a:z", at("https://h.example/z")), retired("away", "nowhere"))
	for _, element := range []string{"a", "b", "c"} {
		for _, s := range []nomen.Service{nomen.I2L, nomen.I2C} {
			if e := d.refuses(nomen.Gone, s, element); e.Answer == nil || len(e.Answer.Successors) != 1 {
				t.Errorf("%s of %s: %+v", s, element, e)
			}
		}
	}
	for element, successor := range map[string]string{"in": "a", "x": "y", "y": "z", "away": "nowhere"} {
		if a, err := d.ask(nomen.I2L, element); err != nil || a.Redirect != "urn:x-a:"+successor {
			t.Errorf("%s: %+v, %v, want %s", element, a, err, successor)
		}
	}
}

// TestBrokenPolicy checks that failing rules are an error, not an answer about the name.
func TestBrokenPolicy(t *testing.T) {
	bad := slices.Clone(numbers)
	bad[0].Tests = []rule.Test{{From: "urn:x-a:n1", To: []string{"https://elsewhere.example/1"}}}
	d := newDesk(t, store.Policy{Rules: bad}, resolve.Options{}, record("urn:x-a:1", at("https://h.example/1")))
	d.leads("1", "https://h.example/1") // needs no rule
	a, err := d.ask(nomen.I2L, "n1")
	if a != nil || err == nil || errors.As(err, new(*nomen.Error)) {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestExplain checks that each decision is explained, and only on request.
func TestExplain(t *testing.T) {
	d := newDesk(t, store.Policy{
		Rules: numbers, Suffix: store.SuffixAppend, RComponent: map[string]string{"toc": "c=toc"}, Keywords: map[string][]string{"c": {"toc"}},
		Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://other.example/{+name}"},
	}, resolve.Options{},
		record("urn:x-a:1", nomen.Location{URL: "https://h.example/1", Priority: 2}, nomen.Location{URL: "https://h.example/2", Lang: "fi"}),
		&store.Record{Name: name.MustParse("urn:x-a:old"), Status: nomen.Retired, Successors: []string{"urn:x-a:1"}})
	explain := func(q *nomen.Question) { q.Explain = true }
	for _, tt := range []struct {
		element string
		service nomen.Service
		change  func(*nomen.Question)
		want    []string
	}{
		{"1", "", explain, []string{"urn:x-a:1 is under urn:x-a", "using I2L", "revision 1, is active", "location 1: https://h.example/2: media type", "chosen: https://h.example/2"}},
		{"1", nomen.I2Ls, explain, []string{"location 2: https://h.example/1", "priority 2"}},
		{"1", nomen.I2L, func(q *nomen.Question) { q.R = "toc" }, []string{`the r-component "toc" means "c=toc"`}},
		{"1", nomen.I2L, func(q *nomen.Question) { q.Component = "index" }, []string{`the component "index" has no meaning`}},
		{"1:x", nomen.I2L, explain, []string{"it has no record", "the record of urn:x-a:1 also covers names that begin with it"}},
		{"n5", nomen.I2L, explain, []string{"no beginning of it has a record", "rule 1 of urn:x-a matches it: n{id:d1-9}", "chosen: https://h.example/5"}},
		{"zzz", nomen.I2L, explain, []string{"no rule of urn:x-a matches it (1 tried)", "urn:x-a delegates it to https://other.example/urn:x-a:zzz"}},
		{"old", nomen.I2L, explain, []string{"is retired", "exactly one successor, urn:x-a:1"}},
	} {
		a, err := d.ask(tt.service, tt.element, explain, tt.change)
		if err != nil {
			t.Errorf("%s: %v", tt.element, err)
			continue
		}
		why := strings.Join(a.Why, "\n")
		for _, want := range tt.want {
			if !strings.Contains(why, want) {
				t.Errorf("%s: not told %q:\n%s", tt.element, want, why)
			}
		}
		if quiet, err := d.ask(tt.service, tt.element); err != nil || len(quiet.Why) != 0 {
			t.Errorf("%s: told without being asked: %q, %v", tt.element, quiet.Why, err)
		}
	}
	if e := d.refuses(nomen.Gone, nomen.I2C, "old", explain); len(e.Why) < 2 {
		t.Errorf("an error: %q", e.Why)
	}
}
