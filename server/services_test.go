package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A heard resolver records the last question and answers with a function.
type heard struct {
	last   nomen.Question
	answer func(nomen.Question) (*nomen.Answer, error)
}

func (h *heard) Resolve(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
	h.last = q
	if h.answer != nil {
		return h.answer(q)
	}
	a := &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Modified: modified, Revision: 1}
	if q.Service == nomen.I2L {
		a.Locations = []nomen.Location{{URL: "https://example.org/1"}}
	}
	return a, nil
}

// newHeard returns a server with a heard resolver and an authority urn:example with a
// policy.
func newHeard(t *testing.T, policy store.Policy, change func(*Options)) (*Server, *heard) {
	t.Helper()
	policy.Fetch = true // enables I2R and I2Rs
	h := &heard{}
	s, st := newTestServer(t, func(o *Options) {
		o.Resolver = h
		if change != nil {
			change(o)
		}
	})
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:example"), Owners: []string{"a", "b"}, Policy: policy}
	if _, err := st.Apply(t.Context(), []store.Change{{Authority: a, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	return s, h
}

// RFC 2169 and RFC 2483: each service, in every spelling of its name, becomes the right
// question.
func TestServicesOfTHTTP(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	for _, tt := range []struct {
		name string
		want nomen.Service
	}{
		{"N2L", nomen.I2L},
		{"N2Ls", nomen.I2Ls},
		{"N2C", nomen.I2C},
		{"N2Ns", nomen.I2Ns},
		{"I2L", nomen.I2L},
		{"I2Ls", nomen.I2Ls},
		{"I2C", nomen.I2C},
		{"I2Cs", nomen.I2Cs},
		{"I2N", nomen.I2N},
		{"I2Ns", nomen.I2Ns},
		{"N2R", nomen.I2R},
		{"N2Rs", nomen.I2Rs},
		{"I2R", nomen.I2R},
		{"I2Rs", nomen.I2Rs},
		{"I=I", nomen.IisI},
	} {
		for _, spelling := range []string{tt.name, strings.ToLower(tt.name), strings.ToUpper(tt.name)} {
			target := "/uri-res/" + spelling + "?urn:example:a"
			if tt.want == nomen.IisI {
				target += "&urn%3Aexample%3Ab%26c"
			}
			h.last = nomen.Question{}
			ask(s, target).drop()
			if h.last.Service != tt.want || h.last.Name.Key() != "urn:example:a" {
				t.Errorf("%s: asked %s of %q, want %s", target, h.last.Service, h.last.Name.Key(), tt.want)
			}
			if tt.want == nomen.IisI && h.last.Other.String() != "urn:example:b&c" {
				t.Errorf("%s: the second is %q", target, h.last.Other)
			}
		}
	}
}

// RFC 2483, 4.9: TRUE or FALSE, or the same in a machine-readable format.
func TestEqual(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	for _, same := range []bool{true, false} {
		h.answer = func(q nomen.Question) (*nomen.Answer, error) {
			return &nomen.Answer{Service: q.Service, Name: q.Name, Same: same}, nil
		}
		want := map[bool]string{true: "TRUE\r\n", false: "FALSE\r\n"}[same]
		for _, target := range []string{"/uri-res/I=I?urn:example:a&https://example.org/1", "/urn:example:a?s=I=I&with=https://example.org/1", "/urn:example:a?with=https%3A%2F%2Fexample.org%2F1&s=I=I"} {
			if p := ask(s, target); p.status != 200 || string(p.body) != want || h.last.Other.String() != "https://example.org/1" {
				t.Errorf("%s: %d %q, asked about %q", target, p.status, p.body, h.last.Other)
			}
		}
		if p := ask(s, "/uri-res/I=I?urn:example:a&urn:example:b", accepting("application/json")); !bytes.Contains(p.body, []byte(`"same":`+strings.ToLower(strings.TrimSpace(want)))) {
			t.Errorf("as JSON: %s", p.body)
		}
	}
}

// N12-30 to N12-35: what the authority does not support is treated as absent.
func TestDirectivesOfAnAuthority(t *testing.T) {
	policy := store.Policy{
		Services: []nomen.Service{nomen.I2L, nomen.I2C}, Keywords: map[string][]string{"c": {"toc", "a b"}},
		RComponent: map[string]string{"contents": "s=I2C&c=toc"},
	}
	for _, tt := range []struct {
		title, query string
		policy       store.Policy
		want         nomen.Question
	}{
		{"N12-34 component", "c=toc", policy, nomen.Question{Service: nomen.I2L, Component: "toc"}},
		{"N12-34 escaped value", "c=a%20b", policy, nomen.Question{Service: nomen.I2L, Component: "a b"}},
		{"N12-31 unknown value", "c=cover", policy, nomen.Question{Service: nomen.I2L}},
		{"N12-35 any value", "c=cover", store.Policy{Keywords: map[string][]string{"c": nil}}, nomen.Question{Service: nomen.I2L, Component: "cover"}},
		{"N12-30 keyword that the authority does not know", "c=toc", store.Policy{Keywords: map[string][]string{"x": nil}}, nomen.Question{Service: nomen.I2L}},
		{"N12-33 s is known everywhere", "s=I2C", policy, nomen.Question{Service: nomen.I2C}},
		{"N12-32 service that is not offered", "s=I2N", policy, nomen.Question{Service: nomen.I2L}},
		{"N12-31 value of s", "s=I2C", store.Policy{Keywords: map[string][]string{"s": {"I2N"}}}, nomen.Question{Service: nomen.I2L}},
		{"N12-29 both cancelled", "s=I2C&s=I2C", policy, nomen.Question{Service: nomen.I2L}},
		{"N12-29 both components cancelled, the service kept", "c=toc&s=I2C&c=toc", policy, nomen.Question{Service: nomen.I2C}},
		{"r-component that means something", "+contents", policy, nomen.Question{Service: nomen.I2C, Component: "toc", R: "contents"}},
		{"r-component that means nothing", "+x?=y=z", policy, nomen.Question{Service: nomen.I2L, R: "x", Q: "y=z"}},
		{"plain query", "fbclid=x&y", policy, nomen.Question{Service: nomen.I2L, Query: "fbclid=x&y"}},
		{"plain query with characters not allowed in URIs", "a=<b>\xff", policy, nomen.Question{Service: nomen.I2L, Query: "a=%3Cb%3E%FF"}},
		{"beside a directive nothing is plain", "s=I2C&fbclid=x", policy, nomen.Question{Service: nomen.I2C}},
		{"I=I without a second URI is not a directive", "s=I=I", policy, nomen.Question{Service: nomen.I2L}},
		{"explaining is not public", "explain=yes", policy, nomen.Question{Service: nomen.I2L, Query: "explain=yes"}},
		{"at with an invalid time", "at=home", policy, nomen.Question{Service: nomen.I2L, Query: "at=home"}},
	} {
		t.Run(tt.title, func(t *testing.T) {
			s, h := newHeard(t, tt.policy, nil)
			p := ask(s, "/urn:example:a?"+tt.query)
			if p.status >= 400 {
				t.Errorf("status %d: %s", p.status, p.body)
			}
			tt.want.Name, tt.want.Default = name.MustParse("urn:example:a"), tt.want.Service
			if h.last != tt.want {
				t.Errorf("asked\n%+v\nwant\n%+v", h.last, tt.want)
			}
		})
	}
}

// A redirect to a successor keeps the parts of the request. An r-component is unchanged, even if it
// stands for directives here. A plain query is kept if the authority passes plain queries on.
func TestSuccessorIsAskedTheSame(t *testing.T) {
	s, h := newHeard(t, store.Policy{Query: store.PassAppend, RComponent: map[string]string{"toc": "s=I2L&c=toc&lang=de"}}, nil)
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: nomen.I2L, Name: q.Name, Status: nomen.Retired, Redirect: "urn:example:b"}, nil
	}
	for query, want := range map[string]string{
		"?+toc": "?+toc", "?+toc?=q": "?+toc?=q", "?=q": "?=q", "?x=1&y": "?x=1&y", "?c=toc&x=1": "?c=toc", "?a\"b": "?a%22b",
	} {
		if p := ask(s, "/urn:example:a"+query); p.status != 301 || p.get("Location") != "/urn:example:b"+want {
			t.Errorf("%s: %d %s, want %s", query, p.status, p.get("Location"), want)
		}
	}
}

// A THTTP client that is redirected to a path gets the service it requested, even if that
// is not the default service of paths.
func TestSuccessorByTHTTP(t *testing.T) {
	for service, want := range map[nomen.Service][2]string{"": {"", "?s=I2R"}, nomen.I2L: {"", "?s=I2R"}, nomen.I2C: {"?s=I2L", "?s=I2R"}} {
		s, h := newHeard(t, store.Policy{}, nil)
		h.answer = func(q nomen.Question) (*nomen.Answer, error) {
			return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Retired, Redirect: "urn:example:b"}, nil
		}
		a := parsedTarget{form: formTHTTP, authority: &store.Authority{Service: service}}
		for i, wanted := range []nomen.Service{nomen.I2L, nomen.I2R} {
			a.query.service = wanted
			if got := s.otherName(newReply(301), &request{}, a, "urn:example:b", true); got != "/urn:example:b"+want[i] {
				t.Errorf("%s where paths are %q: %s, want %s", wanted, service, got, want[i])
			}
		}
		for target, want := range map[string]string{"/uri-res/N2L?urn:example:a": "", "/uri-res/N2L?urn:example:a?c=toc": "?c=toc", "/uri-res/N2R?urn:example:a": "?s=I2R", "/uri-res/N2L?urn:example:a?+r": "?+r"} {
			if p := ask(s, target); p.status != 301 || p.get("Location") != "/urn:example:b"+want {
				t.Errorf("%s: %d %s, want %s", target, p.status, p.get("Location"), want)
			}
		}
	}
}

