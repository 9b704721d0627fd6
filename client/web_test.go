package client

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
)

// serve starts a web server on loopback that records the requests.
func serve(t *testing.T, f http.HandlerFunc) (base string, asked *[]*http.Request) {
	t.Helper()
	asked = new([]*http.Request)
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		*asked = append(*asked, r)
		mu.Unlock()
		f(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// rich returns an answer that fills every field of a description.
func rich(t *testing.T, service nomen.Service) *nomen.Answer {
	t.Helper()
	return &nomen.Answer{
		Service: service, Name: name.MustParse("urn:dns:example.com:a%2Fb"), Spelling: "URN:dns:example.com:a%2fb", Status: nomen.Active,
		Locations: []nomen.Location{
			{
				URL: "https://example.org/x?a=%2F&b", Type: "text/html", Lang: "fr", Rel: "archive", Priority: 2, Weight: 7, Country: "FR",
				Component: "toc", Charset: "ISO-8859-1", Note: "é\n<&>\"", ValidFrom: "2001-01-01T00:00:00Z", ValidUntil: "2101-01-01T00:00:00Z",
			},
			{URL: "ftp://example.org/y"},
		},
		Metadata: nomen.Metadata{"title": {"雪 \u2028", "x"}, "creator": {"A"}},
		Names:    []string{"urn:doi:10.1/2"}, Reason: "r", Successors: []name.Name{name.MustParse("urn:ietf:rfc:1")},
		MaxAge: 90 * time.Minute, Modified: time.Date(2026, 11, 20, 12, 0, 0, 123e6, time.UTC), Revision: 42, Why: []string{"a record"},
	}
}

var compareNames = cmp.Comparer(func(a, b name.Name) bool { return a == b })

// The client rebuilds the server's answer exactly.
func TestWebLosesNothing(t *testing.T) {
	for _, s := range []nomen.Service{nomen.I2Ls, nomen.I2C, nomen.I2Cs, nomen.I2N, nomen.I2Ns} {
		want := rich(t, s)
		base, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "max-age=1")
			w.Header().Set("Last-Modified", "Tue, 21 Mar 1995 08:32:49 GMT")
			format.WriteJSON(w, want)
		})
		q := ask(t, "URN:dns:example.com:a%2fb", s)
		q.Languages = "fr, en;q=0.5"
		got, err := newClient(t, Options{Via: base}).Resolve(t.Context(), q)
		if diff := cmp.Diff(got, want, compareNames); err != nil || diff != "" {
			t.Errorf("%s: %v (-got +want)\n%s", s, err, diff)
		}
		r := (*asked)[0]
		if want := "/URN:dns:example.com:a%2fb?s=" + string(s); r.RequestURI != want {
			t.Errorf("asked for %q, want %q", r.RequestURI, want)
		}
		want2 := http.Header{"Accept": {"application/json, text/urc-0;q=0.5, application/problem+json"}, "Accept-Language": {"fr, en;q=0.5"}}
		if diff := cmp.Diff(r.Header, want2); diff != "" { // Y95-70
			t.Errorf("header (-got +want)\n%s", diff)
		}
	}
}

