package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// The policy of an authority applies to every interface: an r-component that stands for a
// language leaves the requested service and component unchanged (RFC 8141, 2.3.1), and
// the status, lifetime and contact are those of the authority.
func TestPolicyAtEveryDoor(t *testing.T) {
	s, st := newTestServer(t, nil)
	if _, err := st.Apply(t.Context(), []store.Change{
		{Time: modified, Authority: &store.Authority{
			Prefix: name.MustParsePrefix("urn:x-door"), Redirect: http.StatusTemporaryRedirect, Contact: "mailto:doors@example.org",
			Policy: store.Policy{MaxAge: 60, RComponent: map[string]string{"de": "lang=de", "all": "s=I2Ls"}, Keywords: map[string][]string{"s": {"I2C", "I2L", "I2Ls"}, "c": {"toc"}}},
		}},
		{Time: modified, Record: &store.Record{
			Name: name.MustParse("urn:x-door:1"), Status: nomen.Active, SameAs: []string{"urn:x-door:2"},
			Locations: []nomen.Location{
				{URL: "https://h.example/en", Lang: "en"},
				{URL: "https://h.example/de", Lang: "de", Priority: 2},
				{URL: "https://h.example/toc/en", Lang: "en", Component: "toc"},
				{URL: "https://h.example/toc/de", Lang: "de", Component: "toc", Priority: 2},
			},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	type said struct {
		service nomen.Service
		first   string // location
	}
	read := func(body []byte) said {
		t.Helper()
		var a struct {
			Answer struct {
				Service   nomen.Service
				Locations []nomen.Location
			}
		}
		if err := json.Unmarshal(body, &a); err != nil || len(a.Answer.Locations) == 0 {
			t.Errorf("%v in %s", err, body)
			return said{}
		}
		return said{a.Answer.Service, a.Answer.Locations[0].URL}
	}
	batch := func(row string) said {
		t.Helper()
		p := ask(s, batchPath, func(r *request) {
			r.method, r.contentType, r.body = "POST", typeJSONLines, strings.NewReader(row)
		})
		return read([]byte(stream(t, p)))
	}
	token := "Bearer " + servertest.Grant(t, st, adminapi.AdministratorGrant())
	admin := func(query string) said {
		t.Helper()
		r := httptest.NewRequest("GET", adminapi.Root+"resolve?name="+url.QueryEscape("urn:x-door:1")+query, nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		s.adminServer(allProtocols).Handler.ServeHTTP(w, r)
		return read([]byte(`{"answer":` + w.Body.String() + `}`))
	}
	web := func(target string) said {
		t.Helper()
		p := ask(s, target, accepting(format.TypeJSON))
		return read([]byte(`{"answer":` + string(p.body) + `}`))
	}
	for _, tt := range []struct {
		title string
		got   said
		want  said
	}{
		{"batch, I2C", batch(`{"name":"urn:x-door:1","service":"I2C","r":"de"}`), said{nomen.I2C, "https://h.example/de"}},
		{"batch, component", batch(`{"name":"urn:x-door:1","component":"toc","r":"de"}`), said{nomen.I2L, "https://h.example/toc/de"}},
		{"batch, by r-component", batch(`{"name":"urn:x-door:1","r":"all","languages":"de"}`), said{nomen.I2Ls, "https://h.example/de"}},
		{"batch, N12-35", batch(`{"name":"urn:x-door:1","service":"I2Ns"}`), said{nomen.I2L, "https://h.example/en"}},
		{"batch, in the name", batch(`"urn:x-door:1?+de"`), said{nomen.I2L, "https://h.example/de"}},
		{"admin, I2C", admin("&s=I2C&r=de"), said{nomen.I2C, "https://h.example/de"}},
		{"admin, component", admin("&c=toc&r=de"), said{nomen.I2L, "https://h.example/toc/de"}},
		{"admin, by r-component", admin("&r=all&languages=de"), said{nomen.I2Ls, "https://h.example/de"}},
		{"admin, N12-35", admin("&s=I2Ns"), said{nomen.I2L, "https://h.example/en"}},
		{"1995", web("urn:x-door:1?+de"), said{nomen.I2C, "https://h.example/de"}},
		{"1995, by r-component", web("urn:x-door:1?+all"), said{nomen.I2Ls, "https://h.example/en"}},
		{"THTTP, N2C", web("/uri-res/N2C?urn:x-door:1?+de"), said{nomen.I2C, "https://h.example/de"}},
		{"THTTP, N2Ls and another service by r-component", web("/uri-res/I2Cs?urn:x-door:1?+all"), said{nomen.I2Cs, "https://h.example/en"}},
		{"web, by r-component", web("/urn:x-door:1?+all"), said{nomen.I2Ls, "https://h.example/en"}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.title, tt.got, tt.want)
		}
	}
	for target, want := range map[string]string{
		"/urn:x-door:1": "https://h.example/en", "/urn:x-door:1?+de": "https://h.example/de", "/urn:x-door:1?s=I2Ns": "https://h.example/en",
		"urn:x-door:1?s=I2L": "https://h.example/en", "/uri-res/N2L?urn:x-door:1?+de": "https://h.example/de",
	} {
		p := ask(s, target)
		if p.status != http.StatusTemporaryRedirect || p.get("Location") != want || p.get("Cache-Control") != "max-age=60" {
			t.Errorf("%s: %d to %q, %q", target, p.status, p.get("Location"), p.get("Cache-Control"))
		}
	}
	if p := ask(s, "/uri-res/N2Ns?urn:x-door:1", accepting(format.TypeJSON)); p.status != http.StatusOK { // its path is not a directive
		t.Errorf("N2Ns: %d %s", p.status, p.body)
	}
	const contact = "contact for urn:x-door: doors@example.org"
	p := ask(s, batchPath, func(r *request) {
		r.method, r.contentType, r.body = "POST", typeURIList, strings.NewReader("urn:x-door:none\r\n")
	})
	if got := stream(t, p); !strings.Contains(got, contact) {
		t.Errorf("batch of an unknown name: %s", got)
	}
	for _, target := range []string{"/urn:x-door:none", "urn:x-door:none", "/uri-res/N2C?urn:x-door:none"} {
		if p := ask(s, target); p.status != http.StatusNotFound || !strings.Contains(string(p.body), contact) {
			t.Errorf("%s: %d %s", target, p.status, p.body)
		}
	}
}

// Rules with conditions apply to requests in every form, and their answers say on which fields they
// depend. A client that prefers RDF gets the redirect of the rule, not a description.
func TestConditionsAtEveryDoor(t *testing.T) {
	s, st := newTestServer(t, nil)
	to := func(file string) []nomen.Location { return []nomen.Location{{URL: "https://h.example/" + file}} }
	if _, err := st.Apply(t.Context(), []store.Change{{Time: modified, Authority: &store.Authority{
		Prefix: name.MustParsePrefix("https://w3.example/a"),
		Policy: store.Policy{Rules: rule.Set{
			{
				Regexp: "terms/?", When: []rule.Condition{{On: "accept", Regexp: "text/turtle"}}, Locations: to("ttl"), Status: 302, Query: rule.QueryAppend,
				Tests: []rule.Test{{From: "https://w3.example/a/terms", Request: rule.Request{Accept: "text/turtle"}, To: []string{"https://h.example/ttl"}}},
			},
			{
				Regexp: "terms/?", When: []rule.Condition{{On: "user_agent", Regexp: "^Mozilla"}}, Locations: to("html"),
				Tests: []rule.Test{{From: "https://w3.example/a/terms", Request: rule.Request{UserAgent: "Mozilla"}, To: []string{"https://h.example/html"}}},
			},
			{Regexp: "terms/?", Status: 406, Tests: []rule.Test{{From: "https://w3.example/a/terms", Status: 406}}},
			{Regexp: "^$", Locations: to("root"), Status: 301, Tests: []rule.Test{{From: "https://w3.example/a/", To: []string{"https://h.example/root"}}}},
		}},
	}}}); err != nil {
		t.Fatal(err)
	}
	with := func(accept, agent string) func(*request) {
		return func(r *request) { r.accept, r.agent, r.host = accept, agent, "w3.example" }
	}
	for _, tt := range []struct {
		target, accept, agent string
		status                int
		location              string
		varies                bool // with User-Agent
	}{
		{"/a/terms", "text/turtle", "Mozilla/5.0", 302, "https://h.example/ttl", false},
		{"/a/terms?x=1", "text/turtle", "", 302, "https://h.example/ttl?x=1", false},
		{"/a/terms/", "text/html", "Mozilla/5.0", 303, "https://h.example/html", true},
		{"/a/terms?x=1", "text/html", "Mozilla/5.0", 303, "https://h.example/html", true},
		{"/https://w3.example/a/terms", "text/turtle", "", 302, "https://h.example/ttl", false},
		{"/https://w3.example/a/terms", "", "Mozilla/5.0", 303, "https://h.example/html", true},
		{"https://w3.example/a/terms", "", "Mozilla/5.0", 303, "https://h.example/html", true},
		{"/uri-res/N2L?https://w3.example/a/terms", "", "Mozilla/5.0", 303, "https://h.example/html", true},
		{"https://w3.example/a/terms?s=I2L", "", "Mozilla/5.0", 303, "https://h.example/html", true},
		{"/a/terms", "text/html", "", 406, "", false},
		{"/a/", "text/turtle", "", 301, "https://h.example/root", false},
		{"/a/x", "text/turtle", "", 404, "", false},
	} {
		p := ask(s, tt.target, with(tt.accept, tt.agent))
		if p.status != tt.status || p.get("Location") != tt.location {
			t.Errorf("%s, %q, %q: got %d %s, want %d %s", tt.target, tt.accept, tt.agent, p.status, p.get("Location"), tt.status, tt.location)
		}
		if got := strings.Contains(p.get("Vary"), "User-Agent"); got != tt.varies {
			t.Errorf("%s: Vary has User-Agent: got %v (%s), want %v", tt.target, got, p.get("Vary"), tt.varies)
		}
	}
}

// N12-33, N12-35: the description of a resolver lists what it offers.
func TestMetainformationTellsWhatIsOffered(t *testing.T) {
	s, _ := newHeard(t, store.Policy{Services: []nomen.Service{nomen.I2L, nomen.I2C}, Keywords: map[string][]string{"c": {"toc"}, "x": nil}}, nil)
	for _, f := range format.Formats() {
		for _, target := range []string{"urn:example:urn+m", "/urn:example:urn+m", "/uri-res/I2C?urn:example:urn+m"} {
			p := ask(s, target, accepting(f.MediaType))
			want := "I2L, I2C"
			switch f.MediaType {
			case format.TypeURIList:
				want = ""
			case format.TypeLinkset:
				want = "I2L%2C%20I2C"
			}
			if p.status != 200 || !bytes.Contains(p.body, []byte(want)) {
				t.Errorf("Y95-55: %s as %s: %d %s", target, f.Name, p.status, p.body)
			}
		}
	}
	// N12-37: fragments are allowed only if the policy says so.
	fragments := []byte("Fragments are allowed.")
	if p := ask(s, "urn:example:urn+m"); bytes.Contains(p.body, fragments) || bytes.Contains(p.body, []byte("r-component")) {
		t.Errorf("without a policy: %s", p.body)
	}
	s, _ = newHeard(t, store.Policy{Fragment: true, RComponent: map[string]string{"toc": "c=toc", "de": "lang=de"}}, nil)
	if p := ask(s, "urn:example:urn+m"); !bytes.Contains(p.body, fragments) || !bytes.Contains(p.body, []byte("The r-component de means lang=de.\r\nThe r-component toc means c=toc.\r\n")) {
		t.Errorf("fragments and r-components: %s", p.body)
	}
}

// A denied name is not revealed in any way: not by its times, nor by lists.
func TestAccessEverywhere(t *testing.T) {
	s, st := newTestServer(t, nil)
	var changes []store.Change
	for prefix, access := range map[string]store.Access{"urn:x-den": store.AccessDenied, "urn:x-leg": store.AccessLegal, "urn:x-open:not": store.AccessDenied, "urn:x-open": ""} {
		changes = append(changes,
			store.Change{Time: modified, Authority: &store.Authority{Prefix: name.MustParsePrefix(prefix), List: true, Policy: store.Policy{Access: access}}},
			store.Change{Time: modified, Record: &store.Record{Name: name.MustParse(prefix + ":1"), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://denied.example/"}}}},
		)
	}
	if _, err := st.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	for prefix, status := range map[string]int{"urn:x-den": 403, "urn:x-leg": 451, "urn:x-open:not": 403} {
		for _, element := range []string{":1", ":none"} {
			for _, target := range []string{"/" + prefix + element, "/" + prefix + element + "?s=I2Ns", "/-/timemap/" + prefix + element, "/-/list/" + prefix, "/uri-res/N2C?" + prefix + element} {
				p := ask(s, target, func(r *request) { r.datetime = httpDate(testNow) })
				if p.status != status {
					t.Errorf("%s: %d, want %d: %s", target, p.status, status, p.body)
				}
			}
		}
	}
	if p := ask(s, "/-/list/urn:x-open"); p.status != 200 || strings.TrimSpace(stream(t, p)) != "1" {
		t.Errorf("a list: %d %s%s, want the one that is open", p.status, p.body, stream(t, p))
	}
	if p := ask(s, "/uri-res/L2Ns?https://denied.example/"); p.status != 200 || strings.TrimSpace(string(p.body)) != "# https://denied.example/\r\nurn:x-open:1" {
		t.Errorf("names of a location: %d %s", p.status, p.body)
	}
}

// A directive that is absent, unsupported or given twice selects the default service of
// the namespace.
func TestDefaultsOfNamespaces(t *testing.T) {
	s, _ := newTestServer(t, nil)
	want := ask(s, "/ark:12345/x")
	if want.status != 200 || want.get("Content-Type") != "text/urc-0" {
		t.Fatalf("the default is %d, %s", want.status, want.get("Content-Type"))
	}
	for _, query := range []string{"?c=toc", "?zz=1", "?s=XYZ", "?s=i2c", "?s=I2L&s=I2C"} {
		if p := ask(s, "/ark:12345/x"+query); p.status != 200 || string(p.body) != string(want.body) {
			t.Errorf("N12-67: %s: %d %q, want the default: %q", query, p.status, p.body, want.body)
		}
	}
}