// N12-32: an answer to a service other than the requested one is the default.
func TestDefaultOfTheResolver(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: nomen.I2L, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/1"}}}, nil
	}
	for _, service := range []string{"I2R", "I2Rs", "I2N"} {
		if p := ask(s, "/urn:example:a?s="+service); p.status != 303 || p.get("Location") != "https://example.org/1" {
			t.Errorf("?s=%s: %d %s", service, p.status, p.get("Location"))
		}
		if p := ask(s, "/uri-res/"+service+"?urn:example:a", accepting("application/json")); p.status != 404 || !bytes.Contains(p.body, []byte("no-result")) {
			t.Errorf("THTTP %s: %d %s", service, p.status, p.body)
		}
	}
}

// RFC 2483, 2: the five errors have five different responses, in every form.
func TestErrorsApart(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	for kind, want := range map[nomen.Kind]struct {
		status int
		last   string
	}{nomen.Malformed: {400, "malformed"}, nomen.Unknown: {404, "unknown-name"}, nomen.NoResult: {404, "no-result"}, nomen.Gone: {410, "retired"}, nomen.Denied: {403, "denied"}} {
		h.answer = func(q nomen.Question) (*nomen.Answer, error) {
			return nil, &nomen.Error{Kind: kind, Name: q.Name.Key(), Service: q.Service, Suggestions: []string{"urn:example:b"}}
		}
		for _, service := range []string{"I2L", "I2Ls", "I2R", "I2Rs", "I2C", "I2Cs", "I2N", "I2Ns"} {
			for _, target := range []string{"/urn:example:a?s=" + service, "urn:example:a?s=" + service, "/uri-res/" + service + "?urn:example:a"} {
				p := ask(s, target, accepting("application/problem+json"))
				problem, err := format.ReadProblem(bytes.NewReader(p.body))
				if err != nil || p.status != want.status || !strings.HasSuffix(problem.Type, "/"+want.last) || len(problem.Suggestions) != 1 {
					t.Errorf("%s: %d %s, %v; want %d %s", target, p.status, p.body, err, want.status, want.last)
				}
			}
		}
	}
}