func TestWebRequest(t *testing.T) {
	for _, tt := range []struct {
		base      string // after the server's own
		o         Options
		q         nomen.Question
		s, target string
		accept    string
	}{
		{s: "urn:ietf:rfc:2648", target: "/urn:ietf:rfc:2648", accept: "application/json;q=0.1, */*;q=0.1, application/problem+json"},
		{base: "/", s: "urn:ietf:rfc:2648", target: "/urn:ietf:rfc:2648", accept: "application/json;q=0.1, */*;q=0.1, application/problem+json"},
		{base: "/re%20solver/", s: "ark:/12345/x//y", target: "/re%20solver/ark:/12345/x//y", accept: "application/json;q=0.1, */*;q=0.1, application/problem+json"},
		{
			s: "urn:x-y:a?+r/?r?=q&?", q: nomen.Question{Service: nomen.I2C}, target: "/urn:x-y:a?+r/?r?=q&?",
			accept: "application/json, text/urc-0;q=0.5, application/problem+json",
		},
		{
			s: "urn:x-y:a#f", q: nomen.Question{Service: nomen.I2L, Component: "ToC&x", Accept: "text/plain"}, target: "/urn:x-y:a?s=I2L&c=ToC%26x",
			accept: "text/plain, application/problem+json",
		},
		{
			s: "https://purl.example/a%2fb?c=d", q: nomen.Question{Service: nomen.I2C}, target: "/https%3A%2F%2Fpurl.example%2Fa%252fb%3Fc%3Dd?s=I2C",
			accept: "application/json, text/urc-0;q=0.5, application/problem+json",
		},
		{s: "urn:x-y:a", q: nomen.Question{Service: "I=I"}, target: "/urn:x-y:a?s=I=I", accept: "application/json, text/urc-0;q=0.5, application/problem+json"},
		{
			s: "urn:x-y:a", o: Options{Accept: "text/uri-list"}, q: nomen.Question{Service: nomen.I2Ls}, target: "/urn:x-y:a?s=I2Ls",
			accept: "text/uri-list, application/problem+json",
		},
	} {
		base, asked := serve(t, func(http.ResponseWriter, *http.Request) {})
		tt.o.Via = base + tt.base
		q := ask(t, tt.s, tt.q.Service)
		q.Component, q.Accept = tt.q.Component, tt.q.Accept
		newClient(t, tt.o).Resolve(t.Context(), q)
		if r := (*asked)[0]; r.RequestURI != tt.target || r.Header.Get("Accept") != tt.accept {
			t.Errorf("%s: sent %q with %q, want %q with %q", tt.s, r.RequestURI, r.Header.Get("Accept"), tt.target, tt.accept)
		}
	}
	q := ask(t, "urn:x-y:a?=q", "")
	q.Component = "ToC"
	if _, err := newClient(t, Options{Via: "http://127.0.0.1"}).Resolve(t.Context(), q); !errors.Is(err, errComponents) {
		t.Errorf("got %v", err)
	}
}

// All five kinds of RFC 2483 are read, with their details.
func TestWebProblems(t *testing.T) {
	for status, want := range map[int]*nomen.Error{
		400: {Kind: nomen.Malformed, Offset: 3, Rule: "NSS", Message: "bad"},
		404: {Kind: nomen.Unknown, Message: "never heard of it", Suggestions: []string{"urn:x-y:b"}},
		200: {Kind: nomen.NoResult, Message: "no location"}, // with status 404, below
		410: {Kind: nomen.Gone, Message: "withdrawn", Answer: &nomen.Answer{
			Service: nomen.I2Ls, Name: name.MustParse("urn:x-y:a"), Status: nomen.Retired, Reason: "withdrawn",
			Metadata: nomen.Metadata{"title": {"T"}}, Successors: []name.Name{name.MustParse("urn:x-y:b"), name.MustParse("urn:x-y:c")},
		}},
		403: {Kind: nomen.Denied, Message: "not for you"},
		451: {Kind: nomen.Denied, Legal: true},
	} {
		want.Name, want.Service = "urn:x-y:a", nomen.I2Ls
		base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json; charset=utf-8")
			code := max(status, 400)
			if status == 200 {
				code = 404
			}
			w.WriteHeader(code)
			format.WriteProblem(w, format.NewProblem(want, code))
		})
		_, err := newClient(t, Options{Via: base}).Resolve(t.Context(), ask(t, "urn:x-y:a", nomen.I2Ls))
		var got *nomen.Error
		if !errors.As(err, &got) {
			t.Errorf("%d: %v", status, err)
			continue
		}
		if diff := cmp.Diff(got, want, compareNames); diff != "" {
			t.Errorf("%d (-got +want)\n%s", status, diff)
		}
	}
}