// RFC 2483, 2: the five errors have different responses, even if the requested service is not
// available.
func TestErrorsApartWithoutService(t *testing.T) {
	s, h := newHeard(t, store.Policy{Services: []nomen.Service{nomen.I2L, nomen.I2C}}, nil)
	for kind, want := range map[nomen.Kind]string{
		nomen.Unknown: "404 unknown-name", nomen.NoResult: "404 no-result", nomen.Gone: "410 retired", nomen.Denied: "403 denied", 0: "404 no-result",
	} {
		h.answer = func(q nomen.Question) (*nomen.Answer, error) {
			switch {
			case kind != 0:
				return nil, &nomen.Error{Kind: kind, Name: q.Name.Key()}
			case !q.Strict:
				t.Errorf("THTTP has no default service, but the resolver got %+v", q)
			case q.Service != nomen.I2C:
				return nil, &nomen.Error{Kind: nomen.NoResult, Name: q.Name.Key()}
			}
			return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active}, nil
		}
		for _, service := range []string{"N2Ns", "I2N", "I2R", "X2Y"} {
			p := ask(s, "/uri-res/"+service+"?urn:example:a", accepting("application/problem+json"))
			problem, err := format.ReadProblem(bytes.NewReader(p.body))
			if err != nil || fmt.Sprint(p.status, " ", strings.TrimPrefix(problem.Type, format.ProblemPath)) != want {
				t.Errorf("%s of a name that is %v: %d %s, %v; want %s", service, kind, p.status, p.body, err, want)
			}
		}
	}
	if p := ask(s, "/uri-res/X2Y?urn:example", accepting("application/problem+json")); p.status != 400 {
		t.Errorf("malformed: %d %s", p.status, p.body)
	}
}