// Input from a hostile server is bounded and harmless.
func TestWebHostile(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    http.HandlerFunc
		want func(error) bool
	}{
		{"problem of no kind", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", format.TypeProblem)
			w.WriteHeader(404)
			w.Write([]byte(`{"type":"about:blank","detail":"gone\u001b[2J fishing"}`))
		}, func(err error) bool {
			var e *nomen.Error
			return errors.As(err, &e) && e.Kind == nomen.Unknown && e.Message == "gone[2J fishing"
		}},
		{"invalid problem", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", format.TypeProblem)
			w.WriteHeader(403)
			w.Write([]byte(`[`))
		}, func(err error) bool { return errors.Is(err, &nomen.Error{Kind: nomen.Denied}) }},
		{"offset beyond the name", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", format.TypeProblem)
			w.WriteHeader(400)
			w.Write([]byte(`{"type":"malformed","name":"` + strings.Repeat("x", 100) + `","offset":99}`))
		}, func(err error) bool {
			var e *nomen.Error
			return errors.As(err, &e) && e.Offset == len(e.Name)
		}},
		{"5xx", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, func(err error) bool {
			var e *StatusError
			var u *UnreachableError
			return errors.As(err, &e) && e.Code == 502 && errors.As(err, &u)
		}},
		{"a huge body", func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte("x"), testMaxBody+1)) }, isSize("body")},
		{"a huge head", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 2*maxHead)) }, isSize("head")},
		{"another service", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", format.TypeJSON)
			w.Write([]byte(`{"service":"I2L","locations":[{"url":"https://x.example/"}]}`))
		}, func(err error) bool {
			var e *FormatError
			return errors.As(err, &e) && strings.Contains(err.Error(), `an answer to "I2L", not "I2Ns"`)
		}},
	} {
		base, _ := serve(t, tt.f)
		if a, err := newClient(t, Options{Via: base, MaxBody: testMaxBody, Retries: -1}).Resolve(t.Context(), ask(t, "urn:x-y:a", nomen.I2Ns)); !tt.want(err) {
			t.Errorf("%s: got %+v, %v", tt.name, a, err)
		}
	}
}

// For I2L a redirection to a URL is the answer, whatever its status. A redirection to a name is
// followed.
func TestWebRedirect(t *testing.T) {
	f := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/urn:x-y:old":
			w.Header().Set("Location", "/urn:x-y:new")
			w.WriteHeader(301)
		case "/urn:x-y:loop":
			w.Header().Set("Location", "http://"+r.Host+"/urn:x-y:loop")
			w.WriteHeader(308)
		case "/urn:x-y:doc":
			w.Header().Set("Location", "/description")
			w.WriteHeader(303)
		case "/description":
			w.Header().Set("Content-Type", format.TypeJSON)
			w.Write([]byte(`{"metadata":{"title":["T"]}}`))
		default:
			w.Header().Set("Location", "https://example.org/%7e'x?y#z")
			w.WriteHeader(303)
		}
	}
	base, asked := serve(t, f)
	c := newClient(t, Options{Via: base})
	for _, s := range []string{"urn:x-y:new", "urn:x-y:old"} {
		for service, answered := range map[nomen.Service]nomen.Service{nomen.I2L: nomen.I2L, nomen.I2Ls: nomen.I2Ls, "": nomen.I2L, "I2X": nomen.I2L} {
			a, err := c.Resolve(t.Context(), ask(t, s, service))
			if err != nil || a.Service != answered || a.Name.Key() != "urn:x-y:new" || !slices.Equal(a.Locations, []nomen.Location{{URL: "https://example.org/%7e'x?y#z"}}) {
				t.Errorf("%s %s: got %+v, %v", service, s, a, err)
			}
		}
	}
	if a, err := c.Resolve(t.Context(), ask(t, "urn:x-y:doc", nomen.I2C)); err != nil || a.Metadata["title"][0] != "T" || a.Name.Key() != "urn:x-y:doc" {
		t.Errorf("a description elsewhere: %+v, %v", a, err)
	}
	var e *RedirectError
	if _, err := c.Resolve(t.Context(), ask(t, "urn:x-y:loop", nomen.I2L)); !errors.As(err, &e) || !e.Loop {
		t.Errorf("loop: %v", err)
	}
	*asked = nil
	a, err := newClient(t, Options{Via: base, MaxRedirects: -1}).Resolve(t.Context(), ask(t, "urn:x-y:old", nomen.I2L))
	if err != nil || a.Redirect != "urn:x-y:new" || len(*asked) != 1 {
		t.Errorf("without following: %+v, %v", a, err)
	}
}