// A delegation loop ends (RFC 5842, 7.2).
func TestLoops(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	for via, want := range map[int]int{0: 303, 1: 303, 16: 303, 17: 508, 100: 508} {
		if p := ask(s, "/urn:example:a", func(r *request) { r.hops = via }); p.status != want {
			t.Errorf("%d entries of Via: %d, want %d", via, p.status, want)
		} else if want == 303 && h.last.Hops != via {
			t.Errorf("%d entries of Via: asked with %d", via, h.last.Hops)
		}
	}
	h.answer = func(nomen.Question) (*nomen.Answer, error) { return nil, errors.Join(errors.New("x"), nomen.ErrLoop) }
	for _, target := range []string{"/urn:example:a", "/uri-res/N2R?urn:example:a", "urn:example:a"} {
		if p := ask(s, target, accepting("text/html")); p.status != 508 || !bytes.Contains(p.body, []byte("The name leads in a circle")) {
			t.Errorf("%s: %d %s", target, p.status, p.body)
		}
	}
	for fields, want := range map[string]int{"": 0, "1.1 nomen": 1, "1.1 a, 1.0 b (x)": 2, ", ,": 0} {
		if got := hops([]string{fields}); got != want {
			t.Errorf("Via: %s: got %d, want %d", fields, got, want)
		}
	}
}

// A finder is a store in memory that can find locations.
type finder struct{ store.Store }

func (f finder) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	return store.Find(ctx, f.Store, prefix, after)
}