// A resolver that moved, for example from http to https, is asked at its new address.
func TestWebMoved(t *testing.T) {
	target, asked := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", format.TypeJSON)
		format.WriteJSON(w, rich(t, nomen.I2C))
	})
	base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", target+"/v2"+r.RequestURI)
		w.WriteHeader(301)
	})
	a, err := newClient(t, Options{Via: base}).Resolve(t.Context(), ask(t, alb, nomen.I2C))
	if err != nil || a.Revision != 42 || (*asked)[0].RequestURI != "/v2/"+alb+"?s=I2C" {
		t.Errorf("got %+v, %v after %v", a, err, *asked)
	}
}

func TestSuccessor(t *testing.T) {
	tomb := func(successors ...string) string {
		e := &nomen.Error{Kind: nomen.Gone, Name: alb, Answer: &nomen.Answer{Name: name.MustParse(alb), Status: nomen.Retired}}
		for _, s := range successors {
			e.Answer.Successors = append(e.Answer.Successors, name.MustParse(s))
		}
		var b bytes.Buffer
		format.WriteProblem(&b, format.NewProblem(e, 410))
		return "HTTP/1.0 410 Gone\r\nContent-Type: application/problem+json\r\n\r\n" + b.String()
	}
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", func(r request) string {
		switch {
		case strings.Contains(r.line, "new"):
			return urc("https://example.org/new")
		case strings.Contains(r.line, "two"):
			return tomb("urn:dns:example.com:new", "urn:x-y:z")
		}
		return tomb("urn:dns:example.com:new")
	})
	c := n.client(Options{})
	a, err := c.Resolve(t.Context(), ask(t, alb, nomen.I2L))
	if err != nil || a.Name.Key() != "urn:dns:example.com:new" || a.Locations[0].URL != "https://example.org/new" {
		t.Errorf("got %+v, %v", a, err)
	}
	// For a client of the 1995 protocol, a gateway asks for the successor whatever the service
	// (Y95-64).
	old := ask(t, alb, nomen.I2C)
	old.Succeed = true
	if a, err := c.Resolve(t.Context(), old); err != nil || a.Name.Key() != "urn:dns:example.com:new" {
		t.Errorf("Y95-64: got %+v, %v, want the locations of the successor", a, err)
	}
	for s, service := range map[string]nomen.Service{alb: nomen.I2C, "urn:dns:example.com:two": nomen.I2L} {
		_, err := c.Resolve(t.Context(), ask(t, s, service))
		var e *nomen.Error
		if !errors.As(err, &e) || e.Kind != nomen.Gone || e.Answer.Service != service || e.Answer.Status != nomen.Retired {
			t.Errorf("%s: got %v", s, err)
		}
	}
}

// An answer can itself redirect to another name.
func TestAnswerRedirects(t *testing.T) {
	base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", format.TypeJSON)
		if strings.Contains(r.URL.Path, "old") {
			w.Write([]byte(`{"name":"urn:x-y:old","service":"I2C","redirect":"urn:x-y:new"}`))
			return
		}
		w.Write([]byte(`{"name":"urn:x-y:new","service":"I2C","revision":7}`))
	})
	a, err := newClient(t, Options{Via: base}).Resolve(t.Context(), ask(t, "urn:x-y:old", nomen.I2C))
	if err != nil || a.Revision != 7 {
		t.Errorf("got %+v, %v", a, err)
	}
}

// The addresses of a web resolver are tried in turn, too, and listed if all fail.
func TestWebAddresses(t *testing.T) {
	n := newInternet(t)
	n.hosts["resolver.example"] = []string{"192.0.2.1", "192.0.2.2"}
	_, err := n.client(Options{Via: "http://resolver.example/x"}).Resolve(t.Context(), ask(t, alb, ""))
	var e *UnreachableError
	if !errors.As(err, &e) || len(e.Tried) != 2 || e.Tried[1].Addr != netip.MustParseAddrPort("192.0.2.2:80") {
		t.Errorf("got %v", err)
	}
}

// If the resolver says that a redirection leads to the resource, it is not an answer to a
// service that the resolver does not offer (N12-32): the client does not read the resource as a
// description.
func TestLocationInPlaceOfAnotherService(t *testing.T) {
	var at string
	base, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/resource") {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"locations":[{"url":"https://example.org/other-resource"}],"same_as":["urn:example:other"]}`))
			return
		}
		relation := strings.TrimPrefix(r.URL.Path, "/urn:example:")
		if relation != "nothing" {
			w.Header().Set("Link", "<"+at+"/resource>; rel=\""+relation+"\"; type=\"application/json\", <"+at+"/other>; rel=item")
		}
		w.Header().Set("Location", at+"/resource")
		w.WriteHeader(http.StatusSeeOther)
	})
	at = base
	c := newClient(t, Options{Via: base})
	for _, tt := range []struct {
		relation string
		service  nomen.Service
		location string // of the answer
		requests int
	}{
		{"item", nomen.I2C, "/resource", 1},
		{"archive", nomen.I2Cs, "/resource", 1},
		{"item", nomen.I2L, "/resource", 1},
		{"item", nomen.I2N, "", 1},
		{"item", nomen.I2Ns, "", 1},
		{"describedby", nomen.I2C, "https://example.org/other-resource", 2},
		{"nothing", nomen.I2C, "https://example.org/other-resource", 2},
	} {
		*asked = nil
		a, err := c.Resolve(t.Context(), ask(t, "urn:example:"+tt.relation, tt.service))
		if len(*asked) != tt.requests {
			t.Errorf("%s, %s: %d requests, want %d", tt.service, tt.relation, len(*asked), tt.requests)
		}
		if tt.location == "" {
			if !errors.Is(err, &nomen.Error{Kind: nomen.NoResult}) {
				t.Errorf("%s, %s: got %+v, %v, want no result", tt.service, tt.relation, a, err)
			}
			continue
		}
		want := tt.location
		if strings.HasPrefix(want, "/") {
			want = base + want
		}
		if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != want {
			t.Errorf("%s, %s: got %+v, %v, want %s", tt.service, tt.relation, a, err, want)
		}
	}
}

// A description without names is not a result for a question for names (N12-32).
func TestLocationsAreNoNames(t *testing.T) {
	for _, answer := range []struct{ mediaType, body string }{
		{"text/urc-0", "=====\r\nhttps://example.org/x\r\n"},
		{format.TypeJSON, `{"locations":[{"url":"https://example.org/x"}]}`},
	} {
		base, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", answer.mediaType)
			w.Write([]byte(answer.body))
		})
		c := newClient(t, Options{Via: base})
		if a, err := c.Resolve(t.Context(), ask(t, alb, nomen.I2N)); !errors.Is(err, &nomen.Error{Kind: nomen.NoResult}) {
			t.Errorf("%s: got %+v, %v, want no result", answer.mediaType, a, err)
		}
		a, err := c.Resolve(t.Context(), ask(t, alb, nomen.I2Ns))
		if err != nil || len(a.Names) != 0 || len(a.Locations) != 0 || a.Service != nomen.I2Ns {
			t.Errorf("%s: got %+v, %v, want no names", answer.mediaType, a, err)
		}
	}
}