// RFC 2169, 3.7 to 3.9, and RFC 2483 about a URL.
func TestLocated(t *testing.T) {
	s, st := newTestServer(t, func(o *Options) { o.Store = finder{o.Store.(store.Store)} })
	twin := &store.Record{Name: name.MustParse("urn:example:twin"), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/albums/2"}, {URL: "https://mirror.example/2"}}}
	secret := &store.Record{Name: name.MustParse("urn:example:secret"), Status: nomen.Reserved, Locations: []nomen.Location{{URL: "https://example.org/albums/2"}}}
	if _, err := st.Apply(t.Context(), []store.Change{{Record: twin, Time: modified}, {Record: secret, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	const url = "https://example.org/albums/2"
	for _, tt := range []struct {
		target string
		status int
		want   string
	}{
		{"L2Ns?" + url, 200, "# " + url + "\r\nurn:dns:example.org:alb002\r\nurn:example:twin\r\n"},
		{"l2ns?https%3A%2F%2Fexample.org%2Falbums%2F2", 200, "# " + url + "\r\nurn:dns:example.org:alb002\r\nurn:example:twin\r\n"},
		{"I2Ns?" + url, 200, "# " + url + "\r\nurn:dns:example.org:alb002\r\nurn:example:twin\r\n"},
		{"I2N?" + url, 200, "# " + url + "\r\nurn:dns:example.org:alb002\r\n"},
		{"L2Ls?" + url, 200, "# " + url + "\r\n" + url + "\r\nhttps://mirror.example/2\r\n"},
		{"L2C?" + url, 200, "~name: urn:dns:example.org:alb002"},
		{"L2Ns?https://example.org/q?a=1%23top", 200, "# https://example.org/q?a=1%23top\r\n"},
		{"L2Ns?https://example.org/secret", 200, "# https://example.org/secret\r\n"},
		{"L2Ns?https://example.org/albums", 200, "# https://example.org/albums\r\n"},
		{"L2C?https://example.org/secret", 404, "~no name"},
		{"L2Ns?2", 400, "~including its scheme"},
		{"L2Ns?ftp://example.org/x", 200, "# ftp://example.org/x\r\n"},
	} {
		p := ask(s, "/uri-res/"+tt.target, hosted("x"))
		got := string(p.body)
		part, isPart := strings.CutPrefix(tt.want, "~")
		if p.status != tt.status || isPart && !strings.Contains(got, part) || !isPart && got != tt.want {
			t.Errorf("%s: got %d %q, want %d %q", tt.target, p.status, got, tt.status, tt.want)
		}
	}
}

// The status of redirects, as set by the authority and supported by the client.
func TestRedirections(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	for wanted, want := range map[int][2]int{0: {303, 302}, 301: {301, 301}, 302: {302, 302}, 303: {303, 302}, 307: {307, 302}, 308: {308, 301}, 200: {303, 302}} {
		for i, v := range []version{{1, 1}, {1, 0}} {
			if got := redirectStatus(&request{version: v}, &nomen.Answer{RedirectStatus: wanted}); got != want[i] {
				t.Errorf("an authority with status %d, HTTP/%d.%d: got %d, want %d", wanted, v.major, v.minor, got, want[i])
			}
		}
	}
	for _, tt := range []struct {
		redirect, target, location, reason string
		status                             int
	}{
		{"https://other.example/x", "/urn:example:a", "https://other.example/x", "", 303},
		{"https://other.example/x", "urn:example:a?s=I2C", "https://other.example/x", "Found at https://other.example/x", 303}, // Y95-42
		{"urn:example:b", "/urn:example:a?s=I2C", "/urn:example:b?s=I2C", "", 303},
		{"urn:example:b", "urn:example:a", "urn:example:b", "urn:example:b", 303}, // Y95-42, Y95-43
		{"javascript:alert(1)", "/urn:example:a", "", "", 500},
		{"https://other.example/\r\nX: y", "/urn:example:a", "", "", 500},
		{"//other.example/x", "/urn:example:a", "", "", 500},
	} {
		h.answer = func(q nomen.Question) (*nomen.Answer, error) {
			return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Redirect: tt.redirect}, nil
		}
		p := ask(s, tt.target)
		if p.status != tt.status || p.get("Location") != tt.location || p.reason != tt.reason {
			t.Errorf("%s to %s: got %d %q %q", tt.target, tt.redirect, p.status, p.reason, p.get("Location"))
		}
	}
}

// Clients are not redirected to locations that a browser would execute, whoever stored
// them.
func TestNoScriptInLocations(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	for _, evil := range []string{"javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "relative", "//example.org/", "https://example.org/\r\nX: y", ""} {
		h.answer = func(q nomen.Question) (*nomen.Answer, error) {
			return &nomen.Answer{Service: nomen.I2L, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{{URL: evil}}}, nil
		}
		if p := ask(s, "/urn:example:a"); p.status != 500 || p.get("Location") != "" {
			t.Errorf("%q: %d %q", evil, p.status, p.get("Location"))
		}
	}
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: nomen.I2L, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/'&x"}}}, nil
	}
	if p := ask(s, "/urn:example:a", accepting("text/html")); !bytes.Contains(p.body, []byte(`<A HREF="https://example.org/&#39;&amp;x">`)) || p.get("Content-Security-Policy") == "" {
		t.Errorf("got %s", p.body)
	}
}

// The country of a client comes from a trusted proxy, or is looked up.
func TestCountry(t *testing.T) {
	found := func(a netip.Addr) string { return map[string]string{"192.0.2.1": "fi", "1.2.3.4": "SE"}[a.String()] }
	s, _ := newTestServer(t, func(o *Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		o.Country, o.CountryHeader = found, "cf-ipcountry"
	})
	for _, tt := range []struct{ remote, header, forwarded, want string }{
		{"192.0.2.1:9", "", "", "FI"},
		{"192.0.2.1:9", "DE", "", "FI"}, // not a trusted proxy
		{"10.0.0.1:9", "de", "", "DE"},
		{"10.0.0.1:9", "XX", "1.2.3.4", "SE"},
		{"10.0.0.1:9", "T1", "", "ZZ"}, // unknown: the response still depends on it
		{"10.0.0.1:9", "GER", "", "ZZ"},
		{"198.51.100.1:9", "", "", "ZZ"},
	} {
		if got := s.clientOf(countryRequest(tt.remote, tt.header, tt.forwarded)).country; got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
	unasked, _ := newTestServer(t, func(*Options) {})
	if got := unasked.clientOf(countryRequest("192.0.2.1:9", "FI", "")).country; got != "" {
		t.Errorf("country %q if countries are not used", got)
	}
	heard, h := newHeard(t, store.Policy{}, nil)
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Private: true, Locations: []nomen.Location{{URL: "https://example.org/1"}}}, nil
	}
	for _, target := range []string{"/urn:example:a", "/urn:example:a?s=I2C", "/urn:example:a?s=I2Ls"} {
		p := ask(heard, target, func(r *request) { r.country = "FI" })
		if h.last.Country != "FI" || p.get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: asked for %q, answered %v", target, h.last.Country, p.fields)
		}
	}
}

func countryRequest(remote, header, forwarded string) *http.Request {
	r := &http.Request{RemoteAddr: remote, Host: "h.example", Header: http.Header{}}
	if header != "" {
		r.Header.Set("CF-IPCountry", header)
	}
	if forwarded != "" {
		r.Header.Set("X-Forwarded-For", forwarded)
	}
	return r
}

// Failed lookups are counted, and nothing else is.
func TestMissesAreCounted(t *testing.T) {
	c, err := misses.Open(misses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newTestServer(t, func(o *Options) { o.Misses = c })
	for _, target := range []string{
		"/urn:ietf:rfc:9999999", "URN:IETF:RFC:9999999", "/uri-res/N2L?urn:ietf:rfc:9999999", "/none",
		"/urn:ietf:rfc:2648", "/urn:x", "/urn:dns:example.org:bare", "/urn:dns:example.org:urn+x", "/-/nothing", "/urn:ietf:rfc:2648?at=1970-01-01", "/urn:dns:example.org:split",
	} {
		ask(s, target)
	}
	got := map[string]uint64{}
	for _, m := range c.List(0) {
		got[m.Name] = m.Count
	}
	if len(got) != 2 || got["urn:ietf:rfc:9999999"] != 3 || got["urn:dns:example.org:none"] != 1 {
		t.Errorf("got %v", got)
	}
}

// Y95-72: a target that is too long is rejected, whatever read it.
func TestLongTargets(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, target := range []string{"/urn:example:" + strings.Repeat("a", 1<<20), "/-/resolve?name=" + strings.Repeat("a", 1<<20), strings.Repeat("/", maxTarget+1)} {
		if p := ask(s, target); p.status != 414 {
			t.Errorf("%.20s...: %d", target, p.status)
		}
	}
}

// The answer changes when a location expires, and a client that asks for changes since
// the modification of the record gets it (Y95-67, Y95-68).
func TestChangedByValidity(t *testing.T) {
	s, st := newTestServer(t, nil)
	ended := testNow.Add(-time.Hour).Truncate(time.Second)
	if _, err := st.Apply(t.Context(), []store.Change{{Time: ended.Add(-time.Hour), Record: &store.Record{
		Name: name.MustParse("urn:x-a:1"), Status: nomen.Active,
		Locations: []nomen.Location{{URL: "https://h.example/1", ValidUntil: ended.Format(time.RFC3339)}, {URL: "https://h.example/2"}},
	}}}); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/urn:x-a:1?s=I2C", "/urn:x-a:1?s=I2Ls", "urn:x-a:1"} {
		for since, status := range map[time.Time]int{ended.Add(-time.Second): 200, ended: 304} {
			p := ask(s, target, func(r *request) { r.ifModifiedSince = httpDate(since) })
			if p.status != status || p.get("Last-Modified") != httpDate(ended) {
				t.Errorf("%s since %v: %d, Last-Modified %s, want %d and %v", target, since, p.status, p.get("Last-Modified"), status, ended)
			}
		}
	}
}
